"""The types of memory there are: how each slots, and what it is worth at first sight."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

import yaml
from pydantic import Field

from ledger import canonical
from ledger.candidate import MILLION, Frozen
from ledger.events import Event
from ledger.events.policy import TypeRegistered, TypeRetired


class SlotRule(StrEnum):
    """What makes two statements be about the same thing."""

    ATTRIBUTE = "attribute"
    RELATION = "relation"
    CONTENT = "content"


class FieldType(Frozen):
    """What a type asks for besides a value."""

    description: str
    required: bool = False


class RelationType(Frozen):
    """One relation of the vocabulary."""

    stateful: bool = False
    """Somebody has one of these at a time: another far end takes the place of the one before."""
    inverse: str | None = None
    """The relation as seen from the far end: `manages` of `reports-to`."""
    role: str | None = None
    """What the far end is called by title: who one reports to is the `manager`."""


class MemoryType(Frozen):
    """One type of memory."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)
    description: str = ""
    prior: float = Field(ge=0, le=1)
    half_life_days: int = Field(gt=0)
    """The time constant of freshness."""
    slot: SlotRule
    ends_only_by_removal: bool = False
    """A new value does not end it; only saying that it is over does."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """The least confidence of a memory of this type, where much hangs on it; None: the policy's."""
    ttl_days: int | None = Field(default=None, gt=0)
    """How long it holds by nature, from when it began or happened; a policy may say otherwise."""
    similarity: float = Field(default=0.85, gt=0, le=1)
    """The least cosine of two rephrasings that are one memory."""
    attribute: str | None = None
    """The key of a memory of this type, such as `medication.{name}`, in `domain.attribute` form;
    None where the extractor gives the key."""
    fields: dict[str, FieldType] = Field(default_factory=dict)
    patterns: tuple[str, ...] = ()
    """How it is said, for the rules: "take {name} {dose}"."""
    prompt: str | None = None
    """What a model that extracts is told about it."""
    relations: dict[str, RelationType] = Field(default_factory=dict)
    """The vocabulary, of a type whose slot is a relation's."""

    def definition(self) -> dict[str, Any]:
        """As it is recorded, without what it leaves open; scores in millionths."""
        said = self.model_dump(mode="json", exclude_defaults=True)
        said |= {"ends_only_by_removal": self.ends_only_by_removal}
        return said | {
            name: round(said[name] * MILLION) for name in _SCORES if said.get(name) is not None
        }

    @classmethod
    def of(cls, definition: dict[str, Any]) -> MemoryType:
        return cls.model_validate(
            definition
            | {
                name: definition[name] / MILLION
                for name in _SCORES
                if definition.get(name) is not None
            }
        )


_SCORES = ("prior", "threshold", "similarity")


class Registry(Frozen):
    """The types in force, by name."""

    types: dict[str, MemoryType]

    def digest(self) -> str:
        return canonical.digest(
            canonical.encode({name: kind.definition() for name, kind in self.types.items()})
        )

    @classmethod
    def folded(cls, events: Iterable[Event | None]) -> Registry:
        """The types after these events of the policy stream."""
        types: dict[str, MemoryType] = {}
        for event in events:
            if isinstance(event, TypeRegistered):
                types[event.type] = MemoryType.of(event.definition)
            elif isinstance(event, TypeRetired):
                types.pop(event.type, None)
        return cls(types=types)


@cache
def default_types() -> tuple[MemoryType, ...]:
    """The types that every new ledger begins with."""
    text = resources.files("gate").joinpath("types.yaml").read_text("utf-8")
    return tuple(MemoryType.model_validate(each) for each in yaml.safe_load(text))
