"""Which texts state what is asked, and which only mention it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from beliefledger.ledger.candidate import MILLION
from beliefledger.projections.aboutness import Aboutness
from beliefledger.projections.kept_slots import OTHER, all_elsewhere
from beliefledger.projections.novelty import THEIRS, UNREAL
from beliefledger.projections.slot_routing import SlotQuestion
from beliefledger.projections.text_lines import USER

if TYPE_CHECKING:
    from beliefledger.projections.index import SubjectIndex

ONLY_ASKS = MILLION // 2
"""The prior of a turn that states nothing."""
SIMILAR = 0.5
"""The least nearness in meaning, of the nearest's, of what may come first by its time."""
BY_NAME = 0.7
"""The least aboutness of a text that names what is asked or states it."""
LEAST_SHARED = 2
"""The fewest terms of a text by which a later one says it anew, where both name people."""
RESTATED = 0.5
"""The least share of what a memory came of that a later text has to have to say it anew."""


def weight(
    number: int, asked: SlotQuestion, about: Aboutness, found: Sequence[int], index: SubjectIndex
) -> int:
    """1 for what may come first by its time: a memory of the slot, a turn that says something
    changed or states as much as the best does, and one that says anew what a memory came of; 0 for
    what only mentions it, beside a memory, and for what is much less near to the question."""
    if about.keyed[number] or about.lasting[number]:
        return 1
    if any(about.lasting[each] for each in found):  # her name is told, whatever else is said of her
        return 0
    if about.changed[number] and not (
        _in_passing(number, about, found, index) or _elsewhere(number, asked, about, found, index)
    ):
        return 1
    aside, bits = index.texts["aside"], THEIRS | UNREAL if asked.own and not asked.kin else UNREAL
    if asked.tense == "now" and aside[number] & bits:
        return int(all(aside[each] & bits for each in found))
    held = [each for each in found if about.keyed[each]]
    if held:
        return int(any(restates(number, each, index, about.people) for each in held))
    if not asked.own and not asked.kin:
        return 1
    if asked.kin:  # that somebody is called Tom says nothing else of them
        held = [each for each in found if _tells(each, about, index)]
    held = held or [each for each in found if is_kept(each, index)]
    if held and number not in held:
        return int(any(restates(number, each, index, about.people) for each in held))
    best = max(float(about.meant[each]) for each in found)
    return int(about.meant[number] >= SIMILAR * best)


def _elsewhere(
    number: int, asked: SlotQuestion, about: Aboutness, found: Sequence[int], index: SubjectIndex
) -> bool:
    """Whether all memories of a text are known to be of slots that are not asked for, beside one of
    a slot that is: "got a work phone too now" says nothing of the user's work."""
    if not asked.slots or not any(about.keyed[each] for each in found):
        return False
    return all_elsewhere((number,), {OTHER, *(each.name for each in asked.slots)}, index)


def _in_passing(number: int, about: Aboutness, found: Sequence[int], index: SubjectIndex) -> bool:
    """Whether a text has but a value that may be of what is asked ("the golf went to a student"),
    beside a memory of it that is much nearer to the question. "These days" is not in passing."""
    if index.lines.is_new(number):
        return False
    held = [float(about.meant[each]) for each in found if about.keyed[each]]
    value = about.scores[number] < BY_NAME
    return bool(held) and bool(value) and about.meant[number] < SIMILAR * max(held)


def only_mentions(
    numbers: Collection[int],
    asked: SlotQuestion,
    about: Aboutness,
    found: Sequence[int],
    index: SubjectIndex,
) -> bool:
    """Whether a result, of one or several texts, is about what is asked and only mentions it."""
    there = [each for each in numbers if each in found]
    return bool(there) and not any(weight(each, asked, about, found, index) for each in there)


def is_kept(number: int, index: SubjectIndex) -> bool:
    """Whether a text is a memory, or a turn of which one came."""
    return not index.turn_ids[number] or bool(
        index.lines.memories_of(number, index.turn_ids[number])
    )


def _tells(number: int, about: Aboutness, index: SubjectIndex) -> bool:
    """Whether a text is a memory of whom is asked about, or a turn of which one came."""
    memories = index.lines.memories_of(number, index.turn_ids[number])
    return bool(about.told[number]) or any(about.told[each] for each in memories)


def restates(
    number: int, memory: int, index: SubjectIndex, people: Collection[str] = frozenset()
) -> bool:
    """Whether a later text states again, with other words for some, what a memory came of. That it
    is about the same people is not enough."""
    said_at, lines = index.texts["said_at"], index.lines
    if said_at[number] <= said_at[memory] or index.texts["prior"][number] <= ONLY_ASKS:
        return False
    turn = lines.turn_of(memory)
    before = set(lines.terms[memory if turn is None else turn]) - {USER}
    least = LEAST_SHARED if before.intersection(people) else 1
    before = before.difference(people)
    shared = len(before.intersection(lines.terms[number]))
    return shared >= max(least, RESTATED * len(before))
