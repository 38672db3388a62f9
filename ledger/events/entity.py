"""Events of the entities that a subject's memories speak of: their names, which of them are one.

All entities of a subject share one stream, their directory, so that "is this name known?" has one
answer at one version. `entity_id` is an entity's id: an HMAC of the name it was first known by.
"""

from typing import ClassVar

from beliefledger.ledger.events.kind import Event, Fact
from beliefledger.ledger.fields import Score


class EntityRecognised(Event):
    """A memory was written about an entity that this subject had not spoken of before."""

    NAME: ClassVar = "entity.recognised.v2"
    entity_id: Fact[str]
    name: str
    canonical: str
    kind: str | None = None
    """What it is, as far as the words say: `person`, `place`, `organisation`, `animal`, `thing`."""


class AliasAdded(Event):
    """Another name of an entity became known. A name that was another entity's alias moves."""

    NAME: ClassVar = "entity.alias_added.v1"
    entity_id: Fact[str]
    how: Fact[str]
    """`stated`, `role` (a title that somebody else may hold later), `nickname`, `near`,
    `speaker` (turns of the subject are spoken under it) or `actor`."""
    decision: Fact[str | None] = None
    """The decision whose words said so; None where a principal did."""
    alias: str
    canonical: str


class EntitiesMerged(Event):
    """Two entities turned out to be one; `entity_id` goes on, with the names of both. The memories
    of the absorbed one move in the same append."""

    NAME: ClassVar = "entity.merged.v1"
    entity_id: Fact[str]
    absorbed_id: Fact[str]
    how: Fact[str]
    decision: Fact[str | None] = None


class EntitySplit(Event):
    """One entity turned out to be two; `other_id` takes some of the names, and the memories that
    were written under them move in the same append."""

    NAME: ClassVar = "entity.split.v1"
    entity_id: Fact[str]
    other_id: Fact[str]
    name: str
    canonicals: tuple[str, ...]


class EntitiesAlike(Event):
    """A new entity has nearly the name of a known one, and the policy says to ask: a person decides
    whether they are one."""

    NAME: ClassVar = "entity.alike.v1"
    entity_id: Fact[str]
    like_id: Fact[str]
    similarity: Fact[Score]
    decision: Fact[str | None] = None


class EntitiesKeptApart(Event):
    """A principal said that two entities of nearly one name are two."""

    NAME: ClassVar = "entity.kept_apart.v1"
    entity_id: Fact[str]
    other_id: Fact[str]


NAMES = frozenset(
    event.NAME
    for event in list(globals().values())
    if isinstance(event, type) and issubclass(event, Event) and hasattr(event, "NAME")
)
"""The names of the events of a subject's directory."""
