"""Columns of integers, and small numbers for names: what an index is kept in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Columns:
    """Columns of integers that grow together."""

    def __init__(self, names: Sequence[str]) -> None:
        self._places = {name: place for place, name in enumerate(names)}
        self._held = np.zeros((len(names), 64), np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        """A column, to look at and to change."""
        found: NDArray[np.int64] = self._held[self._places[name], : self._count]
        return found

    def add(self, rows: Sequence[Sequence[int]]) -> None:
        if not rows:
            return
        count = self._count + len(rows)
        if count > self._held.shape[1]:
            larger = np.zeros((len(self._places), max(count, 2 * self._count)), np.int64)
            larger[:, : self._count] = self._held[:, : self._count]
            self._held = larger
        self._held[:, self._count : count] = np.asarray(rows, np.int64).T
        self._count = count

    def state(self) -> NDArray[np.int64]:
        """All of it, to be restored in another process."""
        return self._held[:, : self._count]

    def restore(self, state: NDArray[np.int64]) -> None:
        """Have what another one had."""
        self._held, self._count = state, state.shape[1]


class Codes:
    """Assigns small numbers to names."""

    def __init__(self, names: Sequence[str | None] = ()) -> None:
        self.names = list(names)
        self._codes: dict[str | None, int] = {}
        """None of them until the first is asked for: of many names that takes long."""

    def __call__(self, name: str | None) -> int:
        codes = self._known()
        code = codes.get(name)
        if code is None:
            code = codes[name] = len(self.names)
            self.names.append(name)
        return code

    def _known(self) -> dict[str | None, int]:
        if len(self._codes) < len(self.names):  # names that came all at once
            self._codes = {name: code for code, name in enumerate(self.names)}
        return self._codes

    def known(self, names: Sequence[str | None]) -> list[int]:
        """The numbers of those of these names that are there."""
        codes = self._known() if names else {}
        return [codes[name] for name in names if name in codes]
