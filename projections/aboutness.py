"""How much each text of an index is about what a question asks for. Pure.

A question that asks for a slot is answered by the slot's memories and by texts with its words; one
that asks for none by the texts that are nearest to the one that fits best.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beliefledger.ledger.candidate import SELF
from beliefledger.projections.novelty import UNREAL
from beliefledger.projections.people import introductions, known_people, same_people
from beliefledger.projections.search_terms import terms
from beliefledger.projections.slot_routing import (
    SlotQuestion,
    SlotWords,
    Words,
    change_words,
    kin_for_life,
    kin_words,
    light_terms,
    with_same,
)

if TYPE_CHECKING:
    from beliefledger.projections.index import SubjectIndex
    from beliefledger.projections.lexical import Mask, Scores

ABOUT = 0.45
"""The least aboutness of what is found by it alone."""

# How much a text is about a slot: a memory of the slot, a text that states it, names it, has one of
# its values; what it gains by a second of these, and by saying that something changed.
KEY, SAYS, NAMES, VALUE, SECOND, CHANGED = 1.0, 0.8, 0.7, 0.5, 0.1, 0.13
NEW, MAYBE_NEW = 800, 250
"""The novelty of a turn from which on it says that something changed, and below which it does not
for all that it has a word for it, in thousandths."""
OTHERS = 0.4
"""What is left where a text is about other people than the question."""
_NOTES = ("note",)
_OF_OTHERS = (*_NOTES, "event", "relation")
REST = 0.5
"""How much of it depends on the question's other terms."""
COVERED = 0.8
"""How near a text has to come to the one that fits a question without a slot best …"""
NEAREST = 0.9
"""… by its meaning alone, where it has no word of the question."""


class Aboutness(NamedTuple):
    """How much each text is about what is asked (0 to 1), and which say that something changed."""

    scores: Scores
    changed: Mask
    keyed: Mask
    """The memories of the slots asked for …"""
    of_slot: Mask
    """… and those that are not searched, such as superseded ones."""
    others: Mask
    """The texts that are about other people than the question."""
    meant: Scores
    """How near each text is to the question by meaning."""
    apart: Mask
    """The texts that do not have whom a question about others is about …"""
    told: Mask
    """… and the memories that tell more of them than their names."""
    introduces: Mask
    """The memories that tell somebody's name and nothing else."""
    names: Mask
    """Those of them that tell the name that is asked for …"""
    lasting: Mask
    """… and of these whose stay so, as a sister's does whatever else becomes of her."""
    own: Mask
    """Of a question about others: what is known to be of the subject, and not of them."""
    people: frozenset[str]
    """The terms by which people are called, which two texts may share without saying the same."""


def aboutness(
    index: SubjectIndex, asked: SlotQuestion, mask: Mask, meant: Scores, floor: float
) -> Aboutness:
    """How much each text that is searched is about what is asked. `meant` are cosines, `floor` is
    the one below which they say nothing."""
    count = len(index)
    people = known_people(index.lines.people, index.texts["is_memory"] == 1, mask)
    called = frozenset().union(*kin_words(), *(each.name | {each.kin} for each in people))
    introduces = introductions(index.lines.people, count)
    nothing = np.zeros(count, np.bool_)
    if not asked.slots and asked.tense != "now":
        none = np.zeros(count, np.float32)
        return Aboutness(
            none,
            *(nothing, nothing, nothing, nothing),
            meant,
            *(nothing, nothing, introduces, nothing, nothing, nothing),
            called,
        )
    having = _Having(index, same_people(people))
    changed = _changed(index, having)
    apart = _apart(having, asked)
    told = _told(index, apart, introduces) if asked.kin else nothing
    scores = np.zeros(count, np.float32)
    keyed = np.zeros(count, np.bool_)
    for slot in asked.slots:
        there = index.lines.keyed(slot.attributes) | _typed(index, slot)
        there &= ~_of_another_kind(having, slot, asked)
        if asked.kin:
            there &= ~apart
            there |= _told_of_others(index, having, slot, there, told)
        keyed |= there
        np.maximum(scores, _about_slot(having, slot, there, changed, asked.kin), out=scores)
    rest = having.share(asked.rest, mask)
    if asked.slots:
        scores *= (1 - REST) + REST * rest
        if not asked.own and not asked.kin:  # of others: only what names them
            scores[rest < 1] = 0
    else:
        scores = _alike(having, asked, mask, meant, floor)
    whose, others = _whose(index, having, asked, keyed, apart, told)
    scores *= whose
    scores[~mask] = 0
    if index.has_turns:
        scores[index.lines.others()] = 0
        changed[index.lines.others()] = False
    held = keyed & mask & (scores > 0)
    told &= mask
    names, lasting = _names(asked, held, apart, introduces)
    own = _own(index, apart) if asked.kin and not asked.joint else nothing
    return Aboutness(
        scores,
        changed & mask,
        held,
        keyed,
        others,
        meant,
        apart,
        told,
        introduces,
        names,
        lasting,
        own,
        called,
    )


