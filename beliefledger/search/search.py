"""Search: finds memories and turns, and says why each was found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from beliefledger import arguments
from beliefledger.answers import BeliefAnswer
from beliefledger.filters import Where
from beliefledger.gate.rulebook import Rules
from beliefledger.gate.visibility import SUBJECT
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.errors import NotPermitted
from beliefledger.ledger.events.recall import MemoriesRecalled, SearchQuery
from beliefledger.ledger.events.turn import GateDecided, TurnRecorded
from beliefledger.ledger.log import new_id
from beliefledger.ledger.spans import COUNT, SEARCH, traced
from beliefledger.ledger.streams import query_digest, recall_stream, session_tag
from beliefledger.ledger.times import Micros, to_datetime
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.projections import questions, search_requests
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.decisions import DecisionsView
from beliefledger.projections.questions import DecisionRow
from beliefledger.projections.search_requests import ALL, NOW, THEN, Hit, Looked, SearchRequest
from beliefledger.reading.queries import Queries, Snapshot
from beliefledger.reading.readers import Readers
from beliefledger.reading.words import Reader, score
from beliefledger.search.answers import (
    ArmAnswer,
    DecisionBrief,
    EpisodeAnswer,
    FoundAnswer,
    OutdatedWords,
    SearchAnswer,
    StandingAnswer,
)
from beliefledger.search.on_demand import IndexesOnDemand
from beliefledger.search.options import EVERYTHING
from beliefledger.search.request import SearchCall, Then, checked, request_of, wanted_of
from beliefledger.search.reranking import Rerank, ranker_with, reranked, reranker
from beliefledger.search.turn_words import TurnWords, over_of


class Prepared(NamedTuple):
    """A search that was checked, as it goes on record, and by which rules and as of when it is
    made."""

    call: SearchCall
    asked: SearchQuery
    rules: Rules
    snapshot: Snapshot | None
    ref: str | None = None
    """Of the subject; None where there is nothing to find …"""
    note: str | None = None
    """… for this reason; by default nobody knows them."""


class Search:
    """Searches the memories and turns of one subject at a time."""

    def __init__(
        self, core: Core, queries: Queries, indexes: IndexesOnDemand, readers: Readers
    ) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self._indexes = indexes
        self._readers = readers

    @traced(SEARCH, lambda answer: {COUNT: len(answer.results)})
    def search(self, call: SearchCall) -> SearchAnswer:
        """Find what a subject's memories and turns say about a query; see `MemoryLedger.search`."""
        return self.found(self.prepared(call))

    def prepared(self, call: SearchCall) -> Prepared:
        """A search that can be asked. Raises `InvalidQuery` for what cannot be, and as `Readers`
        does for who asks."""
        rules = self._core.rulebook.refreshed()
        snapshot = self._queries.snapshot(call.as_of)
        asked = checked(call, rules, None if snapshot is None else snapshot.position)
        where = Where.of(call.options.where)
        arguments.filters(rules, where.type, where.topic)
        then = snapshot.position if asked.standing == THEN and snapshot is not None else None
        sight = self._readers.sight(call.options.reader, then)
        ref = self._queries.known_or_none(call.subject)
        keys = None if ref is None else self._log.keys(ref)
        if ref is None or keys is None:
            return Prepared(call, asked, rules, snapshot)
        seen: dict[str, object] = {"where": wanted_of(keys, where)}
        if sight is not None:
            least = sight.least(ref, asked.scope)
            if least is None:
                return Prepared(call, asked, rules, snapshot, note=_UNSEEN)
            seen |= {"reader": sight.reader, "scope": least}
        return Prepared(call, asked.model_copy(update=seen), rules, snapshot, ref)

    def found(self, prepared: Prepared) -> SearchAnswer:
        """What a search finds."""
        call, asked, ref = prepared.call, prepared.asked, prepared.ref
        rules, snapshot = prepared.rules, prepared.snapshot
        by = None if call.options.rerank is None else reranker(call.options.rerank)
        purpose = arguments.purpose(call.purpose or rules.policy.purpose)
        head = self._indexes().follow_erasures()  # also where it is they who are asked about
        now = asked.valid_at
        if now is None:
            now = max(self._core.clock(), head.recorded_at) if snapshot is None else snapshot.at
        try:
            if ref is None:
                raise NotPermitted
            request = request_of(self._core, ref, asked, _then(call, asked, rules, now, snapshot))
            looked = self._indexes().look(request, head=head)
            found = self._read(looked)
            if self._indexes().follow_erasures().erasures != head.erasures:
                # Something was erased while this looked: of what was read before, in this search or
                # kept of another, nothing is to be told.
                found = self._read(looked)
            if by is not None:
                found = reranked(by, asked.query, found, call.k)
            shown = found[: within([each.tokens for each in found], call.max_tokens)]
            recall_id = None
            audits = asked.standing is not None
            if (call.record and looked.hits) or audits:
                ids = set[str]() if audits else {each.id for each in shown}
                recall_id = self._note(request, looked, ids, (purpose, call.by), by)
            if audits:
                self._core.recorder.flush()  # on record before anything is shown
        except NotPermitted:  # also: erased just now
            return _nothing(call.subject, asked, now, head.position, prepared.note)
        return _answer(call.subject, request, looked, shown, len(found) - len(shown), recall_id)

    def _note(
        self,
        request: SearchRequest,
        looked: Looked,
        shown: Collection[str],
        whose: tuple[str, str],
        rerank: Rerank | None,
    ) -> str:
        """Have the search recorded, off the reader's path; returns the record's id. `shown` are the
        ids of what there was room for; `whose` is for what and by whom it was asked. What a
        reranker was given goes on record as search ranked it, so that it can be made again."""
        purpose, by = whose
        keys = self._log.keys(request.subject_ref)
        if keys is None:
            raise NotPermitted
        asked, salt = request.asked, new_id()
        event = MemoriesRecalled(
            purpose=purpose,
            session_tag=session_tag(keys.ids, asked.session),
            query_digest=query_digest(keys.ids, salt, asked.query),
            ranker=ranker_with(f"{asked.profile}/{search_requests.VERSION}", rerank),
            memories=tuple(
                hit.id for hit in looked.hits if hit.row_id is not None and hit.id in shown
            ),
            scores=tuple(hit.millionths for hit in looked.hits),
            ranked=tuple(hit.id for hit in looked.hits),
            position=looked.position,
            asked_at=request.now,
            embedder=looked.embedder,
            index=looked.index,
            unembedded=looked.unembedded,
            asked=asked,
            salt=salt,
        )
        recall_id = new_id()
        stream = recall_stream(request.subject_ref)
        actor = SYSTEM if by == SYSTEM else self._log.principal(by)
        self._core.recorder.note(New(event, recall_id, stream, request.subject_ref, actor))
        return recall_id

    # Words

    def _read(self, looked: Looked) -> list[FoundAnswer]:
        """Results with their words; without those that were erased a moment ago."""
        memories = self._memories(looked)
        words = self._log.read_at([hit.words_at for hit in looked.hits if hit.row_id is None])
        found: list[FoundAnswer] = []
        for hit in looked.hits:
            memory, decision, episode = None, None, None
            parts: tuple[OutdatedWords, ...] = ()
            left = False
            if hit.row_id is not None:
                memory, decision = memories.get(hit.row_id, (None, None))
                if memory is not None and memory.memory_id != hit.id:
                    continue  # its rows were folded anew without what was erased
                text = None if memory is None else memory.text
                if memory is not None and hit.against:
                    memory = memory.model_copy(update={"contradicts": hit.against})
            else:
                text, episode, parts, left = _episode(words[hit.words_at], hit)
            if text is None:
                continue
            found.append(
                FoundAnswer(
                    rank=len(found) + 1,
                    kind="memory" if episode is None else "episode",
                    id=hit.id,
                    text=text,
                    score=round(hit.score, 6),
                    arms={
                        name: ArmAnswer(rank=vote.rank, score=round(vote.score, 4))
                        for name, vote in hit.votes.items()
                    },
                    components={name: round(each, 4) for name, each in hit.components.items()},
                    why=_why(hit),
                    tokens=tokens(text),
                    standing=_standing(hit, memory, parts, left=left),
                    memory=memory,
                    decision=decision,
                    episode=episode,
                    taken_up_by=hit.taken_up_by,
                    accesses=hit.accesses,
                    left=None if hit.left is None else round(hit.left, 6),
                )
            )
        return found

    def _memories(self, looked: Looked) -> dict[int, tuple[BeliefAnswer, DecisionBrief | None]]:
        """The memories found, by their rows, as they were known then."""
        ids = [hit.row_id for hit in looked.hits if hit.row_id is not None]
        forgotten = self._indexes().forgotten
        told = self._indexes().told(ids)
        ids = [each for each in ids if each not in told]
        if not ids:
            return told
        names = (BeliefsView.name, DecisionsView.name)
        with self._queries.views(*names) as (connection, (beliefs, decisions)):
            rows = questions.versions_with(connection, beliefs, ids)
            for row in rows:
                if row.closed is not None and row.closed > looked.position:
                    row.closed = row.closed_at = row.closed_by = None
            memories = [row.memory_id for row in rows]
            evidence = questions.evidence_of(connection, beliefs, memories, looked.position)
            decided = {
                each.decision_id: each
                for each in questions.decisions_with(
                    connection,
                    decisions,
                    list({row.decision for row in rows}),
                )
            }
        answers = Reader(self._log).beliefs(
            rows, {row.row_id: evidence[row.memory_id] for row in rows}
        )
        row_of = {row.memory_id: row for row in rows}
        scores = self._log.read_at([each.position for each in decided.values()])
        fresh = {
            row_of[each.memory_id].row_id: (each, _brief(decided.get(each.decision_id), scores))
            for each in answers
        }
        self._indexes().tell(fresh, forgotten)
        return told | fresh


