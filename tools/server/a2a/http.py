"""The protocol over HTTP: the public card, JSON-RPC at /a2a, and Recall's dialect beside it."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import a2a.server.routes  # noqa: F401  (before a2a.compat, which it imports in a circle)
from a2a.auth.user import User
from a2a.compat.v0_3.jsonrpc_adapter import JSONRPC03Adapter
from a2a.server.context import ServerCallContext
from a2a.server.jsonrpc_models import JSONParseError, JSONRPCError
from a2a.server.request_handlers.response_helpers import agent_card_to_dict, build_error_response
from a2a.server.routes.common import ServerCallContextBuilder
from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from a2a.utils.errors import (
    JSON_RPC_ERROR_CODE_MAP,
    A2AError,
    InternalError,
    InvalidParamsError,
    InvalidRequestError,
    VersionNotSupportedError,
)
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message as Received
from starlette.types import Receive

from beliefledger.access.principal import Principal
from beliefledger.awaitable.calls import Calls
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.a2a.card import PATH, card
from beliefledger.tools.server.a2a.handler import BASE, NOTED, Handler
from beliefledger.tools.server.a2a.recall_dialect import RecallDialect
from beliefledger.tools.server.a2a.runner import Runner
from beliefledger.tools.server.caller import CALLER, Caller
from beliefledger.tools.server.causes import FAILED, WENT_WRONG
from beliefledger.tools.server.configuration import Configuration
from beliefledger.tools.server.desk import Desk, Noted, NotOnRecord
from beliefledger.tools.server.gatekeeper import PRINCIPAL

_VERSIONS = re.compile(r"(1\.0|0\.3)(\.\d{1,4})?")
_LOOPBACK = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?")
_NAMES = {
    code: error.__name__.removesuffix("Error") for error, code in JSON_RPC_ERROR_CODE_MAP.items()
}
_CARD_SECONDS = 3_600
_THREADS = 4
"""Threads that read tasks and take their steps, besides those of calls."""
_MOST_HISTORY = 2**31 - 1
"""What a field of the newer protocol has room for."""

# The package logs what it was sent with its errors; ours are logged by us, without words.
logging.getLogger("a2a").addHandler(logging.NullHandler())
logging.getLogger("a2a").propagate = False


class _Own(User):
    """The holder of a token, as the protocol's package knows users."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal

    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def user_name(self) -> str:
        return self._principal.ref


class _Contexts(ServerCallContextBuilder):
    """Gives each call its principal and its record."""

    def build(self, request: Request) -> ServerCallContext:
        noted: Noted = request.scope[NOTED]
        return ServerCallContext(
            user=_Own(noted.caller.principal),
            state={"headers": dict(request.headers), NOTED: noted, BASE: _base(request)},
        )


class _Dispatcher(JsonRpcDispatcher):
    """The package's, with errors that do not quote what was sent."""

    def __init__(self, handler: Handler) -> None:
        contexts = _Contexts()
        super().__init__(handler, contexts)
        self.enable_v0_3_compat = True
        self._v03_adapter = _Adapter(handler, contexts)

    def _generate_error_response(self, request_id: Any, error: Any) -> JSONResponse:
        return JSONResponse(build_error_response(request_id, _plain(error)))


class _Adapter(JSONRPC03Adapter):
    """The package's; what its newer form has no room for is the caller's mistake, not a defect."""

    async def handle_request(
        self, request_id: Any, method: str, body: dict[str, Any], request: Request
    ) -> Any:
        if not all(map(_fits, _history_lengths(body.get("params")))):
            says = f"historyLength is a whole number of at most {_MOST_HISTORY:,}."
            return self._generate_error_response(request_id, InvalidParamsError(says))
        return await super().handle_request(request_id, method, body, request)

    def _generate_error_response(self, request_id: Any, error: Any) -> JSONResponse:
        return super()._generate_error_response(request_id, _plain(error))


def _history_lengths(params: Any) -> Iterator[Any]:
    if isinstance(params, dict):
        configuration = params.get("configuration")
        for each in (params, configuration if isinstance(configuration, dict) else {}):
            yield each.get("historyLength")


def _fits(length: Any) -> bool:
    return not isinstance(length, int) or -_MOST_HISTORY <= length <= _MOST_HISTORY


def _plain(error: Any) -> A2AError:
    """An error with a sentence of ours, or of the protocol's package without what it quotes."""
    if isinstance(error, A2AError):
        names_fields = isinstance(error, InvalidParamsError) and "errors" in (error.data or {})
        if names_fields or (error.data is None and not isinstance(error, InternalError)):
            return error
    code = getattr(error, "code", JSON_RPC_ERROR_CODE_MAP.get(type(error)))
    kind = next((each for each, known in JSON_RPC_ERROR_CODE_MAP.items() if known == code), None)
    if kind is None or kind is InternalError:
        return InternalError(WENT_WRONG)
    return kind("The request has not the form that its method asks for.")


