"""The view of decisions: one row for each, from envelopes alone, so that it outlives erasures."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Table, update

from ledger.codec import Recorded
from ledger.events.belief import ConflictResolved
from ledger.events.subject import SubjectErased
from ledger.events.turn import GateDecided, ReviewDecided
from projections import tables
from projections.view import Row, insert_rows

WAITING = frozenset({"queue", "escalate"})
"""The outcomes that wait for a person."""


class DecisionsView:
    """`decisions`, kept up with the log."""

    name = "decisions"
    types = frozenset(
        {GateDecided.NAME, ReviewDecided.NAME, ConflictResolved.NAME, SubjectErased.NAME}
    )

    def __init__(self) -> None:
        self.start(0, empty=False)

    def tables(self, generation: int) -> Sequence[Table]:
        return (tables.decisions(generation),)

    def start(self, generation: int, *, empty: bool) -> None:
        (self._table,) = self.tables(generation)
        self._new: list[Row] = []
        self._settled: list[tuple[str, int]] = []
        self._gone: list[str] = []

    def apply(self, event: Recorded, connection: Connection) -> None:
        if event.type == GateDecided.NAME:
            facts = event.facts
            self._new.append(
                (
                    event.position,
                    event.event_id,
                    event.subject_ref,
                    event.stream,
                    facts["candidate_version"],
                    facts["type"],
                    facts["outcome"],
                    facts["reason"],
                    facts["c"],
                    facts["mentions"],
                    facts["belief"],
                    facts["memory"],
                    facts["policy"],
                    event.recorded_at,
                    facts["outcome"] in WAITING,
                    None,
                )
            )
        elif event.type == ReviewDecided.NAME:
            self._settled.append((event.facts["decision"], event.position))
        elif event.type == ConflictResolved.NAME:
            self._settled += [(each, event.position) for each in event.facts["settles"]]
        elif event.type == SubjectErased.NAME:
            self._gone.append(event.subject_ref or "")

    def flush(self, connection: Connection) -> None:
        insert_rows(connection, self._table, self._new)
        for decision_id, position in self._settled:
            connection.execute(
                update(self._table)
                .where(self._table.c.decision_id == decision_id)
                .values(settled=position, waits=False)
            )
        for subject_ref in self._gone:
            # Nobody is asked any more about a person who was erased.
            connection.execute(
                update(self._table)
                .where(self._table.c.subject_ref == subject_ref)
                .values(waits=False)
            )
        self._new, self._settled, self._gone = [], [], []
