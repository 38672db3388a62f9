"""How often each memory of an index was shown, and when last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from beliefledger.projections.columns import Columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

Accesses = tuple["NDArray[np.int64]", "NDArray[np.int64]"]
"""By memory number: how often it was shown, and when last (0: never)."""


class Showings:
    """Each showing of a memory, in order of position."""

    def __init__(self) -> None:
        self._rows = Columns(("memory", "position", "at"))
        none = np.zeros(0, np.int64)
        self._counted = 0, none, none
        """How many showings were counted, and what they came to."""

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, rows: Sequence[tuple[int, int, int]]) -> None:
        """Add showings: the memory's number, the position, and the time in microseconds."""
        self._rows.add(rows)

    def upto(self, position: int, memories: int) -> Accesses:
        """The accesses of so many memories up to a position."""
        count = int(np.searchsorted(self._rows["position"], position, side="right"))
        if count == len(self._rows):
            return self._count_on(memories)
        memory = self._rows["memory"][:count]
        last = np.zeros(memories, np.int64)
        last[memory] = self._rows["at"][:count]  # they are in order: the last one stays
        return np.bincount(memory, minlength=memories), last

    def _count_on(self, memories: int) -> Accesses:
        """The accesses as of now: those counted before, and those since."""
        known, count, last = self._counted
        size = memories - len(count)
        if size:
            count, last = np.pad(count, (0, size)), np.pad(last, (0, size))
        memory = self._rows["memory"][known:]
        np.add.at(count, memory, 1)
        last[memory] = self._rows["at"][known:]
        self._counted = len(self._rows), count, last
        return count, last

    def state(self) -> NDArray[np.int64]:
        """All of it, to be restored in another process."""
        return self._rows.state()

    def restore(self, state: NDArray[np.int64]) -> None:
        """Have what another one had."""
        self._rows.restore(state)
