"""The endpoints over HTTP: FastAPI under /v1, every call within its time and on record."""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import version
from typing import Any, get_args

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.asyncexitstack import AsyncExitStackMiddleware
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from beliefledger.access.principal import Principal
from beliefledger.access.requests import KeyedRequest
from beliefledger.awaitable.calls import Calls
from beliefledger.ledger.errors import LedgerError
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.api import (
    accounts,
    beliefs,
    events,
    memories,
    stewardship,
    turns,
)
from beliefledger.tools.server.api import problem as problems
from beliefledger.tools.server.api.endpoint import ENDPOINTS, KEY, Endpoint
from beliefledger.tools.server.api.events import STREAM, Follow
from beliefledger.tools.server.api.feed import Feed
from beliefledger.tools.server.api.once import HEADER, REPLAYED, KeyRefused, done_once
from beliefledger.tools.server.api.problem import UNASKED, Problem, Told, invalid, refused, told
from beliefledger.tools.server.api.shortcuts import Shortcuts, first_part
from beliefledger.tools.server.api.table import MEDIA as CSV
from beliefledger.tools.server.api.table import csv_of, wanted
from beliefledger.tools.server.caller import CALLER, Caller
from beliefledger.tools.server.causes import FAILED, TIMEOUT, UNAVAILABLE
from beliefledger.tools.server.configuration import Configuration
from beliefledger.tools.server.desk import Desk, Noted, NotOnRecord
from beliefledger.tools.server.gatekeeper import PRINCIPAL

__all__ = ["APIOverHTTP", "accounts", "beliefs", "events", "memories", "stewardship", "turns"]

DOOR = "http"
JSON = "application/json"
PREFIX = "/v1"
logger = logging.getLogger("beliefledger.server")
_UNKNOWN = "unknown"
_DEAD_SECONDS = 60.0
"""So long a request under a key counts as under way, or for twice the time that it may take."""
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": said, "content": {problems.MEDIA: {}}}
    for status, said in {
        400: "The body is no JSON.",
        401: "There is no good token.",
        403: "The token is not for this.",
        404: "There is no such thing, or the token is not for it.",
        409: "Something else was first.",
        413: "Too much was sent.",
        422: "What was sent cannot be taken as it is.",
        429: "Too many calls with this token.",
        500: "It went wrong here.",
        503: "The ledger does not answer now.",
        504: "It took too long; what was begun may still be done.",
    }.items()
}
_LINKS: dict[str, dict[str, dict[str, str]]] = {
    "record_turn": {name: {"turn_id": "$response.body#/turn_id"} for name in ("turn", "turn_job")},
    "store": {
        "decision": {"decision_id": "$response.body#/decision_id"},
        "memory": {"memory_id": "$response.body#/memory_id"},
        "explain": {"memory_id": "$response.body#/memory_id"},
        "revoke": {"memory_id": "$response.body#/memory_id"},
        "history": {"belief_id": "$response.body#/belief_id"},
        "replay": {"decision_id": "$response.body#/decision_id"},
    },
    "erase": {"certificate": {"erasure": "$response.body#/erasure"}},
    "checkpoint": {"consistency": {"old": "$response.body#/size"}},
}
"""What of one answer is given to another endpoint."""
_NOTHING = (b"", b"{}")
"""Bodies that say nothing."""
_WENT_WRONG = "This went wrong here."
_ASK = "Whoever runs the server finds the cause."


@cache
def _version() -> str:
    return version("beliefledger")


@cache
def _routes() -> list[APIRoute]:
    """The routes of all endpoints, for every server of this process: they take long to make."""
    made = FastAPI()
    for each in ENDPOINTS:
        _add(made, each)
    return [each for each in made.router.routes if isinstance(each, APIRoute)]


