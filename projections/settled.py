"""Results, each once: what took a text's place comes before it, and a memory and the turn that it
came of are one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Line(NamedTuple):
    """A result as `settled` sees it: its number, the memories that came of it if it is a turn, the
    turn it came of if it is a memory, and what is equal for memories that say the same."""

    number: int
    memories: Sequence[int] = ()
    turn: int | None = None
    claim: int = 0
    most: bool = True
    """A memory says most of what its turn says …"""
    asked: bool = False
    """… or is of the slot that is asked for."""


def settled(
    order: Sequence[int],
    line_of: Callable[[int], Line],
    instead: Callable[[Line], int | None],
) -> list[tuple[int, tuple[int, ...]]]:
    """Results, each once, with the texts that are one with it. Before a text that was superseded
    comes what took its place."""
    placed: dict[int, None] = {}
    for number in order:
        newer = instead(line_of(number))
        if newer is not None:
            placed.setdefault(newer)
        placed.setdefault(number)
    results = _Results()
    for number in placed:
        results.add(line_of(number))
    return [(number, tuple(others)) for number, others in results.kept if number >= 0]


class _Results:
    """Results, to which lines are added one by one."""

    def __init__(self) -> None:
        self.kept: list[tuple[int, list[int]]] = []
        """Each with the texts that are one with it; −1 for what another took in."""
        self._claims: dict[int, int] = {}
        self._turns: dict[int, int] = {}
        """By turn: the result that it is in, itself or by a memory that says most of it …"""
        self._parts: dict[int, list[int]] = {}
        """… and those of memories that say a part of it."""

    def add(self, line: Line) -> None:
        if line.claim and line.claim in self._claims:
            self.kept[self._claims[line.claim]][1].append(line.number)
        elif not line.claim:
            self._add_turn(line)
        elif line.turn is None or not self._join(line):
            self._claims[line.claim] = len(self.kept)
            if line.turn is not None:
                of = self._parts.setdefault(line.turn, [])
                if line.most:
                    self._turns.setdefault(line.turn, len(self.kept))
                elif not line.asked:
                    of.append(len(self.kept))
            self.kept.append((line.number, []))

    def _join(self, memory: Line) -> bool:
        """Put a memory with its turn, where that has a place already."""
        assert memory.turn is not None
        at = self._turns.get(memory.turn)
        if at is None or self.kept[at][0] != memory.turn:
            return False
        kept, others = self.kept[at]
        if memory.most:  # the memory stands for its turn
            self.kept[at] = memory.number, [*others, kept]
        elif memory.asked:
            return False
        else:
            others.append(memory.number)
        self._claims[memory.claim] = at
        return True

    def _add_turn(self, turn: Line) -> None:
        known, parts = self._turns.get(turn.number), self._parts.get(turn.number, ())
        if known is not None:
            self.kept[known][1].append(turn.number)
            return
        if not parts:
            self._turns[turn.number] = len(self.kept)
            self.kept.append((turn.number, []))
            return
        # It says more than each of the memories: it stands for them, where the first of them was.
        first = self._turns[turn.number] = parts[0]
        others = [each for part in parts for each in (self.kept[part][0], *self.kept[part][1])]
        for part in parts:
            self.kept[part] = -1, []
        self.kept[first] = turn.number, others
