"""Recalls: the record of what was searched for and shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime
from functools import cache
from typing import Any, Literal, NamedTuple

from beliefledger import arguments
from beliefledger.answers import BeliefAnswer
from beliefledger.ledger.candidate import MILLION, Frozen
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.errors import InvalidQuery, InvalidTurn, UnknownMemory
from beliefledger.ledger.events.belief import Written
from beliefledger.ledger.events.recall import MemoriesRecalled, SearchQuery
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.log import new_id
from beliefledger.ledger.redact import redact
from beliefledger.ledger.secret_filter import session_name
from beliefledger.ledger.streams import query_digest, recall_stream, session_tag
from beliefledger.ledger.times import to_datetime
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.pages import Cut, Page
from beliefledger.projections import questions, recalls, tables
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.recalls import RecallRow, RecallsView
from beliefledger.projections.search_requests import NOW
from beliefledger.projections.showing import blanked
from beliefledger.reading.queries import Queries
from beliefledger.reading.subject_record import SHOWN
from beliefledger.search.options import EVERYTHING
from beliefledger.search.reranking import is_reranked
from beliefledger.search.search import tokens, within
from beliefledger.search.standings import KeptStandings, Standing, standing_apart

_BOUNDS = ("min_confidence", "min_importance", "recency_weight", "diversity")
"""The parameters that are recorded in millionths."""


class RecallAnswer(Frozen):
    """One time that memories were searched for, or shown by a caller's own choice."""

    recall_id: str
    position: int
    recorded_at: datetime
    subject: str | None
    by: str
    """Who asked."""
    purpose: str
    session_tag: str | None
    """The same for all that was asked in one session."""
    searched: bool
    """False where a caller chose by itself what to show."""
    ranker: str
    """The profile and its version; `shown` where a caller chose."""
    embedder: str | None
    found: int
    query: str | None
    """None once its words are erased, and where a caller chose."""


class RecalledAnswer(Frozen):
    """One result of a recall."""

    rank: int
    id: str
    """Of the memory or of the turn."""
    kind: Literal["memory", "episode"]
    score: float | None
    shown: bool | None
    """False where the budget of tokens had no room for it, or a reranker put it further down. None
    for a turn that was reranked: of those it is not on record."""
    text: str | None
    """As it was then, with `[…]` for words that may not be shown now; None where nothing of it may,
    and once it is erased."""


class RecallDetails(Frozen):
    """Everything that was recorded of a recall."""

    recall: RecallAnswer
    asked: dict[str, Any] | None
    """The query and its parameters; None once they are erased, and where a caller chose."""
    searched_position: int | None
    """The log as it was searched."""
    searched_at: datetime | None
    """The time as of which memories were to hold, and their freshness counts."""
    query_digest: str
    index: str | None
    unembedded: int
    results: tuple[RecalledAnswer, ...]


class Said(NamedTuple):
    """What a memory or a turn said; None once that is erased, or where no view knows of it."""

    kind: Literal["memory", "episode"]
    text: str | None = None


