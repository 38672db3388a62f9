"""The order of results of a question for all of a set: every member that one has now comes first.

Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beliefledger.ledger.candidate import SELF
from beliefledger.projections.aboutness import NEW
from beliefledger.projections.current_first import Placed
from beliefledger.projections.evidence import turn_of
from beliefledger.projections.mentions import ONLY_ASKS, is_kept
from beliefledger.projections.novelty import UNREAL
from beliefledger.projections.set_members import Member, Told
from beliefledger.projections.set_questions import SetQuestion
from beliefledger.projections.sets import ROLES, sets

if TYPE_CHECKING:
    from beliefledger.projections.index import SubjectIndex
    from beliefledger.projections.lexical import Mask

MOST = 50
"""So many texts that tell of members are put first at most."""
Facts = frozenset[tuple[str, ...]]
"""What a text tells of a set: names, and kinds of which it has no name."""


class _Telling(NamedTuple):
    """A text that tells of members who are there now."""

    number: int
    names: Facts
    kinds: Facts
    unspecific: bool
    """It tells only what may be of another kind, or that is learned."""
    said_at: int
    is_memory: bool
    counted: int


def members_first(
    placed: Sequence[Placed], asked: SetQuestion, index: SubjectIndex, searched: Mask
) -> list[Placed]:
    """The results, with a text for each member before all others; as they are if there is none."""
    telling = _current(asked, index, searched)
    if not telling:
        return list(placed)
    chosen = _chosen(telling)
    if asked.counts:
        chosen = _count_first(chosen, telling, _last_loss(asked, index, searched))
    by = {number: each for each in placed for number in (each.number, *each.others)}
    first: dict[int, Placed] = {}
    for each in chosen:
        result = by.get(each.number)
        if result is None or (each.is_memory and result.number != each.number):
            result = Placed(each.number, kept=is_kept(each.number, index))
        first.setdefault(result.number, result._replace(taken_up_by=None, over=False, member=True))
    told = {turn_of(each, index) for each in first}
    rest = [
        each
        for each in placed
        if each.number not in first and not _says_the_same(each, told, first, index)
    ]
    return [*first.values(), *rest]


def _says_the_same(
    placed: Placed, told: Collection[int], first: Collection[int], index: SubjectIndex
) -> bool:
    """Whether a result is the turn of which a chosen memory came, or a memory of a chosen turn, and
    tells no more of it."""
    turn = turn_of(placed.number, index)
    if turn not in told:
        return False
    own = set(index.lines.terms[placed.number])
    return any(
        turn_of(each, index) == turn and own <= set(index.lines.terms[each]) for each in first
    )


def _chosen(telling: Sequence[_Telling]) -> list[_Telling]:
    """Texts that together tell of all members, each of something that those before it do not."""
    left, chosen = list(telling), list[_Telling]()
    known: set[tuple[str, ...]] = set()
    while left and len(chosen) < MOST:
        best = max(left, key=lambda each: _worth(each, frozenset(known)))
        left.remove(best)
        if not (best.names | best.kinds) - known:
            if any((each.names | each.kinds) - known for each in left):
                continue
            break
        chosen.append(best)
        known |= best.names | best.kinds
    return chosen


def _worth(telling: _Telling, known: Facts) -> tuple[bool, int, int, bool, int]:
    """How much a text tells that is not known, as what is compared."""
    names, kinds = len(telling.names - known), len(telling.kinds - known)
    return not telling.unspecific, names, kinds, telling.is_memory, telling.said_at


def _count_first(chosen: list[_Telling], telling: Sequence[_Telling], loss: int) -> list[_Telling]:
    """With a text that tells how many there are before all, if no member was told of later, and
    none was lost since: `loss` is when that was last told."""
    counted = [each for each in telling if each.counted]
    if not counted:
        return chosen
    newest = max(counted, key=lambda each: (each.said_at, each.is_memory))
    if loss > newest.said_at or any(each.said_at > newest.said_at for each in chosen):
        return chosen
    return [newest, *(each for each in chosen if each.number != newest.number)]


def _last_loss(asked: SetQuestion, index: SubjectIndex, searched: Mask) -> int:
    """When a text last said that one has a member no more who was told of before; 0 if never."""
    said_at, told = index.texts["said_at"], index.lines.told_of_sets
    known = {name for each in _all(told, asked) for name in (*each.names, *each.kind.split())}
    return max(
        (
            int(said_at[number])
            for number, each in told.items()
            if searched[number]
            and any(name == asked.set and known.intersection(those) for name, those in each.ended)
        ),
        default=0,
    )


def _current(asked: SetQuestion, index: SubjectIndex, searched: Mask) -> list[_Telling]:
    """The texts that tell of members whom one has now."""
    said_at, of = index.texts["said_at"], sets()[asked.set]
    told = index.lines.told_of_sets
    ended = [
        (int(said_at[number]), frozenset(those))
        for number, each in told.items()
        if searched[number]
        for name, those in each.ended
        if name == asked.set
    ]
    keyed = index.lines.keyed(of.attributes)
    real = (index.texts["prior"] > ONLY_ASKS) & (index.texts["aside"] & UNREAL == 0)
    real &= ~index.lines.others()
    found = []
    numbers = [each for each in told if searched[each] and real[each]]
    for number in numbers:
        if _is_over(number, asked.set, index, searched, keyed):
            continue
        members = [each for each in told[number].members if _fits(each, asked)]
        there = [each for each in members if not _gone(each, int(said_at[number]), ended)]
        if there:
            found.append(_telling(number, there, asked, index))
    if not asked.kind or not any(each.kind for each in _all(told, asked)):
        known = {each.number for each in found}.union(told)
        mine = index.lines.about(lambda entity: entity == SELF)
        further = keyed & searched & (mine | (not asked.alone)) & (not of_values(asked.set))
        at = np.flatnonzero(further).tolist()
        found += [_keyed(each, index) for each in at if each not in known]
    return found


def of_values(name: str) -> bool:
    """Whether a set's members are known by what they are."""
    return bool(sets()[name].verbs)


