"""One search of one subject: which texts, in what order, and why. Pure.

How each profile ranks is written down here, and in docs/search.md with the figures that chose it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ledger.times import DAY
from projections import lexical, ranking
from projections.context import highest, in_context, near
from projections.decay import OTHER_HALF_LIFE, Profile
from projections.index import Filters, Found, SubjectIndex
from projections.profiles import Hit, Vote
from projections.ranking import Arm
from projections.terms import asked

if TYPE_CHECKING:
    from projections.embedding import Vectors
    from projections.lexical import Mask
    from projections.ranking import Floats

_MILLION = 1_000_000
_POOL = 50
"""Among so many of the best, at least, results are chosen for being different."""

# The weights of the arms; that of meaning is the model's. docs/search.md has the figures.
WORDS, SESSION, HEADING = 1.0, 0.3, 3.0
ROUTED = 0.2
_STATED = 2.0
"""A turn counts (n + 1)/(n + 1 + this), where n is how many terms it has outside its questions: a
question is seldom what answers one."""

# The four components of the profile `recall`, at a recency weight r.
_RELEVANCE, _RECENCY, _IMPORTANCE, _FREQUENCY = 0.7, 0.4, 0.2, 0.1


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: words, their vector (None where there is none), and how to rank."""

    words: str
    vector: Vectors | None
    floor: float
    """The cosine below which the model has nothing to say of a text without any of the words."""
    weight: float
    """How much the model's cosines count beside words."""
    filters: Filters
    k: int
    profile: str = "default"
    recency_weight: float = 0.3
    diversity: float = 0.0
    routed: tuple[str, ...] = ()
    """The types that the question asks for."""
    ages: Profile = field(default_factory=Profile)


@dataclass(frozen=True, slots=True)
class Result:
    """Results, best first. `candidates` is how many texts were searched, `suppressed` how many of
    them had no signal, `unembedded` how many had no vector."""

    hits: tuple[Hit, ...]
    candidates: int
    suppressed: int
    unembedded: int


def find(index: SubjectIndex, query: Query) -> Result:
    """Search an index, which the caller has locked."""
    found = index.found(query.filters)
    mask = found.mask
    searched = int(mask.sum())
    if not searched:
        return Result((), 0, 0, 0)
    arms, signal = _arms(index, query, mask)
    memories = signal & (found.row_of >= 0)
    ages = _Ages(index, query, found, memories)
    if query.profile == "default":
        if query.recency_weight and memories.any():
            arms["recency"] = Arm(ages.freshness, memories, query.recency_weight, top=1.0)
        routed = _routed(index, query, found, memories)
        if routed.any():
            arms["type"] = Arm(routed.astype(np.float32), routed, ROUTED)
    fused = ranking.fuse(arms)
    scores = np.where(signal, fused.scores, 0) * _prior(index)
    components: dict[str, Floats] = {}
    if query.profile == "recall":
        components = _four(index, query, found, scores, ages)
        scores = sum(components.values(), np.zeros(len(scores)))
    count = query.k if not query.diversity else max(_POOL, 5 * query.k)
    ordered = ranking.best(scores, index.texts["said_at"], index.texts["words_at"], count)
    chosen = ranking.diverse(
        ordered, scores, lambda some: _vectors(index, some), query.k, query.diversity
    )
    hits = tuple(
        Hit(
            *_identity(index, number, int(found.row_of[number])),
            score=float(scores[number]),
            votes={
                name: Vote(int(fused.ranks[name][number]), float(arm.scores[number]))
                for name, arm in arms.items()
                if fused.ranks[name][number]
            },
            components={name: float(each[number]) for name, each in components.items()},
        )
        for number in chosen
    )
    without = sum(1 for number in index.waiting if mask[number])
    return Result(hits, searched, searched - int(signal.sum()), without)


def _identity(index: SubjectIndex, number: int, row: int) -> tuple[str, int | None, int]:
    """The id of a memory or a turn, a memory's row, and where its words are."""
    words_at = int(index.texts["words_at"][number])
    if row < 0:
        return index.turn_ids[number], None, words_at
    memory = index.memories.names[int(index.rows["memory"][row])]
    return memory or "", int(index.rows["row_id"][row]), words_at


