"""The view of turns and of what became of them. Its pending rows are the extraction queue.

A turn whose words are erased has no row: there is nothing left to look at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter

from sqlalchemy import Connection, Table, func, select

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.subject import SubjectErased
from beliefledger.ledger.events.turn import (
    ExtractionCompleted,
    ExtractionFailed,
    TurnParked,
    TurnRecorded,
    TurnRetried,
)
from beliefledger.projections import tables
from beliefledger.projections.rows import insert_rows, take_subjects, update_rows
from beliefledger.projections.view import FIRST_GENERATION

_KEPT_TURNS = 100_000


@dataclass(slots=True)
class TurnRow:
    """One turn; the fields are the columns of `turns`, in their order."""

    position: int
    turn_id: str
    subject_ref: str
    session_tag: str
    role: str
    channel: str
    state: str
    version: int
    candidates: int
    attempts: int


_values = attrgetter(*(field.name for field in fields(TurnRow)))


class TurnsView:
    """`turns`, kept up with the log."""

    name = "turns"
    types = frozenset(
        {
            TurnRecorded.NAME,
            ExtractionCompleted.NAME,
            ExtractionFailed.NAME,
            TurnParked.NAME,
            TurnRetried.NAME,
            SubjectErased.NAME,
        }
    )
    of_bodies = True

    def __init__(self) -> None:
        self.start(FIRST_GENERATION, empty=False)

    def tables(self, generation: int) -> Sequence[Table]:
        return (tables.turns(generation),)

    def start(self, generation: int, *, empty: bool) -> None:
        (self._table,) = self.tables(generation)
        self._new: dict[str, TurnRow] = {}
        self._changed: dict[str, TurnRow] = {}
        self._written: dict[str, TurnRow] = {}
        self._gone: list[str] = []
        self._was: dict[str, str] = {}
        """By turn that changed: its state in the table."""
        self.changes: Counter[str] = Counter()

    def count(self, connection: Connection, generation: int) -> dict[str, int]:
        c = tables.turns(generation).c
        counted = connection.execute(select(c.state, func.count()).group_by(c.state))
        return {row[0]: row[1] for row in counted}

    def apply(self, event: Recorded, connection: Connection) -> None:
        facts = event.facts
        if event.type == TurnRecorded.NAME:
            said = event.said()
            if said is None:
                return
            self._new[event.stream] = TurnRow(
                event.position,
                event.stream,
                event.subject_ref or "",
                said["session_tag"],
                facts["role"],
                facts["channel"],
                "pending",
                1,
                0,
                0,
            )
            return
        if event.type == SubjectErased.NAME:
            self.forget(event.subject_ref or "")
            return
        row = self._row(event.stream, connection)
        if row is None:
            return  # the turn was erased
        row.version = event.version
        if event.type == ExtractionCompleted.NAME:
            row.state, row.candidates = "extracted", facts["candidates"]
        elif event.type == ExtractionFailed.NAME:
            row.attempts = facts["attempt"]
        elif event.type == TurnRetried.NAME:
            row.state, row.attempts = "pending", 0
        else:
            row.state = "parked"

    def _row(self, turn_id: str, connection: Connection) -> TurnRow | None:
        row = self._new.get(turn_id) or self._changed.get(turn_id)
        if row is not None:
            return row
        row = self._written.pop(turn_id, None)
        if row is None:
            found = connection.execute(
                select(self._table).where(self._table.c.turn_id == turn_id)
            ).first()
            if found is None:
                return None
            row = TurnRow(*found)
        self._changed[turn_id] = row
        self._was[turn_id] = row.state
        return row

    def forget(self, subject_ref: str) -> None:
        for kept in (self._new, self._changed, self._written):
            for turn_id in [i for i, row in kept.items() if row.subject_ref == subject_ref]:
                del kept[turn_id]
                self._was.pop(turn_id, None)
        self._gone.append(subject_ref)

    def flush(self, connection: Connection) -> None:
        table = self._table
        self.changes.subtract(take_subjects(connection, table, self._gone, table.c.state))
        self.changes.subtract(self._was.values())
        for rows in (self._new, self._changed):
            self.changes.update(row.state for row in rows.values())
        insert_rows(connection, table, list(map(_values, self._new.values())))
        update_rows(
            connection,
            table,
            "position",
            ("state", "version", "candidates", "attempts"),
            [
                (row.state, row.version, row.candidates, row.attempts, row.position)
                for row in self._changed.values()
            ],
        )
        if len(self._written) > _KEPT_TURNS:
            self._written = {}
        # What still waits will change: those rows are kept, so that they need not be read again.
        for kept in (self._new, self._changed):
            self._written |= {i: row for i, row in kept.items() if row.state == "pending"}
        self._new, self._changed, self._was, self._gone = {}, {}, {}, []


def parked(connection: Connection, generation: int, subject_ref: str | None) -> list[TurnRow]:
    """The turns that were set aside, oldest first."""
    table = tables.turns(generation)
    query = select(table).where(table.c.state == "parked").order_by(table.c.position)
    if subject_ref is not None:
        query = query.where(table.c.subject_ref == subject_ref)
    return [TurnRow(*row) for row in connection.execute(query)]


def positions(connection: Connection, generation: int, turns: Sequence[str]) -> dict[str, int]:
    """Where turns are in the log."""
    c = tables.turns(generation).c
    found: dict[str, int] = {}
    for start in range(0, len(turns), 500):
        some = select(c.turn_id, c.position).where(c.turn_id.in_(turns[start : start + 500]))
        found.update({row[0]: row[1] for row in connection.execute(some)})
    return found