def _add(to: FastAPI, of: Endpoint) -> None:
    kinds: dict[str, Any] = {}
    if of.table:
        kinds[CSV] = {"schema": {"type": "string"}}
    if of.media != JSON:
        kinds[of.media] = {"schema": {"type": "string"}}
    responses: dict[int | str, dict[str, Any]] = dict(_ERRORS)
    if of.tagged:
        responses[304] = {"description": "It is as it was: the ETag is that of If-None-Match."}
    responses[of.status] = {"content": kinds} if kinds else {}
    if of.name in _LINKS:
        responses[of.status]["links"] = {
            name: {"operationId": name, "parameters": given}
            for name, given in _LINKS[of.name].items()
        }
    to.add_api_route(
        of.path,
        _made(of),
        methods=[of.method],
        status_code=of.status,
        response_model=of.answer if of.media in {JSON, STREAM} else None,
        responses=responses,
        operation_id=of.name,
        name=of.name,
        description=" ".join((of.function.__doc__ or "").split()),
        openapi_extra={"x-verbs": list(of.verbs), "x-everybody": of.whole},
    )


def _made(of: Endpoint) -> Callable[..., Any]:
    """The function that FastAPI calls: its signature is the endpoint's, with the request."""

    async def answered(request: Request, **given: Any) -> Response:
        api: APIOverHTTP = request.app.state.api
        # As in a body: what is not known would be left out, and something else be done.
        known = ", ".join(sorted(of.queries))
        if not of.queries.issuperset(request.query_params):
            raise _unasked(f"The query may have {known or 'nothing'}, and has more")
        for name in request.query_params:
            if name not in of.many and len(request.query_params.getlist(name)) > 1:
                raise _unasked(f"{name}: it is there more than once; give one")
        sent = b"" if of.takes_body or not _may_have_body(request.scope) else await request.body()
        if sent.strip() not in _NOTHING:
            raise _unasked(f"This takes no body. The query may have {known or 'nothing'}")
        return await api.answered(request, of, given)

    own = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY, annotation=Request)
    answered.__signature__ = inspect.Signature([own, *of.parameters])  # type: ignore[attr-defined]
    return answered


def _unasked(says: str) -> RequestValidationError:
    return RequestValidationError([{"loc": (), "type": UNASKED, "msg": says}])


def _may_have_body(scope: Scope) -> bool:
    return any(
        (name == b"content-length" and value != b"0") or name == b"transfer-encoding"
        for name, value in scope["headers"]
    )


