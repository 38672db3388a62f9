"""Which slots memories are of, by their keys. Pure.

A turn of which a memory of somebody's home came answers no question about their car, however new it
is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from beliefledger.projections.slot_routing import built_in, role_slots

if TYPE_CHECKING:
    from beliefledger.projections.index import SubjectIndex

OTHER = ""
"""Stands for a slot that is not known."""


def kept_under(numbers: Iterable[int], index: SubjectIndex) -> frozenset[str]:
    """The slots of these texts: of a memory its own, of a turn those of its memories."""
    found: set[str] = set()
    for number in numbers:
        turn_id = index.turn_ids[number]
        memories = index.lines.memories_of(number, turn_id) if turn_id else (number,)
        for each in memories:
            found |= slots_of(index.lines.key(each))
    return frozenset(found)


def all_elsewhere(numbers: Iterable[int], wanted: Collection[str], index: SubjectIndex) -> bool:
    """Whether these texts have memories, and none of these slots."""
    slots = kept_under(numbers, index)
    return bool(slots) and slots.isdisjoint(wanted)


def slots_of(key: str) -> frozenset[str]:
    """The slots that have a key, or one of which it is a further part; `OTHER` if there is none."""
    heads = (key, *(key[:at] for at, each in enumerate(key) if each in ".-"))
    known = _by_key()
    return frozenset(slot for head in heads for slot in known.get(head, ())) or frozenset((OTHER,))


@cache
def _by_key() -> Mapping[str, Collection[str]]:
    found: dict[str, list[str]] = {}
    for slot in (*built_in(), *role_slots()):
        for each in slot.attributes:
            found.setdefault(each, []).append(slot.name)
    return found
