"""The deadline for reading one turn. Extractors call `check` between clauses and patterns.

Reading ends where `check` raises. The clock is an argument; a deadline holds for the thread that
set it. An extractor that never asks is waited for as long as `gate.foreign_calls` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from beliefledger.gate import foreign_calls
from beliefledger.ledger.errors import ExtractionTooLong

DEFAULT_SECONDS = 10.0
Seconds = Callable[[], float]


class _Limit:
    """When the time of one turn is over."""

    __slots__ = ("_clock", "_end", "_look_at", "_wall", "seconds")

    def __init__(self, clock: Seconds, wall: Seconds | None, seconds: float) -> None:
        self.seconds = seconds
        self._clock, self._wall = clock, wall
        self._end = clock() + seconds
        self._look_at = 0.0 if wall is None else wall() + seconds

    def is_over(self) -> bool:
        if self._wall is None:
            return self._clock() > self._end
        now = self._wall()
        if now < self._look_at:
            return False
        left = self._end - self._clock()
        self._look_at = now + left
        return left < 0


_ends: ContextVar[_Limit | None] = ContextVar("deadline", default=None)


class Deadline:
    """Allows each turn a number of seconds of a clock.

    With the thread's CPU time as the clock, a busy machine and the wait for a model's answer do not
    count. That clock is slow to read and never ahead of the one on the wall, which is not: with
    `wall`, it is read only where that one says that the time may be over.
    """

    def __init__(
        self,
        clock: Seconds,
        seconds: float = DEFAULT_SECONDS,
        *,
        wall: Seconds | None = None,
        foreign_seconds: float = foreign_calls.DEFAULT_SECONDS,
    ) -> None:
        """`foreign_seconds` on the wall is how long an extractor that is not ours is waited for."""
        self.foreign_seconds = foreign_seconds
        self._clock = clock
        self._seconds = seconds
        self._wall = wall

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Within the block, `check` raises once the time is over."""
        set_before = _ends.set(_Limit(self._clock, self._wall, self._seconds))
        try:
            yield
        finally:
            _ends.reset(set_before)


def check() -> None:
    """Raises `ExtractionTooLong` once the deadline of this thread, if it has one, is over."""
    limit = _ends.get()
    if limit is not None and limit.is_over():
        raise ExtractionTooLong(f"Reading this turn took more than {limit.seconds:g} s.")
