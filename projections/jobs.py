"""The view of jobs: each run of one, what it did, and how it ended."""

from __future__ import annotations

from sqlalchemy import Table

from beliefledger.ledger import canonical
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.ops import JobRan
from beliefledger.projections import tables
from beliefledger.projections.appended import AppendedView
from beliefledger.projections.rows import Row


class JobsView(AppendedView):
    """`jobs`, kept up with the log: scheduled jobs and what a person ran, such as a backfill."""

    name = "jobs"
    types = frozenset({JobRan.NAME})

    def table(self, generation: int) -> Table:
        return tables.jobs(generation)

    def row(self, event: Recorded) -> Row:
        facts = event.facts
        return (
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
