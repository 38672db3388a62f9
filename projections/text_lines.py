"""What an index keeps of its texts besides words and vectors: terms, slots, sources.

It tells what a memory is about, which turn it came of, and which memories say the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from beliefledger.projections.columns import Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from beliefledger.projections.lexical import Mask

USER = "user"


class TextLines:
    """One line for each text of an index, by its number."""

    def __init__(self) -> None:
        self.terms: list[tuple[str, ...]] = []
        """The different terms of each text."""
        self.keys, self.entities = Codes(), Codes()
        self._key, self._entity = array("i"), array("i")
        self._claim = array("q")
        """A hash of what a memory says, which is of this process alone; 0 for turns."""
        self._source: dict[int, str] = {}
        """By memory: the id of the turn it came of."""
        self._of_turn: dict[str, list[int]] = {}
        self._turn: dict[str, int] = {}
        self.named: dict[str, list[int]] = {}
        """By a word for a relative: the memories that tell their name."""
        self._others = bytearray()
        """Of each text: whether somebody else than the subject said it."""
        self.unreal: dict[int, frozenset[str]] = {}
        """By turn: the terms that it has only in what could or would be; none if it has none."""
        self._new = bytearray()
        """Of each text: whether it says that something is so of late."""
        self._known: dict[tuple[str, ...], bytearray] = {}

    def add(self, terms: Sequence[str], *, new: bool = False) -> None:
        """Add a line for the next text; `new` if it says that something is so of late."""
        self._new.append(new)
        self.terms.append(tuple(dict.fromkeys(terms)))
        self._key.append(-1)
        self._entity.append(-1)
        self._claim.append(0)
        self._others.append(0)

    def is_memory(self, number: int, memory: Mapping[str, Any]) -> None:
        """Say which memory a text is."""
        self._key[number] = self.keys(memory["attribute"])
        self._entity[number] = self.entities(memory["entity"])
        parts = memory["attribute"].split(".")
        if parts[0] == "relation" and parts[2:] == ["name"]:
            self.named.setdefault(parts[1], []).append(number)
        self._claim[number] = hash(memory["claim"])
        self._source[number] = memory["turn"]
        self._of_turn.setdefault(memory["turn"], []).append(number)

    def is_turn(self, number: int, turn_id: str, role: str, unreal: frozenset[str]) -> None:
        """Say which turn a text is, in which role somebody spoke, and what is not stated in it."""
        self._turn[turn_id] = number
        if unreal:
            self.unreal[number] = unreal
        self._others[number] = role != USER

    def new(self) -> Mask:
        """The texts that say that something is so of late."""
        return np.frombuffer(self._new, np.uint8).astype(np.bool_)

    def others(self) -> Mask:
        """The texts that somebody else than the subject said."""
        return np.frombuffer(self._others, np.uint8).astype(np.bool_)

    def keyed(self, attributes: Sequence[str]) -> Mask:
        """The memories with one of these keys, or a further part of one."""
        if not attributes:
            return np.zeros(len(self._key), np.bool_)
        wanted = tuple(attributes)
        fits = self._known.setdefault(wanted, bytearray())
        fits += bytes(_begins(name or "", wanted) for name in self.keys.names[len(fits) :])
        # The last is for what has no key, whose number is -1.
        known = np.frombuffer(bytes(fits) + b"\0", np.bool_)
        found: Mask = known[np.frombuffer(self._key, np.int32)]
        return found

    def about(self, fits: Callable[[str], bool]) -> Mask:
        """The memories about an entity that fits."""
        told = [fits(name or "") for name in self.entities.names]
        return np.array([*told, False])[np.frombuffer(self._entity, np.int32)]

    def memories_of(self, number: int, turn_id: str) -> Sequence[int]:
        """The memories that came of a turn; none for what is no turn."""
        return self._of_turn.get(turn_id, ()) if turn_id else ()

    def turn_of(self, number: int) -> int | None:
        """The text of the turn that a memory came of, where that is indexed."""
        return self._turn.get(self._source.get(number, ""))

    def turns_of(self, numbers: Iterable[int]) -> set[int]:
        """The texts of the turns that some memories came of."""
        found = (self.turn_of(int(each)) for each in numbers)
        return {each for each in found if each is not None}

    def covers(self, number: int, turn: int) -> float:
        """The share of a turn's terms that a memory has."""
        said = self.terms[turn]
        return len(set(said).intersection(self.terms[number])) / max(1, len(said))

    def claim(self, number: int) -> int:
        """Equal for memories that say the same; 0 for turns."""
        return self._claim[number]


def _begins(name: str, wanted: Sequence[str]) -> bool:
    return any(
        name.startswith(each) and (len(name) == len(each) or name[len(each)] in ".-")
        for each in wanted
    )


def places(values: NDArray[np.int64], size: int, at: NDArray[np.int64]) -> NDArray[np.int64]:
    """An array that has at each of `at` the value beside it, the last one of several, else −1."""
    held = np.full(size, -1, np.int64)
    held[at] = values
    return held
