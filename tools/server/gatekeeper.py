"""Stands before every door: who has no good token, sends too much or too often, gets no further."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beliefledger.access.principal import Principal
from beliefledger.access.tokens import TokenRefused
from beliefledger.awaitable.calls import Calls
from beliefledger.ledger.errors import LedgerError
from beliefledger.tools.server.correlation import (
    CORRELATED,
    CORRELATION,
    HEADER,
    correlation,
)
from beliefledger.tools.server.refusals import Refusals

logger = logging.getLogger("beliefledger.server")
PRINCIPAL = "beliefledger.principal"
"""Where a request's scope has whose it is."""
OPEN = frozenset({"/healthz", "/readyz", "/.well-known/agent-card.json", "/v1/openapi.json"})
"""What is answered without a token."""
METADATA = "/.well-known/oauth-protected-resource"
"""Begins the path at which it is told who issues tokens."""
NO_ANSWER = "The ledger does not answer now."
_NO_PATH = "There is no such path."
_MOST_BUCKETS = 10_000
_REMEDIES = {
    401: ("NotPermitted", "Send a token that is in force; whoever runs the server makes them."),
    403: ("NotPermitted", "Ask whoever runs the server for a token that may do this."),
    404: ("CallerMistake", "See /v1/openapi.json, and docs/mcp.md and docs/a2a.md."),
    405: ("CallerMistake", "Use a method that the header Allow names."),
    413: ("InvalidTurn", "Send less at once."),
    429: ("Retryable", "Wait as long as the header Retry-After says."),
    503: ("BackendUnavailable", "Try again a little later."),
}
"""By status: the class of the error, as `errors` has it, and what to do."""


class Rates:
    """How many calls of each token are left: `per_minute` at once, and as many each minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def wait(self, token: str) -> float:
        """Take one; 0.0, or how many seconds there is none."""
        now = self._clock()
        left, since = self._left.get(token, (self._most, now))
        left = min(self._most, left + (now - since) * self._most / 60)
        if left < 1:
            return (1 - left) * 60 / self._most
        if len(self._left) >= _MOST_BUCKETS:
            self._left.clear()
        self._left[token] = (left - 1, now)
        return 0.0


class Gatekeeper:
    """ASGI: answers 401, 413 and 429 itself, and lets the rest in with its principal."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        principal: Callable[[str | None], Principal],
        at_hand: Callable[[str | None], Principal | None],
        calls: Calls,
        refusals: Refusals,
        rates: Rates,
        max_body_bytes: int,
        metadata: str | None = None,
    ) -> None:
        """`principal` tells whose a token is, in a thread; `at_hand` where that needs no looking
        up. `metadata` is where it is told who issues tokens (RFC 9728), if anybody else does."""
        self._app = app
        self._principal = principal
        self._at_hand = at_hand
        self._calls = calls
        self._refusals = refusals
        self._rates = rates
        self._most = max_body_bytes
        self._metadata = metadata

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scope[CORRELATED] = known = correlation(headers)
        CORRELATION.set(known)

        async def answered(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = (HEADER.lower().encode(), known.request_id.encode())
                message["headers"] = [*message.get("headers", []), told]
            await send(message)

        if scope["path"] in OPEN or scope["path"].startswith(METADATA):
            await self._app(scope, receive, answered)
        else:
            await self._let_in(scope, headers, receive, answered)

    async def _let_in(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        answer: ASGIApp | None = await self._checked(scope, headers)
        if answer is None and "content-length" not in headers:  # how long it is shows at its end
            try:
                receive = await read(receive, self._most)
            except TooLong:
                answer = self._too_long(scope[PRINCIPAL])
        await (answer or self._app)(scope, receive, send)

    async def _checked(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        source = scope["client"][0] if scope.get("client") else "unknown"
        try:
            token = bearer(headers)
            principal = self._at_hand(token)
            if principal is None:
                principal = await self._calls.run(self._principal, token)
        except TokenRefused as refused:
            self._refusals.count(source)
            _tell(401)
            return problem(401, refused.detail, {"WWW-Authenticate": self._challenge(headers)})
        except LedgerError:
            _tell(503)
            return problem(503, NO_ANSWER, {"Retry-After": "1"})
        length = headers.get("content-length")
        if length is not None and (not length.isdecimal() or int(length) > self._most):
            return self._too_long(principal)
        wait = self._rates.wait(principal.token)
        if wait:
            self._refusals.count(principal.token)
            _tell(429, principal)
            seconds = str(int(wait) + 1)
            return problem(429, "Too many calls with this token.", {"Retry-After": seconds})
        scope[PRINCIPAL] = principal
        return None

    def _too_long(self, principal: Principal) -> JSONResponse:
        self._refusals.count(principal.token)
        _tell(413, principal)
        return problem(413, f"A request has at most {self._most:,} bytes.")

    def _challenge(self, headers: Headers) -> str:
        said = 'Bearer realm="beliefledger"'
        if "authorization" in headers:
            said += ', error="invalid_token"'
        return said if self._metadata is None else f'{said}, resource_metadata="{self._metadata}"'


class TooLong(Exception):
    """A request has more bytes than it may."""


async def read(receive: Receive, most: int) -> Receive:
    """A request that is read to its end, to be received again. Raises `TooLong`."""
    body, message = bytearray(), await receive()
    while message["type"] == "http.request":
        body += message.get("body", b"")
        if len(body) > most:
            raise TooLong
        if not message.get("more_body", False):
            message = {"type": "http.request", "body": bytes(body), "more_body": False}
            break
        message = await receive()
    left: list[Message] = [message]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again


def bearer(headers: Headers) -> str | None:
    """The token of a request, where there is one and only one."""
    given = headers.getlist("authorization")
    if len(given) != 1:
        return None
    scheme, _, token = given[0].partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _tell(status: int, principal: Principal | None = None) -> None:
    """Log that somebody got no further."""
    if logger.isEnabledFor(logging.INFO):
        token = {} if principal is None else {"token": principal.token_id}
        logger.info("refused", extra={"status": status, **token})


def problem(status: int, says: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error that no door tells, with its remedy. `error` is `detail` under its older name."""
    code, remedy = _REMEDIES.get(status, ("CallerMistake", "See docs/http.md."))
    said = {
        "type": f"urn:beliefledger:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": says,
        "code": code,
        "remedy": remedy,
        "error": says,
    }
    return JSONResponse(said, status, headers, media_type="application/problem+json")


async def nowhere(_request: Request, raised: Exception) -> JSONResponse:
    """The answer where there is no such path, or a path has no such method."""
    assert isinstance(raised, HTTPException)
    what = "This path has no such method." if raised.status_code == 405 else _NO_PATH
    return problem(raised.status_code, what, raised.headers)
