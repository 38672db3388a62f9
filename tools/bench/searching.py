"""How long a search takes among many memories of one subject, and how surely it finds one.

The memories are appended to the log as the gate would append them, one shape of sentence with
words of pools, so that a query matches thousands; one in fifty has two words of its own. Vectors
come from a table: what an embedder takes is none of the index's time. They lie in clusters.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import perf_counter, thread_time
from typing import TYPE_CHECKING

import numpy as np

from beliefledger.ledger.codec import New
from beliefledger.ledger.events.belief import MemoryAdmitted
from beliefledger.ledger.log import new_id
from beliefledger.ledger.times import SECOND
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.projections.dense import Dense
from beliefledger.projections.embedding import MiniLM, Words
from beliefledger.settings import EMBEDDER
from beliefledger.tools.bench import rivals
from beliefledger.tools.bench.backends import Backend
from beliefledger.tools.bench.conversations import PLACES
from beliefledger.tools.bench.measure import Measured, Run, Target, in_pairs, seconds

if TYPE_CHECKING:
    from beliefledger.projections.embedding import Vectors

K = 10
CONTEXT_K = 20
"""The results of which a context is made, unless told."""
SUBJECT = "ana"
_SEED = 29
_DIMENSION = 384
_CLUSTERS = 200
_TOGETHER = 5_000
_RARE = 50
"""One memory in so many has words that no other has."""
_VERBS = "bought sold wants likes repaired painted borrowed lost found measured".split()
_HOW = (
    "small large old new green blue red quiet fast slow wooden Italian cheap heavy digital used"
    " broken plain striped folding"
).split()
_WHAT = (
    "bike film train novel lamp chair boat guitar phone garden soup jacket map game clock oven"
    " tent camera desk shoe kettle ladder mirror blanket hammer piano violin wallet basket carpet"
).split()
_WHO = (
    "Anna Bruno Clara David Elena Felix Greta Hugo Irene Jonas Karla Lukas Marta Nils Olga Pedro"
    " Quentin Rosa Stefan Tilda"
).split()
_WHEN = "January February March April May June July August September October".split()
_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]


class Table:
    """Vectors that were made beforehand, by their texts: what an embedder does, in no time."""

    name = "bench-table"
    dimension = _DIMENSION
    floor, weight = MiniLM.floor, MiniLM.weight

    def __init__(self) -> None:
        self._known: dict[str, Vectors] = {}

    def add(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._known |= zip(texts, vectors, strict=True)

    def embed(self, texts: Sequence[str]) -> Vectors:
        # A memory is indexed with the words of its attribute behind its own. What slots are about
        # is near to nothing.
        none = np.zeros(_DIMENSION, np.float32)
        return np.stack([self._known.get(text.partition(" (")[0], none) for text in texts])


@dataclass(frozen=True, slots=True)
class Texts:
    """What is remembered, what is asked, and the rare words of some memories with their numbers."""

    memories: Sequence[str]
    queries: Sequence[str]
    rare: Sequence[tuple[str, int]]


def texts(count: int, queries: int) -> Texts:
    """The same for the same count."""
    random = Random(_SEED)
    said, rare = [], []
    for number in range(count):
        own = ""
        if number % _RARE == 0:
            words = [_word(random), _word(random)]
            rare.append((" ".join(words), number))
            own = f", which is called {words[0]} {words[1]}"
        said.append(
            f"User {random.choice(_VERBS)} a {random.choice(_HOW)} {random.choice(_WHAT)} in"
            f" {random.choice(PLACES)} with {random.choice(_WHO)} in {random.choice(_WHEN)}{own}"
        )
    asked = [
        f"which {random.choice(_HOW)} {random.choice(_WHAT)} was it in {random.choice(PLACES)}"
        f" with {random.choice(_WHO)} in {random.choice(_WHEN)}?"
        for _ in range(queries)
    ]
    return Texts(said, asked, random.sample(rare, min(len(rare), queries)))


def _word(random: Random) -> str:
    return "".join(random.choice(_SYLLABLES) for _ in range(4))


def clustered(count: int, seed: int = _SEED) -> Vectors:
    """Vectors of length 1 that lie about some centres: of one centre the cosine is about .5."""
    centres = np.random.default_rng(_SEED).normal(0, 1, (_CLUSTERS, _DIMENSION))
    random = np.random.default_rng(seed)
    scattered = centres[random.integers(0, _CLUSTERS, count)]
    scattered = (scattered + random.normal(0, 1, scattered.shape)).astype(np.float32)
    unit: Vectors = scattered / np.linalg.norm(scattered, axis=1, keepdims=True)
    return unit


@contextmanager
def model_of(name: str) -> Iterator[None]:
    """Ledgers that are opened in here compare texts with this model."""
    before = os.environ.get(EMBEDDER)
    os.environ[EMBEDDER] = name
    try:
        yield
    finally:
        if before is None:
            del os.environ[EMBEDDER]
        else:
            os.environ[EMBEDDER] = before


def opened(place: Path | str, table: Table | None) -> MemoryLedger:
    """The ledger, comparing with the vectors of the table, else with those of the fallback."""
    if table is not None:
        return open_memory(place, embedder=table)
    with model_of(Words.name):
        return open_memory(place)


def fill(memory: MemoryLedger, claims: Sequence[str], run: Run) -> None:
    """Append the memories as the gate would: each in a belief of its own."""
    memory.consent.grant(SUBJECT, "consent")
    first = memory.store(SUBJECT, "first", attribute="first", text="User begins")
    ref, log = memory._log.subject(SUBJECT), memory._log
    model = next(
        each.event
        for each in log.read()
        if isinstance(each.event, MemoryAdmitted) and each.event.memory_id == first.memory_id
    )
    begun = model.memory.said_at - len(claims) * SECOND
    for start in range(0, len(claims), _TOGETHER):
        run.tell(f"writing {len(claims):,} memories: {start:,}")
        news = []
        for number, claim in enumerate(claims[start : start + _TOGETHER], start):
            said_at = begun + number * SECOND
            words = model.memory.model_copy(
                update={
                    "claim": claim,
                    "attribute": f"part.{number}",
                    "value": claim,
                    "said_at": said_at,
                    "valid_from": said_at,
                }
            )
            event = model.model_copy(update={"memory_id": new_id(), "memory": words})
            news.append(New(event, new_id(), new_id(), ref))
        log.append(news, {new.stream: 0 for new in news})
    memory.status(digests=False)


def built(memory: MemoryLedger, run: Run, subject: str = SUBJECT) -> None:
    """Compute every vector of the subject, and keep it."""
    run.tell("building vectors")
    memory.vectors.build(subject)
    missing = memory.vectors.status(subject).missing
    if missing:
        raise AssertionError(f"{missing:,} texts have no vector.")


def searching(run: Run) -> Iterator[Measured]:
    """Searches of ten to a hundred thousand memories of one subject."""
    few, many = run.sizes.searched // 5, run.sizes.searched
    sqlite, postgres = run.backends
    yield from _timed(run, sqlite, few, "10,000", 3, first=0.15, compared=True)
    yield from _timed(run, postgres, few, "10,000", None, first=None)
    yield from _timed(run, sqlite, many, "50,000", 12, first=0.5, more=True)
    yield from _timed(run, sqlite, 2 * many, "100,000", 25, first=1)
    yield from _fallback(run, few)
    yield from _approximate(run)


def _timed(
    run: Run,
    backend: Backend,
    count: int,
    called: str,
    most: float | None,
    *,
    first: float | None,
    compared: bool = False,
    more: bool = False,
) -> Iterator[Measured]:
    """p50 and p95, and recall, and what the `first` search takes that may take so many seconds;
    `compared` with szl-recall, `more`: what else may be slow."""
    name = f"of a search among {called} memories on {backend.name}"
    target = None if most is None else Target("≤", most)
    if backend.missing:
        yield Measured(f"p95 {name}", "ms", target=target, note=backend.missing)
        return
    known = texts(count, run.sizes.asked)
    table = Table()
    table.add(known.memories, clustered(count))
    table.add(["User begins"], clustered(1))
    table.add(known.queries, clustered(len(known.queries), seed=1))
    table.add([words for words, _ in known.rare], clustered(len(known.rare), seed=2))
    place = backend.place("searching")
    with opened(place, table) as memory:
        fill(memory, known.memories, run)
        built(memory, run)
        matched = _matched(memory, known.queries[0])
        p50s, p95s, worked, ratios = [], [], [], []
        for _ in run.rounds(f"searching {count:,} on {backend.name}"):
            taken, busy = _searches(memory, known.queries)
            p50s.append(median(taken))
            p95s.append(_p95(taken))
            worked.append(_p95(busy))
            rival = _rival(run, known) if compared else None
            if rival is not None:
                ratios.append(rival / p95s[-1])
        note = f"{count:,} memories, k = {K}, recorded; {len(known.queries)} queries; the first"
        yield Measured(f"p50 {name}", "ms", p50s, note=f"{note} matches {matched:,} texts")
        own = f"p95 of the searching thread's processor time: {median(worked):.2f} ms"
        yield Measured(f"p95 {name}", "ms", p95s, target, note=own)
        if compared:
            yield Measured(
                f"p95 of szl-recall's search among {called}, of ours",
                "×",
                ratios,
                Target("≥", 7),
                note=rivals.missing(run.rival) or "by BM25 alone: its embedder is not installed",
            )
        if most is not None:
            yield Measured(
                f"memories among {called} found by their rare words",
                "share",
                [_found(memory, known)],
                Target("≥", 0.99),
                note=f"{len(known.rare)} of the {len(known.memories) // _RARE:,} that have any",
            )
        if compared or most is None:
            yield from _contexts(run, memory, known, backend)
        if more:
            yield from _then(run, memory, known)
            yield from _added(run, memory, known, table)
    yield _cold(run, place, table, known, name.removeprefix("of a search "), first)


def _searches(memory: MemoryLedger, queries: Sequence[str]) -> tuple[list[float], list[float]]:
    """Milliseconds of each search, and those that this thread worked: the rest it waited for the
    recorder, or for whatever else the machine does."""
    memory.search(SUBJECT, queries[-1], K)
    taken, worked = [], []
    for query in queries:
        busy = thread_time()
        taken.append(seconds(memory.search, SUBJECT, query, K) * 1e3)
        worked.append((thread_time() - busy) * 1e3)
    return taken, worked


def _contexts(run: Run, memory: MemoryLedger, known: Texts, backend: Backend) -> Iterator[Measured]:
    """Contexts, in pairs with a search of as many results."""
    memory.context(SUBJECT, known.queries[-1])
    p50s, p95s, ratios = [], [], []
    for _ in run.rounds("making contexts"):
        searched, made = [], []
        for query in known.queries:
            pair = in_pairs(
                partial(memory.search, SUBJECT, query, CONTEXT_K),
                partial(memory.context, SUBJECT, query, k=CONTEXT_K),
                1,
            )
            searched += pair[0]
            made += pair[1]
        p50s.append(median(made) * 1e3)
        p95s.append(_p95(made) * 1e3)
        ratios.append(median(made) / median(searched))
    note = f"k = {CONTEXT_K}, 1,000 tokens by estimate, recorded"
    among = f"a context among 10,000 memories on {backend.name}"
    yield Measured(f"p50 of {among}", "ms", p50s, note=note)
    yield Measured(f"p95 of {among}", "ms", p95s, note=note)
    yield Measured(f"{among}, of a search's time", "×", ratios, Target("≤", 2))


def _p95(taken: Sequence[float]) -> float:
    return quantiles(taken, n=20, method="inclusive")[-1]


def _matched(memory: MemoryLedger, query: str) -> int:
    answer = memory.search(SUBJECT, query, K, record=False)
    return answer.candidates - answer.suppressed


def _rival(run: Run, known: Texts) -> float | None:
    """szl-recall's p95 for the same, in a process and a store of its own."""
    measured = rivals.measure(run.rival, known.memories, known.queries, K)
    return None if measured is None else _p95(measured.milliseconds)


