"""What an operator does: fold views anew, keep them up, run jobs, tell of backups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from beliefledger.answers import JobAnswer, ProcessAnswer, RebuildAnswer
from beliefledger.curation.consolidation import Consolidation
from beliefledger.curation.extraction import Extractions
from beliefledger.ledger.codec import New
from beliefledger.ledger.consumer import LEASE_SECONDS
from beliefledger.ledger.errors import BackendUnavailable, InvalidTurn
from beliefledger.ledger.events.ops import BACKUP, JobRan
from beliefledger.ledger.log import new_id
from beliefledger.ledger.streams import ops_stream
from beliefledger.opening.core import Core
from beliefledger.operations import processing, projector
from beliefledger.operations.ageing import Ageing
from beliefledger.operations.jobs import JOBS, Counts, Runs, Work
from beliefledger.operations.processing import Processing
from beliefledger.operations.projector import Projecting
from beliefledger.operations.scheduler import ScheduledJob, Scheduling, Tell, planned
from beliefledger.projections import ageing_questions
from beliefledger.projections.jobs import JobsView
from beliefledger.reading.queries import Queries
from beliefledger.reading.views import Views, job_answer
from beliefledger.search.on_demand import IndexesOnDemand


class Jobs:
    """The jobs of a ledger: runs one, runs all on a schedule, lists their runs."""

    def __init__(self, core: Core, queries: Queries, work: Work) -> None:
        self._log = core.log
        self._queries = queries
        self._runs = Runs(core.log, queries, work)

    def list(self) -> Sequence[JobAnswer]:
        """The last run of every job that ever ran."""
        with self._queries.view(JobsView.name) as (connection, generation):
            rows = ageing_questions.last_runs(connection, generation)
        return [job_answer(row) for row in rows]

    def run(self, name: str) -> JobAnswer:
        """Run a job now, whatever its times are. What goes wrong in it is on the answer."""
        if name not in JOBS:
            raise InvalidTurn(f"There is no job {name!r}; there are: {', '.join(JOBS)}.")
        return self._runs.run(JOBS[name], self._queries.now())

    def schedule(
        self,
        *,
        every: Mapping[str, float] | None = None,
        lease_seconds: float = LEASE_SECONDS,
        tell: Tell = lambda _what, _run, _why: None,
    ) -> Scheduling:
        """What runs the jobs when they are due, once its `run` is called: in one process of many.

        `every` gives seconds between the runs of jobs that are not to run as often as they do.
        """
        return Scheduling(
            self._log, self._runs, every=every, lease_seconds=lease_seconds, tell=tell
        )

    def scheduled(self) -> Sequence[ScheduledJob]:
        """Each job: how often it runs, when next, and its last run."""
        return planned(self.list(), self._queries.now())


class Operations:
    """Looks after an open ledger. `ageing`, `consolidation`, `extraction` and `jobs` are parts of
    it with commands of their own."""

    def __init__(
        self,
        core: Core,
        queries: Queries,
        views: Views,
        indexes: IndexesOnDemand,
        *,
        ageing: Ageing,
        consolidation: Consolidation,
        extraction: Extractions,
        jobs: Jobs,
    ) -> None:
        self._core = core
        self._queries = queries
        self._views = views
        self._indexes = indexes
        self.ageing = ageing
        self.consolidation = consolidation
        self.extraction = extraction
        self.jobs = jobs

    def rebuild(
        self,
        view: str | None = None,
        *,
        verify: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> list[RebuildAnswer]:
        """Fold a view, or all of them, from the log anew.

        With `verify`, compare each with what it replaces, and name the first row that differs.
        """
        self._core.recorder.flush()
        try:
            return self._views.rebuild(view, verify=verify, progress=progress)
        finally:
            self._indexes.drop()  # what was indexed of the tables that are gone

    def keep_views(
        self,
        *,
        lease_seconds: float = LEASE_SECONDS,
        tell: projector.Tell = lambda _what, _position, _why: None,
    ) -> Projecting:
        """What keeps the views up with the log once its `run` is called, in one process of several.

        Questions catch up by themselves; this spares them the wait.
        """
        core = self._core
        return Projecting(
            core.log, core.projector, core.forget_words, lease_seconds=lease_seconds, tell=tell
        )

    def keep_processing(
        self,
        *,
        lease_seconds: float = LEASE_SECONDS,
        tell: processing.Tell = lambda _what, _why: None,
    ) -> Processing:
        """What decides turns as they come once its `run` is called, in one process of several."""

        def process(limit: int) -> ProcessAnswer:
            return self.extraction.process(limit=limit)

        return Processing(self._core.log, process, lease_seconds=lease_seconds, tell=tell)

    def tidy(self) -> Counts:
        """Let the views catch up, keep their digests for `status`, and empty the write-ahead files
        (SQLite), unless somebody is reading them."""
        views = self._views.status(digests=True).views
        core = self._core
        emptied = unless_busy(core.projector.scrub) and unless_busy(core.log.store.flush_wal)
        return {
            "views": len(views),
            "stopped": sum(each.stopped_at is not None for each in views),
            "emptied": int(emptied),
        }

    def record_backup(self, *, by: str) -> int:
        """Record, as a named principal, that a backup of log and vault was made just now; returns
        up to which position. Raises `NotPermitted` without a name."""
        actor, stream = self._core.actor(by), ops_stream(self._core.log.tenant)
        head = self._core.log.head().position

        def attempt() -> None:
            made = JobRan(
                job=BACKUP,
                due=self._queries.now(),
                outcome="done",
                counts={"position": head},
                duration_micros=0,
            )
            new = New(made, new_id(), stream, None, actor)
            self._core.log.append([new], {stream: self._core.log.version(stream)})

        self._core.log.decide_again(attempt)
        return head


def unless_busy(work: Callable[[], None]) -> bool:
    """Whether it could be done now: somebody may be reading what it wants for itself."""
    try:
        work()
    except BackendUnavailable:
        return False
    return True