class APIOverHTTP:
    """ASGI for everything under /v1. Enter `running` while it serves."""

    def __init__(
        self, memory: MemoryLedger, calls: Calls, records: Calls, settings: Configuration
    ) -> None:
        self._memory = memory
        self._settings = settings
        self._desk = Desk(memory, DOOR, calls, records, settings.call_seconds)
        self._feed = Feed(memory)
        self._endpoints = {each.name: each for each in ENDPOINTS}
        self._shortcuts = Shortcuts(ENDPOINTS)
        self.app = self._empty("/openapi.json")
        self.app.router.routes.extend(_routes())
        self._under: dict[str, FastAPI] = {}
        """By the first part of a path, the same endpoints: what is looked through for each call."""
        for route in _routes():
            first = first_part(route.path)
            if first not in self._under:
                self._under[first] = self._empty(None)
            self._under[first].router.routes.append(route)

    def _empty(self, document: str | None) -> FastAPI:
        made = FastAPI(
            title="beliefledger",
            summary="Memory for AI agents as belief under audit.",
            version=_version(),
            openapi_url=document,
            docs_url=None,
            redoc_url=None,
            servers=[{"url": PREFIX}],
            redirect_slashes=False,
            # Its own spans tell of paths and queries, in which people are named.
            telemetry={"auto_configure": False, "tracing": False, "metrics": False, "logs": False},
            exception_handlers={
                RequestValidationError: self._invalid,
                HTTPException: self._unknown,
            },
        )
        made.state.api = self
        # Of FastAPI's layers those that its routes need. What the others do is done by the server
        # around it, and each takes its time of every call.
        layers = AsyncExitStackMiddleware(made.router)
        made.middleware_stack = ExceptionMiddleware(layers, handlers=made.exception_handlers)
        return made

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        yield
        await self._feed.end()
        await self._desk.end()

    def say_goodbye(self) -> None:
        """End the streams of events: the server waits for them when it stops."""
        self._feed.say_goodbye()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(PREFIX)
        scope["app_root_path"], scope["root_path"] = scope.get("root_path", ""), PREFIX
        found = self._shortcuts.find(scope["method"], path, scope["query_string"])
        if found is not None and not _may_have_body(scope):
            answer = await self.answered(Request(scope, receive), *found)
            await answer(scope, receive, send)
            return
        await self._under.get(first_part(path), self.app)(scope, receive, send)

    async def answered(self, request: Request, of: Endpoint, given: dict[str, Any]) -> Response:
        """What an endpoint answers, within its time and on record."""
        noted = self._noted(request, of.name, given)
        try:
            done = await self._desk.done(self._whole, of, noted, given, request, noted=noted)
        except TimeoutError:
            seconds = f"It took more than {self._desk.seconds:g} seconds."
            remedy = "What was begun may still be done: look first."
            done = told("Timeout", 504, seconds, remedy, TIMEOUT)
            return await self._recorded(noted, done, TIMEOUT)
        if isinstance(done, Follow):
            answer = self._followed(done)
            outcome = answer.outcome if isinstance(answer, Told) else "ok"
            return await self._recorded(noted, answer, outcome)
        return done

    def _whole(
        self, of: Endpoint, noted: Noted, given: dict[str, Any], request: Request
    ) -> Response | Follow:
        """Do it in a thread, and put it on record there; a stream is begun and told by the loop."""
        outcome = "ok"
        answer: Response | Follow
        try:
            answer = self._do(of, noted.caller, given, request)
            if isinstance(answer, Follow):
                return answer
        except KeyRefused as refusal:
            answer, outcome = refusal.answer, refusal.answer.outcome
        except LedgerError as problem:
            answer = refused(problem, _plain(given))
            outcome = answer.outcome
        except Exception:  # a defect of ours is answered too, and told to whoever runs this
            logger.exception("%s failed", of.name)
            answer = told("LedgerError", 500, _WENT_WRONG, _ASK, FAILED)
            outcome = FAILED
        try:
            noted.record_now(outcome)
        except NotOnRecord:
            return _not_on_record()
        return answer

    def _followed(self, done: Follow) -> Response:
        """The stream, which belongs to the event loop."""
        if not self._feed.has_room(done):
            return told("Retryable", 429, "Too many streams.", "End one first.", UNAVAILABLE)
        return self._feed.response(done)

    def _do(
        self, of: Endpoint, caller: Caller, given: Mapping[str, Any], request: Request
    ) -> Response | Follow:
        """The answer of an endpoint, made in a thread."""
        value, again = self._called(of, caller, given)
        if isinstance(value, Follow):
            return value
        headers = {"Cache-Control": "private, no-cache" if of.tagged else "no-store"}
        if again:
            headers[REPLAYED] = "true"
        if isinstance(value, Iterator):
            return StreamingResponse(value, of.status, headers, of.media)
        if of.table:
            headers["Vary"] = "Accept"
        if of.table and wanted(request.headers.get("accept", "")):
            body, media = _csv(of, value).encode(), f"{CSV}; charset=utf-8"
            if value.next is not None:
                further = request.url.include_query_params(after=value.next).query
                headers["Link"] = f'<?{further}>; rel="next"'
        else:
            body, media = of.adapter.dump_json(value), JSON
        if of.name == "record_turn":
            headers["Location"] = f"{PREFIX}/turns/{value.turn_id}/job"
        if of.tagged:
            headers["ETag"] = tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
            if _same(request.headers.get("if-none-match", ""), tag):
                return Response(status_code=304, headers=headers)
        return Response(body, of.status, headers, media)

    def _called(self, of: Endpoint, caller: Caller, given: Mapping[str, Any]) -> tuple[Any, bool]:
        """What an endpoint answers, and whether it had been done before under the same key."""
        key = given.get(KEY) if of.once else None
        if not key:
            return self._done(of, caller, given), False
        of.check(caller.principal)
        sent = json.dumps(_plain({n: v for n, v in given.items() if n != KEY}), sort_keys=True)
        asked = KeyedRequest(caller.principal, DOOR, of.name, key, f"{of.name} {sent}")
        seconds = max(_DEAD_SECONDS, 2 * self._desk.seconds)
        return done_once(caller, asked, seconds, of.answer, lambda: self._done(of, caller, given))

    @staticmethod
    def _done(of: Endpoint, caller: Caller, given: Mapping[str, Any]) -> Any:
        value = of.call(caller, given)
        caller.met()
        return value

    async def _recorded(self, noted: Noted, answer: Response, outcome: str) -> Response:
        try:
            await noted.record(outcome)
        except NotOnRecord:
            return _not_on_record()
        return answer

    def _noted(self, request: Request, name: str, given: Mapping[str, Any]) -> Noted:
        principal: Principal = request.scope[PRINCIPAL]
        CALLER.set(principal)
        caller = Caller(self._memory, principal, self._settings.exports)
        return Noted(self._desk, caller, name, _plain(given))

    async def _invalid(self, request: Request, problem: Exception) -> Response:
        """Arguments that cannot be taken; who may not call it at all is told that, and no more."""
        assert isinstance(problem, RequestValidationError)
        of = self._endpoints[request.scope["route"].operation_id]
        noted = self._noted(request, of.name, {})
        answer: Told
        try:
            of.check(noted.caller.principal)
            answer = invalid(problem.errors(), _names(of), _fields(of))
        except LedgerError as refusal:
            answer = refused(refusal, {})
        return await self._recorded(noted, answer, answer.outcome)

    async def _unknown(self, request: Request, problem: Exception) -> Response:
        """What there is no endpoint for, and bodies that are no text."""
        assert isinstance(problem, HTTPException)
        noted = self._noted(request, _UNKNOWN, {})
        status = problem.status_code
        says, remedy, outcome = {
            404: ("There is no such path.", "See openapi.json.", "UNKNOWN_TOOL"),
            405: ("This path has no such method.", "See openapi.json.", "UNKNOWN_TOOL"),
        }.get(status, ("The body is no JSON.", "Send JSON.", "INVALID_PARAM"))
        answer = told("CallerMistake", status, says, remedy, outcome)
        for name, value in (problem.headers or {}).items():
            answer.headers[name] = value
        return await self._recorded(noted, answer, outcome)


