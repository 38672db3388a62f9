"""How fresh memories are, and the end of those whose time is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import attrgetter

from beliefledger.answers import BeliefAnswer
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.times import DAY, Micros, to_datetime
from beliefledger.opening.core import Core
from beliefledger.operations.endings import Endings
from beliefledger.pages import Cut, Page
from beliefledger.projections import ageing_questions, questions, scores
from beliefledger.projections.access import AccessView
from beliefledger.projections.ageing_questions import NEVER, Access, Aged
from beliefledger.projections.beliefs import BeliefsView, Version
from beliefledger.projections.decay import Profile, days_since
from beliefledger.projections.questions import MemoryFilter
from beliefledger.reading.fading import fading
from beliefledger.reading.queries import Queries
from beliefledger.reading.words import Reader
from beliefledger.times import Moment, micros

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
    """How memories fade, and the end of those whose time is over."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries

    # How much is left

    def decay(
        self,
        subject: str | None = None,
        *,
        at: Moment | None = None,
        profile: str | None = None,
        limit: int | None = None,
        after: str | None = None,
        memories: Sequence[str] | None = None,
    ) -> Page[DecayAnswer]:
        """How much is left of each memory that holds, of a subject or of all: the least first.
        With `memories`, of those alone, and without what was shown a moment ago.

        `at` asks as if it were then (by default now), with what was said and shown until now.
        `profile` is `freshness` or `decay`; by default the policy's. With `limit` it is a page,
        whose `next` is given as `after` for the one behind it: as of the time of the first.
        """
        named = None if memories is None else tuple(memories)
        cut = Cut.of("decay", (subject, at, profile, named), limit, after)
        now = self._asked(at, cut)
        faded = self._faded(subject, now, profile, named)
        return cut.of_all(faded, attrgetter("memory_id"), at=now)

    def left(self, memories: Sequence[str]) -> dict[str, tuple[int, float]]:
        """How often each of these memories was shown, and how much is left of it by the policy's
        profile, from 0 to 1: of those that hold, without their words, and without what was shown a
        moment ago."""
        ages, now = fading(self._core.rulebook.refreshed(), None), self._queries.now()
        names = (BeliefsView.name, AccessView.name)
        with self._queries.views(*names) as (connection, (beliefs, access)):
            found = ageing_questions.aged(connection, (beliefs, access), memories, now)
        return {each.memory_id: (each.count, _left(each, ages, now)) for each in found}

    def _asked(self, at: Moment | None, cut: Cut) -> Micros:
        """The time that is asked about: of all pages that of the first."""
        now = cut.at if cut.at is not None else micros(at, "at")
        return self._queries.now() if now is None else now

    def _faded(
        self,
        subject: str | None,
        now: Micros,
        profile: str | None = None,
        memories: Sequence[str] | None = None,
    ) -> list[DecayAnswer]:
        if memories is None:
            self._core.recorder.flush()
        ages = fading(self._core.rulebook.refreshed(), profile)
        ref = None
        if subject is not None:
            ref = self._queries.known_or_none(subject)
            if ref is None:
                return []
        names = (BeliefsView.name, AccessView.name)
        with self._queries.views(*names) as (connection, (beliefs, access)):
            which = MemoryFilter(memories=None if memories is None else tuple(memories))
            rows = questions.held(connection, beliefs, ref, valid_at=now, which=which)
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
        self,
        subject: str | None = None,
        *,
        at: Moment | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page[ReconfirmAnswer]:
        """The memories worth asking about again, with what to ask: important ones, once sure, of
        which less is left than the policy's floor. Worst first: the most important that faded most.

        Events are not among them: that something happened does not cease to be so. `limit` and
        `after` are as for `decay`.
        """
        cut = Cut.of("reconfirm", (subject, at), limit, after)
        now = self._asked(at, cut)
        rules = self._core.rulebook.refreshed().policy.decay
        faded = [
            each
            for each in self._faded(subject, now)
            if each.score < rules.reconfirm_below
            and each.importance >= rules.reconfirm_importance
            and each.confidence >= rules.reconfirm_confidence
            and each.type != "event"
        ]
        faded.sort(key=lambda each: (-each.importance * (1 - each.score), each.memory_id))
        page = cut.of_all(faded, attrgetter("memory_id"), at=now)
        answers = (
            ReconfirmAnswer(
                memory=each, ask=_ASK.get(each.type, _ASK_OTHERS).format(text=each.text)
            )
            for each in page
        )
        return Page(answers, page.next)

    def refresh(self) -> int:
        """Compute the score of every memory that holds, at once, for whoever ranks; returns how
        many there are."""
        self._core.recorder.flush()
        ages = fading(self._core.rulebook.refreshed())
        with self._queries.views(BeliefsView.name, AccessView.name):
            pass  # caught up, and not stopped
        return scores.refresh(self._core.projector, AccessView.name, ages, self._queries.now())

    # What is over

    def expire(self, now: Moment | None = None) -> list[str]:
        """Record the end of every memory whose time is over; returns their ids.

        A memory's own `expires_at` comes first, then the policy's `ttl_days`, then what its type
        says: an event's time runs from its end, another's from when it began or was last said.
        """
        until = self._until(now)
        rules = self._core.rulebook.refreshed()
        lives: dict[str, Micros] = {}
        for kind in (*rules.registry.retired.values(), *rules.registry.types.values()):
            life = rules.policy.ttl(kind.name)
            if life is None and kind.ttl_days is not None:
                life = kind.ttl_days * DAY
            if life is not None:
                lives[kind.name] = life
        with self._queries.view(BeliefsView.name) as (connection, generation):
            ended = ageing_questions.over(connection, generation, lives, until)
        return Endings(self._core.gate).expire(ended)

    def revoke_outdated(self, now: Moment | None = None) -> list[str]:
        """Revoke what was in quarantine for longer than the policy keeps it; returns the ids."""
        until = self._until(now)
        days = self._core.rulebook.refreshed().policy.quarantine_days
        with self._queries.view(BeliefsView.name) as (connection, generation):
            stale = ageing_questions.stale_in_quarantine(
                connection, generation, until - days * DAY, until
            )
        return Endings(self._core.gate).revoke(stale)

    def _until(self, now: Moment | None) -> Micros:
        given = micros(now, "now")
        return self._queries.now() if given is None else given


def _left(aged: Aged, ages: Profile, now: Micros) -> float:
    days = days_since(max(aged.said_at, aged.last_at), now)
    return round(ages.score(aged.type, days, aged.count), 6)


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
