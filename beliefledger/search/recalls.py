"""The part of the front door that tells what was searched for and found, and does it again."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from beliefledger.arguments import MOST_RESULTS
from beliefledger.gate.replay import Verdict
from beliefledger.gate.rulebook import Rules
from beliefledger.ledger.candidate import MILLION, Frozen
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import NotPermitted, UnknownMemory
from beliefledger.ledger.events.belief import Written
from beliefledger.ledger.events.recall import Asked, MemoriesRecalled
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.log import Log
from beliefledger.ledger.streams import recall_stream
from beliefledger.ledger.times import Micros, to_datetime
from beliefledger.opening.build import Parts
from beliefledger.opening.recorder import Recorder
from beliefledger.projections import profiles, questions, recalls, tables
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.profiles import Looked, Request
from beliefledger.projections.recalls import RecallRow, RecallsView
from beliefledger.reading.queries import Asking
from beliefledger.reading.subject_record import SHOWN
from beliefledger.search.models import Chosen
from beliefledger.search.search import ordinal, tokens, within
from beliefledger.times import Progress

if TYPE_CHECKING:  # whoever searches nothing need not wait for numpy
    from beliefledger.search.indexes import Finder

TOLERANCE = 1
"""Millionths by which a score may differ: sums of floats end in other digits elsewhere."""
UNEXPLAINED = (
    "Nothing on record explains it. Fold the views anew, and replay: beliefledger ops rebuild"
)
ERASED_SINCE = "Some of what it searched was erased since: that is not there to be found again."
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
    shown: bool
    """False where the budget of tokens had no room for it."""
    text: str | None
    """As it was then; None once it is erased."""


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


class RankedAnswer(Frozen):
    """What was found at a rank, and its score."""

    rank: int
    id: str
    score: float


class RecallDifference(Frozen):
    """One result that is not as it was; `was` and `now` are None where it was not found."""

    id: str
    text: str | None
    was: RankedAnswer | None
    now: RankedAnswer | None
    says: str


class RecallReplay(Frozen):
    """A search made again as of then. `reasons` say why it may differ, as far as can be known."""

    recall_id: str
    position: int
    verdict: str
    subject: str | None
    query: str | None
    recorded: tuple[RankedAnswer, ...]
    again: tuple[RankedAnswer, ...] | None
    differs: tuple[RecallDifference, ...] = ()
    reasons: tuple[str, ...] = ()


class RecallsReplay(Frozen):
    """All searches made again: how many gave what, and those that did not give the same. `shown`
    are recalls that were no searches."""

    recalls: int
    same: int
    different: int
    inputs_destroyed: int
    shown: int
    differing: tuple[RecallReplay, ...]


class _Said(NamedTuple):
    """What a memory or a turn said; None once that is erased, or where no view knows of it."""

    kind: Literal["memory", "episode"]
    text: str | None = None


class Recalling:
    """A base of the front door, which has made these."""

    _parts: Parts
    _log: Log
    _asking: Asking
    _recorder: Recorder

    if TYPE_CHECKING:  # of the front door itself, and of another base

        @property
        def _finder(self) -> Finder: ...
        def _request(
            self, ref: str, asked: Asked, position: int | None, now: Micros, rules: Rules
        ) -> Request: ...

    def recalls(
        self, subject: str | None = None, *, found: str | None = None, limit: int | None = None
    ) -> list[RecallAnswer]:
        """What was searched for and shown, newest first; with `limit`, the last so many.

        `found` picks those that showed a memory or a turn, by its id or the first characters of
        that. Those of whoever was erased are not there. Raises `UnknownMemory` for a `found` that
        was never shown.
        """
        self._recorder.flush()
        ref = None
        if subject is not None:
            ref = self._asking.known_or_none(subject)
            if ref is None:
                return []
        with self._asking.view(RecallsView.name) as (connection, generation):
            if found is not None:
                table = tables.recalled(generation)
                ids = questions.starting_with(connection, table, "found", found)
                found = _only(ids, "memory or turn that was shown", found)
            rows = recalls.last(connection, generation, subject_ref=ref, found=found, limit=limit)
        return self._answers(rows)

    def recall(self, recall_id: str) -> RecallDetails:
        """Everything that was recorded of one recall, by its id or the first characters of it, and
        the words of what it found, as far as they are there. Raises `UnknownMemory`."""
        recorded = self._recalled(recall_id)
        facts, event = recorded.facts, recorded.event
        asked = event.asked if isinstance(event, MemoriesRecalled) else None
        searched = facts["ranker"] != SHOWN
        memories = set(facts["memories"])
        ids = list(dict.fromkeys(facts.get("ranked") or facts["memories"]))
        scores = facts["scores"] or [None] * len(ids)
        at = facts["position"] if searched else recorded.position
        words = self._words(ids, at)
        most = None if asked is None else asked.max_tokens
        room = ids[: within([tokens(words[each].text or "") for each in ids], most)]
        return RecallDetails(
            recall=self._answer_of(recorded),
            asked=None if asked is None else _plain(asked),
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
                    shown=each in (memories if words[each].kind == "memory" else room),
                    text=words[each].text,
                )
                for rank, (each, score) in enumerate(zip(ids, scores, strict=False), 1)
            ),
        )

    def replay_recall(self, recall_id: str) -> RecallReplay:
        """Make a search again as of then, by the policy and with the model of then: same,
        different, or inputs destroyed, and every difference in a sentence.

        Raises `UnknownMemory`, and `NotPermitted` for what was no search.
        """
        recorded = self._recalled(recall_id)
        if recorded.facts["ranker"] == SHOWN:
            raise NotPermitted(
                f"In recall {recorded.event_id} a caller chose by itself what to show, so there is"
                f" no search to make again: beliefledger recalls show {recorded.event_id}."
            )
        return self._again(recorded, self._changes_of_rules())

    def replay_recalls(
        self, subject: str | None = None, progress: Progress | None = None
    ) -> RecallsReplay:
        """Make every search again, of one subject or of all. Of a subject nobody knows, or who was
        erased, there is none; among all, those of whoever was erased are counted."""
        self._recorder.flush()
        verdicts = dict.fromkeys(Verdict, 0)
        differing, shown = [], 0
        changes = self._changes_of_rules()
        for recorded in self._all(subject, progress):
            if recorded.facts["ranker"] == SHOWN:
                shown += 1
                continue
            replay = self._again(recorded, changes)
            verdicts[Verdict(replay.verdict)] += 1
            if replay.verdict == Verdict.DIFFERENT:
                differing.append(replay)
        return RecallsReplay(
            recalls=sum(verdicts.values()),
            same=verdicts[Verdict.SAME],
            different=verdicts[Verdict.DIFFERENT],
            inputs_destroyed=verdicts[Verdict.INPUTS_DESTROYED],
            shown=shown,
            differing=tuple(differing),
        )

    # Finding the record

    def _recalled(self, given: str) -> Recorded:
        self._recorder.flush()
        with self._asking.view(RecallsView.name) as (connection, generation):
            table = tables.recalls(generation)
            ids = questions.starting_with(connection, table, "recall_id", given)
        # Of whoever was erased no view has anything, but the log knows the whole id.
        recorded = self._log.find(_only(ids, "recall", given) if ids else given)
        if recorded is None or recorded.type != MemoriesRecalled.NAME:
            raise UnknownMemory(_unknown("recall", given))
        return recorded

    def _all(self, subject: str | None, progress: Progress | None) -> Iterator[Recorded]:
        if subject is not None:
            ref = self._asking.known_or_none(subject)
            found = [] if ref is None else self._log.read_stream(recall_stream(ref))
            for done, recorded in enumerate(found, 1):
                yield recorded
                if progress:
                    progress(done, len(found))
            return
        head = self._log.head().position
        for reached, page in self._log.pages_to(0, head, later=True):
            yield from (each for each in page if each.type == MemoriesRecalled.NAME)
            if progress:
                progress(reached, head)

    def _answers(self, rows: Sequence[RecallRow]) -> list[RecallAnswer]:
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

    def _words(self, ids: Sequence[str], position: int) -> dict[str, _Said]:
        """What memories and turns said at a position."""
        found: dict[str, _Said] = {}
        with self._asking.view(BeliefsView.name) as (connection, generation):
            for each in ids:
                rows = questions.versions_of_memory(connection, generation, each)
                upto = [row.words_at for row in rows if row.opened <= position]
                if upto:
                    event = self._log.read_at(upto[-1:])[upto[-1]].event
                    text = event.memory.claim if isinstance(event, Written) else None
                    found[each] = _Said("memory", text)
        for each in ids:
            if each not in found:
                turn = self._log.read_stream(each, upto=1)
                if turn and turn[0].type == TurnRecorded.NAME:
                    said = turn[0].event
                    text = said.content if isinstance(said, TurnRecorded) else None
                    found[each] = _Said("episode", text)
                else:
                    found[each] = _Said("memory")
        return found

    # Doing it again

    def _changes_of_rules(self) -> list[int]:
        """The positions at which policy or types changed."""
        return [each.position for each in self._log.read_stream(self._parts.rulebook.stream)]

    def _again(self, recorded: Recorded, changes: Sequence[int]) -> RecallReplay:
        facts, event, ref = recorded.facts, recorded.event, recorded.subject_ref or ""
        answer = RecallReplay(
            recall_id=recorded.event_id,
            position=recorded.position,
            verdict=Verdict.INPUTS_DESTROYED.value,
            subject=None,
            query=None,
            recorded=_ranked(zip(facts["ranked"], facts["scores"], strict=True)),
            again=None,
            reasons=("The subject was erased, and the query with them.",),
        )
        if not isinstance(event, MemoriesRecalled) or event.asked is None:
            alive = self._log.vault.real_id(ref)
            if alive is None:
                return answer
            words = ("The query's words were erased.",)
            return answer.model_copy(update={"subject": alive, "reasons": words})
        asked = event.asked
        then = event.position if asked.as_of is None else recorded.position
        rules = self._parts.rulebook.at(bisect_right(changes, then))
        chosen = self._model(event.embedder)
        try:
            request = self._request(ref, asked, event.position, event.asked_at, rules)
            looked = self._finder.look(request, chosen)
            again = _ranked((hit.id, hit.millionths) for hit in looked.hits)
            differs = self._differences(request, chosen, answer.recorded, again)
        except NotPermitted:  # erased just now
            return answer
        reasons = tuple(_reasons(event, looked))
        verdict = Verdict.DIFFERENT if differs else Verdict.SAME
        if differs and self._log.erasures_of(ref, after=then):
            verdict, reasons = Verdict.INPUTS_DESTROYED, (*reasons, ERASED_SINCE)
        return answer.model_copy(
            update={
                "verdict": verdict.value,
                "subject": self._log.vault.real_id(ref),
                "query": asked.query,
                "again": again,
                "differs": differs,
                "reasons": reasons or ((UNEXPLAINED,) if differs else ()),
            }
        )

    def _differences(
        self,
        request: Request,
        chosen: Chosen,
        recorded: Sequence[RankedAnswer],
        again: Sequence[RankedAnswer],
    ) -> tuple[RecallDifference, ...]:
        then = {each.id: each for each in recorded}
        now = {each.id: each for each in again}
        ids = [
            each for each in dict.fromkeys((*then, *now)) if _differ(then.get(each), now.get(each))
        ]
        if not ids:
            return ()
        words = self._words(ids, request.position or 0)
        further: dict[str, int] = {}
        if not then.keys() <= now.keys() and not request.asked.diversity:
            asked = request.asked.model_copy(update={"k": MOST_RESULTS})
            hits = self._finder.look(replace(request, asked=asked), chosen).hits
            further = {hit.id: rank for rank, hit in enumerate(hits, 1)}
        return tuple(
            RecallDifference(
                id=each,
                text=words[each].text,
                was=then.get(each),
                now=now.get(each),
                says=_says(then.get(each), now.get(each), further.get(each)),
            )
            for each in ids
        )

    def _model(self, name: str | None) -> Chosen:
        """The model of then, where it is here."""
        embedders = self._parts.embedders
        if name is None or not embedders.has(name):
            return embedders.in_force(self._log.head().position)
        return Chosen(name, embedders.named(name))


def _ranked(found: Iterable[tuple[str, int]]) -> tuple[RankedAnswer, ...]:
    return tuple(
        RankedAnswer(rank=rank, id=each, score=score / MILLION)
        for rank, (each, score) in enumerate(found, 1)
    )


def _differ(was: RankedAnswer | None, now: RankedAnswer | None) -> bool:
    if was is None or now is None:
        return True
    return was.rank != now.rank or abs(was.score - now.score) * MILLION > TOLERANCE + 0.5


def _says(was: RankedAnswer | None, now: RankedAnswer | None, further: int | None) -> str:
    """How one result differs, in a sentence; `further` is its rank among all that is found now."""
    told = ""
    if was is not None:
        told = f"Then it was {ordinal(was.rank)} with {was.score:.6f}"
    if was is None and now is not None:
        return f"Then it was not found; now it is {ordinal(now.rank)} with {now.score:.6f}."
    if now is not None:
        return f"{told}; now it is {ordinal(now.rank)} with {now.score:.6f}."
    if further is not None:
        return f"{told}; now it is {ordinal(further)}, further down than was asked for."
    return f"{told}; now it is not found."


def _reasons(event: MemoriesRecalled, looked: Looked) -> Iterator[str]:
    """What is known to be other than it was then."""
    profile = "" if event.asked is None else f"{event.asked.profile}/{profiles.VERSION}"
    if event.ranker != profile:
        yield f"Results are ranked by {profile} now; then it was by {event.ranker}."
    if event.embedder is not None and event.embedder != looked.embedder:
        yield (
            f"Meanings were compared by {event.embedder} then, which is not installed; now by"
            f" {looked.embedder}: pip install 'beliefledger[embeddings]'"
        )
    elif event.index != looked.index:
        yield f"The index is {looked.index} now; then it was {event.index}."
    if event.unembedded != looked.unembedded:
        yield (
            f"Then {event.unembedded:,} texts had no vector and were compared by words alone; now"
            f" {looked.unembedded:,}."
        )


def _plain(asked: Asked) -> dict[str, Any]:
    """The query and its parameters as `search` takes them."""
    plain = asked.model_dump()
    for name in _BOUNDS:
        plain[name] /= MILLION
    if asked.valid_at is not None:
        plain["valid_at"] = to_datetime(asked.valid_at)
    return plain


def _only(found: Sequence[str], what: str, given: str) -> str:
    if not found:
        raise UnknownMemory(_unknown(what, given))
    if len(found) > 1:
        raise UnknownMemory(f"More than one {what} begins with {given!r}; write more of it.")
    return found[0]


def _unknown(what: str, given: str) -> str:
    return f"There is no {what} {given!r}; to see which there are: beliefledger recalls list."
