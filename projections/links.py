"""The view of links: which entities each memory speaks of, and as what.

A memory links to whom it is `about`, as a relation to its far end (`target`), and to each
`participant`. When entities merge or split, the links follow; as of a position they are what they
were then. Memories from before entities had ids link to nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, Table, and_

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.belief import WRITING, MemoryMovedIn, Written
from beliefledger.ledger.events.entity import EntitiesMerged, EntitySplit
from beliefledger.ledger.events.subject import SubjectErased
from beliefledger.projections import tables
from beliefledger.projections.intervals import Intervals, LinkRow
from beliefledger.projections.view import FIRST_GENERATION, Tagger

ABOUT, TARGET, PARTICIPANT = "about", tables.FAR_END, "participant"


def relation_name(attribute: str) -> str:
    """The relation that an attribute such as `relation.reports-to` names."""
    parts = attribute.casefold().split(".")
    name = parts[1] if parts[0] == "relation" and len(parts) > 1 else parts[0]
    return "-".join(name.split())


class LinksView:
    """`links`, kept up with the log."""

    name = "links"
    types = WRITING | {EntitiesMerged.NAME, EntitySplit.NAME, SubjectErased.NAME}
    of_bodies = True

    def __init__(self, tag: Tagger) -> None:
        self._tag = tag
        self.start(FIRST_GENERATION, empty=False)

    def tables(self, generation: int) -> Sequence[Table]:
        return (tables.links(generation),)

    def start(self, generation: int, *, empty: bool) -> None:
        (self._table,) = self.tables(generation)
        self._links = Intervals(self._table, LinkRow, empty=empty)

    def apply(self, event: Recorded, connection: Connection) -> None:
        subject, at = event.subject_ref or "", event.position
        if event.type == SubjectErased.NAME:
            self.forget(subject)
            return
        match event.event:
            case Written() as happened:
                again = getattr(happened, "promotes", None) is not None
                if again or isinstance(happened, MemoryMovedIn):
                    for row in self._of_memory(happened.memory_id, connection):
                        self._links.close(row, at)
                for row in self._said(subject, happened, at):
                    self._links.open(row, at)
            case EntitiesMerged() as happened:
                for row in self._of_entity(subject, happened.absorbed_id, connection):
                    self._links.change(row, at, entity_id=happened.entity_id)
            case EntitySplit() as happened:
                names = {self._tag(subject, "entity", each) for each in happened.canonicals}
                for row in self._of_entity(subject, happened.entity_id, connection):
                    if row.name_tag in names:
                        self._links.change(row, at, entity_id=happened.other_id)
            case None if event.type != EntitySplit.NAME:  # what a memory said is erased
                for row in self._of_memory(event.facts["memory_id"], connection):
                    self._links.close(row, at)
            case _:
                pass  # who is meant by which name is erased: all stay as they were

    def _said(self, subject: str, happened: Written, at: int) -> Iterator[LinkRow]:
        memory, resolved = happened.memory, happened.memory.resolved
        if resolved is None:
            return
        relation = None
        if resolved.target is not None:
            relation = self._tag(subject, "relation", relation_name(memory.attribute))
        named = [(ABOUT, 0, resolved.entity, memory.entity)]
        if resolved.target is not None:
            named.append((TARGET, 0, resolved.target, memory.value))
        for place, entity_id in enumerate(resolved.participants):
            name = memory.participants[place] if place < len(memory.participants) else ""
            named.append((PARTICIPANT, place, entity_id, name))
        for part, place, entity_id, name in named:
            yield LinkRow(
                0,
                subject,
                happened.memory_id,
                part,
                place,
                entity_id,
                self._tag(subject, "entity", name or None),
                relation,
                memory.negated,
                at,
                0,
            )

    def _of_memory(self, memory_id: str, connection: Connection) -> list[LinkRow]:
        return self._links.standing(
            connection,
            self._table.c.memory_id == memory_id,
            lambda row: row.memory_id == memory_id,
        )

    def _of_entity(self, subject: str, entity_id: str, connection: Connection) -> list[LinkRow]:
        c = self._table.c
        return self._links.standing(
            connection,
            and_(c.entity_id == entity_id, c.subject_ref == subject),
            lambda row: row.entity_id == entity_id and row.subject_ref == subject,
        )

    def forget(self, subject_ref: str) -> None:
        self._links.forget(subject_ref)

    def flush(self, connection: Connection) -> None:
        self._links.flush(connection)