class A2AOverHTTP:
    """The routes of the protocol. Enter `running` while it serves."""

    def __init__(
        self, memory: MemoryLedger, calls: Calls, records: Calls, settings: Configuration
    ) -> None:
        self._settings = settings
        self._desk = Desk(memory, "a2a", calls, records, settings.call_seconds)
        self._steps = Calls(_THREADS)
        self._runner = Runner(memory, self._steps)
        handler = Handler(self._desk, self._runner)
        self._dispatcher = _Dispatcher(handler)
        self._dialect = RecallDialect(self._desk, self._runner, handler.reply)

    def routes(self) -> list[Route]:
        return [
            Route(PATH, self._card),
            Route("/a2a", self._rpc, methods=["POST"]),
            Route("/a2a/", self._rpc, methods=["POST"]),
            Route("/a2a/{task_id}", self._look),
            Route("/a2a/{task_id}/resume", self._resume, methods=["POST"]),
        ]

    def say_goodbye(self) -> None:
        """End what is open with a word: the server waits for it when it stops."""
        self._desk.goodbye.say()
        self._runner.tell()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._runner.running():
            yield
        await self._desk.end()
        await self._steps.close(None)

    async def _card(self, request: Request) -> Response:
        self._check_host(request)
        made = agent_card_to_dict(card(_base(request)))
        etag = f'"{hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()}"'
        headers = {"ETag": etag, "Cache-Control": f"public, max-age={_CARD_SECONDS}"}
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)
        return JSONResponse(made, headers=headers)

    async def _rpc(self, request: Request) -> Response:
        self._check_host(request)
        text = await request.body()
        noted = self._noted(request, "unknown", None)
        try:
            body = json.loads(text)
            json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, RecursionError):  # of bytes that are no text, too
            return await self._refused(noted, None, JSONParseError(message="This is no JSON."))
        noted.sent = body
        if not isinstance(body, dict):
            says = "Send one call at a time, as an object."
            return await self._refused(noted, None, InvalidRequestError(says))
        if "jsonrpc" not in body and "method" not in body:
            noted.tool = "recall.create"
            return await self._told(noted, await self._dialect.create(noted, body))
        method = body.get("method")
        known = isinstance(method, str) and (
            method in JsonRpcDispatcher.METHOD_TO_MODEL
            or method in JSONRPC03Adapter.METHOD_TO_MODEL
        )
        noted.tool = str(method) if known else "unknown"
        noted.sent = body.get("params")
        asked = request.headers.get("a2a-version", "")
        if asked and not _VERSIONS.fullmatch(asked):
            says = "This server speaks 1.0 and 0.3 of the protocol."
            given = body.get("id") if isinstance(body.get("id"), str | int) else None
            return await self._refused(noted, given, VersionNotSupportedError(says))
        request.scope[NOTED] = noted
        again = Request(request.scope, _receive(text, request.receive))
        answer = await self._dispatcher.handle_requests(again)
        if not noted.streams or noted.recorded:
            return await self._told(noted, answer)
        return answer

    async def _look(self, request: Request) -> Response:
        return await self._by_id(request, "recall.look", self._dialect.look)

    async def _resume(self, request: Request) -> Response:
        return await self._by_id(request, "recall.resume", self._dialect.resume)

    async def _by_id(self, request: Request, tool: str, work: Any) -> Response:
        self._check_host(request)
        task_id = request.path_params["task_id"]
        text = await request.body()
        noted = self._noted(request, tool, {"id": task_id, "body": text.decode("utf-8", "replace")})
        return await self._told(noted, await work(noted, task_id, text))

    def _noted(self, request: Request, tool: str, sent: Any) -> Noted:
        principal: Principal = request.scope[PRINCIPAL]
        CALLER.set(principal)
        return Noted(self._desk, Caller(self._desk.memory, principal), tool, sent)

    async def _refused(
        self, noted: Noted, request_id: Any, error: A2AError | JSONRPCError
    ) -> Response:
        return await self._told(noted, JSONResponse(build_error_response(request_id, error)))

    async def _told(self, noted: Noted, answer: Response) -> Response:
        """The answer, once it is on record."""
        try:
            await noted.record(_outcome(answer))
        except NotOnRecord:
            says = "The call cannot be put on record, so it is not answered."
            return JSONResponse(build_error_response(None, InternalError(says)), status_code=503)
        return answer

    def _check_host(self, request: Request) -> None:
        """Raises `HTTPException` for a name under which this server is not known: a page could have
        pointed it here, and the card would tell it on."""
        host = request.headers.get("host", "")
        if not _LOOPBACK.fullmatch(host) and host not in self._settings.hosts:
            raise HTTPException(421, "This server is not known by that name: see `hosts`.")


def _outcome(answer: Response) -> str:
    """How a call ended, of what is answered."""
    body = bytes(answer.body or b"") if hasattr(answer, "body") else b""
    try:
        said = json.loads(body)
    except ValueError:
        return "ok"
    error = said.get("error") if isinstance(said, dict) else None
    if isinstance(error, dict):
        return _NAMES.get(int(error.get("code", 0)), FAILED)
    return "ok" if answer.status_code < 400 else f"HTTP {answer.status_code}"


def _base(request: Request) -> str:
    return f"{request.url.scheme}://{request.headers['host']}"


def _receive(body: bytes, goes_on: Receive) -> Receive:
    """The body once more, then what comes after it: that the client went away."""
    told = False

    async def receive() -> Received:
        nonlocal told
        if not told:
            told = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await goes_on()

    return receive
