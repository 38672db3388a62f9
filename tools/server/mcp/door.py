"""The server of the protocol: lists tools, calls one, and puts every call on record."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ListedTool
from pydantic import ValidationError

from beliefledger.access.calls import Call
from beliefledger.access.principal import Principal
from beliefledger.awaitable.calls import Calls
from beliefledger.ledger.errors import CallerMistake, LedgerError
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.caller import CALLER, Caller
from beliefledger.tools.server.mcp import audit_tools, belief_tools, poisoning, recall_tools
from beliefledger.tools.server.mcp.tool import (
    FAILED,
    INVALID_PARAM,
    TIMEOUT,
    TOOLS,
    Tool,
    done,
    failed,
    refusal,
)

__all__ = ["Door", "audit_tools", "belief_tools", "recall_tools"]

logger = logging.getLogger("beliefledger.server")
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
    exports: Path | None = None
    tools: Mapping[str, Tool] = field(default_factory=lambda: TOOLS)
    _under_way: set[asyncio.Future[Any]] = field(default_factory=set)

    def server(self) -> Server[Any]:
        """Raises `PoisonedTool` for a tool whose description would steer a model."""
        poisoning.check((each.name, _texts(each)) for each in self.tools.values())
        server = Server[Any](
            "beliefledger",
            version=version("beliefledger"),
            instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            get_tool_input_schema=self._input_schema,
        )
        server.middleware.append(self._watch)
        return server

    async def end(self) -> None:
        """Wait until the calls are on record whose callers went away."""
        if self._under_way:
            await asyncio.wait(self._under_way)

    async def _watch(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """Put calls on record that are too malformed for any tool; echo no unknown method."""
        begun = perf_counter_ns()
        try:
            return await call_next(ctx)
        except ValidationError:
            if ctx.method == "tools/call":
                caller = Caller(self.memory, self._checked(ctx), self.exports)
                await self._record(caller, _UNKNOWN, ctx.params or {}, INVALID_PARAM, begun)
            raise
        except MCPError as problem:
            if problem.error.code != METHOD_NOT_FOUND:
                raise
            raise MCPError(code=METHOD_NOT_FOUND, message="There is no such method.") from None

    def _input_schema(self, name: str) -> Mapping[str, Any] | None:
        tool = self.tools.get(name)
        return None if tool is None else tool.input_schema()

    async def list_tools(
        self, request: Request, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """The tools that the caller's token is for."""
        principal = self._checked(request)
        return ListToolsResult(
            tools=[_listed(each) for each in self.tools.values() if each.may(principal)]
        )

    def _checked(self, request: Request) -> Principal:
        try:
            return self.whose(request)
        except LedgerError as problem:  # over standard input the token is looked at here
            said = problem.detail if isinstance(problem, CallerMistake) else str(problem)
            raise MCPError(code=INVALID_REQUEST, message=said) from None

    async def call_tool(self, request: Request, params: CallToolRequestParams) -> CallToolResult:
        """Do it in a thread, within the time there is; then put on record what became of it."""
        principal = self._checked(request)
        CALLER.set(principal)
        given = params.arguments or {}
        begun = perf_counter_ns()
        tool = self.tools.get(params.name)
        caller = Caller(self.memory, principal, self.exports)
        if tool is None:
            await self._record(caller, _UNKNOWN, given, "UNKNOWN_TOOL", begun)
            raise MCPError(code=INVALID_PARAMS, message="There is no such tool.")
        # It goes on to its record when the caller goes away or cancels.
        work = asyncio.ensure_future(self._answered(tool, caller, given, begun))
        self._under_way.add(work)
        work.add_done_callback(self._under_way.discard)
        answer = await asyncio.shield(work)
        text = json.dumps(answer, ensure_ascii=False)
        return CallToolResult(
            content=[TextContent(type="text", text=text)],
            structured_content=answer,
            is_error=answer["status"] == "error",
        )

    async def _answered(
        self, tool: Tool, caller: Caller, given: Mapping[str, Any], begun: int
    ) -> dict[str, Any]:
        answer = await self._answer(tool, caller, given)
        await self._record(caller, tool.name, given, answer.get("code", "ok"), begun)
        return answer

    async def _answer(self, tool: Tool, caller: Caller, given: Mapping[str, Any]) -> dict[str, Any]:
        work = asyncio.ensure_future(self.calls.run(tool.call, caller, given))
        try:
            return done(await asyncio.wait_for(asyncio.shield(work), self.seconds))
        except TimeoutError:
            work.add_done_callback(_heard)
            return failed(
                TIMEOUT,
                f"It took more than {self.seconds:g} seconds. What was begun may still be done.",
            )
        except LedgerError as problem:
            answer = refusal(problem, given)
            if answer["code"] == FAILED:
                logger.error("%s failed: %s", tool.name, problem)  # noqa: TRY400
            return answer
        except Exception:  # a defect of ours is answered too, and told to whoever runs this
            logger.exception("%s failed", tool.name)
            return failed(FAILED, "This went wrong here. Whoever runs the server finds the cause.")

    async def _record(
        self, caller: Caller, tool: str, given: Mapping[str, Any], outcome: str, begun: int
    ) -> None:
        """Durable before the caller hears of anything."""
        call = Call(
            principal=caller.principal,
            door=self.name,
            tool=tool,
            sent=json.dumps(given, sort_keys=True, ensure_ascii=True),
            outcome=outcome,
            duration_micros=(perf_counter_ns() - begun) // 1_000,
            subject=caller.subject_ref,
        )
        try:
            await asyncio.shield(self.records.run(self.memory.tokens.record_call, call))
        except LedgerError as problem:
            logger.error("A call is not on record: %s", problem)  # noqa: TRY400
            raise MCPError(
                code=-32603, message="The call cannot be put on record, so it is not answered."
            ) from None


def _heard(work: asyncio.Future[Any]) -> None:
    """What comes of work that nobody waits for any more."""
    if not work.cancelled() and work.exception() is not None:
        logger.warning("A call that had taken too long failed: %s", type(work.exception()).__name__)


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


def _texts(tool: Tool) -> str:
    """All that a model reads of a tool."""
    return f"{tool.name} {tool.description} {json.dumps(tool.input_schema())}"