def _all(told: Mapping[int, Told], asked: SetQuestion) -> Iterator[Member]:
    """All that is told of the set that is asked for."""
    return (each for those in told.values() for each in those.members if each.set == asked.set)


def _fits(member: Member, asked: SetQuestion) -> bool:
    if member.set != asked.set or (asked.alone and not member.own):
        return False
    return not asked.kind or member.kind in {"", asked.kind}


def _gone(member: Member, said_at: int, ended: Sequence[tuple[int, frozenset[str]]]) -> bool:
    """Whether a later text says that one has all of these no more."""
    if not member.names:
        return bool(member.kind) and any(
            at > said_at and not frozenset(member.kind.split()).isdisjoint(those)
            for at, those in ended
        )
    return all(any(at > said_at and name in those for at, those in ended) for name in member.names)


def _is_over(number: int, name: str, index: SubjectIndex, searched: Mask, keyed: Mask) -> bool:
    """Whether a turn told of members by memories of which none is so any more."""
    memories = index.lines.memories_of(number, index.turn_ids[number])
    of_set = [
        each
        for each in memories
        if keyed[each] or any(one.set == name for one in index.lines.members(each))
    ]
    return bool(of_set) and not any(searched[each] for each in of_set)


def _telling(
    number: int, members: Sequence[Member], asked: SetQuestion, index: SubjectIndex
) -> _Telling:
    names = frozenset((name,) for each in members for name in each.names)
    kinds = frozenset(("", each.kind) for each in members if not each.names)
    kinds |= frozenset(("", each.kind) for each in members if each.names)
    return _Telling(
        number,
        names,
        kinds,
        all(each.learnt or (bool(asked.kind) and not each.kind) for each in members),
        int(index.texts["said_at"][number]),
        bool(index.texts["is_memory"][number]),
        max(each.number for each in members),
    )


def _keyed(number: int, index: SubjectIndex) -> _Telling:
    """A memory that tells a member by its key alone."""
    names = frozenset((each,) for each in index.lines.terms[number][-1:])
    said_at = int(index.texts["said_at"][number])
    return _Telling(
        number,
        names,
        frozenset(),
        unspecific=False,
        said_at=said_at,
        is_memory=True,
        counted=0,
    )


def named_first(
    placed: Sequence[Placed], role: str, index: SubjectIndex, searched: Mask
) -> list[Placed]:
    """The results, with the newest text before all others that says who has a role, memories
    before the turns that they came of."""
    told, said_at = index.lines.told_of_sets, index.texts["said_at"]
    asked = SetQuestion(ROLES, role)
    nothing = np.zeros(len(index), np.bool_)
    naming = [
        number
        for number, each in told.items()
        if searched[number]
        and index.texts["prior"][number] > ONLY_ASKS
        and not _is_over(number, ROLES, index, searched, nothing)
        and any(_fits(one, asked) and one.names for one in each.members)
    ]
    if not naming:
        return list(placed)
    best = max(naming, key=lambda each: (said_at[each], index.texts["is_memory"][each]))
    best = _instead(best, role, index, searched)
    by = {number: each for each in placed for number in (each.number, *each.others)}
    first = by.get(best) or Placed(best, kept=is_kept(best, index))
    first = first._replace(taken_up_by=None, member=True)
    return [first, *(each for each in placed if each.number != first.number)]


def _instead(number: int, role: str, index: SubjectIndex, searched: Mask) -> int:
    """The newest later turn that says something new of whom a text names for a role, and so perhaps
    who has it now; else the text itself."""
    names = {
        name
        for each in index.lines.members(number)
        if each.set == ROLES and each.kind == role
        for name in each.names
    }
    texts = index.texts
    having = [each for name in names for each in index.words.having(name).tolist()]
    newer = [
        each
        for each in having
        if searched[each]
        and texts["said_at"][each] > texts["said_at"][number]
        and texts["novelty"][each] >= NEW
        and not texts["aside"][each] & UNREAL
    ]
    return max(newer, key=lambda each: int(texts["said_at"][each]), default=number)
