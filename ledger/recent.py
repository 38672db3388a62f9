"""What this process appended lately: which types of events lie where, without asking the store."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable

from beliefledger.ledger.store import Appended

_MOST = 1_000
"""So many appends are remembered."""


class Recent:
    """The last appends of one log in this process. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._appends: deque[tuple[int, int, frozenset[str]]] = deque(maxlen=_MOST)

    def note(self, appended: Appended, types: Iterable[str]) -> None:
        """Remember an append."""
        if not appended.already:
            with self._lock:
                self._appends.append((appended.first, appended.last, frozenset(types)))

    def types(self, after: int, upto: int) -> frozenset[str] | None:
        """The types of the events of positions in (after, upto]; None where this process did not
        append all of them, or does not remember."""
        kinds: set[str] = set()
        missing = upto - after
        with self._lock:
            for first, last, types in reversed(self._appends):
                if last <= after:
                    break  # what came before lies before: else it is missed, and the store is asked
                there = min(last, upto) - max(first, after + 1) + 1
                if there > 0:
                    missing -= there
                    kinds |= types
        return None if missing else frozenset(kinds)
