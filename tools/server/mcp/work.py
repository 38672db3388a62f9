"""Does what a tool does: in a thread, within a time, and on record as it ended."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from time import monotonic

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR

from beliefledger.ledger.errors import LedgerError, NotPermitted
from beliefledger.tools.server.causes import FAILED, TIMEOUT, WENT_WRONG
from beliefledger.tools.server.desk import Desk, Noted, NotOnRecord
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
    """What runs tools at a desk."""

    desk: Desk

    async def answered(
        self,
        tool: Tool,
        noted: Noted,
        *,
        person: Person | None = None,
        teller: Teller | None = None,
    ) -> Answer:
        """The envelope that a tool answers with, on record by then. Goes on to its record when the
        caller goes away. Raises `InputRequired`, and `MCPError` where it cannot be recorded."""
        if teller is not None:
            noted.caller.tell = teller
        return await asyncio.shield(self.desk.kept(self._recorded(tool, noted, person, teller)))

    async def _recorded(
        self, tool: Tool, noted: Noted, person: Person | None, teller: Teller | None
    ) -> Answer:
        try:
            try:
                answer = await self._answer(tool, noted, teller)
            except PersonNeeded as question:
                answer = await self._asked(tool, noted, question, person)
            await noted.record(answer.get("code", "ok"))
        except InputRequired:
            await self.record(noted, INPUT_REQUIRED)
            raise
        except NotOnRecord:
            raise _unrecorded() from None
        finally:
            if teller is not None:
                await teller.end()
        return answer

    async def _asked(
        self, tool: Tool, noted: Noted, question: PersonNeeded, person: Person | None
    ) -> Answer:
        """What a tool answers once a person has chosen; the choice is among what was given then."""
        try:
            if person is None:
                raise question.otherwise
            noted.sent = {**noted.sent, **await person.choose(question)}
            if not self.desk.memory.tokens.in_force(noted.caller.principal):
                raise NotPermitted("This token is not in force any more.")
            return await self._answer(tool, noted, None)
        except PersonNeeded as again:  # what there was to choose from is gone meanwhile
            return refusal(again.otherwise, noted.sent)
        except LedgerError as problem:
            return refusal(problem, noted.sent)

    async def _answer(self, tool: Tool, noted: Noted, teller: Teller | None) -> Answer:
        """Raises `PersonNeeded`."""
        desk = self.desk
        ends = monotonic() + desk.seconds
        try:
            while True:
                left = ends - monotonic()
                try:
                    data = await desk.done(
                        noted.well, tool.call, noted.caller, noted.sent, seconds=left, noted=noted
                    )
                    return done(data)
                except Unfinished as so_far:
                    waited = desk.seconds - (ends - monotonic())
                    if waited + _LOOK_SECONDS > min(so_far.wait, desk.seconds - 1):
                        return done(so_far.data)
                    if teller is not None:
                        teller(int(waited * 10), int(so_far.wait * 10), so_far.message)
                    if await desk.goodbye.heard(_LOOK_SECONDS):
                        return done(so_far.data)
        except TimeoutError:
            return failed(
                TIMEOUT,
                f"It took more than {desk.seconds:g} seconds. What was begun may still be done.",
            )
        except LedgerError as problem:
            answer = refusal(problem, noted.sent)
            if answer["code"] == FAILED:
                logger.error("%s failed: %s", tool.name, problem)  # noqa: TRY400
            return answer
        except (PersonNeeded, NotOnRecord):
            raise
        except Exception:  # a defect of ours is answered too, and told to whoever runs this
            logger.exception("%s failed", tool.name)
            return failed(FAILED, WENT_WRONG)

    async def record(self, noted: Noted, outcome: str) -> None:
        """Durable before the caller hears of anything. Raises `MCPError` where it cannot be."""
        try:
            await noted.record(outcome)
        except NotOnRecord:
            raise _unrecorded() from None


def _unrecorded() -> MCPError:
    said = "The call cannot be put on record, so it is not answered."
    return MCPError(code=INTERNAL_ERROR, message=said)
