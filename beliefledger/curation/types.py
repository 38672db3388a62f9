"""Types of memory: adding, listing, retiring them."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

from beliefledger.curation.backfill import Backfill
from beliefledger.gate.registry import BUILT_IN, MemoryType, default_types, load_type
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.errors import TypeInvalid
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.pages import Cut, Page
from beliefledger.projections import standing_memories
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.reading.queries import Queries


class TypeAnswer(Frozen):
    """A type of memory, and how many memories of it stand."""

    name: str
    description: str
    built_in: bool
    retired: bool
    slot: str
    supersession: str
    prior: float
    half_life_days: int
    threshold: float | None
    ttl_days: int | None
    similarity: float
    category: str | None
    attribute: str | None
    value: str | None
    fields: dict[str, dict[str, Any]]
    patterns: tuple[str, ...]
    prompt: str | None
    relations: dict[str, dict[str, Any]]
    memories: int


class Types:
    """The types in force and those retired; `backfill` moves memories to one."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._queries = queries
        self.backfill = Backfill(core, queries, self.get)

    def list(self, *, limit: int | None = None, after: str | None = None) -> Page[TypeAnswer]:
        """The types of memory: those in force, then those that were retired. With `limit` it is a
        page, whose `next` is given as `after` for the one behind it."""
        cut = Cut.of("types", (), limit, after)
        registry = self._core.rulebook.refreshed().registry
        with self._queries.view(BeliefsView.name) as (connection, generation):
            counts = standing_memories.by_type(connection, generation)
        kinds = cut.of_all(
            (*registry.types.values(), *registry.retired.values()), attrgetter("name")
        )
        answers = (
            _type_answer(kind, counts.get(kind.name, 0), retired=kind.name in registry.retired)
            for kind in kinds
        )
        return Page(answers, kinds.next)

    def get(self, name: str) -> TypeAnswer:
        """One type of memory, retired ones too. Raises `TypeInvalid` where there is none."""
        known = self.list()
        for answer in known:
            if answer.name == name:
                return answer
        names = ", ".join(answer.name for answer in known)
        raise TypeInvalid(f"There is no type {name!r}; there are {names}.")

    def add(
        self, source: MemoryType | Path | str | Mapping[str, Any], *, by: str = SYSTEM
    ) -> TypeAnswer:
        """Put a type in force: a YAML file, its fields, or the name of a retired one or of one
        that newer ledgers begin with (`note`).

        The same definition twice is once; another one of the same name replaces it, as long as its
        memories stay where they lie. Raises `TypeInvalid`.
        """
        retired = self._core.rulebook.refreshed().registry.retired
        kind = _named(source, retired) or load_type(source)
        special = self._core.rulebook.refreshed().policy.special_categories
        if kind.category is not None and kind.category not in special:
            raise TypeInvalid(
                f"category: {kind.category!r} is none of the policy's special categories; there are"
                f" {', '.join(special)}."
            )
        self._core.rulebook.register(kind, self._core.actor(by))
        self._core.gate.forget()
        return self.get(kind.name)

    def retire(self, name: str, *, by: str = SYSTEM) -> TypeAnswer:
        """Let no more memories of a type be written; those that there are stay, and are shown.

        Raises `TypeInvalid` where there is no such type.
        """
        self._core.rulebook.retire(name, self._core.actor(by))
        self._core.gate.forget()
        return self.get(name)


def _named(source: object, retired: Mapping[str, MemoryType]) -> MemoryType | None:
    """The retired or built-in type of this name."""
    if not isinstance(source, str):
        return None
    built_in = {kind.name: kind for kind in default_types()}
    return retired.get(source) or built_in.get(source)


def _type_answer(kind: MemoryType, memories: int, *, retired: bool) -> TypeAnswer:
    said = kind.model_dump(mode="json")
    return TypeAnswer(
        built_in=kind.name in BUILT_IN,
        retired=retired,
        supersession=kind.supersession.value,
        memories=memories,
        **{name: said[name] for name in TypeAnswer.model_fields if name in said},
    )