def _arms(index: SubjectIndex, query: Query, mask: Mask) -> tuple[dict[str, Arm], Mask]:
    """The arms of both profiles, and which texts have anything to do with the query."""
    texts, words = index.texts, asked(query.words)
    before, after = texts["before"], texts["after"]
    parts = index.words.parts(words, mask)
    said = in_context(parts, before, after, mask, len(index))
    heads = index.heads.scores(words, mask)
    top = float(said.max()) or float(heads.max()) or 1.0
    signal = said > 0 if said.any() else heads > 0
    arms = {
        "words": Arm(said, said > 0, WORDS),
        "heading": Arm(heads, heads > 0, HEADING, ranked=False, top=top),
    }
    if said.any():
        session = highest(said, np.where(mask, texts["session"], -1))
        arms["session"] = Arm(session, mask & (session > 0), SESSION, ranked=False)
    if query.vector is not None and index.dense is not None:
        cosines = index.dense.cosines(query.vector, mask)
        meant = near(cosines, before, after, mask)
        arms["meaning"] = Arm(meant, meant > 0, query.weight)
        signal |= (cosines >= query.floor) & mask
    return arms, signal


def _prior(index: SubjectIndex) -> Floats:
    stated = index.texts["stated"]
    return np.where(stated < 0, 1.0, (stated + 1) / (stated + 1 + _STATED))


class _Ages:
    """How fresh each memory is, and how often it was shown: arrays over texts."""

    def __init__(self, index: SubjectIndex, query: Query, found: Found, memories: Mask) -> None:
        self.freshness = np.zeros(len(index), np.float32)
        self.accesses = np.zeros(len(index), np.int64)
        at = np.flatnonzero(memories)
        if not at.size:
            return
        rows, row = index.rows, found.row_of[at]
        memory = rows["memory"][row]
        counts, last = index.accesses(query.filters.position)
        now = query.filters.valid_at
        lives = np.array(
            [query.ages.half_lives.get(name or "", OTHER_HALF_LIFE) for name in index.types.names]
        )
        days = np.maximum(0, now - np.maximum(rows["said_at"][row], last[memory])) / DAY
        self.accesses[at] = counts[memory]
        self.freshness[at] = query.ages.scores(lives[rows["type"][row]], days, self.accesses[at])


def _routed(index: SubjectIndex, query: Query, found: Found, memories: Mask) -> Mask:
    """The memories of the types that the question asks for."""
    routed = np.zeros(len(index), np.bool_)
    wanted = index.types.known(query.routed)
    if wanted:
        at = np.flatnonzero(memories)
        routed[at] = np.isin(index.rows["type"][found.row_of[at]], wanted)
    return routed


def _four(
    index: SubjectIndex, query: Query, found: Found, fused: Floats, ages: _Ages
) -> dict[str, Floats]:
    """Relevance, recency, importance and frequency, each from 0 to 1 times its weight. A turn has
    the importance of a middling memory, and is as fresh as an event said then."""
    r = query.recency_weight
    there = fused > 0
    now = query.filters.valid_at
    days = np.maximum(0, now - index.texts["said_at"]) / DAY
    life = query.ages.half_lives.get("event", OTHER_HALF_LIFE)
    fresh = np.where(found.row_of >= 0, ages.freshness, np.exp2(-days / life))
    importance = np.full(len(fused), 0.5)
    memories = np.flatnonzero(found.row_of >= 0)
    importance[memories] = index.rows["importance"][found.row_of[memories]] / _MILLION
    most = max(1, int(ages.accesses.max(initial=0)))
    return {
        "relevance": there * (_RELEVANCE - 0.3 * r) * fused / fused.max(initial=1e-9),
        "recency": there * _RECENCY * r * fresh,
        "importance": there * (_IMPORTANCE - 0.1 * r) * importance,
        "frequency": there * _FREQUENCY * np.log1p(ages.accesses) / np.log1p(most),
    }


def _vectors(index: SubjectIndex, some: Sequence[int]) -> tuple[Sequence[int], Vectors]:
    known = [] if index.dense is None else [each for each in some if each not in index.waiting]
    if index.dense is None or not known:
        return [], np.zeros((0, 1), np.float32)
    return known, index.dense.vectors(known)


def name_of_index(index: SubjectIndex) -> str:
    """Kind and version, for the record of a search."""
    dense = "" if index.dense is None else f" {index.dense.kind}"
    return f"{lexical.VERSION}{dense}"
