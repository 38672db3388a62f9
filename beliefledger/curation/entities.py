"""Whom and what a subject speaks of, and where named people say which of them are one."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from beliefledger.ledger.errors import InvalidTurn, UnknownMemory
from beliefledger.opening.core import Core
from beliefledger.pages import Cut, Page
from beliefledger.reading.entities import EntityAnswer, EntityQueries
from beliefledger.reading.queries import Queries, Snapshot
from beliefledger.times import Moment


class Entities:
    """Entities of a subject: lists them, gives them names, merges and splits them."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._queries = queries
        self._entities = EntityQueries(core, queries)

    def list(
        self,
        subject: str,
        *,
        kind: str | None = None,
        questions: bool = False,
        as_of: Moment | Snapshot | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page[EntityAnswer]:
        """Whom and what a subject speaks of, those spoken of most first; the subject is `User`.

        `kind` picks persons, places and so on, as far as the words said; `questions` those of
        nearly one name, about whom a person is asked. Absorbed entities are part of others. With
        `limit` it is a page, whose `next` is given as `after` for the one behind it.
        """
        cut = Cut.of("entities", (subject, kind, questions, as_of), limit, after)
        found = self._entities.entities(
            subject, self._queries.snapshot(as_of), kind=kind, questions_only=questions
        )
        return cut.of_all(found, attrgetter("entity_id"))

    def get(
        self, subject: str, name_or_id: str, *, as_of: Moment | Snapshot | None = None
    ) -> EntityAnswer:
        """One entity, by any of its names, its id or the first characters of that. Raises
        `UnknownMemory`."""
        found = self._entities.entities(
            subject,
            self._queries.snapshot(as_of),
            kind=None,
            questions_only=False,
            given=name_or_id,
        )
        if not found:
            raise UnknownMemory(
                f"Nothing is known of {subject!r}. List who is: beliefledger subjects."
            )
        return found[0]

    def add_alias(self, subject: str, entity: str, name: str, *, by: str) -> EntityAnswer:
        """Give an entity another name, as a named principal. An entity that was first known by that
        name becomes part of this one, with its memories."""
        ref, entity_id = self._entity_of(subject, entity)
        self._core.director.alias(ref, entity_id, name, actor=self._core.actor(by))
        return self.get(subject, entity_id)

    def merge(self, subject: str, entity: str, absorbed: str, *, by: str) -> int:
        """Make two entities one, which goes on as `entity`; returns how many memories moved.

        Nothing is lost: `history` and `as_of` tell what was before.
        """
        ref, entity_id = self._entity_of(subject, entity)
        absorbed_id = self._entities.find(subject, ref, absorbed)
        return self._core.director.merge(ref, entity_id, absorbed_id, actor=self._core.actor(by))

    def split(self, subject: str, entity: str, names: Sequence[str], *, by: str) -> str:
        """Make some of an entity's names another entity's, with the memories that were written
        under them; returns the other's id."""
        if isinstance(names, str):
            raise InvalidTurn("names: give a list of names.")
        ref, entity_id = self._entity_of(subject, entity)
        memories = self._entities.about(ref, entity_id)
        return self._core.director.split(
            ref, entity_id, names, memories, actor=self._core.actor(by)
        )

    def keep_apart(self, subject: str, entity: str, other: str, *, by: str) -> None:
        """Say that two entities of nearly one name are two; nobody is asked about them again."""
        ref, entity_id = self._entity_of(subject, entity)
        other_id = self._entities.find(subject, ref, other)
        if entity_id == other_id:
            raise InvalidTurn(f"{entity!r} and {other!r} are one entity; split it.")
        self._core.director.keep_apart(ref, entity_id, other_id, actor=self._core.actor(by))

    def _entity_of(self, subject: str, entity: str) -> tuple[str, str]:
        ref = self._entities.subject(subject)
        return ref, self._entities.find(subject, ref, entity)
