"""One call at a door: done in a thread within its time, and put on record as it ended."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter_ns
from typing import Any, Literal, TypeVar

from beliefledger.access.calls import Call
from beliefledger.awaitable.calls import Calls
from beliefledger.ledger import spans
from beliefledger.ledger.errors import LedgerError
from beliefledger.ledger.spans import Request
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.caller import Caller
from beliefledger.tools.server.correlation import CORRELATION, Correlation, correlation
from beliefledger.tools.server.goodbye import Goodbye

logger = logging.getLogger("beliefledger.server")
T = TypeVar("T")
_as_sent = json.JSONEncoder(sort_keys=True, ensure_ascii=True).encode
_WELL = ("ok", "INPUT_REQUIRED")
"""Outcomes that are no errors."""


class NotOnRecord(Exception):
    """A call could not be put on record, so it is not answered."""


@dataclass(slots=True)
class Desk:
    """What every call at a door needs."""

    memory: MemoryLedger
    door: str
    """Which door it is, as the record says."""
    calls: Calls
    """The threads to work in."""
    records: Calls
    """The threads to record in, so that no slow call keeps others from their record."""
    seconds: float = 30
    goodbye: Goodbye = field(default_factory=Goodbye)
    _under_way: set[asyncio.Future[Any]] = field(default_factory=set)

    async def done(
        self,
        work: Callable[..., T],
        *given: Any,
        seconds: float | None = None,
        noted: Noted | None = None,
    ) -> T:
        """Do something in a thread, within the time there is. Raises `TimeoutError`. It goes on to
        its end when whoever called goes away.

        What is `noted` may be put on record by the thread that does it, which saves the way to
        another: then it is in time, whatever the record takes."""
        begun = self.kept(self.calls.begin(work, *given))
        limit = self.seconds if seconds is None else seconds
        await asyncio.wait([begun], timeout=max(limit, 0))
        if not begun.done():
            if noted is None or noted.take():
                begun.add_done_callback(_late)
                raise TimeoutError
            await asyncio.wait([begun])  # it was done, and is being recorded
        return begun.result()

    def kept(self, work: Awaitable[T]) -> asyncio.Future[T]:
        """Work that goes on to its end, whoever waits for it; `end` waits for it."""
        begun = asyncio.ensure_future(work)
        self._under_way.add(begun)
        begun.add_done_callback(self._ended)
        return begun

    def _ended(self, work: asyncio.Future[Any]) -> None:
        self._under_way.discard(work)
        if not work.cancelled():
            work.exception()  # who waits is told; where nobody does, nobody needs to hear of it

    async def record(self, call: Call) -> None:
        """Raises `NotOnRecord`."""
        await asyncio.shield(self.kept(self.records.begin(self.write, call)))

    def write(self, call: Call) -> None:
        """As `record`, in this thread."""
        try:
            self.memory.tokens.record_call(call)
        except LedgerError as problem:
            logger.error("A call is not on record: %s", problem)  # noqa: TRY400
            raise NotOnRecord from None

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
    correlation: Correlation | None = field(default_factory=CORRELATION.get)
    _span: Request | None = None
    _ends: Literal["", "worker", "waiter"] = ""
    """Who says how it ended: the thread that did it, or who waited for it …"""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """… of whom only one can be the first."""

    def __post_init__(self) -> None:
        tracer = spans.tracer()
        if tracer is not None:
            known = self.correlation or correlation({})
            facts = {"beliefledger.token": self.caller.principal.token_id}
            self._span = tracer.request(self.desk.door, known.traceparent, facts)
            self.correlation = replace(known, traceparent=self._span.traceparent)
            CORRELATION.set(self.correlation)

    async def record(self, outcome: str) -> None:
        """Durable on return. Nothing is done where it is on record, or the thread that did it puts
        it there. Raises `NotOnRecord`."""
        if (self.take() or self._ends == "waiter") and not self.recorded:
            with self._ending(outcome) as call:
                await self.desk.record(call)

    def record_now(self, outcome: str) -> None:
        """As `record`, in the thread that worked: another one would cost more than the record."""
        if self.take("worker"):
            with self._ending(outcome) as call:
                self.desk.write(call)

    def well(self, work: Callable[..., T], *given: Any) -> T:
        """Do it, and put on record that it was done, in this thread. Raises `NotOnRecord`."""
        done = work(*given)
        self.record_now("ok")
        return done

    def take(self, who: Literal["worker", "waiter"] = "waiter") -> bool:
        """Whether it is for this one, who is the first to ask, to say how it ended."""
        with self._lock:
            if self._ends:
                return False
            self._ends = who
            return True

    @contextmanager
    def _ending(self, outcome: str) -> Iterator[Call]:
        """The record to be written, within; it is logged as it then ended."""
        self.recorded = True
        call = Call(
            principal=self.caller.principal,
            door=self.desk.door,
            tool=self.tool,
            sent=_as_sent(self.sent),
            outcome=self.outcome or outcome,
            duration_micros=(perf_counter_ns() - self.begun) // 1_000,
            subject=self.caller.subject_ref,
        )
        ended = call.outcome
        try:
            yield call
        except NotOnRecord:
            ended = "NOT_ON_RECORD"
            raise
        finally:
            self._log(ended)
            if self._span is not None:
                facts = {"door": self.desk.door, "tool": self.tool, "outcome": ended}
                self._span.tell({f"beliefledger.{name}": each for name, each in facts.items()})
                self._span.end(None if ended in _WELL else ended)

    def _log(self, outcome: str) -> None:
        """One line for each call: of what was sent and answered it has nothing."""
        if logger.isEnabledFor(logging.INFO):
            told: dict[str, Any] = {
                "door": self.desk.door,
                "tool": self.tool,
                "outcome": outcome,
                "duration_ms": round((perf_counter_ns() - self.begun) / 1e6, 3),
                "token": self.caller.principal.token_id,
            }
            if self.correlation is not None:
                told |= self.correlation.told
            # As `info`, without a look for the place that it is called from.
            name, at = logger.name, logging.INFO
            logger.handle(logger.makeRecord(name, at, "", 0, "call", (), None, None, told))


def _late(work: asyncio.Future[Any]) -> None:
    """What comes of work that nobody waits for any more."""
    if not work.cancelled() and work.exception() is not None:
        logger.warning("A call that had taken too long failed: %s", type(work.exception()).__name__)