class StraightToAPI:
    """ASGI: what is under /v1 goes to its door at once, and is not looked up among the others."""

    def __init__(self, app: ASGIApp, api: APIOverHTTP) -> None:
        self._others = app
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        under = scope["type"] == "http" and scope["path"].startswith(f"{PREFIX}/")
        await (self._api if under else self._others)(scope, receive, send)


def _not_on_record() -> Told:
    says = "The call cannot be put on record, so it is not answered."
    return told("BackendUnavailable", 503, says, "Try again.", UNAVAILABLE)


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as JSON."""
    return {
        name: value.model_dump(mode="json", exclude_unset=True)
        if isinstance(value, BaseModel)
        else value
        for name, value in given.items()
        if value is not None
    }


def _names(of: Endpoint) -> set[str]:
    """The names of an endpoint's arguments."""
    return {each.name for each in of.parameters} | {"moment", HEADER}


def _fields(of: Endpoint) -> dict[tuple[str, ...], list[str]]:
    """The names of the fields of its body, and of each object in it, by where that is."""
    found: dict[tuple[str, ...], list[str]] = {}

    def look(kind: Any, at: tuple[str, ...]) -> None:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found[at] = sorted(kind.model_fields)
            for name, field in kind.model_fields.items():
                for inner in (field.annotation, *getattr(field.annotation, "__args__", ())):
                    look(inner, (*at, name))

    for each in of.parameters:
        look(each.annotation, ())
    return found


def _csv(of: Endpoint, value: Any) -> str:
    [(name, field)] = ((n, each) for n, each in of.answer.model_fields.items() if n != "next")
    rows = json.loads(of.adapter.dump_json(value))[name]
    return csv_of(get_args(field.annotation)[0].model_fields, rows)


def _same(asked: str, tag: str) -> bool:
    """Whether `If-None-Match` has a tag."""
    known = {each.strip().removeprefix("W/") for each in asked.split(",")}
    return tag in known or "*" in known
