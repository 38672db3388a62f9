"""Who a question is about, where that is not the subject: relatives, friends, pets, by relation or
by name. Pure.

What is told of them is found by their words: those for the relation, and the name that a memory
gives them ("User's brother is Tom").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beliefledger.ledger.candidate import SELF
from beliefledger.projections.search_terms import terms

if TYPE_CHECKING:
    from beliefledger.projections.lexical import Mask
    from beliefledger.projections.slot_routing import SlotQuestion

_INTRODUCES = re.compile(r"User's (.+?) is (?:called |named )?(.+)")
_SCAFFOLD = frozenset(terms("user relation name call called named"))
_RELATION = "relation"
_BOSS = ["reports-to"]
_NAMED = 3
"""The parts of a key that ends with somebody's name, as relation.friend.priya does."""


class Person(NamedTuple):
    """Somebody whose name a memory tells: its number, the relation's term, the name's terms, and
    whether it is a relation of which people have one, so that its word alone means them."""

    number: int
    kin: str
    name: frozenset[str]
    one: bool


def introduced(number: int, attribute: str, claim: str) -> Person | None:
    """The person whose name a memory tells; None if it tells none."""
    first, *parts = attribute.split(".")
    if first != _RELATION:
        return None
    one = parts[1:] == ["name"]
    told = _INTRODUCES.fullmatch(claim)
    if told is None:
        kin = terms(parts[0]) if one else []
        name = frozenset(terms(claim)) - _SCAFFOLD - frozenset(kin)
    else:
        kin, name = terms(told[1]), frozenset(terms(told[2]))
        called = one or parts == _BOSS or parts[1:] == ["-".join(told[2].lower().split())]
        if not called or "-in-law" in told[1]:
            return None
    return Person(number, kin[-1], name, one or parts == _BOSS) if kin and name else None


def known_people(people: Sequence[Person], memories: Mask, mask: Mask) -> list[Person]:
    """Those whose names are told by memories that are searched; all, if no memories are."""
    searched = bool((mask & memories).any())
    return [each for each in people if mask[each.number]] if searched else list(people)


def same_people(people: Iterable[Person]) -> dict[str, frozenset[str]]:
    """By a word for a relative its name, and the other way round, where there is but one: "my son"
    is Emil."""
    names: dict[str, set[frozenset[str]]] = {}
    ones: set[str] = set()
    for each in people:
        names.setdefault(each.kin, set()).add(each.name)
        if each.one:
            ones.add(each.kin)
    found: dict[str, frozenset[str]] = {}
    for kin, told in names.items():
        if len(told) == 1:
            [name] = told
            found[kin] = found.get(kin, frozenset()) | name
            for term in name if kin in ones else ():
                found[term] = found.get(term, frozenset()) | {kin}
    return found


def asked_of(
    asked: SlotQuestion,
    people: Sequence[Person],
    same: Mapping[str, frozenset[str]],
    entities: Iterable[str | None],
) -> SlotQuestion:
    """The question with the people that it names, each by all their words. `entities` are whom or
    what memories are about."""
    kin = list(asked.kin)
    if asked.tense == "now":
        kin = [group.union(*(e.name for e in people if e.kin in group)) for group in kin]
    if not asked.own and asked.tense == "now":
        words = frozenset(asked.terms)
        names = [each.name for each in people]
        names += [frozenset(terms(each)) for each in entities if each and each != SELF]
        for name in names:
            if name and name <= words and not any(name <= each for each in kin):
                kin.append(name.union(*(same.get(each, ()) for each in name)))
    if tuple(kin) == asked.kin:
        return asked
    known = frozenset().union(*kin)
    rest = tuple(each for each in asked.rest if each not in known)
    return replace(asked, kin=tuple(kin), rest=rest)


def introductions(people: Sequence[Person], count: int) -> Mask:
    """Which of so many texts are memories that tell somebody's name and nothing else."""
    found = np.zeros(count, np.bool_)
    found[[each.number for each in people]] = True
    return found
