"""Counts who came without a good token, so that it is on record and nobody grows the log by it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from beliefledger.access.calls import OTHERS
from beliefledger.ledger.times import SECOND, Clock, Micros, system_clock

MINUTE: Micros = 60 * SECOND
MOST_SOURCES = 20
"""So many sources of a minute are told apart."""
Write = Callable[[Micros, Mapping[str, int]], None]


class Refusals:
    """What was refused, by minute and source, until it is written."""

    def __init__(self, write: Write, clock: Clock = system_clock) -> None:
        self._write = write
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[Micros, dict[str, int]] = {}

    def count(self, source: str) -> None:
        now = self._clock()
        with self._lock:
            of = self._counts.setdefault(now - now % MINUTE, {})
            if source not in of and len(of) >= MOST_SOURCES:
                source = OTHERS
            of[source] = of.get(source, 0) + 1

    def flush(self, *, all_of_them: bool = False) -> None:
        """Write the minutes that are over; with `all_of_them` also the present one. What cannot be
        written waits. Raises what keeps it from being written."""
        now = self._clock()
        present = now - now % MINUTE
        with self._lock:
            over = [each for each in self._counts if all_of_them or each < present]
            taken = {each: self._counts.pop(each) for each in over}
        while taken:
            minute, counts = next(iter(taken.items()))
            try:
                self._write(minute, counts)
            except BaseException:  # it is raised on, once nothing is lost
                with self._lock:
                    self._counts |= taken
                raise
            del taken[minute]