class Recalls:
    """Lists recalls, tells all of one, and records what a caller showed by its own choice."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self._standings = KeptStandings(core)

    def list(
        self,
        subject: str | None = None,
        *,
        found: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page[RecallAnswer]:
        """What was searched for and shown, newest first; with `limit`, the last so many: their
        `next`, given as `after`, leads to those before them.

        `found` picks those that showed a memory or a turn, by its id or the first characters of
        that. Those of whoever was erased are not there. Raises `UnknownMemory` for a `found` that
        was never shown.
        """
        cut = Cut.of("recalls", (subject, found), limit, after)
        self._core.recorder.flush()
        ref = None
        if subject is not None:
            ref = self._queries.known_or_none(subject)
            if ref is None:
                return Page()
        with self._queries.view(RecallsView.name) as (connection, generation):
            if found is not None:
                table = tables.recalled(generation)
                ids = questions.starting_with(connection, table, "found", found)
                found = _only(ids, "memory or turn that was shown", found)
            rows = recalls.last(
                connection,
                generation,
                subject_ref=ref,
                found=found,
                limit=None if limit is None else limit + 1,
                before=None if cut.last is None else int(cut.last),
            )
        page = rows if limit is None else rows[:limit]
        more = len(page) < len(rows)
        return Page(self._answers(page), cut.next(page[-1].position) if more else None)

    def get(
        self,
        recall_id: str,
        *,
        standing: str = NOW,
        by: str = SYSTEM,
        reason: str | None = None,
    ) -> RecallDetails:
        """Everything that was recorded of one recall, by its id or the first characters of it, and
        the words of what it found, as far as they may be shown now.

        Whoever audits asks for `then` (the words that could be shown at the time of the recall) or
        `all` (also what was withheld), by name and with a reason: that goes on record before
        anything is shown. Raises `UnknownMemory`, and `NotPermitted` without a name or a reason.
        """
        arguments.standing(standing, reason, by)
        recorded = self.recorded(recall_id)
        facts, event = recorded.facts, recorded.event
        asked = event.asked if isinstance(event, MemoriesRecalled) else None
        searched = facts["ranker"] != SHOWN
        memories = set(facts["memories"])
        ids = list(dict.fromkeys(facts.get("ranked") or facts["memories"]))
        scores = list(facts["scores"]) or [None] * len(ids)
        context = None if asked is None else asked.context
        if context is not None:  # what goes into every context comes first, without a score
            first = [each for each in context.pinned if each not in ids]
            ids, scores = [*first, *ids], [*[None] * len(first), *scores]
        at = facts["position"] if searched else recorded.position
        apart = None
        if standing != NOW and recorded.subject_ref is not None:
            self._note_look(recorded, ids, standing, by, reason)
            asked_at = facts.get("asked_at") or recorded.recorded_at
            apart = standing_apart(
                self._core, recorded.subject_ref, facts["purpose"], standing, at, asked_at
            )
        words = self.words(ids, at, apart)
        most = None if asked is None else asked.max_tokens
        unknown = is_reranked(facts["ranker"])
        room = ids[: within([tokens(words[each].text or "") for each in ids], most)]
        if context is not None:
            room = list(context.lines)
        return RecallDetails(
            recall=self._answer_of(recorded),
            asked=None if asked is None else self._plain(asked),
            searched_position=at if searched else None,
            searched_at=to_datetime(facts["asked_at"]) if searched else None,
            query_digest=facts["query_digest"],
            index=facts.get("index"),
            unembedded=facts.get("unembedded") or 0,
            results=tuple(
                RecalledAnswer(
                    rank=rank,
                    id=each,
                    kind=words[each].kind,
                    score=None if score is None else score / MILLION,
                    shown=(
                        each in memories
                        if words[each].kind == "memory"
                        else None
                        if unknown
                        else each in room
                    ),
                    text=words[each].text,
                )
                for rank, (each, score) in enumerate(zip(ids, scores, strict=False), 1)
            ),
        )

    def record_shown(
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
        ref = self._core.known_subject(subject)
        ids = [each if isinstance(each, str) else each.memory_id for each in memories]
        if not ids:
            raise InvalidTurn("memories: name at least one that was shown.")
        with self._queries.view(BeliefsView.name) as (connection, generation):
            for memory_id in ids:
                found = questions.versions_of_memory(connection, generation, memory_id)
                if not found or found[0].subject_ref != ref:
                    raise UnknownMemory(f"There is no memory {memory_id} of {subject!r}.")
        given = None if purpose is None else arguments.purpose(purpose)
        actor = self._log.principal(by)
        stream = recall_stream(ref)

        def attempt() -> int:
            draft = self._core.gate.draft()
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
            appended = self._core.gate.commit(draft)
            return appended.first if appended else 0

        return self._core.gate.again(attempt)

    def _note_look(
        self, recall: Recorded, ids: Sequence[str], standing: str, by: str, reason: str | None
    ) -> None:
        """Put on record that somebody audits what a recall found; that is no access."""
        ref = recall.subject_ref or ""
        keys = self._log.keys(ref)
        if keys is None:
            return  # of whoever is erased there are no words to look at
        salt, policy = new_id(), self._core.rulebook.refreshed().policy
        asked = SearchQuery(
            query=f"recall {recall.event_id}",
            k=max(len(ids), 1),
            as_of=recall.facts["position"] or recall.position,
            min_confidence=0,
            min_importance=0,
            recency_weight=0,
            diversity=0,
            include=EVERYTHING,
            profile=SHOWN,
            standing=standing,
            reason=reason,
        )
        event = MemoriesRecalled(
            purpose=policy.purpose,
            query_digest=query_digest(keys.ids, salt, asked.query),
            ranker=SHOWN,
            memories=(),
            scores=(),
            ranked=tuple(ids),
            asked=asked,
            salt=salt,
        )
        actor, stream = self._log.principal(by), recall_stream(ref)
        self._core.recorder.note(New(event, new_id(), stream, ref, actor))
        self._core.recorder.flush()

    def recorded(self, given: str) -> Recorded:
        """The event of one recall, by its id or the first characters of it. Raises
        `UnknownMemory`, and `InvalidQuery` for what is no id."""
        if not isinstance(given, str) or not given:
            raise InvalidQuery(
                "recall_id: give the id of a recall. A search that found nothing, or was not to"
                " be recorded, has none."
            )
        self._core.recorder.flush()
        with self._queries.view(RecallsView.name) as (connection, generation):
            table = tables.recalls(generation)
            ids = questions.starting_with(connection, table, "recall_id", given)
        # Of whoever was erased no view has anything, but the log knows the whole id.
        recorded = self._log.find(_only(ids, "recall", given) if ids else given)
        if recorded is None or recorded.type != MemoriesRecalled.NAME:
            raise UnknownMemory(_unknown("recall", given))
        return recorded

    def _answers(self, rows: Sequence[RecallRow]) -> Sequence[RecallAnswer]:
        recorded = self._log.read_at([row.position for row in rows])
        return [self._answer_of(recorded[row.position]) for row in rows]

    def _answer_of(self, recorded: Recorded) -> RecallAnswer:
        facts, event = recorded.facts, recorded.event
        asked = event.asked if isinstance(event, MemoriesRecalled) else None
        return RecallAnswer(
            recall_id=recorded.event_id,
            position=recorded.position,
            recorded_at=to_datetime(recorded.recorded_at),
            subject=self._log.vault.real_id(recorded.subject_ref or ""),
            by=self._log.vault.principal_name(recorded.actor),
            purpose=facts["purpose"],
            session_tag=event.session_tag if isinstance(event, MemoriesRecalled) else None,
            searched=facts["ranker"] != SHOWN,
            ranker=facts["ranker"],
            embedder=facts.get("embedder"),
            found=len(dict.fromkeys(facts.get("ranked") or facts["memories"])),
            query=None if asked is None else asked.query,
        )

    def _plain(self, asked: SearchQuery) -> dict[str, Any]:
        """The query and its parameters as `search` takes them; sessions of `where` as tags."""
        plain = asked.model_dump()
        for name in _BOUNDS:
            plain[name] /= MILLION
        if asked.valid_at is not None:
            plain["valid_at"] = to_datetime(asked.valid_at)
        if asked.reader is not None:  # None once they are erased
            plain["reader"] = self._log.vault.real_id(asked.reader)
        return plain

    def words(
        self, ids: Sequence[str], position: int, apart: Standing | None = None
    ) -> dict[str, Said]:
        """What memories and turns said at a position, as far as it may be shown now; for whoever
        audits, as far as a standing `apart` goes."""
        with ExitStack() as held:

            @cache
            def standing_of(ref: str) -> Standing:
                if apart is not None and ref == apart.subject_ref:
                    return apart
                return held.enter_context(self._standings.now(ref))

            return self._words_of(ids, position, standing_of)

    def showable(self, beliefs: Sequence[BeliefAnswer]) -> tuple[BeliefAnswer, ...]:
        """Those of them, as they were read just now, whose words may be shown now."""
        of: dict[str, set[str]] = {}
        for each in beliefs:
            if each.subject is not None:  # nothing is shown of who is erased
                of.setdefault(each.subject, set()).add(each.memory_id)
        allowed: set[str] = set()
        for subject, memories in of.items():
            ref = self._queries.known_or_none(subject)
            if ref is not None:
                with self._standings.now(ref) as standing:
                    allowed.update(each for each in memories if standing.memory(each))
        return tuple(each for each in beliefs if each.memory_id in allowed)

    def _words_of(
        self, ids: Sequence[str], position: int, standing_of: Callable[[str], Standing]
    ) -> dict[str, Said]:
        found: dict[str, Said] = {}
        with self._queries.view(BeliefsView.name) as (connection, generation):
            for each in ids:
                rows = questions.versions_of_memory(connection, generation, each)
                upto = [row.words_at for row in rows if row.opened <= position]
                if upto:
                    event = self._log.read_at(upto[-1:])[upto[-1]].event
                    text = event.memory.claim if isinstance(event, Written) else None
                    standing = standing_of(rows[0].subject_ref)
                    found[each] = Said("memory", text if standing.memory(each) else None)
        for each in ids:
            if each not in found:
                turn = self._log.read_stream(each, upto=1)
                if turn and turn[0].type == TurnRecorded.NAME:
                    standing = standing_of(turn[0].subject_ref or "")
                    found[each] = Said("episode", _shown(turn[0], standing))
                else:
                    found[each] = Said("memory")
        return found


def _shown(turn: Recorded, standing: Standing) -> str | None:
    said = turn.event
    if not isinstance(said, TurnRecorded) or not standing.is_decided(turn.stream):
        return None
    shown = standing.turn(turn.stream, said.content)
    return None if shown is None else blanked(said.content, shown.withheld)


def _only(found: Sequence[str], what: str, given: str) -> str:
    if not found:
        raise UnknownMemory(_unknown(what, given))
    if len(found) > 1:
        raise UnknownMemory(f"More than one {what} begins with {given!r}; write more of it.")
    return found[0]


def _unknown(what: str, given: str) -> str:
    return f"There is no {what} {given!r}; to see which there are: beliefledger recalls list."