def _names(asked: SlotQuestion, held: Mask, apart: Mask, introduces: Mask) -> tuple[Mask, Mask]:
    """The memories that tell the name that is asked for, and those of them whose bearer is so for
    good; none where something else is asked of somebody."""
    nothing = np.zeros(len(held), np.bool_)
    if not asked.named:
        return nothing, nothing
    if asked.slots:
        return introduces & held, nothing
    if not asked.kin or asked.rest:
        return nothing, nothing
    names: Mask = introduces & ~apart
    for_life = any(not each.isdisjoint(kin_for_life()) for each in asked.kin)
    return names, names if for_life else nothing


def _own(index: SubjectIndex, apart: Mask) -> Mask:
    """What memories tell of the subject that does not have whom a question is about, and their
    turns. Notes, events and relations are of others, too."""
    mine = index.lines.about(lambda entity: entity == SELF) & ~index.lines.keyed(_OF_OTHERS) & apart
    turns = sorted(index.lines.turns_of(np.flatnonzero(mine)))
    mine[turns] = apart[turns]
    return mine


def _of_another_kind(having: _Having, slot: SlotWords, asked: SlotQuestion) -> Mask:
    """The texts that name another kind of what a slot is about than the question, and not its."""
    others = slot.other_kinds(asked.terms)
    if not others:
        return np.zeros(having.count, np.bool_)
    meant = frozenset().union(*slot.kinds) - others
    wanted, unwanted = ([frozenset((each,)) for each in of] for of in (meant, others))
    another: Mask = having.any_of(unwanted) & ~having.any_of(wanted)
    return another


def _changed(index: SubjectIndex, having: _Having) -> Mask:
    """The texts that say that something changed: by a word for it, of turns by how they say it."""
    changed: Mask = having.stated(change_words()) | index.lines.new()
    novel, turns = index.texts["novelty"], index.texts["is_memory"] == 0
    real = index.texts["aside"] & UNREAL == 0
    maybe, surely = ~turns | ((novel >= MAYBE_NEW) & real), turns & (novel >= NEW) & real
    told: Mask = (changed & maybe) | surely
    return told


def _apart(having: _Having, asked: SlotQuestion) -> Mask:
    """The texts that lack one of those whom a question is about; none where it is of no others."""
    apart = np.zeros(having.count, np.bool_)
    for people in asked.kin:
        called = frozenset(each for word in people for each in having.same(word))
        apart |= ~having.any_of([frozenset((each,)) for each in called])
    return apart


def _told(index: SubjectIndex, apart: Mask, introduces: Mask) -> Mask:
    """The memories that tell more than their names of whom a question is about."""
    told: Mask = ~apart & (index.texts["is_memory"] == 1) & ~introduces
    return told & ~index.lines.keyed(_NOTES)


def _told_of_others(
    index: SubjectIndex, having: _Having, slot: SlotWords, keyed: Mask, told: Mask
) -> Mask:
    """What memories tell of others under a slot: by what it is called there, else by its words. A
    brother's job is what he drives if it is not known as one."""
    if (keyed & told).any():
        return np.zeros(len(index), np.bool_)
    stated = (
        having.stated((*slot.says, *slot.hints))
        | having.any_of(slot.names)
        | having.any_of(slot.values)
    )
    stated &= told
    return stated if stated.any() else told & index.lines.told_by(slot.theirs)


def _about_slot(
    having: _Having, slot: SlotWords, keyed: Mask, changed: Mask, kin: Sequence[Words]
) -> Scores:
    said, named = having.stated(slot.says), having.any_of(slot.names)
    valued, hinted = having.any_of(slot.values), having.stated(slot.hints)
    if slot.unless:
        other = having.any_of(slot.unless)
        said, valued, hinted = said & ~other, valued & ~other, hinted & ~other
    if kin:  # whoever is named makes up for what a hint lacks
        said = said | hinted
    else:
        valued = valued | hinted
    found = np.maximum.reduce(
        [KEY * keyed, SAYS * said, NAMES * named, VALUE * valued], dtype=np.float32
    )
    second = (said.astype(np.int8) + named + valued) > 1
    found = found + np.float32(SECOND) * second + np.float32(CHANGED) * (changed & (found > 0))
    best: Scores = np.minimum(found, 1).astype(np.float32)
    return best


