"""How long the extraction of one turn may take. Who extracts asks between clauses and patterns.

No process and no thread is made for it: a turn that takes too long is left by its own reader. The
clock is handed in, and the deadline is the thread's that set it.
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
    """So many seconds of a clock for each turn.

    With the CPU time of the thread as the clock, neither a busy machine nor the wait for a model's
    answer counts.
    """

    def __init__(self, clock: Seconds, seconds: float = DEFAULT_SECONDS) -> None:
        self._clock = clock
        self._seconds = seconds

    @contextmanager
    def turn(self) -> Iterator[None]:
        """From now on, until the block ends, `check` raises once the time is over."""
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
