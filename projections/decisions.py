"""The view of decisions: one row for each, from envelopes alone, so that it outlives erasures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Connection, Table, func, select, update

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.belief import ConflictEscalated, ConflictResolved
from beliefledger.ledger.events.subject import ContentErased, SubjectErased
from beliefledger.ledger.events.turn import GateDecided, ReviewDecided
from beliefledger.projections import tables
from beliefledger.projections.rows import Row, clear, insert_rows, update_rows
from beliefledger.projections.view import FIRST_GENERATION

WAITING = frozenset({"queue", "escalate"})
"""The outcomes that wait for a person."""
WAITS = "waits"
"""What those that wait are counted as, beside the outcomes."""


_OUTCOME = 5
"""Where the outcome stands in a row."""


def row_of(event: Recorded) -> Row:
    """The row of a decision as it was made. The fields are the columns of `decisions`, in their
    order."""
    facts = event.facts
    return (
        event.position,
        event.event_id,
        event.subject_ref,
        event.stream,
        facts["candidate_version"],
        facts["outcome"],
        facts["reason"],
        facts["mentions"],
        facts["belief"],
        facts["memory"],
        facts["policy"],
        event.recorded_at,
        facts["outcome"] in WAITING,
        None,
    )


class DecisionsView:
    """`decisions`, kept up with the log."""

    name = "decisions"
    types = frozenset(
        {
            GateDecided.NAME,
            ReviewDecided.NAME,
            ConflictEscalated.NAME,
            ConflictResolved.NAME,
            ContentErased.NAME,
            SubjectErased.NAME,
        }
    )
    of_bodies = False

    def __init__(self) -> None:
        self.start(FIRST_GENERATION, empty=False)

    def tables(self, generation: int) -> Sequence[Table]:
        return (tables.decisions(generation),)

    def start(self, generation: int, *, empty: bool) -> None:
        (self._table,) = self.tables(generation)
        self._new: list[Row] = []
        self._settled: dict[str, int] = {}
        self._moved: dict[str, str] = {}
        self._gone: list[str] = []
        self._wordless: list[tuple[str, int, int]] = []
        self.changes: Counter[str] = Counter()

    def count(self, connection: Connection, generation: int) -> dict[str, int]:
        c = tables.decisions(generation).c
        counted = Counter[str]()
        query = select(c.outcome, c.waits, func.count()).group_by(c.outcome, c.waits)
        for outcome, waits, number in connection.execute(query):
            counted[outcome] += number
            counted[WAITS] += number if waits else 0
        return dict(counted)

    def apply(self, event: Recorded, connection: Connection) -> None:
        if event.type == GateDecided.NAME:
            if event.facts.get("reconsiders") is not None:
                self._settled[event.facts["reconsiders"]] = event.position
            self._new.append(row_of(event))
        elif event.type == ReviewDecided.NAME:
            self._settled[event.facts["decision"]] = event.position
        elif event.type == ConflictEscalated.NAME:
            # It waits where its belief is: that moves when two entities become one.
            self._moved[event.facts["decision"]] = event.stream
        elif event.type == ConflictResolved.NAME:
            self._settled |= dict.fromkeys(event.facts["settles"], event.position)
        elif event.type == ContentErased.NAME:
            subject_ref = event.subject_ref or ""
            self._wordless += [(subject_ref, *each) for each in event.facts["positions"]]
        elif event.type == SubjectErased.NAME:
            self._gone.append(event.subject_ref or "")

    def forget(self, subject_ref: str) -> None:
        """Does nothing: decisions stay for the audit, they hold no words."""

    def flush(self, connection: Connection) -> None:
        c = self._table.c
        insert_rows(connection, self._table, self._new)
        for row in self._new:
            outcome = row[_OUTCOME]
            self.changes[outcome] += 1
            self.changes[WAITS] += outcome in WAITING
        self.changes[WAITS] -= clear(connection, c.waits, c.decision_id, [*self._settled])
        update_rows(
            connection,
            self._table,
            "decision_id",
            ("settled",),
            [(position, decision) for decision, position in self._settled.items()],
        )
        update_rows(
            connection,
            self._table,
            "decision_id",
            ("belief",),
            [(belief, decision) for decision, belief in self._moved.items()],
        )
        # Nobody is asked any more about words that were erased: they stand right before what was
        # decided about them.
        for subject_ref, first, last in self._wordless:
            theirs = (c.subject_ref == subject_ref, c.position.between(first + 1, last + 1))
            self.changes[WAITS] -= connection.execute(
                update(self._table).where(*theirs, c.waits.is_(True)).values(waits=False)
            ).rowcount
        # Nor about a person who was.
        self.changes[WAITS] -= clear(connection, c.waits, c.subject_ref, self._gone)
        self._new, self._settled, self._moved, self._gone = [], {}, {}, []
        self._wordless = []
