"""From scores to an order: rank fusion, and what is chosen of it. Pure.

Each arm gives a score to every candidate and says for which it has a signal. An arm's rank of a
candidate is one more than the number of candidates with a signal that score higher, so equal scores
have equal ranks.

    fused(d) = Σ wₐ · (60 / (60 + rankₐ(d)) + 10 · scoreₐ(d) / topₐ), over the arms a with a signal

The first term is reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009), times 60. The
second keeps how far apart scores are, which ranks forget. An arm whose scores are many times the
same gives the second term alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from projections.embedding import Vectors
    from projections.lexical import Mask, Scores

    Floats = NDArray[np.float64]
    Ranks = NDArray[np.int64]

RRF_K = 60
SCORE = 10.0
"""How much an arm's score counts beside its rank."""


@dataclass(slots=True)
class Arm:
    """One way to order candidates: arrays of one length, an element for each text. `top` is the
    score that counts as 1; by default the highest."""

    scores: Scores
    signal: Mask
    weight: float = 1.0
    ranked: bool = True
    top: float | None = None

    def ranks(self) -> Ranks:
        """From 1; 0 where there is no signal."""
        ranks = np.zeros(len(self.scores), np.int64)
        at = np.flatnonzero(self.signal)
        if at.size:
            order = np.argsort(-self.scores[at])
            ordered = self.scores[at[order]]
            first = np.ones(at.size, np.bool_)  # of those that are equal
            np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
            places = np.where(first, np.arange(1, at.size + 1), 0)
            ranks[at[order]] = np.maximum.accumulate(places)
        return ranks


@dataclass(slots=True)
class Fused:
    """The fused score of every text, 0 for those without any signal, and each arm's ranks."""

    scores: Floats
    ranks: Mapping[str, Ranks]


def fuse(arms: Mapping[str, Arm]) -> Fused:
    """Fuse at least one arm."""
    ranks = {name: arm.ranks() for name, arm in arms.items()}
    fused = np.zeros(len(next(iter(arms.values())).scores))
    for name, arm in arms.items():
        at = np.flatnonzero(arm.signal)
        if not at.size:
            continue
        scores = arm.scores[at].astype(np.float64)
        top = arm.top or float(scores.max())
        given = SCORE * scores / top if top > 0 else np.zeros(at.size)
        if arm.ranked:
            given += RRF_K / (RRF_K + ranks[name][at])
        fused[at] += arm.weight * given
    return Fused(fused, ranks)


def best(
    scores: Floats, newest: NDArray[np.int64], positions: NDArray[np.int64], count: int
) -> list[int]:
    """The numbers of the `count` highest scores above 0, best first; of equals the newest, then the
    one that stands first in the log, whatever its number is in this index."""
    there = np.flatnonzero(scores > 0)
    if there.size > count:
        least = np.partition(scores[there], there.size - count)[there.size - count]
        there = there[scores[there] >= least]
    order = np.lexsort((positions[there], -newest[there], -scores[there]))
    return [int(each) for each in there[order][:count]]


def diverse(
    ordered: Sequence[int],
    scores: Floats,
    vectors: Callable[[Sequence[int]], tuple[Sequence[int], Vectors]],
    count: int,
    diversity: float,
) -> list[int]:
    """Choose `count` one after the other: each time the one with the most of

        (1 − diversity)·score/highest − diversity·(its highest cosine with those chosen)

    Carbonell and Goldstein, The Use of MMR, SIGIR 1998. `vectors` gives those of some of these that
    have one; the others are like nothing.
    """
    if not diversity or len(ordered) < 3:
        return list(ordered[:count])
    pool = np.asarray(ordered)
    relevance = scores[pool] / scores[pool[0]]
    alike = np.zeros((len(pool), len(pool)), np.float32)
    known, found = vectors(ordered)
    places = np.asarray([ordered.index(each) for each in known], np.int64)
    if places.size:
        alike[np.ix_(places, places)] = found @ found.T
    nearest = np.zeros(len(pool), np.float32)
    left = np.ones(len(pool), np.bool_)
    chosen: list[int] = []
    while len(chosen) < min(count, len(pool)):
        worth = np.where(left, (1 - diversity) * relevance - diversity * nearest, -np.inf)
        at = int(np.argmax(worth))
        left[at] = False
        nearest = np.maximum(nearest, alike[at])
        chosen.append(int(pool[at]))
    return chosen
