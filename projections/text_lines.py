"""What an index keeps of its texts besides words and vectors: terms, slots, sources.

It tells what a memory is about, which turn it came of, and which memories say the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping, Sequence
from hashlib import blake2b
from sys import intern
from typing import TYPE_CHECKING, Any

import numpy as np

from beliefledger.ledger.restored import Restored
from beliefledger.projections.columns import Codes
from beliefledger.projections.index_state import under, within
from beliefledger.projections.people import Person, introduced
from beliefledger.projections.set_members import NOTHING, Member, Told

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from beliefledger.projections.index_state import State
    from beliefledger.projections.lexical import Mask

USER = "user"
_DENYING = frozenset("cant cannot dont doesnt isnt arent not didnt wont never havent hasnt".split())
_OF_WORK = ("work.employer", "work.role")


class TermLists:
    """The different terms of each text, kept as numbers."""

    def __init__(self) -> None:
        self._codes = Codes()
        self._numbers = array("i")
        self._ends = array("q")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> tuple[str, ...]:
        start = self._ends[number - 1] if number else 0
        names = self._codes.names
        return tuple(names[each] or "" for each in self._numbers[start : self._ends[number]])

    def append(self, terms: Sequence[str]) -> None:
        codes = self._codes
        self._numbers.extend([codes(each) for each in dict.fromkeys(terms)])
        self._ends.append(len(self._numbers))

    def state(self) -> State:
        return {
            "names": self._codes.names,
            "numbers": np.array(self._numbers, np.int32),
            "ends": np.array(self._ends, np.int64),
        }

    def restore(self, state: State) -> None:
        """Have what another one had. Words are in memory once, however many indexes have them."""
        self._codes = Codes([*map(intern, state["names"])])
        self._numbers = array("i", state["numbers"].tobytes())
        self._ends = array("q", state["ends"].tobytes())


class TextLines:
    """One line for each text of an index, by its number."""

    def __init__(self) -> None:
        self.terms = TermLists()
        self.keys, self.entities = Codes(), Codes()
        self._key, self._entity = array("i"), array("i")
        self._claim = array("q")
        """A hash of what a memory says; 0 for turns."""
        self._source, self._sources = array("i"), Codes()
        """Of each memory: the turn it came of; −1 for turns."""
        self._of_turn: dict[str, list[int]] | None = {}
        """By turn: the memories that came of it; None until it is asked for."""
        self.turns: MutableMapping[str, int] = {}
        """By id of a turn: its number."""
        self.people: list[Person] = []
        """Those whose names memories tell."""
        self._others = bytearray()
        """Of each text: whether somebody else than the subject said it."""
        self.unreal: dict[int, frozenset[str]] = {}
        """By turn: the terms that it has only in what could or would be; none if it has none."""
        self.told_of_sets: dict[int, Told] = {}
        """By text: what it tells of sets; none if it tells nothing of any."""
        self._new = bytearray()
        """Of each text: whether it says that something is so of late."""
        self._known: dict[tuple[str, ...], bytearray] = {}

    def add(self, terms: Sequence[str], told: Told = NOTHING, *, new: bool = False) -> None:
        """Add a line for the next text, with what it tells of sets; `new` if it says that something
        is so of late."""
        if told != NOTHING:
            self.told_of_sets[len(self._key)] = told
        self._new.append(new)
        self.terms.append(terms)
        self._key.append(-1)
        self._entity.append(-1)
        self._source.append(-1)
        self._claim.append(0)
        self._others.append(0)

    def is_memory(self, number: int, memory: Mapping[str, Any]) -> None:
        """Say which memory a text is."""
        self._key[number] = self.keys(memory["attribute"])
        self._entity[number] = self.entities(memory["entity"])
        person = introduced(number, memory["attribute"], memory["claim"])
        if person is not None:
            self.people.append(person)
        self._claim[number] = _hashed(memory["claim"])
        self._came_of().setdefault(memory["turn"], []).append(number)
        self._source[number] = self._sources(memory["turn"])

    def is_turn(self, number: int, turn_id: str, role: str, unreal: frozenset[str]) -> None:
        """Say which turn a text is, in which role somebody spoke, and what is not stated in it."""
        self.turns[turn_id] = number
        if unreal:
            self.unreal[number] = unreal
        self._others[number] = role != USER

    def members(self, number: int) -> Sequence[Member]:
        """The members of sets that a text tells of."""
        return self.told_of_sets.get(number, NOTHING).members

    def new(self) -> Mask:
        """The texts that say that something is so of late."""
        return np.frombuffer(self._new, np.uint8).astype(np.bool_)

    def is_new(self, number: int) -> bool:
        """Whether a text says that something is so of late."""
        return bool(self._new[number])

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

    def key(self, number: int) -> str:
        """The key of a memory; an empty text for a turn."""
        return (self.keys.names[self._key[number]] or "") if self._key[number] >= 0 else ""

    def told_by(self, parts: Collection[str]) -> Mask:
        """The memories that tell something of others under one of these parts of a key: its first,
        or one behind whom it is about ("relation.brother.drive")."""
        told = [_of_others(name or "", parts) for name in self.keys.names]
        return np.array([*told, False])[np.frombuffer(self._key, np.int32)]

    def about(self, fits: Callable[[str], bool]) -> Mask:
        """The memories about an entity that fits."""
        told = [fits(name or "") for name in self.entities.names]
        return np.array([*told, False])[np.frombuffer(self._entity, np.int32)]

    def memories_of(self, number: int, turn_id: str) -> Sequence[int]:
        """The memories that came of a turn; none for what is no turn."""
        return self._came_of().get(turn_id, ()) if turn_id else ()

    def _came_of(self) -> dict[str, list[int]]:
        if self._of_turn is None:
            self._of_turn = {}
            for number, source in enumerate(self._source):
                if source >= 0:
                    turn_id = self._sources.names[source] or ""
                    self._of_turn.setdefault(turn_id, []).append(number)
        return self._of_turn

    def whole(self, number: int) -> int | None:
        """The memory of the same turn that says all that a memory of somebody's work says, and
        more: of a role the one that tells the employer, too."""
        if not self._is_of_work(number):
            return None
        said = set(self.terms[number])
        source = self._source[number]
        beside = self._came_of().get(self._sources.names[source] or "", ()) if source >= 0 else ()
        for each in beside:
            if self._is_of_work(each) and said < set(self.terms[each]):
                return each
        return None

    def _is_of_work(self, number: int) -> bool:
        name = self.keys.names[self._key[number]] if self._key[number] >= 0 else None
        return name in _OF_WORK

    def turn_of(self, number: int) -> int | None:
        """The text of the turn that a memory came of, where that is indexed."""
        source = self._source[number]
        return None if source < 0 else self.turns.get(self._sources.names[source] or "")

    def turns_of(self, numbers: Iterable[int]) -> set[int]:
        """The texts of the turns that some memories came of."""
        found = (self.turn_of(int(each)) for each in numbers)
        return {each for each in found if each is not None}

    def covers(self, number: int, turn: int) -> float:
        """The share of a turn's terms that a memory has; "can't" and "cannot" are told either
        way."""
        said = [each for each in self.terms[turn] if each not in _DENYING]
        return len(set(said).intersection(self.terms[number])) / max(1, len(said))

    def claim(self, number: int) -> int:
        """Equal for memories that say the same; 0 for turns."""
        return self._claim[number]

    # Keeping

    def state(self) -> State:
        """All of it, to be restored in another process."""
        return under("terms", self.terms.state()) | {
            "keys": self.keys.names,
            "entities": self.entities.names,
            "key": np.array(self._key, np.int32),
            "entity": np.array(self._entity, np.int32),
            "claim": np.array(self._claim, np.int64),
            "source": np.array(self._source, np.int32),
            "sources": self._sources.names,
            "turns": dict(self.turns),
            "people": [
                (each.number, each.kin, sorted(each.name), each.one) for each in self.people
            ],
            "others": np.frombuffer(bytes(self._others), np.uint8),
            "new": np.frombuffer(bytes(self._new), np.uint8),
            "sets": [
                (number, [list(each) for each in told.members], told.ended)
                for number, told in self.told_of_sets.items()
            ],
            "unreal": [(number, sorted(each)) for number, each in self.unreal.items()],
        }

    def restore(self, state: State) -> None:
        """Have what another one had."""
        self.terms.restore(within("terms", state))
        self.keys, self.entities = Codes(state["keys"]), Codes(state["entities"])
        self._key = array("i", state["key"].tobytes())
        self._entity = array("i", state["entity"].tobytes())
        self._claim = array("q", state["claim"].tobytes())
        self._source = array("i", state["source"].tobytes())
        self._sources, self._of_turn = Codes(state["sources"]), None
        self.turns = Restored(state["turns"], int)
        self.people = [
            Person(number, kin, frozenset(name), one) for number, kin, name, one in state["people"]
        ]
        self._others = bytearray(state["others"].tobytes())
        self._new = bytearray(state["new"].tobytes())
        self.unreal = {number: frozenset(each) for number, each in state["unreal"]}
        self.told_of_sets = {
            number: Told(
                tuple(Member(of, kind, tuple(names), *more) for of, kind, names, *more in members),
                tuple((name, tuple(those)) for name, those in ended),
            )
            for number, members, ended in state["sets"]
        }
        self._known = {}


def _hashed(claim: str) -> int:
    """The same for the same words, in every process."""
    return int.from_bytes(blake2b(claim.encode(), digest_size=8).digest(), "big", signed=True)


def _begins(name: str, wanted: Sequence[str]) -> bool:
    return any(
        name.startswith(each) and (len(name) == len(each) or name[len(each)] in ".-")
        for each in wanted
    )


def _of_others(name: str, wanted: Collection[str]) -> bool:
    first, *rest = name.split(".")
    return first in wanted or (first == "relation" and not set(rest[1:]).isdisjoint(wanted))


def places(values: NDArray[np.int64], size: int, at: NDArray[np.int64]) -> NDArray[np.int64]:
    """An array that has at each of `at` the value beside it, the last one of several, else −1."""
    held = np.full(size, -1, np.int64)
    held[at] = values
    return held