def _then(
    call: SearchCall, asked: SearchQuery, rules: Rules, now: Micros, snapshot: Snapshot | None
) -> Then:
    """As of when, by which rules, for what and for whom a search is made."""
    purpose = arguments.purpose(call.purpose or rules.policy.purpose)
    if asked.standing != THEN or snapshot is None:
        standing = asked.standing if asked.standing == ALL else NOW
        return Then(asked.as_of, now, rules, purpose, standing)
    return Then(asked.as_of, now, rules, purpose, THEN, snapshot.position, snapshot.at)


class _Said(NamedTuple):
    """A turn's words, itself, its words that are no longer so, and whether any others of it are
    still so where no memory of it is."""

    text: str | None
    episode: EpisodeAnswer | None = None
    parts: tuple[OutdatedWords, ...] = ()
    left: bool = False


def _episode(recorded: Recorded, hit: Hit) -> _Said:
    turn = recorded.event
    if not isinstance(turn, TurnRecorded) or hit.turn is None:
        return _Said(None)
    said_at = recorded.recorded_at if turn.said_at is None else turn.said_at
    words = TurnWords(turn.content, hit.turn.withheld, over_of(hit.parts))
    # Where all of it is outdated, by one and the same, the standing says so.
    left = hit.superseded is not None and words.is_left
    several = hit.superseded is None or left or words.is_of_several
    episode = EpisodeAnswer(
        turn_id=recorded.stream,
        position=recorded.position,
        speaker=turn.said_by,
        role=turn.role,
        session=turn.session,
        said_at=to_datetime(said_at),
    )
    parts = tuple(
        OutdatedWords(words=said, superseded_by=over.by, since=over.since)
        for said, over in (words.over() if several else ())
    )
    return _Said(words.told(marked=several), episode, parts, left)


