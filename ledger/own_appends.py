"""What this process appended last: of which types, and where nothing else came between."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable


class OwnAppends:
    """Says of a stretch of the log that nothing of some types is in it, without reading it: as far
    as all of it was appended here. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: dict[str, int] = {}
        """By type, the last position that this process appended one at, or a later one."""
        self._first, self._end = 1, 0
        """All positions in [first, end] are this process's."""

    def note(self, types: Iterable[str], first: int, last: int) -> None:
        """Events of these types were appended at these positions."""
        with self._lock:
            for each in types:
                self._last[each] = max(self._last.get(each, 0), last)
            if first == self._end + 1:
                self._end = last
            elif last + 1 == self._first:  # another thread that appended later was told first
                self._first = first
            elif last > self._end:
                self._first, self._end = first, last

    def none_of(self, types: Collection[str], after: int, upto: int) -> bool:
        """Whether it is known that no event in (after, upto] is of one of these types."""
        with self._lock:
            if after + 1 < self._first or upto > self._end:
                return False
            return all(at <= after for name, at in self._last.items() if name in types)
