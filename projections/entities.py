"""The view of entities: names, merges and splits, and questions for a person.

Each row holds from the position of the event that opened it until that of the one that closed it,
so that a name means as of a position whom it meant then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from sqlalchemy import Connection, Table

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.entity import (
    NAMES,
    AliasAdded,
    EntitiesAlike,
    EntitiesKeptApart,
    EntitiesMerged,
    EntityRecognised,
    EntitySplit,
)
from beliefledger.ledger.events.subject import SubjectErased
from beliefledger.projections import tables
from beliefledger.projections.intervals import EntityRow, Intervals, NameRow, QuestionRow
from beliefledger.projections.view import FIRST_GENERATION, Tagger

FIRST = "first"
"""The kind of the name that an entity was first known by."""
_KEPT_SUBJECTS = 5_000
Row = TypeVar("Row", EntityRow, NameRow)


class _Directory:
    """The open rows of one subject."""

    def __init__(
        self, entities: list[EntityRow], names: list[NameRow], asked: list[QuestionRow]
    ) -> None:
        self.entities = {row.entity_id: row for row in entities}
        self.names = {row.name_tag: row for row in names}
        self.asked = asked

    def survivor(self, entity_id: str) -> str:
        return survivor(self.entities, entity_id)


def survivor(entities: Mapping[str, EntityRow], entity_id: str) -> str:
    """The entity that this one is part of, by rows of one time."""
    seen: set[str] = set()
    while entity_id not in seen:
        seen.add(entity_id)
        row = entities.get(entity_id)
        if row is None or row.merged_into is None:
            break
        entity_id = row.merged_into
    return entity_id


class EntitiesView:
    """`entity_names`, `entities` and `entity_questions`, kept up with the log."""

    name = "entities"
    types = frozenset({SubjectErased.NAME, *NAMES})
    of_bodies = True

    def __init__(self, tag: Tagger) -> None:
        self._tag = tag
        self.start(FIRST_GENERATION, empty=False)

    def tables(self, generation: int) -> Sequence[Table]:
        return (
            tables.entity_names(generation),
            tables.entities(generation),
            tables.entity_questions(generation),
        )

    def start(self, generation: int, *, empty: bool) -> None:
        names, entities, asked = self.tables(generation)
        self._tables = names, entities, asked
        self._names = Intervals(names, NameRow, empty=empty)
        self._entities = Intervals(entities, EntityRow, empty=empty)
        self._asked = Intervals(asked, QuestionRow, empty=empty)
        self._known: dict[str, _Directory] = {}
        self._knows_all = empty
        """Whether whoever is not known here has nothing in the tables."""

    def apply(self, event: Recorded, connection: Connection) -> None:
        subject = event.subject_ref or ""
        if event.type == SubjectErased.NAME:
            self.forget(subject)
            return
        if event.event is None:
            return  # erased: nobody is known by that name, unless by a later event
        directory, at = self._directory(subject, connection), event.position
        match event.event:
            case EntityRecognised() as happened:
                # The first version of this event stood in the entity's own stream.
                entity_id = happened.entity_id or event.stream
                tag = self._tag(subject, "entity", happened.canonical)
                self._describe(directory, subject, entity_id, tag, at)
                self._name(directory, subject, tag, directory.survivor(entity_id), FIRST, at)
            case AliasAdded() as happened:
                tag = self._tag(subject, "entity", happened.canonical)
                whose = directory.survivor(happened.entity_id)
                if whose not in directory.entities:  # its first name is erased: known by this one
                    self._describe(directory, subject, whose, tag, at)
                self._name(directory, subject, tag, whose, happened.how, at)
            case EntitiesMerged() as happened:
                self._merge(directory, subject, happened, at)
            case EntitySplit() as happened:
                self._split(directory, subject, happened, at)
            case EntitiesAlike() as happened:
                if {happened.entity_id, happened.like_id} <= directory.entities.keys():
                    asked = QuestionRow(
                        0, subject, happened.entity_id, happened.like_id, happened.similarity, 0
                    )
                    directory.asked.append(self._asked.open(asked, at))
            case EntitiesKeptApart() as happened:
                pair = {happened.entity_id, happened.other_id}
                self._settle(directory, {directory.survivor(each) for each in pair}, at)
            case _:
                pass

    def _directory(self, subject: str, connection: Connection) -> _Directory:
        known = self._known.get(subject)
        if known is None:
            known = _Directory([], [], [])
            if not self._knows_all:
                known = _Directory(
                    self._entities.of_subject(connection, subject),
                    self._names.of_subject(connection, subject),
                    self._asked.of_subject(connection, subject),
                )
            self._known[subject] = known
        return known

    def _describe(
        self, directory: _Directory, subject: str, entity_id: str, tag: str | None, at: int
    ) -> None:
        """Record the words of this event as an entity's."""
        known = directory.entities.get(entity_id)
        if known is not None:
            self._entities.close(known, at)
        # Its name may be erased, and said again after it went into another one.
        into = None if known is None else known.merged_into
        row = EntityRow(0, subject, entity_id, tag, at, into, 0)
        directory.entities[entity_id] = self._entities.open(row, at)

    def _name(
        self,
        directory: _Directory,
        subject: str,
        tag: str | None,
        entity_id: str,
        how: str,
        at: int,
    ) -> None:
        """Give a name to an entity; another that had it loses it."""
        known = directory.names.get(tag)
        if known is not None:
            self._names.close(known, at)
        row = NameRow(0, subject, entity_id, tag, how, at, 0)
        directory.names[tag] = self._names.open(row, at)

    def _merge(
        self, directory: _Directory, subject: str, happened: EntitiesMerged, at: int
    ) -> None:
        into, absorbed = directory.survivor(happened.entity_id), happened.absorbed_id
        known = directory.entities.get(absorbed) or self._entities.open(
            EntityRow(0, subject, absorbed, None, at, None, 0), at
        )
        directory.entities[absorbed] = self._entities.change(known, at, merged_into=into)
        for row in _in_order(directory.entities):
            if row.merged_into == absorbed:
                directory.entities[row.entity_id] = self._entities.change(row, at, merged_into=into)
        theirs = [row for row in _in_order(directory.names) if row.entity_id == absorbed]
        self._give(directory, [row.name_tag for row in theirs], into, at)
        self._settle(directory, {into}, at)

    def _split(self, directory: _Directory, subject: str, happened: EntitySplit, at: int) -> None:
        tags = [self._tag(subject, "entity", each) for each in happened.canonicals]
        other = happened.other_id
        self._describe(directory, subject, other, tags[0] if tags else None, at)
        # Who had been absorbed under one of the names goes with it.
        for row in _in_order(directory.entities):
            if row.merged_into == happened.entity_id and row.name_tag in tags:
                directory.entities[row.entity_id] = self._entities.change(
                    row, at, merged_into=other
                )
        self._give(directory, [tag for tag in tags if tag in directory.names], other, at)

    def _give(
        self, directory: _Directory, tags: Sequence[str | None], entity_id: str, at: int
    ) -> None:
        for tag in tags:
            directory.names[tag] = self._names.change(directory.names[tag], at, entity_id=entity_id)

    def _settle(self, directory: _Directory, pair: set[str], at: int) -> None:
        """Close the questions about these entities, or about two that are now one."""
        left = []
        for row in directory.asked:
            if {directory.survivor(row.entity_id), directory.survivor(row.like_id)} == pair:
                self._asked.close(row, at)
            else:
                left.append(row)
        directory.asked = left

    def forget(self, subject_ref: str) -> None:
        self._known.pop(subject_ref, None)
        for kept in (self._names, self._entities, self._asked):
            kept.forget(subject_ref)

    def flush(self, connection: Connection) -> None:
        for kept in (self._names, self._entities, self._asked):
            kept.flush(connection)
        if len(self._known) > _KEPT_SUBJECTS:
            self._known, self._knows_all = {}, False


def _in_order(rows: Mapping[Any, Row]) -> list[Row]:
    """Rows in the order they were opened, which does not depend on how the view got here: one event
    may change several."""
    return sorted(rows.values(), key=attrgetter("row_id"))