def _found(memory: MemoryLedger, known: Texts) -> float:
    """The share of memories that are among the results for their rare words."""
    found = 0
    for words, number in known.rare:
        results = memory.search(SUBJECT, words, K, record=False).results
        found += any(each.text == known.memories[number] for each in results)
    return found / len(known.rare)


def _then(run: Run, memory: MemoryLedger, known: Texts) -> Iterator[Measured]:
    """The same search as of earlier positions, in pairs with one of now."""
    end = memory.status(digests=False).position
    for name, as_of in (("the middle", run.sizes.searched // 2), ("just before", end - K)):
        ratios = []
        for _ in run.rounds(f"searching as of {name}"):
            now, then = [], []
            for query in known.queries[:50]:
                ask = partial(memory.search, SUBJECT, query, K, record=False)
                pair = in_pairs(ask, partial(ask, as_of=as_of), 1)
                now += pair[0]
                then += pair[1]
            ratios.append(median(then) / median(now))
        yield Measured(
            f"search among 50,000 as of {name}, of the time for now", "×", ratios, Target("≤", 2)
        )


def _added(run: Run, memory: MemoryLedger, known: Texts, table: Table) -> Iterator[Measured]:
    """What the first search after a new memory takes more than others; and what writing takes."""
    more, stored = [], []
    vectors = clustered(run.sizes.rounds * 10, seed=3)
    random = Random(_SEED + 1)
    for number in run.rounds("adding one"):
        usual, _ = _searches(memory, known.queries[:20])
        after = []
        for part in range(10):
            words = f"{_word(random)} {_word(random)}"
            claim = f"User has a boat called {words}"
            at = number * 10 + part
            table.add([claim, words], vectors[[at, at]])
            add = partial(memory.store, SUBJECT, claim, attribute=f"added.{at}", text=claim)
            stored.append(seconds(add) * 1e3)
            begun = perf_counter()
            answer = memory.search(SUBJECT, words, K)
            after.append((perf_counter() - begun) * 1e3)
            if answer.results[0].text != claim:
                raise AssertionError("What was just added was not found first.")
        more.append(median(after) - median(usual))
    yield Measured(
        "first search after one more memory among 50,000, beyond another search",
        "ms",
        more,
        Target("≤", 5),
        note="it folds the views, indexes the memory and keeps its vector",
    )
    yield Measured("writing that one", "ms", stored)


def _cold(
    run: Run, place: Path | str, table: Table, known: Texts, among: str, most: float | None
) -> Measured:
    """The ledger opened anew, its views, vectors and index as they were left."""
    taken = []
    for _ in run.rounds(f"the first search {among}"):
        with opened(place, table) as memory:
            memory.beliefs(SUBJECT, limit=1)
            taken.append(seconds(memory.search, SUBJECT, known.queries[0], K))
    return Measured(
        f"first search {among}",
        "s",
        taken,
        None if most is None else Target("≤", most),
        note="the ledger was just opened; vectors and the index are kept",
    )


def _fallback(run: Run, count: int) -> Iterator[Measured]:
    """With the fallback instead of the table: it embeds each query."""
    known = texts(count, run.sizes.asked)
    with opened(run.place("searching"), None) as memory:
        fill(memory, known.memories, run)
        built(memory, run)
        p95s = [
            _p95(_searches(memory, known.queries)[0])
            for _ in run.rounds("searching by the fallback")
        ]
    yield Measured(
        f"p95 of a search among 10,000 memories with {Words.name}",
        "ms",
        p95s,
        note=f"{Words.dimension} dimensions; with the query's embedding",
    )


def _approximate(run: Run) -> Iterator[Measured]:
    """The index of very many vectors, beside one that compares them all."""
    count = run.sizes.approximated
    vectors, queries = clustered(count), clustered(run.sizes.asked, seed=1)
    numbers, mask = range(count), np.ones(count, np.bool_)
    flat, quick = Dense(_DIMENSION, count), Dense(_DIMENSION, count - 1)
    run.tell(f"indexing {count:,} vectors")
    flat.add(numbers, vectors)
    training = seconds(quick.add, numbers, vectors)
    recalls: list[float] = []
    exact: list[float] = []
    approximate: list[float] = []
    for number, query in enumerate(queries):
        if number % 20 == 0:
            run.tell(f"searching {count:,} vectors: {number} of {len(queries)}")
        answers: list[set[int]] = []
        for dense, taken in ((flat, exact), (quick, approximate)):
            begun = perf_counter()
            cosines = dense.cosines(query, mask)
            taken.append((perf_counter() - begun) * 1e3)
            answers.append({int(each) for each in np.argpartition(cosines, -K)[-K:]})
        recalls.append(len(answers[0] & answers[1]) / K)
    yield Measured(
        "neighbours of 220,000 vectors that the approximate index finds",
        "share",
        [float(np.mean(recalls))],
        note=f"{count:,} clustered vectors, of the {K} nearest; made in {training:.1f} s",
    )
    yield Measured("its time for one query", "ms", approximate)
    yield Measured("the time of the exact index", "ms", exact)
