"""Runs jobs when they are due. The only module that knows the scheduler's library.

Several processes may run the schedule of one ledger: the holder of the lease `scheduler` runs the
jobs, the others wait, and one of them takes over when it ends or dies. The record of a run is the
second guard: a job whose run for a time is on record is not run for that time again.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from beliefledger.answers import JobAnswer
from beliefledger.ledger import backoff
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.consumer import LEASE_SECONDS
from beliefledger.ledger.errors import BackendUnavailable, InvalidTurn, LeaseLost, LedgerError
from beliefledger.ledger.lease import Lease
from beliefledger.ledger.log import Log
from beliefledger.ledger.store import OwnConsumer
from beliefledger.ledger.subscription import LOOK_SECONDS
from beliefledger.ledger.times import SECOND, Micros, system_clock, to_datetime
from beliefledger.operations.jobs import FIRST_MONDAY, JOBS, Job, Runs
from beliefledger.operations.leading import OneOfSeveral, give_back

Tell = Callable[[str, JobAnswer | None, str], None]
"""(`runs` the schedule from now on, `waits`, `retries`, or `ran` a job; its run; why)"""


class ScheduledJob(Frozen):
    """A job of the schedule: how often, when next, and its last run, if there was one.

    `off` says why the schedule leaves it out here and what turns it on; it is then never due.
    """

    job: str
    every_seconds: float
    next_due: datetime | None
    last: JobAnswer | None
    off: str | None = None


def planned(last_runs: Sequence[JobAnswer], now: Micros) -> list[ScheduledJob]:
    """Every job as it stands at a time."""
    last = {each.job: each for each in last_runs}
    off = {job.name: job.lacks() for job in JOBS.values()}
    return [
        ScheduledJob(
            job=job.name,
            every_seconds=job.every / SECOND,
            next_due=None if off[job.name] else to_datetime(job.due(now) + job.every),
            last=last.get(job.name),
            off=off[job.name],
        )
        for job in JOBS.values()
    ]


class Scheduling(OneOfSeveral):
    """Runs each job at its times, and what was missed while nobody did, once, at the start.

    Jobs run one after the other. Call `run` in one thread; `close` may be called from any, and lets
    a job that is running come to its end.
    """

    others = "another process runs the schedule"

    def __init__(
        self,
        log: Log,
        runs: Runs,
        *,
        every: Mapping[str, float] | None = None,
        lease_seconds: float = LEASE_SECONDS,
        tell: Tell = lambda _what, _run, _why: None,
    ) -> None:
        super().__init__(log, lease_seconds)
        self.jobs = _jobs(every or {})
        self._runs = runs
        self._tell = tell

    def run(self) -> None:
        """Until it is closed."""
        delays = backoff.delays()
        while not self._closed.is_set():
            try:
                lease = self._claim()
                if lease is not None:
                    self._lead(lease)
            except LeaseLost as problem:
                self._say("waits", problem.detail)
            except BackendUnavailable as problem:
                self._say("retries", problem.detail)
                self._closed.wait(next(delays))
            else:
                delays = backoff.delays()

    def _lead(self, lease: Lease) -> None:
        """Run the jobs for as long as the lease is held."""
        # Only here: every command would wait for it.
        from apscheduler.executors.pool import ThreadPoolExecutor  # noqa: PLC0415
        from apscheduler.schedulers.background import BackgroundScheduler  # noqa: PLC0415
        from apscheduler.triggers.interval import IntervalTrigger  # noqa: PLC0415

        # It warns when a job is due while it runs; the next look then finds what is due.
        logging.getLogger("apscheduler.scheduler").setLevel(logging.ERROR)
        scheduler = BackgroundScheduler(
            # One after the other: none is in a hurry, and on SQLite writers take turns anyway.
            executors={"default": ThreadPoolExecutor(1)},
            # However late, what is due is run: once, if it was due several times.
            job_defaults={"coalesce": True, "misfire_grace_time": None, "max_instances": 1},
            timezone=UTC,
        )
        for job in self.jobs:
            scheduler.add_job(
                self._run_job,
                IntervalTrigger(
                    seconds=job.every / SECOND, start_date=to_datetime(FIRST_MONDAY), timezone=UTC
                ),
                args=(job, lease),
                id=job.name,
                next_run_time=to_datetime(job.due(system_clock())),
            )
        try:
            scheduler.start()
            self._say("runs", "")
            while not self._closed.wait(LOOK_SECONDS):
                lease.check()
        finally:
            scheduler.shutdown(wait=True)
            give_back(lease)

    def _run_job(self, job: Job, lease: Lease) -> None:
        due = job.due(system_clock())
        try:
            if self._closed.is_set() or self._runs.done(job.name, due) is not None:
                return
            lease.check()
            ran = self._runs.run(job, due)
            lease.move(self._log.head().position)
        except LeaseLost:
            return  # whoever has it now looks what is due
        except LedgerError as problem:  # it could not be recorded: told, and tried when next due
            self._tell("retries", None, f"{job.name}: {problem.detail or type(problem).__name__}")
            return
        self._tell("ran", ran, "")

    def _ask(self) -> Lease | None:
        return Lease.claim(self._log.cursors, OwnConsumer.SCHEDULER, self.holder, self._seconds)

    def _pass_on(self, what: str, why: str) -> None:
        self._tell(what, None, why)


def _jobs(every: Mapping[str, float]) -> list[Job]:
    """All jobs that can run here, some at other intervals than their own; one that lacks something
    only if it is named. Raises `InvalidTurn`."""
    for name, seconds in every.items():
        if name not in JOBS:
            raise InvalidTurn(f"There is no job {name!r}; there are: {', '.join(JOBS)}.")
        if not math.isfinite(seconds) or not 0.1 <= seconds <= 366 * 86_400:
            raise InvalidTurn(f"{name} cannot run every {seconds:g} seconds: take 0.1 or more.")
    return [
        replace(job, every=round(every[job.name] * SECOND)) if job.name in every else job
        for job in JOBS.values()
        if job.name in every or job.lacks() is None
    ]
