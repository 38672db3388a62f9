"""Who and what a subject speaks of: the directory of entities and their names, and how a name is
resolved. Pure: folded from the directory's events.

A name is looked up as it stands (without case, articles and possessives), then as a nickname, then
as nearly the name of somebody known, where the policy says what to do. Two entities are never made
one by a guess: by default a near match is a question for a person, and a nickname too, where
something is stated (`unguessed`); who only asks about somebody may call them by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from beliefledger.gate.policy import EntityRules, millionths
from beliefledger.gate.slots import canonical_entity
from beliefledger.ledger.candidate import MILLION, SELF, Candidate, Resolved
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.entity import (
    AliasAdded,
    EntitiesKeptApart,
    EntitiesMerged,
    EntityRecognised,
    EntitySplit,
)
from beliefledger.ledger.memory import Memory

if TYPE_CHECKING:
    from nicknames import NickNamer

TITLES = {
    "boss": "manager",
    "supervisor": "manager",
    "line manager": "manager",
    "mum": "mother",
    "mom": "mother",
    "dad": "father",
    "grandma": "grandmother",
    "grandpa": "grandfather",
    "fiancé": "fiance",
    "fiancée": "fiance",
    "fiancee": "fiance",
}
"""Titles with another usual form, unless somebody is known by that title."""


class Match(StrEnum):
    """How a name was found."""

    EXACT = "exact"
    NICKNAME = "nickname"
    NEAR = "near"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity as it was first known. `canonical` is the canonical form of `name`."""

    id: str
    name: str
    canonical: str


@dataclass(frozen=True, slots=True)
class Directory:
    """The entities of one subject at one version of their stream."""

    version: int = 0
    entities: Mapping[str, Entity] = field(default_factory=dict)
    """By id; absorbed ones too."""
    names: Mapping[str, str] = field(default_factory=dict)
    """From each canonical name to the id that it was last given to."""
    roles: frozenset[str] = frozenset()
    """The names that are titles, which somebody else may hold later."""
    merged: Mapping[str, str] = field(default_factory=dict)
    """From an absorbed entity to the one it went into."""
    apart: frozenset[frozenset[str]] = frozenset()
    """Pairs that a person said are two."""

    def survivor(self, entity_id: str) -> str:
        """The entity that this one was merged into, or itself."""
        while entity_id in self.merged:
            entity_id = self.merged[entity_id]
        return entity_id

    def named(self, canonical: str) -> str | None:
        """The id of the entity with this canonical name."""
        found = self.names.get(canonical) or self.names.get(TITLES.get(canonical, ""))
        return None if found is None else self.survivor(found)

    def canonical(self, entity_id: str) -> str | None:
        """The canonical form of the name that an entity was first known by."""
        known = self.entities.get(self.survivor(entity_id))
        return None if known is None else known.canonical

    def names_of(self, entity_id: str) -> tuple[str, ...]:
        """The canonical names of an entity, in the order they became known."""
        return tuple(name for name in self.names if self.named(name) == entity_id)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a name means. `entity_id` is None for somebody new; `like` names whom the new one is
    nearly called as, if a person is to be asked."""

    name: str
    canonical: str
    match: Match
    entity_id: str | None = None
    like: str | None = None
    similarity: int = MILLION
    kind: str | None = None
    """What kind of entity it is, if its place in the statement says so."""

    def of_kind(self, kind: str) -> Resolution:
        """The same, of a kind."""
        canonical, match, known = self.canonical, self.match, self.entity_id
        return Resolution(self.name, canonical, match, known, self.like, self.similarity, kind)


def resolve(directory: Directory, name: str, rules: EntityRules) -> Resolution:
    """Whom or what a name means to this subject."""
    canonical = canonical_entity(name)
    known = directory.named(canonical)
    if known is not None:
        return Resolution(name, canonical, Match.EXACT, known)
    canonical = TITLES.get(canonical, canonical)
    if canonical == SELF.casefold():
        return Resolution(name, canonical, Match.NEW)
    short = {
        found
        for other in directory.names
        if other not in directory.roles
        and _nicknamed(canonical, other)
        and (found := directory.named(other)) is not None
    }
    if len(short) == 1:
        return Resolution(name, canonical, Match.NICKNAME, short.pop())
    if rules.near == "new":
        return Resolution(name, canonical, Match.NEW)
    best, like = 0, None
    for other in directory.names:
        if other in directory.roles or other == SELF.casefold():
            continue
        near = similarity(canonical, other)
        if near >= millionths(rules.similarity) and near > best:
            best, like = near, directory.named(other)
    if like is None:
        return Resolution(name, canonical, Match.NEW)
    if rules.near == "link":
        return Resolution(name, canonical, Match.NEAR, like, similarity=best)
    return Resolution(name, canonical, Match.NEW, like=like, similarity=best)


def unguessed(found: Resolution, rules: EntityRules) -> Resolution:
    """What a name means in a statement: a nickname of somebody known is somebody new, who may be
    them. Two brothers may be called Bert and Robert."""
    if found.match is not Match.NICKNAME or rules.near == "link":
        return found
    like = found.entity_id if rules.near == "ask" else None
    return replace(found, entity_id=None, like=like, similarity=_SHORTENED)


_SHORTENED = MILLION * 9 // 10
"""How near a nickname is to the name."""


def similarity(name: str, other: str) -> int:
    """How near two canonical names are, in millionths.

    A first name alone, or names of which one has initials where the other has words, are as near
    as .9; else it is the ratio of matching characters (Ratcliff and Obershelp 1988), for names of
    the same number of words and at least four letters.
    """
    ours, theirs = name.split(), other.split()
    if len(ours) > len(theirs):
        ours, theirs = theirs, ours
    if len(ours) == 1 and len(theirs) > 1 and ours[0] == theirs[0] and ours[0].isalpha():
        return MILLION * 9 // 10
    if len(ours) != len(theirs):
        return 0
    if len(ours) > 1 and all(_initial(a, b) for a, b in zip(ours, theirs, strict=True)):
        return MILLION * 9 // 10
    if min(len(name), len(other)) < 4 or _digits(name) != _digits(other):
        return 0
    return round(SequenceMatcher(None, name, other, autojunk=False).ratio() * MILLION)


def _initial(word: str, other: str) -> bool:
    """Whether two words are the same, or one is the other's initial."""
    word, other = word.rstrip("."), other.rstrip(".")
    return word == other or (min(len(word), len(other)) == 1 and word[0] == other[0])