def _alike(having: _Having, asked: SlotQuestion, mask: Mask, meant: Scores, floor: float) -> Scores:
    """Of a question without a slot: how near each text is to the one that fits it best, by the
    question's terms or by meaning."""
    alike: Scores = np.zeros(len(mask), np.float32)
    telling = [each for each in asked.terms if each not in light_terms()]
    said, near = having.weighed(telling or asked.terms, mask), np.where(mask, meant, 0)
    by_words = float(said.max(initial=0))
    if by_words > 0:
        np.maximum(alike, np.where(said >= COVERED * by_words, said / by_words, 0), out=alike)
    top = float(near.max(initial=0))
    if top > floor:
        least = np.where(said > 0, COVERED, NEAREST) * top
        np.maximum(alike, np.where(near >= least, near / top, 0), out=alike)
    return alike


def _typed(index: SubjectIndex, slot: SlotWords) -> Mask:
    """The memories of the slot's types."""
    there = np.zeros(len(index), np.bool_)
    if slot.types:
        of = np.isin(index.rows["type"], index.types.known(slot.types))
        at = index.rows["text"][of]
        there[at[at >= 0]] = True
    return there


def _whose(
    index: SubjectIndex, having: _Having, asked: SlotQuestion, keyed: Mask, apart: Mask, told: Mask
) -> tuple[Scores, Mask]:
    """How much of it is left for whom a text is about, and which texts are about others."""
    named = frozenset(each for term in asked.terms for each in having.same(term))
    kin = frozenset(each for word in frozenset().union(*asked.kin) for each in having.same(word))
    ours = named | kin | frozenset().union(*(w for slot in asked.slots for w in slot.names))
    whose = np.ones(len(index), np.float32)
    others = np.zeros(len(index), np.bool_)
    for people in kin_words():
        if people.isdisjoint(ours):
            called = frozenset(each for word in people for each in having.same(word))
            others |= having.any_of([frozenset((each,)) for each in called - ours])
    if asked.own and not asked.kin:
        whose[others] = OTHERS
    whose[apart] = OTHERS

    def fits(entity: str) -> bool:
        if entity == SELF:
            return asked.own and not asked.kin
        return not frozenset(terms(entity)).isdisjoint(ours)

    mine = index.lines.about(fits) | told
    if not asked.own and not asked.kin and not (keyed & mine).any():
        mine = index.lines.about(lambda entity: entity == SELF)  # who names nobody asks of them
    whose[keyed & mine] = 1
    whose[keyed & ~mine] *= OTHERS
    if asked.own and not asked.kin:  # "Priya works on the page" is of Priya, as its memory says
        theirs = index.lines.turns_of(np.flatnonzero(keyed & ~mine))
        turns = sorted(theirs - index.lines.turns_of(np.flatnonzero(keyed & mine)))
        whose[turns] = OTHERS
        others[turns] = True
    return whose, (others & ~(keyed & mine)) | (keyed & ~mine)


class _Having:
    """Which texts have which terms."""

    def __init__(self, index: SubjectIndex, names: Mapping[str, Words]) -> None:
        self._words = index.words
        self._terms = index.lines.terms
        self._unreal = index.lines.unreal
        self.count = len(index)
        self._known: dict[str, Mask] = {}
        self._names = names

    def same(self, term: str) -> frozenset[str]:
        """A term with those that are the same word, and with the name of whom it is."""
        return with_same(term) | self._names.get(term, frozenset())

    def term(self, term: str) -> Mask:
        known = self._known.get(term)
        if known is None:
            known = self._known[term] = np.zeros(self.count, np.bool_)
            known[self._words.having(term)] = True
        return known

    def any_of(self, entries: Sequence[Words]) -> Mask:
        """The texts that have all words of one of these."""
        found = np.zeros(self.count, np.bool_)
        for entry in entries:
            if all(self._words.having(term).size for term in entry):
                there = [self.term(term) for term in entry]
                found |= np.logical_and.reduce(there)
        return found

    def stated(self, entries: Sequence[Words]) -> Mask:
        """The texts that have all words of one of these outside what could or would be."""
        found = self.any_of(entries)
        for number, unreal in self._unreal.items():
            if found[number]:
                real = set(self._terms[number]) - unreal
                found[number] = any(entry <= real for entry in entries)
        return found

    def weighed(self, wanted: Sequence[str], mask: Mask) -> Scores:
        """What these terms add up to in each text, rarer ones more."""
        of = np.zeros(self.count, np.float32)
        searched = int(mask.sum())
        for term in wanted:
            there = np.logical_or.reduce([self.term(each) for each in self.same(term)]) & mask
            if there.any():
                of += np.float32(math.log(1 + searched / int(there.sum()))) * there
        return of

    def share(self, wanted: Sequence[str], mask: Mask) -> Scores:
        """The share that each text has of those of these terms that any text has."""
        of = np.zeros(self.count, np.float32)
        known = 0
        for term in wanted:
            there = np.logical_or.reduce([self.term(each) for each in self.same(term)])
            if there[mask].any():
                known += 1
                of += there
        return of / np.float32(known) if known else np.ones(self.count, np.float32)