def _standing(
    hit: Hit, memory: BeliefAnswer | None, parts: tuple[OutdatedWords, ...], *, left: bool
) -> StandingAnswer:
    contested = memory is not None and (memory.contested or bool(memory.contradicts))
    contested = contested or (hit.turn is not None and hit.turn.contested)
    over = hit.superseded
    if over is None or left:
        state: Literal["current", "contested"] = "contested" if contested else "current"
        return StandingAnswer(state=state, parts=parts, reasons=hit.reasons)
    return StandingAnswer(
        state="outdated",
        superseded_by=over.by,
        since=None if over.since is None else to_datetime(over.since),
        parts=parts,
        reasons=hit.reasons,
    )


def tokens(text: str) -> int:
    """About how many tokens a text is for a model: a quarter of its characters, rounded up."""
    return -(-len(text) // 4)


def within(costs: Sequence[int], most: int | None) -> int:
    """How many of the first fit into a budget together."""
    spent = 0
    for number, cost in enumerate(costs):
        spent += cost
        if most is not None and spent > most:
            return number
    return len(costs)


def _brief(decision: DecisionRow | None, events: Mapping[int, Recorded]) -> DecisionBrief | None:
    """A decision and its confidence; None where it is no decision, or erased a moment ago."""
    decided = None if decision is None else events[decision.position].event
    if decision is None or not isinstance(decided, GateDecided):
        return None
    return DecisionBrief(
        decision_id=decision.decision_id,
        outcome=decision.outcome,
        reason=decision.reason,
        confidence=score(decided.c),
    )


_ARMS = {"words": "by its words", "meaning": "by its meaning"}


def _why(hit: Hit) -> str:
    """In a sentence."""
    votes = hit.votes
    parts = [
        f"{ordinal(votes[name].rank)} {what} ({votes[name].score:.2f})"
        for name, what in _ARMS.items()
        if name in votes
    ]
    if "answer" in votes:
        parts.append("has what is asked for")
    if "slot" in votes:
        parts.append(f"about what is asked ({votes['slot'].score:.2f})")
    if "heading" in votes:
        parts.append("said then or by whom it asks about")
    if "time" in votes:
        parts.append("said at the time that it asks about")
    if "recency" in votes:
        parts.append(f"{votes['recency'].score:.0%} fresh")
    if "type" in votes:
        parts.append("of a type that is asked for")
    return ", ".join(parts) or "said later, of something that changed"


def ordinal(rank: int) -> str:
    """`1st`, `12th`."""
    ending = (
        "th" if rank % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    )
    return f"{rank:,}{ending}"


def _answer(
    subject: str,
    request: SearchRequest,
    looked: Looked,
    shown: Sequence[FoundAnswer],
    left_out: int,
    recall_id: str | None,
) -> SearchAnswer:
    notes = [] if looked.note is None else [looked.note]
    if not looked.lawful:
        notes.append(
            f"There is no lawful basis for {subject!r} and the purpose {request.purpose!r}: grant"
            f" one with beliefledger consent grant --subject {subject} --basis consent. Only the"
            " policy's purpose can have one."
        )
    elif not looked.candidates:
        notes.append(_why_nothing(request.asked))
    if looked.pending:
        notes.append(
            f"{looked.pending:,} turn{'s' * (looked.pending != 1)} not decided yet, of which"
            " nothing is shown: beliefledger process"
        )
    if looked.unembedded:
        notes.append(
            f"{looked.unembedded:,} of {looked.candidates:,} texts have no vector"
            " of this model yet and were compared by words alone: beliefledger vectors build"
        )
    return SearchAnswer(
        recall_id=recall_id,
        subject=subject,
        query=request.asked.query,
        profile=request.asked.profile,
        position=looked.position,
        valid_at=to_datetime(request.now),
        embedder=looked.embedder,
        index=looked.index,
        candidates=looked.candidates,
        suppressed=looked.suppressed,
        pending=looked.pending,
        unembedded=looked.unembedded,
        routed=looked.routed,
        route=looked.route,
        results=tuple(shown),
        tokens=sum(each.tokens for each in shown),
        left_out=left_out,
        notes=tuple(notes),
    )


def _why_nothing(asked: SearchQuery) -> str:
    """Why there was nothing to look at."""
    limits = []
    if asked.scope is not None and asked.scope != SUBJECT:
        limits.append(f"visible as widely as {asked.scope} (turns are for the subject alone)")
    limits += [
        f"of {name} {', '.join(of)}"
        for name, of in (("type", asked.types), ("topic", asked.topics))
        if of
    ]
    if asked.where is not None:
        limits.append("of what `where` asks for")
    if asked.include != EVERYTHING:
        limits.append(f"among {', '.join(asked.include)}")
    return f"There was nothing to search{' ' if limits else ''}{', '.join(limits)}."


_UNSEEN = "The policy has no scope by which anybody but the subject would see something."


def _nothing(
    subject: str, asked: SearchQuery, now: Micros, position: int, note: str | None
) -> SearchAnswer:
    return SearchAnswer(
        recall_id=None,
        subject=subject,
        query=asked.query,
        profile=asked.profile,
        position=position if asked.as_of is None else asked.as_of,
        valid_at=to_datetime(now),
        embedder=None,
        index=None,
        candidates=0,
        suppressed=0,
        pending=0,
        unembedded=0,
        routed=(),
        route=None,
        results=(),
        tokens=0,
        left_out=0,
        notes=(note or f"Nothing is known about {subject!r}.",),
    )
