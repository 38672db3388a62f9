"""The view of recalls: when memories were shown or searched for, and which, as an auditor asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, Table, select

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.events.subject import SubjectErased
from beliefledger.projections import tables
from beliefledger.projections.rows import Row, delete_subjects, insert_rows
from beliefledger.projections.view import FIRST_GENERATION


class RecallRow(NamedTuple):
    """One recall; the fields are the columns of `recalls`, in their order."""

    position: int
    recall_id: str
    subject_ref: str
    purpose: str
    ranker: str
    embedder: str | None
    found: int
    asked_at: int
    recorded_at: int


class RecallsView:
    """`recalls` and `recalled`, kept up with the log from envelopes alone."""

    name = "recalls"
    types = frozenset({MemoriesRecalled.NAME, SubjectErased.NAME})
    of_bodies = False

    def __init__(self) -> None:
        self.start(FIRST_GENERATION, empty=False)

    def tables(self, generation: int) -> Sequence[Table]:
        return (tables.recalls(generation), tables.recalled(generation))

    def start(self, generation: int, *, empty: bool) -> None:
        self._recalls, self._recalled = self.tables(generation)
        self._new: list[Row] = []
        self._found: list[Row] = []
        self._gone: list[str] = []

    def apply(self, event: Recorded, connection: Connection) -> None:
        subject_ref = event.subject_ref or ""
        if event.type == SubjectErased.NAME:
            self.forget(subject_ref)
            return
        facts = event.facts
        memories = frozenset(facts["memories"])
        ranked = _ranked(facts)
        self._new.append(
            (
                event.position,
                event.event_id,
                subject_ref,
                facts["purpose"],
                facts["ranker"],
                facts.get("embedder"),
                len(ranked),
                facts.get("asked_at") or event.recorded_at,
                event.recorded_at,
            )
        )
        self._found += [
            (event.position, place, subject_ref, each, each in memories, score, event.recorded_at)
            for place, (each, score) in enumerate(ranked)
        ]

    def forget(self, subject_ref: str) -> None:
        self._new = [row for row in self._new if row[2] != subject_ref]
        self._found = [row for row in self._found if row[2] != subject_ref]
        self._gone.append(subject_ref)

    def flush(self, connection: Connection) -> None:
        for table in (self._recalls, self._recalled):
            delete_subjects(connection, table, self._gone)
        insert_rows(connection, self._recalls, self._new)
        insert_rows(connection, self._recalled, self._found)
        self._new, self._found, self._gone = [], [], []


def shown_in(facts: Mapping[str, Any]) -> list[str]:
    """The memories that a recall showed, in their order, by what its envelope has."""
    memories = frozenset(facts["memories"])
    return [each for each, _ in _ranked(facts) if each in memories]


def _ranked(facts: Mapping[str, Any]) -> list[tuple[str, int]]:
    """What a recall found, each once, with its score."""
    ranked = list(dict.fromkeys(facts.get("ranked") or facts["memories"]))
    return list(zip(ranked, facts["scores"] or [0] * len(ranked), strict=False))


def last(
    connection: Connection,
    generation: int,
    *,
    subject_ref: str | None = None,
    found: str | None = None,
    limit: int | None = None,
    before: int | None = None,
    searches: bool = False,
) -> list[RecallRow]:
    """The last recalls (of a subject; that showed a memory or a turn; before a position), newest
    first. With `searches`, only those that a search made."""
    table = tables.recalls(generation)
    c = table.c
    query: Select[Any] = select(table).order_by(c.position.desc())
    if subject_ref is not None:
        query = query.where(c.subject_ref == subject_ref)
    if found is not None:
        r = tables.recalled(generation).c
        query = query.where(c.position.in_(select(r.position).where(r.found == found)))
    if before is not None:
        query = query.where(c.position < before)
    if searches:
        query = query.where(c.ranker != "shown")
    if limit is not None:
        query = query.limit(limit)
    return [RecallRow(*row) for row in connection.execute(query)]


def with_id(connection: Connection, generation: int, recall_id: str) -> RecallRow | None:
    table = tables.recalls(generation)
    row = connection.execute(select(table).where(table.c.recall_id == recall_id)).first()
    return None if row is None else RecallRow(*row)
