"""One call by the protocol, from what was sent to its record."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any, TypeVar

from beliefledger.access.calls import Call
from beliefledger.awaitable.calls import Calls
from beliefledger.ledger.errors import LedgerError
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.caller import Caller
from beliefledger.tools.server.goodbye import Goodbye

logger = logging.getLogger("beliefledger.server")
T = TypeVar("T")
DOOR = "a2a"


class NotOnRecord(Exception):
    """A call could not be put on record, so it is not answered."""


@dataclass(slots=True)
class Desk:
    """What every call needs: the ledger, threads to work in, and threads to record in."""

    memory: MemoryLedger
    calls: Calls
    records: Calls
    seconds: float = 30
    goodbye: Goodbye = field(default_factory=Goodbye)
    _under_way: set[asyncio.Future[Any]] = field(default_factory=set)

    async def done(self, work: Callable[..., T], *given: Any) -> T:
        """Do something in a thread, within the time there is. Raises `TimeoutError`. It goes on to
        its end when whoever called goes away."""
        begun = asyncio.ensure_future(self.calls.run(work, *given))
        self._keep(begun)
        return await asyncio.wait_for(asyncio.shield(begun), self.seconds)

    async def record(self, call: Call) -> None:
        """Raises `NotOnRecord`."""
        begun = asyncio.ensure_future(self.records.run(self.memory.tokens.record_call, call))
        self._keep(begun)
        try:
            await asyncio.shield(begun)
        except LedgerError as problem:
            logger.error("A call is not on record: %s", problem)  # noqa: TRY400
            raise NotOnRecord from None

    def _keep(self, work: asyncio.Future[Any]) -> None:
        self._under_way.add(work)
        work.add_done_callback(self._heard)

    def _heard(self, work: asyncio.Future[Any]) -> None:
        self._under_way.discard(work)
        if not work.cancelled():
            work.exception()

    async def end(self) -> None:
        """Wait until what was begun is done."""
        if self._under_way:
            await asyncio.wait(self._under_way)


@dataclass(slots=True)
class Noted:
    """A call that goes on record once, as it ended."""

    desk: Desk
    caller: Caller
    tool: str
    sent: Any
    begun: int = field(default_factory=perf_counter_ns)
    outcome: str = ""
    """What it ended with, where the answer says less than is known."""
    streams: bool = False
    """Whether the answer goes on, so that whoever tells it puts it on record."""
    recorded: bool = False
    door: str = DOOR

    async def record(self, outcome: str) -> None:
        """Durable on return. Raises `NotOnRecord`."""
        if self.recorded:
            return
        self.recorded = True
        await self.desk.record(
            Call(
                principal=self.caller.principal,
                door=self.door,
                tool=self.tool,
                sent=json.dumps(self.sent, sort_keys=True, ensure_ascii=True),
                outcome=self.outcome or outcome,
                duration_micros=(perf_counter_ns() - self.begun) // 1_000,
                subject=self.caller.subject_ref,
            )
        )
