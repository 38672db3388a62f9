"""The indexes of one process: made when a subject is first searched, kept up with the log, and
dropped when the subject is erased or memory gets short."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from beliefledger.ledger.candidate import MILLION
from beliefledger.ledger.errors import BackendUnavailable, BackendUnusable, NotPermitted
from beliefledger.ledger.store import Head
from beliefledger.opening.core import Core
from beliefledger.projections import embedding, search_terms
from beliefledger.projections.embedding import Embedder, Hashed, Words
from beliefledger.projections.index import SubjectIndex
from beliefledger.projections.index_filters import filters_of
from beliefledger.projections.index_queries import Erasures
from beliefledger.projections.retrieval import Query, find, name_of_index
from beliefledger.projections.routing import route
from beliefledger.projections.search_requests import ALL, NOW, Looked, SearchRequest
from beliefledger.projections.vectors import VectorStore, rounded
from beliefledger.reading.queries import Queries
from beliefledger.search.kept import keep, take_up
from beliefledger.search.live_index import LiveIndex, index_apart
from beliefledger.search.models import Chosen, Embedders
from beliefledger.search.shown_texts import LeftTexts
from beliefledger.search.slot_meanings import SlotMeanings
from beliefledger.search.standings import Standing
from beliefledger.times import Progress

if TYPE_CHECKING:
    from beliefledger.answers import BeliefAnswer
    from beliefledger.projections.embedding import Vectors
    from beliefledger.search.answers import DecisionBrief

EMBEDDED_AT_ONCE = 512
MOST_MEANWHILE = 512
"""So many texts get their vectors while somebody waits for an answer; more are left out of the
comparison of meanings until `vectors build` has run. The fallback is quick, and has no bound."""
MOST_ANSWERS = 5_000
"""So many memories are kept as they were last answered with: who asks again soon finds much the
same."""
Told = tuple["BeliefAnswer", "DecisionBrief | None"]
Key = tuple[str, str, str]
"""Subject, model, and the purpose for which it may be shown."""


class Indexes:
    """Safe to use from several threads; who searches one subject takes turns."""

    def __init__(
        self, core: Core, queries: Queries, store: VectorStore, embedders: Embedders
    ) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self.store = store
        self.embedders = embedders
        embedders.places = store
        self._indexes: OrderedDict[Key, LiveIndex] = OrderedDict()
        self._lock = threading.Lock()
        self._erasures = 0
        self._model: str | None = None
        self._meanings = SlotMeanings()
        self._answers: OrderedDict[int, Told] = OrderedDict()
        self.forgotten = 0
        """How often words were let go of: what was read before is not to be kept after."""
        self._swept: dict[str, tuple[int, int]] = {}
        """Of whom no vector was left over, at how many erasures of theirs and how many vectors."""
        self.complete: dict[tuple[str, str], tuple[int, int]] = {}
        """Of whom all vectors of a model were built: how many texts, and vectors, they had then."""

    @contextmanager
    def index(
        self,
        subject_ref: str,
        model: Embedder,
        *,
        everything: bool = False,
        computing: bool = True,
        progress: Progress | None = None,
    ) -> Iterator[SubjectIndex]:
        """As `live`, of what may be shown for the policy's purpose."""
        with self.live(
            subject_ref, model, everything=everything, computing=computing, progress=progress
        ) as live:
            yield live.index

    @contextmanager
    def live(
        self,
        subject_ref: str,
        model: Embedder,
        *,
        purpose: str | None = None,
        everything: bool = False,
        computing: bool = True,
        progress: Progress | None = None,
        head: Head | None = None,
    ) -> Iterator[LiveIndex]:
        """The index of a subject, up to the log's head, for whoever is in it alone: what may be
        shown for a purpose, by default the policy's.

        `head` is what `follow_erasures` gave a moment ago. `everything` computes the vectors of all
        texts that have none, however long that takes; without `computing` none is. Raises
        `NotPermitted` for an erased subject.
        """
        head = head or self.follow_erasures()
        keys = self._log.keys(subject_ref)
        if keys is None:
            self.forget(subject_ref)
            raise NotPermitted("The subject was erased.")
        purpose = purpose or self._core.rulebook.refreshed().policy.purpose
        key = subject_ref, model.name, purpose
        with self._lock:
            live = self._indexes.get(key)
            if live is None:
                index = SubjectIndex(subject_ref, keys, model.name)
                live = self._indexes[key] = LiveIndex(index, Standing(subject_ref, purpose))
            self._indexes.move_to_end(key)
        most = None if everything else MOST_MEANWHILE if computing else 0
        with live.index.lock:
            if live.kept is None:
                take_up(self._log, self._queries, self.store.indexes, live, model)
            while not self._ready(live, head, model, most, progress):
                live.start()  # words of it were erased meanwhile
                live.standing = Standing(subject_ref, purpose)
            with suppress(BackendUnavailable, BackendUnusable):  # then the next has to read all
                keep(self._log, self.store.indexes, live, model)
            yield live
        self._bound(key)

    def _ready(
        self,
        live: LiveIndex,
        head: Head,
        model: Embedder,
        most: int | None,
        progress: Progress | None,
    ) -> bool:
        """Let an index have what the log has, and vectors; False where that is to be begun anew."""
        index = live.index
        if index.erasures is None:
            index.erasures = self._erasures_of(index.subject_ref)
        fresh = not index.position
        rules, now = self._core.rulebook.refreshed(), self._core.clock()
        rebuilt, left = live.follow(self._log, self._queries, head.position, rules, now)
        if self._log.keys(index.subject_ref) is None:  # erased while this read
            self.forget(index.subject_ref)
            raise NotPermitted("The subject was erased.")
        if rebuilt:
            with self._lock:
                self._answers.clear()
                self.forgotten += 1
        if index.waiting and not self._embed(index, model, most, progress):
            return False
        self._let_go_of(live, left, fresh=fresh)
        return True

    def _erasures_of(self, subject_ref: str) -> Erasures:
        """As they are: the first figure is asked for first, so that it is never too high."""
        return Erasures(self._log.head().erasures, self._log.erasures_of(subject_ref))

    def _let_go_of(self, live: LiveIndex, left: set[str], *, fresh: bool) -> None:
        """Delete the vectors of words that may no longer be shown. An index that was just made does
        not know what another process had: it looks for vectors of texts that there are not."""
        index = live.index
        if left:
            with self._lock:
                self._answers.clear()
                self.forgotten += 1
                for (ref, model, _), other in self._indexes.items():
                    if (ref, model) == (index.subject_ref, index.model) and other is not live:
                        left -= set(other.index.tags)
        if fresh and self.store.count(index.subject_ref, index.model) > len(set(index.tags)):
            ref = index.subject_ref
            left |= set(self.store.without(index.keys, LeftTexts(self._core, ref)))
        if left:
            self.store.indexes.forget(index.subject_ref)
            self.store.forget_some(sorted(left))

    def _embed(
        self,
        index: SubjectIndex,
        model: Embedder,
        most: int | None,
        progress: Progress | None,
    ) -> bool:
        """Give texts their vectors: those that were kept, then those that have to be computed.
        False where words of it were erased meanwhile."""
        waiting = index.waiting
        keys, dimension = index.keys, model.dimension
        if len(waiting) > EMBEDDED_AT_ONCE:
            kept = self.store.all_of(keys, model.name, dimension)
        else:
            tags = list({index.tags[number] for number in waiting})
            kept = self.store.some(keys, tags, dimension)
        index.embedded(
            {n: kept[index.tags[n]] for n in waiting if index.tags[n] in kept}, dimension
        )
        missing = dict.fromkeys(index.tags[number] for number in index.waiting)
        quick = isinstance(model, (Hashed, Words))
        if most is not None and (not quick or not most) and len(missing) > most:
            return True
        try:
            return self._compute(index, model, progress)
        except (BackendUnavailable, BackendUnusable):
            # They cannot be kept: who asks is answered by words alone.
            if most is None:
                raise
            return True

    def _compute(self, index: SubjectIndex, model: Embedder, progress: Progress | None) -> bool:
        total = len(index.waiting)
        while index.waiting:
            numbers = list(index.waiting)[:EMBEDDED_AT_ONCE]
            texts = {index.tags[number]: index.waiting[number] for number in numbers}
            vectors = rounded(model.embed(list(texts.values())))
            made: dict[str, Vectors] = dict(zip(texts, vectors, strict=True))
            self.store.keep(index.keys, model.name, made)
            erasures = self._log.head().erasures
            self._log.vault.refresh(erasures)
            if self._log.keys(index.subject_ref) is None:  # erased while this computed
                self.erase(index.subject_ref)
                raise NotPermitted("The subject was erased.")
            before = index.erasures
            if (before is None or before.all != erasures) and not self._still_said(index, numbers):
                with suppress(BackendUnavailable):  # held in the files by somebody: the job tries
                    self.erase_content(index.subject_ref, ())
                return False
            index.embedded({n: made[index.tags[n]] for n in numbers}, model.dimension)
            if progress:
                progress(total - len(index.waiting), total)
        return True

    def _still_said(self, index: SubjectIndex, numbers: Sequence[int]) -> bool:
        """Whether the log has the words of all these texts. Who deletes bodies deletes the vectors
        after them, so whichever comes second finds those that were kept in between."""
        positions = [int(index.texts["words_at"][number]) for number in numbers]
        return all(raw.body is not None for raw in self._log.raw_at(positions))

    # Searching

    def look(
        self, request: SearchRequest, chosen: Chosen | None = None, head: Head | None = None
    ) -> Looked:
        """Search with the model in force, or another: the one path for searches, for their replays
        and for comparing models. Raises `NotPermitted` for an erased subject."""
        asked = request.asked
        head = head or self.follow_erasures()
        chosen = chosen or self._in_force(head)
        model = chosen.embedder
        vector = rounded(model.embed([asked.query]))[0]
        turned = None if request.of_types else route(asked.query)
        about = self._meanings.asked_for(asked.query, request.slots, model, vector)
        with self._searched(request, model, head) as live:
            index = live.index
            position = index.position if request.position is None else request.position
            query = Query(
                words=asked.query,
                vector=vector if vector.any() else None,
                floor=model.floor,
                weight=model.weight,
                filters=replace(filters_of(request, position), past=about.tense == "past"),
                k=asked.k,
                profile=asked.profile,
                recency_weight=asked.recency_weight / MILLION,
                diversity=asked.diversity / MILLION,
                routed=() if turned is None else turned.types,
                ages=request.ages,
                asked=about,
            )
            result = find(index, query)
            return Looked(
                tuple(live.standing.marked(hit) for hit in result.hits),
                result.candidates,
                result.suppressed,
                result.unembedded,
                position,
                model.name,
                name_of_index(index),
                query.routed,
                None if turned is None else f"{turned.rule}: “{turned.words}”",
                chosen.note,
                live.standing.fold.pending if request.episodes else 0,
                lawful=live.standing.lawful,
            )

    @contextmanager
    def _searched(self, request: SearchRequest, model: Embedder, head: Head) -> Iterator[LiveIndex]:
        """The index that a request is about: of what may be shown now, or, for whoever audits, of
        what could be shown at its position, or of everything. Those two are made for this one
        search: no vector of theirs is kept."""
        ref = request.subject_ref
        rules = self._core.rulebook.current()  # who asked has just looked
        now = self._core.clock() if request.permitted_at is None else request.permitted_at
        purpose = request.purpose or rules.policy.purpose
        if request.standing != ALL:
            with self.live(ref, model, purpose=purpose, head=head) as live:
                at = request.standing_at
                if request.standing == NOW or at is None or live.standing.same_at(at, rules, now):
                    yield live
                    return
        yield index_apart(self._core, self._queries, self.store, request, model)

    def _in_force(self, head: Head) -> Chosen:
        """The model to search with. Once it is another than before, no index of that is needed."""
        chosen = self.embedders.in_force(head.position)
        before, self._model = self._model, chosen.embedder.name
        if before is not None and before != self._model:
            self.let_go(before)
        return chosen

    # Answers

    def told(self, rows: Sequence[int]) -> dict[int, Told]:
        """What was answered lately of these rows: what is said of a row never changes."""
        with self._lock:
            for row_id in rows:
                if row_id in self._answers:
                    self._answers.move_to_end(row_id)
            return {each: self._answers[each] for each in rows if each in self._answers}

    def tell(self, answers: Mapping[int, Told], forgotten: int) -> None:
        """Keep answers until somebody is erased; `forgotten` is as it was before they were read."""
        with self._lock:
            if forgotten != self.forgotten:
                return
            self._answers.update(answers)
            while len(self._answers) > MOST_ANSWERS:
                self._answers.popitem(last=False)

    # Letting go

    def holds(self, subject_ref: str, model: str) -> bool:
        """Whether a subject's index is in memory."""
        with self._lock:
            return any(key[:2] == (subject_ref, model) for key in self._indexes)

    def let_go(self, model: str, subject_ref: str | None = None) -> None:
        """Drop the indexes of a model (of one subject)."""
        with self._lock:
            for key in [each for each in self._indexes if each[1] == model]:
                if subject_ref in {None, key[0]}:
                    del self._indexes[key]

    def sweep(self, *, contents: bool = False) -> int:
        """Delete the vectors of whoever is not known any more; with `contents` also those of texts
        that the living had erased, for which their texts are read. Returns how many there were."""
        gone = self.store.sweep(lambda: self._log.vault.subjects(self._log.tenant))
        return gone + (self._sweep_contents() if contents else 0)

    def _sweep_contents(self) -> int:
        """Of the texts of the living that have no body any more: a process may have ended in the
        middle of an erasure, or of computing what it had read before one."""
        erased = {each.subject_ref for each in self._log.eraser.told() if not each.whole}
        left: list[str] = []
        looked: dict[str, tuple[int, int]] = {}
        for subject_ref in sorted(erased.intersection(self.store.subjects())):
            keys = self._log.keys(subject_ref)
            if keys is None:
                continue  # swept already
            state = self._log.erasures_of(subject_ref), self.store.count(subject_ref)
            if self.store.indexes.forget(subject_ref, erasures=state[0]):
                self.store.indexes.rewrite()
            if self._swept.get(subject_ref) == state:
                continue
            here = self.store.without(keys, LeftTexts(self._core, subject_ref))
            left += here
            looked[subject_ref] = state[0], state[1] - len(here)
        gone = self.store.forget_some(left)
        if gone:
            self.store.purge()
        self._swept |= looked
        return gone

    def erase(self, subject_ref: str) -> int:
        """Drop a subject's indexes and vectors; returns how many vectors there were."""
        self.forget(subject_ref)
        return self.store.forget(subject_ref)

    def erase_content(
        self,
        subject_ref: str,
        positions: Collection[int],
        *,
        purge: bool = True,
        left: LeftTexts | None = None,
    ) -> int:
        """Drop the indexes of somebody living, and the vectors of the texts at these positions and
        of whatever else of theirs has no body any more; returns how many vectors went.

        The vector of a text that somebody still says elsewhere stays: `left` has those, where they
        are wanted twice. Call it once the bodies are deleted; called again it completes what a
        crash broke off. Many erasures at once may leave the files for the last (`purge`). Raises
        `BackendUnavailable` while somebody holds on to what was deleted there.
        """
        self.forget(subject_ref)
        self.store.indexes.forget(subject_ref)
        keys = self._log.keys(subject_ref)
        if keys is None:
            return self.store.forget(subject_ref)
        texts = left or LeftTexts(self._core, subject_ref, positions)
        gone = self.store.forget_some(self.store.without(keys, texts))
        if purge:
            self.store.purge()
        return gone

    def probe(
        self,
        subject_ref: str,
        positions: Collection[int] | None = None,
        left: LeftTexts | None = None,
    ) -> tuple[int, int]:
        """Look for what was erased: among how many vectors and texts of indexes in memory, and how
        many of them were found. Of somebody living they are those at these positions, and vectors
        of texts that are no more; without `positions` whatever there is of a subject."""
        with self._lock:
            indexes = [live.index for key, live in self._indexes.items() if key[0] == subject_ref]
        looked = found = 0
        wanted = None if positions is None else np.array(sorted(positions), np.int64)
        for index in indexes:
            with index.lock:
                looked += len(index)
                there = index.texts["words_at"]
                found += len(there) if wanted is None else int(np.isin(there, wanted).sum())
        kept = self.store.count(subject_ref)
        keys = self._log.keys(subject_ref)
        before = None if positions is None else self._log.erasures_of(subject_ref)
        found += self.store.indexes.count(subject_ref, before)
        if positions is None:
            every = sum(each.vectors for each in self.store.counts())
            return looked + every, found + kept
        if keys is not None:
            texts = left or LeftTexts(self._core, subject_ref, positions)
            if self.store.without(keys, texts):  # perhaps of what was said since
                found += len(self.store.without(keys, texts.anew))
        return looked + kept, found

    def forget(self, subject_ref: str) -> None:
        """Drop a subject's indexes, and what is kept of words."""
        with self._lock:
            self._forget_words()
            for key in [each for each in self._indexes if each[0] == subject_ref]:
                del self._indexes[key]

    def _forget_words(self) -> None:
        self._answers.clear()
        self.forgotten += 1
        search_terms.forget()
        embedding.forget()

    def follow_erasures(self) -> Head:
        """Let go of whoever and whatever was erased, by this process or another; returns the log's
        head."""
        head = self._log.head()
        self._log.vault.refresh(head.erasures)
        if head.erasures != self._erasures:
            self._forget_erased()
            self._erasures = head.erasures
        return head

    def _forget_erased(self) -> None:
        """Drop the indexes of whoever was erased or had anything erased, by this process or
        another: they are made anew, of what is left."""
        with self._lock:
            self._forget_words()  # also of those whose index was dropped before
            known = {key[0]: live.index.erasures for key, live in self._indexes.items()}
        for subject_ref, before in known.items():
            theirs = 0 if before is None else before.theirs
            if self._log.keys(subject_ref) is None or self._log.erasures_of(subject_ref) != theirs:
                self.forget(subject_ref)
        with suppress(BackendUnavailable):  # somebody reads there: the job will sweep
            self.sweep()

    def _bound(self, used: Key) -> None:
        """Drop the indexes that were not used for longest, while there is too much."""
        with self._lock:
            total = sum(live.weight for live in self._indexes.values())
            while total > self._core.settings.indexed_texts and next(iter(self._indexes)) != used:
                _, oldest = self._indexes.popitem(last=False)
                total -= oldest.weight

    def drop(self) -> None:
        """Drop all indexes."""
        with self._lock:
            self._answers.clear()
            self.forgotten += 1
            self._indexes.clear()

    def close(self) -> None:
        self.drop()
        self.store.close()