def _digits(name: str) -> str:
    return "".join(each for each in name if each.isdigit())


@cache
def _namer() -> NickNamer:
    from nicknames import NickNamer  # noqa: PLC0415  (it reads a table, and only names need it)

    return NickNamer()


def _nicknamed(name: str, other: str) -> bool:
    """Whether two canonical names differ only by a nickname: "liz miller", "elizabeth miller"."""
    ours, theirs = name.split(), other.split()
    if len(ours) != len(theirs) or ours[1:] != theirs[1:] or not ours[0].isalpha():
        return False
    namer = _namer()
    return theirs[0] in namer.canonicals_of(ours[0]) or theirs[0] in namer.nicknames_of(ours[0])


def evolve(directory: Directory, version: int, event: Event | None) -> Directory:
    """The directory after one more event of its stream. A name that is erased (None) is unknown,
    though its entity may be spoken of."""
    directory = replace(directory, version=version)
    match event:
        case EntityRecognised():
            known = Entity(event.entity_id, event.name, event.canonical)
            return replace(
                directory,
                entities={**directory.entities, known.id: known},
                names={**directory.names, known.canonical: known.id},
            )
        case AliasAdded():
            entities = directory.entities
            if directory.survivor(event.entity_id) not in entities:
                # Its first name is erased: it is known by this one.
                known = Entity(directory.survivor(event.entity_id), event.alias, event.canonical)
                entities = {**entities, known.id: known}
            roles = directory.roles - {event.canonical}
            if event.how == "role":
                roles |= {event.canonical}
            names = {**directory.names, event.canonical: event.entity_id}
            return replace(directory, entities=entities, names=names, roles=roles)
        case EntitiesMerged():
            # What the absorbed one had absorbed, or was called, is the other's from now on: a split
            # of one name takes no other along.
            gone, into = event.absorbed_id, event.entity_id
            merged = {one: into if to == gone else to for one, to in directory.merged.items()}
            names = {name: into if to == gone else to for name, to in directory.names.items()}
            return replace(directory, names=names, merged={**merged, gone: into})
        case EntitySplit():
            return _split(directory, event)
        case EntitiesKeptApart():
            pair = frozenset({event.entity_id, event.other_id})
            return replace(directory, apart=directory.apart | {pair})
        case _:
            return directory


def _split(directory: Directory, event: EntitySplit) -> Directory:
    """Move names to another entity, with the absorbed entities that were known by them."""
    first = event.canonicals[0] if event.canonicals else event.name
    other = Entity(event.other_id, event.name, first)
    # A name that is not there any more was erased where it was told.
    given = [each for each in event.canonicals if each in directory.names]
    names = {**directory.names, **dict.fromkeys(given, event.other_id)}
    merged = {
        absorbed: event.other_id
        if absorbed in directory.entities
        and directory.entities[absorbed].canonical in event.canonicals
        and directory.survivor(absorbed) == event.entity_id
        else into
        for absorbed, into in directory.merged.items()
    }
    return replace(
        directory,
        entities={**directory.entities, other.id: other},
        names=names,
        merged=merged,
    )


def folded(recorded: Iterable[Recorded], start: Directory | None = None) -> Directory:
    """The directory after these events of its stream."""
    directory = start or Directory()
    for each in recorded:
        directory = evolve(directory, each.version, each.event)
    return directory


def followed(
    said: Candidate | Memory, events: Sequence[Event | None], directory: Directory
) -> Resolved | None:
    """The ids after later events of the directory: the words' entities may have been merged into
    another, or split off by the name that was used."""
    resolved = said.resolved
    if resolved is None:
        return None

    def now(entity_id: str, name: str) -> str:
        canonical = canonical_entity(name)
        for event in events:
            if isinstance(event, EntitiesMerged) and event.absorbed_id == entity_id:
                entity_id = event.entity_id
            elif isinstance(event, EntitySplit) and event.entity_id == entity_id:
                entity_id = event.other_id if canonical in event.canonicals else entity_id
        return entity_id

    update: dict[str, object] = {"entity": now(resolved.entity, said.entity)}
    if resolved.target is not None:
        target = now(resolved.target, said.value)
        if target != resolved.target:
            update |= {"target": target, "target_name": directory.canonical(target)}
    update["participants"] = tuple(map(now, resolved.participants, said.participants))
    return resolved.model_copy(update=update)
