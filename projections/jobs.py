"""The view of jobs: each run of one, what it did, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Table

from beliefledger.ledger import canonical
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.ops import JobRan
from beliefledger.projections import tables
from beliefledger.projections.rows import Row, insert_rows


class JobsView:
    """`jobs`, kept up with the log: scheduled jobs and what a person ran, such as a backfill."""

    name = "jobs"
    types = frozenset({JobRan.NAME})
    of_bodies = False

    def __init__(self) -> None:
        self.start(0, empty=False)

    def tables(self, generation: int) -> Sequence[Table]:
        return (tables.jobs(generation),)

    def start(self, generation: int, *, empty: bool) -> None:
        (self._table,) = self.tables(generation)
        self._new: list[Row] = []

    def apply(self, event: Recorded, connection: Connection) -> None:
        facts = event.facts
        self._new.append(
            (
                event.position,
                facts["job"],
                facts["due"],
                facts["outcome"],
                canonical.encode(facts["counts"]).decode(),
                facts["duration_micros"],
                facts["error"],
                event.actor,
                event.recorded_at,
            )
        )

    def forget(self, subject_ref: str) -> None:
        """Does nothing: no row names anybody."""

    def flush(self, connection: Connection) -> None:
        insert_rows(connection, self._table, self._new)
        self._new = []
