"""What runs on a schedule: which jobs there are, how often, and what each does.

Every job may be run at any time, by several processes, and again: it finds what is to be done and
does that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter_ns

from beliefledger.answers import JobAnswer
from beliefledger.ledger.codec import New
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.ops import JobRan
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.streams import ops_stream
from beliefledger.ledger.times import DAY, SECOND, Micros
from beliefledger.ledger.vault import SYSTEM
from beliefledger.projections import ageing_questions
from beliefledger.projections.embedding import installed
from beliefledger.projections.jobs import JobsView
from beliefledger.reading.queries import Queries
from beliefledger.reading.views import job_answer

HOUR: Micros = 3600 * SECOND
FIRST_MONDAY: Micros = 4 * DAY
"""1970-01-05, from which every job's times are counted: so all processes agree on them."""
Counts = dict[str, int]


@dataclass(frozen=True, slots=True)
class Job:
    """Something to be done every so often. `lacks` says what is missing here to run it, and how to
    get that: the schedule leaves such a job out unless it is asked for."""

    name: str
    every: Micros
    lacks: Callable[[], str | None] = lambda: None

    def due(self, now: Micros) -> Micros:
        """The last time at or before `now` at which it was to run."""
        return now - (now - FIRST_MONDAY) % self.every


def _no_model() -> str | None:
    if installed():
        return None
    return (
        "It compares texts with a model, and none is installed: pip install"
        " 'beliefledger[embeddings]' turns it on."
    )


JOBS = {
    job.name: job
    for job in (
        Job("decay", HOUR),
        Job("expiry", HOUR),
        Job("retention", DAY),
        Job("forgetting", DAY),
        Job("checkpoints", HOUR),
        Job("loops", DAY),
        Job("consolidation", 7 * DAY, _no_model),
        Job("vectors", HOUR),
    )
}
Work = Mapping[str, Callable[[], Counts]]
"""What each job does, by its name. It returns counts for the record."""


class Runs:
    """Runs jobs, and records that each was run when it was due, once, whoever ran it."""

    def __init__(self, log: Log, queries: Queries, work: Work) -> None:
        self._log = log
        self._queries = queries
        self._work = work

    def done(self, job: str, due: Micros) -> JobAnswer | None:
        """The run that was due then, if it was."""
        with self._queries.view(JobsView.name) as (connection, generation):
            found = ageing_questions.run_of(connection, generation, job, due)
        return None if found is None else job_answer(found)

    def run(self, job: Job, due: Micros) -> JobAnswer:
        """Run it, unless it was run for this time before; the answer is what is on record.

        What goes wrong in it is recorded, not raised. Raises what keeps that from being recorded.
        """
        before = self.done(job.name, due)
        if before is not None:
            return before
        begun, error, counts = perf_counter_ns(), None, Counts()
        try:
            counts = self._work[job.name]()
        except Exception as problem:  # noqa: BLE001  recorded; the other jobs are still to be run
            error = type(problem).__name__
        event = JobRan(
            job=job.name,
            due=due,
            outcome="done" if error is None else "failed",
            counts=counts,
            duration_micros=(perf_counter_ns() - begun) // 1_000,
            error=error,
        )
        self._record(event)
        recorded = self.done(job.name, due)
        if recorded is None:
            raise AssertionError("a run that was recorded is not in its view")
        return recorded

    def _record(self, event: JobRan) -> None:
        """Append it, unless another process did for the same time while this one ran."""
        stream = ops_stream(self._log.tenant)

        def attempt() -> None:
            version = self._log.version(stream)
            if self.done(event.job, event.due) is None:
                self._log.append([New(event, new_id(), stream, None, SYSTEM)], {stream: version})

        self._log.decide_again(attempt)
