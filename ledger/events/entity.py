"""Events of one entity that a subject's memories speak of."""

from __future__ import annotations

from typing import ClassVar

from ledger.events.kind import Event, Fact


class EntityRecognised(Event):
    """A memory was written about an entity that this subject had not spoken of before."""

    NAME: ClassVar = "entity.recognised.v1"
    name: str
    canonical: str


class AliasAdded(Event):
    """Another name of the entity was stated."""

    NAME: ClassVar = "entity.alias_added.v1"
    alias: str
    canonical: str


class EntitiesMerged(Event):
    """This entity and another turned out to be one; this one goes on."""

    NAME: ClassVar = "entity.merged.v1"
    absorbed: Fact[str]


class EntitySplit(Event):
    """One entity turned out to be two; the other got the named part."""

    NAME: ClassVar = "entity.split.v1"
    other: Fact[str]
    alias: str
