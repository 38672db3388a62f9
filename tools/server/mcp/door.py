"""The server of the protocol: lists tools, calls one, and puts every call on record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import orjson
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    ListToolsResult,
    PaginatedRequestParams,
    ToolAnnotations,
)
from mcp_types import Tool as ListedTool
from pydantic import ValidationError

from beliefledger.access.principal import Principal
from beliefledger.awaitable.calls import Calls
from beliefledger.ledger.errors import CallerMistake, LedgerError
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.bucket import Bucket
from beliefledger.tools.server.caller import CALLER, Caller
from beliefledger.tools.server.causes import INVALID_PARAM
from beliefledger.tools.server.correlation import (
    CORRELATED,
    CORRELATION,
    Correlation,
    correlation,
    traceparent,
)
from beliefledger.tools.server.desk import Desk, Noted
from beliefledger.tools.server.goodbye import Goodbye
from beliefledger.tools.server.mcp import audit_tools, belief_tools, poisoning, recall_tools
from beliefledger.tools.server.mcp.progress import Teller
from beliefledger.tools.server.mcp.questions import InputRequired, Person
from beliefledger.tools.server.mcp.resource_door import ResourceDoor
from beliefledger.tools.server.mcp.resources import KINDS
from beliefledger.tools.server.mcp.tool import TOOLS, Tool
from beliefledger.tools.server.mcp.work import Work

__all__ = ["Door", "audit_tools", "belief_tools", "recall_tools"]

INSTRUCTIONS = (
    "Memory of people as belief under audit. store_memory records what was said; context composes"
    " what is worth knowing; search_memories finds; explain_memory tells why something is believed."
)
_UNKNOWN = "unknown"
Request = ServerRequestContext[Any, Any]


@dataclass(slots=True)
class Door:
    """What answers the protocol over one ledger. `whose` tells who sent a request."""

    memory: MemoryLedger
    calls: Calls
    """The threads that tools work in."""
    records: Calls
    """The threads that put calls on record, so that no slow tool keeps them from it."""
    whose: Callable[[Request], Principal]
    name: str = "mcp"
    seconds: float = 30
    exports: Bucket | Path | None = None
    tools: Mapping[str, Tool] = field(default_factory=lambda: TOOLS)
    goodbye: Goodbye = field(default_factory=Goodbye)
    _desk: Desk = field(init=False)
    _work: Work = field(init=False)
    _resources: ResourceDoor = field(init=False)

    def __post_init__(self) -> None:
        self._desk = Desk(
            self.memory, self.name, self.calls, self.records, self.seconds, self.goodbye
        )
        self._work = Work(self._desk)
        self._resources = ResourceDoor(self._work, self.caller)

    def server(self) -> Server[Any]:
        """Raises `PoisonedTool` for a tool or resource whose description would steer a model."""
        listed = [*self.tools.values(), *(each.tool for each in KINDS)]
        poisoning.check((each.name, poisoning.texts(each)) for each in listed)
        resources = self._resources
        server = Server[Any](
            "beliefledger",
            version=version("beliefledger"),
            instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=resources.list_all,
            on_list_resource_templates=resources.list_templates,
            on_read_resource=resources.read,
            on_subscribe_resource=resources.subscribe,
            on_unsubscribe_resource=resources.unsubscribe,
            on_subscriptions_listen=resources.listen,
            on_completion=resources.complete,
            get_tool_input_schema=self._input_schema,
        )
        server.middleware.append(self._watch)
        return server

    async def say_goodbye(self) -> None:
        """Tell calls that wait, and streams of changes, that the server ends: so they end first."""
        self.goodbye.say()
        await self.records.run(self._resources.close)

    async def end(self) -> None:
        """Wait until the calls are on record whose callers went away."""
        await self.records.run(self._resources.close)
        await self._desk.end()

    async def _watch(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """Put calls on record that are too malformed for any tool; echo no unknown method."""
        begun = perf_counter_ns()
        try:
            return await call_next(ctx)
        except ValidationError:
            if ctx.method == "tools/call":
                noted = Noted(self._desk, self.caller(ctx), _UNKNOWN, ctx.params or {}, begun)
                await self._work.record(noted, INVALID_PARAM)
            raise
        except MCPError as problem:
            if problem.error.code != METHOD_NOT_FOUND:
                raise
            raise MCPError(code=METHOD_NOT_FOUND, message="There is no such method.") from None

    def _input_schema(self, name: str) -> Mapping[str, Any] | None:
        """Asked for at every call, to find arguments that are to be repeated in headers: a schema
        without any need not be searched."""
        tool = self.tools.get(name)
        return None if tool is None or not tool.has_headers else tool.input_schema()

    async def list_tools(
        self, request: Request, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """The tools that the caller's token is for."""
        principal = self.caller(request).principal
        return ListToolsResult(
            tools=[_listed(each) for each in self.tools.values() if each.may(principal)]
        )

    def caller(self, request: Request) -> Caller:
        """Whose request it is. Raises `MCPError` where the token is not in force."""
        try:
            principal = self.whose(request)
        except LedgerError as problem:  # over standard input the token is looked at here
            said = problem.detail if isinstance(problem, CallerMistake) else str(problem)
            raise MCPError(code=INVALID_REQUEST, message=said) from None
        CALLER.set(principal)
        CORRELATION.set(_correlation(request))
        return Caller(self.memory, principal, self.exports)

    async def call_tool(self, request: Request, params: CallToolRequestParams) -> Any:
        """Do it in a thread, within the time there is; then put on record what became of it. The
        answer is given as it is sent: the protocol's package would make that of its own class."""
        tool = self.tools.get(params.name)
        known = _UNKNOWN if tool is None else tool.name
        noted = Noted(self._desk, self.caller(request), known, params.arguments or {})
        if tool is None:
            await self._work.record(noted, "UNKNOWN_TOOL")
            raise MCPError(code=INVALID_PARAMS, message="There is no such tool.")
        person, teller = Person(request, params, self.goodbye), Teller(request.session)
        try:
            answer = await self._work.answered(tool, noted, person=person, teller=teller)
        except InputRequired as asked:
            return asked.result
        return {
            "content": [{"type": "text", "text": orjson.dumps(answer).decode()}],
            "structuredContent": answer,
            "isError": answer["status"] == "error",
            "resultType": "complete",
        }


def _correlation(request: Request) -> Correlation:
    """The ids of a request: a session's task has those of the request that opened it."""
    asked = request.request
    known: Correlation = (asked and asked.scope.get(CORRELATED)) or correlation({})
    if not known.traceparent and request.meta:
        return replace(known, traceparent=traceparent(request.meta.get("traceparent")))
    return known


def _listed(tool: Tool) -> ListedTool:
    return ListedTool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema(),
        output_schema=tool.output_schema(),
        annotations=ToolAnnotations(
            read_only_hint=tool.reads,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.repeats,
            open_world_hint=False,
        ),
    )
