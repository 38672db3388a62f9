"""What runs on a schedule: which jobs there are, how often, and what each does.

Every job may be run at any time, by several processes, and again: it finds what is to be done and
does that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING

from beliefledger.answers import JobAnswer
from beliefledger.gate.draft import Draft
from beliefledger.gate.gate import Gate
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import BackendUnavailable, NotPermitted
from beliefledger.ledger.events.belief import MemoryExpired, MemoryRevoked
from beliefledger.ledger.events.ops import JobRan
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.streams import ops_stream
from beliefledger.ledger.times import DAY, SECOND, Micros
from beliefledger.ledger.vault import SYSTEM
from beliefledger.projections import ageing_questions
from beliefledger.projections.beliefs import Version
from beliefledger.projections.embedding import installed
from beliefledger.projections.jobs import JobsView
from beliefledger.reading.queries import Asking
from beliefledger.reading.views import job_answer

if TYPE_CHECKING:
    from beliefledger.memory import MemoryLedger

HOUR: Micros = 3600 * SECOND
FIRST_MONDAY: Micros = 4 * DAY
"""1970-01-05, from which every job's times are counted: so all processes agree on them."""
BATCH = 200
"""Memories ended in one append."""
Counts = dict[str, int]
Ending = tuple[Version, MemoryExpired | MemoryRevoked]


@dataclass(frozen=True, slots=True)
class Job:
    """Something to be done every so often. `run` tells what it did, `lacks` what is missing here to
    run it, and how to get that: the schedule leaves such a job out unless it is asked for."""

    name: str
    every: Micros
    run: Callable[[MemoryLedger], Counts]
    lacks: Callable[[], str | None] = lambda: None

    def due(self, now: Micros) -> Micros:
        """The last time at or before `now` at which it was to run."""
        return now - (now - FIRST_MONDAY) % self.every


def _decay(memory: MemoryLedger) -> Counts:
    return {"memories": memory.refresh_decay()}


def _expiry(memory: MemoryLedger) -> Counts:
    return {"expired": len(memory.expire())}


def _retention(memory: MemoryLedger) -> Counts:
    return {"revoked": len(memory.retain())}


def _forgetting(memory: MemoryLedger) -> Counts:
    return memory.forget_due()


def _checkpoints(memory: MemoryLedger) -> Counts:
    return memory.checkpoint()


def _loops(memory: MemoryLedger) -> Counts:
    found = memory.loops()
    return {"loops": len(found), "contested": sum(each.contested for each in found)}


def _consolidation(memory: MemoryLedger) -> Counts:
    return memory.consolidate_all()


def _no_model() -> str | None:
    if installed():
        return None
    return (
        "It compares texts with a model, and none is installed: pip install"
        " 'beliefledger[embeddings]' turns it on."
    )


def _vectors(memory: MemoryLedger) -> Counts:
    return memory.keep_vectors()


JOBS = {
    job.name: job
    for job in (
        Job("decay", HOUR, _decay),
        Job("expiry", HOUR, _expiry),
        Job("retention", DAY, _retention),
        Job("forgetting", DAY, _forgetting),
        Job("checkpoints", HOUR, _checkpoints),
        Job("loops", DAY, _loops),
        Job("consolidation", 7 * DAY, _consolidation, _no_model),
        Job("vectors", HOUR, _vectors),
    )
}


class Runs:
    """Runs jobs, and records that each was run when it was due, once, whoever ran it."""

    def __init__(self, memory: MemoryLedger, log: Log, asking: Asking) -> None:
        self._memory = memory
        self._log = log
        self._asking = asking

    def done(self, job: str, due: Micros) -> JobAnswer | None:
        """The run that was due then, if it was."""
        with self._asking.view(JobsView.name) as (connection, generation):
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
            counts = job.run(self._memory)
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


class Endings:
    """Records that memories have ended, many in one append. What ended before is left alone."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def expire(self, ended: Sequence[tuple[Version, Micros]]) -> list[str]:
        """Record the end of these memories; returns the ids of those that still held."""
        return self._batches(
            [(row, MemoryExpired(memory_id=row.memory_id, valid_to=end)) for row, end in ended]
        )

    def revoke(self, rows: Sequence[Version]) -> list[str]:
        """Take these memories out of quarantine for good; returns the ids of those still there."""
        return self._batches(
            [(row, MemoryRevoked(memory_id=row.memory_id, cause="retention")) for row in rows]
        )

    def _batches(self, endings: Sequence[Ending]) -> list[str]:
        done: list[str] = []
        for start in range(0, len(endings), BATCH):
            batch = endings[start : start + BATCH]
            try:
                done += self._append(batch)
            except NotPermitted:  # somebody was erased meanwhile: now that is known
                self._gate.forget()
                done += self._append(batch)
        return done

    def _append(self, batch: Sequence[Ending]) -> list[str]:
        def attempt() -> list[str]:
            # Another process may have written there: who finds nothing to end would not conflict.
            self._gate.memo.forget(*(row.belief for row, _ in batch))
            draft = self._gate.draft()
            ended = []
            for row, event in batch:
                if self._holds(draft, row, event):
                    draft.write_belief(New(event, new_id(), row.belief, row.subject_ref, SYSTEM))
                    ended.append(row.memory_id)
            self._gate.commit(draft)
            return ended

        return self._gate.again(attempt)

    def _holds(self, draft: Draft, row: Version, event: MemoryExpired | MemoryRevoked) -> bool:
        """Whether the memory is still where the view had it, and was not said again since. Nothing
        is written about somebody who is being erased."""
        with suppress(NotPermitted):
            draft.consent(row.subject_ref)
            belief = draft.belief(row.belief)
            among = belief.current if isinstance(event, MemoryExpired) else belief.quarantined
            return any(
                held.memory_id == row.memory_id and held.said_at <= row.said_at for held in among
            )
        return False


def unless_busy(work: Callable[[], None]) -> bool:
    """Whether it could be done now: somebody may be reading what it wants for itself."""
    try:
        work()
    except BackendUnavailable:
        return False
    return True
