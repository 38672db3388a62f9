"""The part of the front door that tells how fresh memories are, ends what is over and runs jobs on
a schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, cast, get_args

from beliefledger import arguments
from beliefledger.answers import BeliefAnswer, JobAnswer
from beliefledger.gate.gate import Gate
from beliefledger.gate.rulebook import Rules
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.cleaning import session_name
from beliefledger.ledger.codec import New
from beliefledger.ledger.consumer import LEASE_SECONDS
from beliefledger.ledger.errors import InvalidTurn, UnknownMemory
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.redact import redact
from beliefledger.ledger.streams import query_digest, recall_stream, session_tag
from beliefledger.ledger.times import DAY, Clock, Micros, to_datetime
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.build import Parts
from beliefledger.opening.recorder import Recorder
from beliefledger.operations.jobs import JOBS, Counts, Endings, Runs, unless_busy
from beliefledger.operations.scheduler import ScheduledJob, Scheduling, Tell, planned
from beliefledger.projections import ageing_questions, questions, scores
from beliefledger.projections.access import AccessView
from beliefledger.projections.ageing_questions import NEVER, Access
from beliefledger.projections.beliefs import BeliefsView, Version
from beliefledger.projections.decay import Profile, ProfileName, days_since
from beliefledger.projections.jobs import JobsView
from beliefledger.reading.queries import Asking
from beliefledger.reading.subject_record import SHOWN
from beliefledger.reading.views import Upkeep, job_answer
from beliefledger.reading.words import Reader
from beliefledger.times import Moment, micros

if TYPE_CHECKING:
    from beliefledger.memory import MemoryLedger

_ASK = {
    "preference": "Do you still prefer it so: “{text}”?",
    "constraint": "Does this still bind you: “{text}”?",
    "commitment": "Is this still to be done: “{text}”?",
    "decision": "Does this decision still stand: “{text}”?",
    "procedure": "Is it still done so: “{text}”?",
}
_ASK_OTHERS = "Is this still so: “{text}”?"


class DecayAnswer(Frozen):
    """How much is left of a memory. `refreshed` is the score as last computed for all memories;
    None for one that was written or said again since."""

    memory_id: str
    belief_id: str
    subject: str | None
    type: str
    text: str
    importance: float
    confidence: float
    profile: str
    score: float
    days: float
    """Since the last access: since it was last said or shown, whichever came later."""
    said_at: datetime
    accesses: int
    last_shown_at: datetime | None
    refreshed: float | None


class ReconfirmAnswer(Frozen):
    """A memory that mattered and faded, and what to ask its subject."""

    memory: DecayAnswer
    ask: str


class Ageing:
    """A base of the front door, which has made these."""

    _parts: Parts
    _log: Log
    _asking: Asking
    _gate: Gate
    _clock: Clock
    _upkeep: Upkeep
    _recorder: Recorder

    # How much is left

    def decay(
        self,
        subject: str | None = None,
        *,
        at: Moment | None = None,
        profile: str | None = None,
    ) -> list[DecayAnswer]:
        """How much is left of each memory that holds, of a subject or of all: the least first.

        `at` asks as if it were then (by default now), with what was said and shown until now.
        `profile` is `freshness` or `decay`; by default the policy's.
        """
        self._recorder.flush()
        now = micros(at, "at")
        now = self._asking.now() if now is None else now
        ages = self._profile(profile)
        ref = None
        if subject is not None:
            ref = self._asking.known_or_none(subject)
            if ref is None:
                return []
        names = (BeliefsView.name, AccessView.name)
        with self._asking.views(*names) as (connection, (beliefs, access)):
            rows = questions.held(connection, beliefs, ref, valid_at=now)
            ids = [row.memory_id for row in rows]
            shown = ageing_questions.accesses(connection, access, ids)
            refreshed = scores.kept(connection, rows)
        words = {each.memory_id: each for each in Reader(self._log).beliefs(rows, {})}
        answers = [
            _answer(row, words[row.memory_id], shown, refreshed, ages, now)
            for row in rows
            if row.memory_id in words
        ]
        return sorted(answers, key=lambda each: (each.score, each.memory_id))

    def reconfirm(
        self, subject: str | None = None, *, at: Moment | None = None
    ) -> list[ReconfirmAnswer]:
        """The memories worth asking about again, with what to ask: important ones, once sure, of
        which less is left than the policy's floor. Worst first: the most important that faded most.

        Events are not among them: that something happened does not cease to be so.
        """
        rules = self._parts.rulebook.refreshed().policy.decay
        faded = [
            each
            for each in self.decay(subject, at=at)
            if each.score < rules.reconfirm_below
            and each.importance >= rules.reconfirm_importance
            and each.confidence >= rules.reconfirm_confidence
            and each.type != "event"
        ]
        faded.sort(key=lambda each: (-each.importance * (1 - each.score), each.memory_id))
        return [
            ReconfirmAnswer(
                memory=each, ask=_ASK.get(each.type, _ASK_OTHERS).format(text=each.text)
            )
            for each in faded
        ]

    def refresh_decay(self) -> int:
        """Compute the score of every memory that holds, at once, for whoever ranks; returns how
        many there are."""
        self._recorder.flush()
        ages = self._profile(None)
        with self._asking.views(BeliefsView.name, AccessView.name):
            pass  # caught up, and not stopped
        return scores.refresh(self._parts.projector, AccessView.name, ages, self._asking.now())

    def _profile(self, name: str | None, rules: Rules | None = None) -> Profile:
        """How memories fade by the rules in force, or by others."""
        rules = rules or self._parts.rulebook.refreshed()
        decay, types = rules.policy.decay, rules.registry
        if name is not None and name not in get_args(ProfileName):
            raise InvalidTurn(f"profile: {name!r} is neither freshness nor decay.")
        return Profile(
            cast("ProfileName", name or decay.profile),
            decay.rate,
            decay.cap,
            {
                kind.name: kind.half_life_days
                for kind in (*types.retired.values(), *types.types.values())
            },
        )

    # What was shown

    def shown(
        self,
        subject: str,
        memories: Sequence[str | BeliefAnswer],
        *,
        query: str = "",
        session: str | None = None,
        purpose: str | None = None,
        by: str = SYSTEM,
    ) -> int:
        """Record that these memories of a subject, best first, were shown to an agent; returns the
        position of the record.

        It keeps them fresh, and what the session's speaker repeats of them is no mention. The query
        is kept as a digest under the subject's key. Raises `UnknownMemory`.
        """
        ref = self._log.subject(subject)
        if ref is None:
            raise UnknownMemory(f"Nothing is known about {subject!r}.")
        ids = [each if isinstance(each, str) else each.memory_id for each in memories]
        if not ids:
            raise InvalidTurn("memories: name at least one that was shown.")
        with self._asking.view(BeliefsView.name) as (connection, generation):
            for memory_id in ids:
                found = questions.versions_of_memory(connection, generation, memory_id)
                if not found or found[0].subject_ref != ref:
                    raise UnknownMemory(f"There is no memory {memory_id} of {subject!r}.")
        given = None if purpose is None else arguments.purpose(purpose)
        actor = self._log.principal(by)
        stream = recall_stream(ref)

        def attempt() -> int:
            draft = self._gate.draft()
            draft.consent(ref)
            draft.reads(stream, self._log.version(stream))
            keys, salt = draft.keys(ref), new_id()
            event = MemoriesRecalled(
                purpose=given or draft.rules.policy.purpose,
                session_tag=session_tag(keys.ids, session_name(keys.ids, session)),
                query_digest=query_digest(keys.ids, salt, redact(query).text),
                ranker=SHOWN,
                memories=tuple(ids),
                scores=(),
                salt=salt,
            )
            draft.write(New(event, new_id(), stream, ref, actor))
            appended = self._gate.commit(draft)
            return appended.first if appended else 0

        return self._gate.again(attempt)

    # What is over

    def expire(self, now: Moment | None = None) -> list[str]:
        """Record the end of every memory whose time is over; returns their ids.

        A memory's own `expires_at` comes first, then the policy's `ttl_days`, then what its type
        says: an event's time runs from its end, another's from when it began or was last said.
        """
        until = self._until(now)
        rules = self._parts.rulebook.refreshed()
        lives: dict[str, Micros] = {}
        for kind in (*rules.registry.retired.values(), *rules.registry.types.values()):
            life = rules.policy.ttl(kind.name)
            if life is None and kind.ttl_days is not None:
                life = kind.ttl_days * DAY
            if life is not None:
                lives[kind.name] = life
        with self._asking.view(BeliefsView.name) as (connection, generation):
            ended = ageing_questions.over(connection, generation, lives, until)
        return Endings(self._gate).expire(ended)

    def retain(self, now: Moment | None = None) -> list[str]:
        """Revoke what was in quarantine for longer than the policy keeps it; returns the ids."""
        until = self._until(now)
        days = self._parts.rulebook.refreshed().policy.quarantine_days
        with self._asking.view(BeliefsView.name) as (connection, generation):
            stale = ageing_questions.stale_in_quarantine(
                connection, generation, until - days * DAY, until
            )
        return Endings(self._gate).revoke(stale)

    def _until(self, now: Moment | None) -> Micros:
        given = micros(now, "now")
        return self._asking.now() if given is None else given

    # Jobs

    def checkpoint(self) -> Counts:
        """Let the views catch up, keep their digests for `status`, and empty the write-ahead files
        (SQLite), unless somebody is reading them."""
        views = self._upkeep.status(digests=True).views
        emptied = unless_busy(self._parts.projector.scrub) and unless_busy(self._log.checkpoint)
        return {
            "views": len(views),
            "stopped": sum(each.stopped_at is not None for each in views),
            "emptied": int(emptied),
        }

    def consolidate_all(self) -> Counts:
        """Merge rephrasings of one memory, of every subject."""
        done = cast("MemoryLedger", self).consolidate(apply=True)
        merged = sum(each.memory_id is not None for each in done.clusters)
        return {"compared": done.memories, "merged": merged}

    def jobs(self) -> list[JobAnswer]:
        """The last run of every job that ever ran."""
        with self._asking.view(JobsView.name) as (connection, generation):
            rows = ageing_questions.last_runs(connection, generation)
        return [job_answer(row) for row in rows]

    def run_job(self, name: str) -> JobAnswer:
        """Run a job now, whatever its times are. What goes wrong in it is on the answer."""
        if name not in JOBS:
            raise InvalidTurn(f"There is no job {name!r}; there are: {', '.join(JOBS)}.")
        return self._runs().run(JOBS[name], self._asking.now())

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
            self._log, self._runs(), every=every, lease_seconds=lease_seconds, tell=tell
        )

    def scheduled(self) -> list[ScheduledJob]:
        """Each job: how often it runs, when next, and its last run."""
        return planned(self.jobs(), self._asking.now())

    def _runs(self) -> Runs:
        return Runs(cast("MemoryLedger", self), self._log, self._asking)


def _answer(
    row: Version,
    words: BeliefAnswer,
    shown: Mapping[str, Access],
    refreshed: Mapping[int, int],
    ages: Profile,
    now: Micros,
) -> DecayAnswer:
    access = shown.get(row.memory_id, NEVER)
    days = days_since(max(row.said_at, access.last_at), now)
    score = refreshed.get(row.row_id)
    return DecayAnswer(
        memory_id=row.memory_id,
        belief_id=row.belief,
        subject=words.subject,
        type=row.type,
        text=words.text,
        importance=words.importance,
        confidence=words.confidence,
        profile=ages.name,
        score=round(ages.score(row.type, days, access.count), 6),
        days=round(days, 3),
        said_at=to_datetime(row.said_at),
        accesses=access.count,
        last_shown_at=to_datetime(access.last_at) if access.count else None,
        refreshed=None if score is None else score / 1_000_000,
    )
