"""The view of how beliefs changed: each supersession, and when one was contested or resolved."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Table

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.belief import (
    BeliefContested,
    ConflictEscalated,
    ConflictResolved,
    MemorySuperseded,
)
from beliefledger.ledger.events.subject import SubjectErased
from beliefledger.projections import tables
from beliefledger.projections.rows import Row, delete_subjects, insert_rows
from beliefledger.projections.view import FIRST_GENERATION

_CHANGES = frozenset(
    kind.NAME
    for kind in (
        MemorySuperseded,
        BeliefContested,
        ConflictEscalated,
        ConflictResolved,
        SubjectErased,
    )
)


class ChurnView:
    """`churn`, kept up with the log."""

    name = "churn"
    types = _CHANGES
    of_bodies = True

    def __init__(self) -> None:
        self.start(FIRST_GENERATION, empty=False)

    def tables(self, generation: int) -> Sequence[Table]:
        return (tables.churn(generation),)

    def start(self, generation: int, *, empty: bool) -> None:
        (self._table,) = self.tables(generation)
        self._new: list[Row] = []
        self._gone: list[str] = []

    def apply(self, event: Recorded, connection: Connection) -> None:
        match event.event:
            case MemorySuperseded() as happened:
                memory = happened.memory
                self._superseded(event, memory.said_at, memory.said_at_stated)
            case None if event.type == MemorySuperseded.NAME:
                # Erased: it still counts, but nobody knows any more when it was said.
                self._superseded(event, None, said_at_stated=False)
            case BeliefContested() as happened:
                self._add(event, "contested", decision=happened.decision)
            case ConflictEscalated() as happened:
                self._add(event, "escalated", decision=happened.decision)
            case ConflictResolved():
                self._add(event, "resolved")
            case SubjectErased():
                self.forget(event.subject_ref or "")
            case _:
                pass

    def _superseded(self, event: Recorded, said_at: int | None, said_at_stated: bool) -> None:
        old, new = event.facts["supersedes"], event.facts["memory_id"]
        decision = event.facts["decision"]
        self._add(event, "superseded", said_at, said_at_stated, old, new, decision)

    def _add(
        self,
        event: Recorded,
        happened: str,
        said_at: int | None = None,
        said_at_stated: bool = False,
        old: str | None = None,
        new: str | None = None,
        decision: str | None = None,
    ) -> None:
        self._new.append(
            (
                event.position,
                event.subject_ref,
                event.stream,
                happened,
                said_at,
                said_at_stated,
                old,
                new,
                decision,
                event.actor,
                event.recorded_at,
            )
        )

    def forget(self, subject_ref: str) -> None:
        self._new = [row for row in self._new if row[1] != subject_ref]
        self._gone.append(subject_ref)

    def flush(self, connection: Connection) -> None:
        delete_subjects(connection, self._table, self._gone)
        insert_rows(connection, self._table, self._new)
        self._new, self._gone = [], []
