"""The deadline for reading one turn. Extractors call `check` between clauses and patterns.

No process or thread is started: reading ends where `check` raises. The clock is an argument; a
deadline holds for the thread that set it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from beliefledger.ledger.errors import ExtractionTooLong

DEFAULT_SECONDS = 10.0
Seconds = Callable[[], float]

_ends: ContextVar[tuple[float, float, Seconds] | None] = ContextVar("deadline", default=None)


class Deadline:
    """Allows each turn a number of seconds of a clock.

    With the thread's CPU time as the clock, a busy machine and the wait for a model's answer do not
    count.
    """

    def __init__(self, clock: Seconds, seconds: float = DEFAULT_SECONDS) -> None:
        self._clock = clock
        self._seconds = seconds

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Within the block, `check` raises once the time is over."""
        set_before = _ends.set((self._clock() + self._seconds, self._seconds, self._clock))
        try:
            yield
        finally:
            _ends.reset(set_before)


def check() -> None:
    """Raises `ExtractionTooLong` once the deadline of this thread, if it has one, is over."""
    deadline = _ends.get()
    if deadline is not None:
        end, seconds, clock = deadline
        if clock() > end:
            raise ExtractionTooLong(f"Reading this turn took more than {seconds:g} s.")
