"""Sets: what somebody has several of, such as pets, children, allergies, instruments; and roles:
who does something for them. Pure.

By which words a set and its members are called is in sets.yaml, those of roles are in roles.yaml.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from beliefledger.ledger.data_files import data
from beliefledger.projections.search_terms import stems, terms, words

Noun = tuple[str, ...]


class Named(NamedTuple):
    """What a noun calls: a member of a set, of one kind of it, or one that it names by itself."""

    set: str
    kind: str = ""
    """Empty where it may be of any."""
    value: bool = False
    plural: bool = False


class MemberSet(NamedTuple):
    """A set, and the words that it is spoken of by."""

    name: str
    beside: frozenset[str]
    """What a question for all of it may have besides its nouns."""
    attributes: tuple[str, ...]
    verbs: frozenset[Noun]
    """What one does with a value of one's own."""
    learnt: frozenset[Noun]
    """What one does with a value that is not one's own yet."""
    having: frozenset[str]
    """Further verbs by which one comes to have a member."""
    states: frozenset[str]
    """Words by which somebody is said to be of it: allergic."""
    ends: tuple[frozenset[str], ...]
    """Stems by which one has a member no more."""


class Vocabulary(NamedTuple):
    """Further words of questions and of texts."""

    shapes: frozenset[str]
    plain: frozenset[str]
    theirs: frozenset[str]
    own: frozenset[str]
    all_of_us: frozenset[str]
    past: frozenset[str]
    role_shapes: frozenset[str]
    of_roles: frozenset[str]
    having: frozenset[str]
    subjects: frozenset[str]
    possessives: frozenset[str]
    fillers: frozenset[str]
    before: frozenset[str]
    between: frozenset[str]
    called: frozenset[str]
    not_so: frozenset[str]
    compounds: frozenset[str]
    unnamed: frozenset[str]
    titles: frozenset[str]
    naming: frozenset[str]
    prepositions: frozenset[str]
    others: frozenset[str]
    contracted: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, int]


ROLES = "roles"
"""The set of whoever does something for somebody; each role is a kind."""
_OF_ROLES = {"set": ROLES, "gained": ("found", "hired", "appointed", "hire")}
LONGEST = 3
"""The most words of a noun or a verb."""


@cache
def sets() -> Mapping[str, MemberSet]:
    """All sets, by their names."""
    return {each["set"]: _set(each) for each in (*_written(), _OF_ROLES)}


@cache
def nouns() -> Mapping[Noun, tuple[Named, ...]]:
    """What the nouns of all sets call, singular and plural."""
    found: dict[Noun, list[Named]] = {}
    for each in _written():
        name = each["set"]
        some = [(noun, Named(name)) for noun in each["all"]]
        for kind, called in each.get("kinds", {}).items():
            some += [(noun, Named(name, kind)) for noun in called]
        some += [(noun, Named(name, "", value=True)) for noun in each.get("values", ())]
        for noun, named in some:
            one, _, several = noun.partition("/")
            found.setdefault(tuple(one.split()), []).append(named)
            of_many = tuple((several or plural(one)).split())
            found.setdefault(of_many, []).append(named._replace(plural=True))
    for first, *others in (each["role"] for each in roles()):
        for noun in (first, *others):
            found.setdefault(tuple(noun.split()), []).append(Named(ROLES, first))
    return {noun: tuple(called) for noun, called in found.items()}


def roles() -> list[Mapping[str, Any]]:
    """The roles, as they are written."""
    found: list[Mapping[str, Any]] = data("beliefledger.projections", "roles.yaml")
    return found


@cache
def vocabulary() -> Vocabulary:
    """The words of set_words.yaml."""
    written = data("beliefledger.projections", "set_words.yaml")
    lists = {name: frozenset(some) for name, some in written.items() if isinstance(some, list)}
    contracted = {short: tuple(said.split()) for short, said in written["contracted"].items()}
    return Vocabulary(**lists, contracted=contracted, numbers=written["numbers"])


def plural(noun: str) -> str:
    """The plural of a noun that is made with an s."""
    if noun.endswith(("s", "x", "sh", "ch")):
        return f"{noun}es"
    return f"{noun}s"


def _set(given: Mapping[str, Any]) -> MemberSet:
    return MemberSet(
        name=given["set"],
        beside=frozenset(word for each in given.get("with", ()) for word in words(each)),
        attributes=tuple(given.get("attributes", ())),
        verbs=_forms(given.get("verbs", ())),
        learnt=_forms(given.get("learnt", ())),
        having=frozenset(given.get("gained", ())),
        states=frozenset(given.get("states", ())),
        ends=tuple(frozenset(terms(each) or stems(words(each))) for each in given.get("ends", ())),
    )


def _forms(verbs: Iterable[str]) -> frozenset[Noun]:
    """The stems of verbs, as they are compared with those of a text."""
    return frozenset(tuple(stems(each.split())) for each in verbs)


@cache
def _written() -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = data("beliefledger.projections", "sets.yaml")
    return found
