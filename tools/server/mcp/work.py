"""Does what a tool does: in a thread, within a time, and on record as it ended."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from time import monotonic, perf_counter_ns
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR

from beliefledger.access.calls import Call
from beliefledger.awaitable.calls import Calls
from beliefledger.ledger.errors import LedgerError, NotPermitted
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.caller import Caller
from beliefledger.tools.server.causes import FAILED, TIMEOUT, WENT_WRONG
from beliefledger.tools.server.goodbye import Goodbye
from beliefledger.tools.server.mcp.progress import Teller
from beliefledger.tools.server.mcp.questions import InputRequired, Person, PersonNeeded
from beliefledger.tools.server.mcp.tool import (
    Answer,
    Tool,
    Unfinished,
    done,
    failed,
    refusal,
)

logger = logging.getLogger("beliefledger.server")
_LOOK_SECONDS = 0.1
INPUT_REQUIRED = "INPUT_REQUIRED"


@dataclass(slots=True)
class Work:
    """What runs tools over one ledger."""

    memory: MemoryLedger
    calls: Calls
    """The threads that tools work in."""
    records: Calls
    """The threads that put calls on record, so that no slow tool keeps them from it."""
    door: str
    seconds: float
    goodbye: Goodbye = field(default_factory=Goodbye)
    _under_way: set[asyncio.Future[Any]] = field(default_factory=set)

    async def answered(
        self,
        tool: Tool,
        caller: Caller,
        given: Mapping[str, Any],
        begun: int,
        *,
        person: Person | None = None,
        teller: Teller | None = None,
    ) -> Answer:
        """The envelope that a tool answers with, on record by then. Goes on to its record when the
        caller goes away. Raises `InputRequired`."""
        if teller is not None:
            caller.tell = teller
        work = asyncio.ensure_future(self._recorded(tool, caller, given, begun, person, teller))
        self._under_way.add(work)
        work.add_done_callback(self._ended)
        return await asyncio.shield(work)

    def _ended(self, work: asyncio.Future[Answer]) -> None:
        self._under_way.discard(work)
        if not work.cancelled():
            work.exception()  # who waits is told; where nobody does, nobody needs to hear of it

    async def end(self) -> None:
        """Wait until the calls are on record whose callers went away."""
        if self._under_way:
            await asyncio.wait(self._under_way)

    async def _recorded(
        self,
        tool: Tool,
        caller: Caller,
        given: Mapping[str, Any],
        begun: int,
        person: Person | None,
        teller: Teller | None,
    ) -> Answer:
        try:
            answer = await self._answer(tool, caller, given, teller)
        except PersonNeeded as question:
            try:
                answer, given = await self._asked(tool, caller, given, question, person)
            except InputRequired:
                await self.record(caller, tool.name, given, INPUT_REQUIRED, begun)
                raise
        if teller is not None:
            await teller.end()
        await self.record(caller, tool.name, given, answer.get("code", "ok"), begun)
        return answer

    async def _asked(
        self,
        tool: Tool,
        caller: Caller,
        given: Mapping[str, Any],
        question: PersonNeeded,
        person: Person | None,
    ) -> tuple[Answer, Mapping[str, Any]]:
        """What a tool answers once a person has chosen, and all that it was given then."""
        try:
            if person is None:
                raise question.otherwise
            given = {**given, **await person.choose(question)}
            if not self.memory.tokens.in_force(caller.principal):
                raise NotPermitted("This token is not in force any more.")
            return await self._answer(tool, caller, given, None), given
        except PersonNeeded as again:  # what there was to choose from is gone meanwhile
            return refusal(again.otherwise, given), given
        except LedgerError as problem:
            return refusal(problem, given), given

    async def _answer(
        self, tool: Tool, caller: Caller, given: Mapping[str, Any], teller: Teller | None
    ) -> Answer:
        """Raises `PersonNeeded`."""
        ends = monotonic() + self.seconds
        try:
            while True:
                try:
                    return done(await self._in_time(tool, caller, given, ends - monotonic()))
                except Unfinished as so_far:
                    waited = self.seconds - (ends - monotonic())
                    if waited + _LOOK_SECONDS > min(so_far.wait, self.seconds - 1):
                        return done(so_far.data)
                    if teller is not None:
                        teller(int(waited * 10), int(so_far.wait * 10), so_far.message)
                    if await self.goodbye.heard(_LOOK_SECONDS):
                        return done(so_far.data)
        except TimeoutError:
            return failed(
                TIMEOUT,
                f"It took more than {self.seconds:g} seconds. What was begun may still be done.",
            )
        except LedgerError as problem:
            answer = refusal(problem, given)
            if answer["code"] == FAILED:
                logger.error("%s failed: %s", tool.name, problem)  # noqa: TRY400
            return answer
        except PersonNeeded:
            raise
        except Exception:  # a defect of ours is answered too, and told to whoever runs this
            logger.exception("%s failed", tool.name)
            return failed(FAILED, WENT_WRONG)

    async def _in_time(
        self, tool: Tool, caller: Caller, given: Mapping[str, Any], seconds: float
    ) -> Answer:
        work = asyncio.ensure_future(self.calls.run(tool.call, caller, given))
        try:
            return await asyncio.wait_for(asyncio.shield(work), max(seconds, 0))
        except TimeoutError:
            work.add_done_callback(_heard)
            raise

    async def record(
        self, caller: Caller, tool: str, given: Mapping[str, Any], outcome: str, begun: int
    ) -> None:
        """Durable before the caller hears of anything. Raises `MCPError` where it cannot be."""
        call = Call(
            principal=caller.principal,
            door=self.door,
            tool=tool,
            sent=json.dumps(given, sort_keys=True, ensure_ascii=True),
            outcome=outcome,
            duration_micros=(perf_counter_ns() - begun) // 1_000,
            subject=caller.subject_ref,
        )
        recording: Coroutine[Any, Any, int] = self.records.run(self.memory.tokens.record_call, call)
        try:
            await asyncio.shield(recording)
        except LedgerError as problem:
            logger.error("A call is not on record: %s", problem)  # noqa: TRY400
            raise MCPError(
                code=INTERNAL_ERROR,
                message="The call cannot be put on record, so it is not answered.",
            ) from None


def _heard(work: asyncio.Future[Any]) -> None:
    """What comes of work that nobody waits for any more."""
    if not work.cancelled() and work.exception() is not None:
        logger.warning("A call that had taken too long failed: %s", type(work.exception()).__name__)
