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


class MemoryType(Frozen):
    """One type of memory."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    prior: float = Field(ge=0, le=1)
    half_life_days: int = Field(gt=0)
    slot: SlotRule
    ends_only_by_removal: bool = False
    """A new value does not end it; only saying that it is over does."""

    def definition(self) -> dict[str, Any]:
        return self.model_dump(mode="json") | {"prior": round(self.prior * MILLION)}

    @classmethod
    def of(cls, definition: dict[str, Any]) -> MemoryType:
        return cls.model_validate(definition | {"prior": definition["prior"] / MILLION})


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
