"""Making searches again as of then, and saying what differs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from beliefledger.arguments import MOST_RESULTS
from beliefledger.gate.replay import Verdict
from beliefledger.ledger.candidate import MILLION, Frozen
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import NotPermitted
from beliefledger.ledger.events.kind import Event
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.streams import recall_stream
from beliefledger.opening.core import Core
from beliefledger.projections import search_requests
from beliefledger.projections.search_requests import ALL, THEN, Looked, SearchRequest
from beliefledger.reading.queries import Queries
from beliefledger.reading.subject_record import SHOWN
from beliefledger.search.models import Chosen, Embedders
from beliefledger.search.on_demand import IndexesOnDemand
from beliefledger.search.pinning import Pinning
from beliefledger.search.recalls import Recalls
from beliefledger.search.request import Then, request_of
from beliefledger.search.reranking import without_reranker
from beliefledger.search.search import ordinal
from beliefledger.times import Progress

TOLERANCE = 10
"""Millionths by which a score may differ: sums of floats end in other digits elsewhere, and where
a processor adds in another order."""
UNEXPLAINED = (
    "Nothing on record explains it. Fold the views anew, and replay: beliefledger ops rebuild"
)
ERASED_SINCE = "Some of what it searched was erased since: that is not there to be found again."


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


class RecallReplays:
    """Makes recorded searches again."""

    def __init__(
        self,
        core: Core,
        queries: Queries,
        indexes: IndexesOnDemand,
        embedders: Embedders,
        recalls: Recalls,
    ) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self._indexes = indexes
        self._embedders = embedders
        self._recalls = recalls
        self._pinning = Pinning(core, queries, indexes)

    def one(self, recall_id: str) -> RecallReplay:
        """Make a search again as of then, by the policy and with the model of then: same,
        different, or inputs destroyed, and every difference in a sentence.

        Raises `UnknownMemory`, and `NotPermitted` for what was no search.
        """
        recorded = self._recalls.recorded(recall_id)
        if recorded.facts["ranker"] == SHOWN:
            raise NotPermitted(
                f"In recall {recorded.event_id} a caller chose by itself what to show, so there is"
                f" no search to make again: beliefledger recalls show {recorded.event_id}."
            )
        return self._again(recorded, self._changes_of_rules())

    def all(self, subject: str | None = None, progress: Progress | None = None) -> RecallsReplay:
        """Make every search again, of one subject or of all. Of a subject nobody knows, or who was
        erased, there is none; among all, those of whoever was erased are counted."""
        self._core.recorder.flush()
        verdicts = dict.fromkeys(Verdict, 0)
        differing, shown = [], 0
        changes = self._changes_of_rules()
        for recorded in self._searches(subject, progress):
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

    def _searches(self, subject: str | None, progress: Progress | None) -> Iterator[Recorded]:
        if subject is not None:
            ref = self._queries.known_or_none(subject)
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

    def _changes_of_rules(self) -> list[int]:
        """The positions at which policy or types changed."""
        return [each.position for each in self._log.read_stream(self._core.rulebook.stream)]

    def _again(self, recorded: Recorded, changes: Sequence[int]) -> RecallReplay:
        facts, event, ref = recorded.facts, recorded.event, recorded.subject_ref or ""
        answer = RecallReplay(
            recall_id=recorded.event_id,
            position=recorded.position,
            verdict=Verdict.INPUTS_DESTROYED.value,
            subject=None,
            query=None,
            recorded=_ranked(
                [
                    *((each, 0) for each in _pinned_in(event)),
                    *zip(facts["ranked"], facts["scores"], strict=True),
                ]
            ),
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
        rules = self._core.rulebook.at(bisect_right(changes, then))
        chosen = self._model(event.embedder)
        try:
            standing = ALL if asked.standing == ALL else THEN
            when = Then(
                event.position,
                event.asked_at,
                rules,
                event.purpose,
                standing,
                then,
                recorded.recorded_at,
            )
            request = request_of(self._core, ref, asked, when)
            looked = self._indexes().look(request, chosen)
            pinned: tuple[str, ...] = ()
            if asked.context is not None:
                pinned = self._pinning.of(request, event.position, chosen=chosen).ids
            again = _ranked(
                [
                    *((each, 0) for each in pinned),
                    *((hit.id, hit.millionths) for hit in looked.hits),
                ]
            )
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
        request: SearchRequest,
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
        words = self._recalls.words(ids, request.position or 0)
        further: dict[str, int] = {}
        if not then.keys() <= now.keys() and not request.asked.diversity:
            asked = request.asked.model_copy(update={"k": MOST_RESULTS})
            hits = self._indexes().look(replace(request, asked=asked), chosen).hits
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
        embedders = self._embedders
        if name is None or not embedders.has(name):
            return embedders.in_force(self._log.head().position)
        return Chosen(name, embedders.named(name))


def _pinned_in(event: Event | None) -> tuple[str, ...]:
    """What went into a context whatever was asked, if it is one: before all that was found."""
    asked = event.asked if isinstance(event, MemoriesRecalled) else None
    return () if asked is None or asked.context is None else asked.context.pinned


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
    profile = "" if event.asked is None else f"{event.asked.profile}/{search_requests.VERSION}"
    ranker = without_reranker(event.ranker)
    if ranker != profile:
        yield f"Results are ranked by {profile} now; then it was by {ranker}."
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
