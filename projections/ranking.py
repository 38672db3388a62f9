"""Turns scores into an order: rank fusion, and diversity. Pure.

Each arm gives every candidate a score, 0 where it has nothing to say. An arm's rank of a candidate
is one more than the number of candidates that score higher, so equal scores have equal ranks.

    fused(d) = Σ wₐ · (60 / (60 + rankₐ(d)) + 10 · scoreₐ(d) / topₐ), over the arms a with a score

The first term is reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009), times 60. The
second keeps how far apart scores are, which ranks forget. An arm whose scores are many times the
same gives the second term alone.

The second term is computed for all candidates. The first is at most the sum of the weights, so the
exact ranks are needed only of those that this could bring among the best.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from beliefledger.projections.embedding import Vectors
    from beliefledger.projections.lexical import Scores

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

RRF_K = 60
SCORE = 10.0
"""How much an arm's score counts beside its rank."""
_FEW = 10
_TELLING, _MOST_TELLING = 5.0, 2.0


class Arm(NamedTuple):
    """One way to order candidates: a score for each text, 0 for none. `top` is the score that
    counts as 1; by default the highest."""

    scores: Scores
    weight: float
    ranked: bool = True
    top: float = 0.0

    @property
    def factor(self) -> float:
        """What a score is multiplied by."""
        top = self.top or float(self.scores.max(initial=0))
        return self.weight * SCORE / top if top > 0 else 0.0

    def ranks(self, texts: Numbers) -> Numbers:
        """The ranks of some texts, from 1; 0 where the arm has nothing to say."""
        mine = self.scores[texts]
        ordered = np.sort(self.scores)
        ranks = ordered.size - np.searchsorted(ordered, mine, side="right") + 1
        return np.where(mine > 0, ranks, 0)


def telling(cosines: Scores) -> float:
    """How much cosines tell of this query among these texts: 5 times what the highest has beyond
    the tenth, 2 at most. Where many texts are as near as the nearest, it is near by chance."""
    there = cosines[cosines >= -1]
    if not there.size:
        return 0.0
    few = min(_FEW, there.size)
    best = np.partition(there, there.size - few)[there.size - few :]
    return min(_MOST_TELLING, _TELLING * float(best.max() - best.min()))


def worth(arms: Iterable[Arm]) -> Scores:
    """The sum of the scores' parts: the second term of every text."""
    total: Scores | None = None
    for arm in arms:
        mine = arm.scores * np.float32(arm.factor)
        total = mine if total is None else np.add(total, mine, out=total)
    if total is None:
        raise ValueError("There is no arm.")
    return total


def contenders(least: Scores, most: Scores, count: int) -> Numbers:
    """The texts that can be among the `count` best, given the least and the most that each can
    come to; those whose most is 0 cannot."""
    there = np.flatnonzero(most > 0)
    if there.size > count:
        bar = np.partition(least[there], there.size - count)[there.size - count]
        there = there[most[there] >= bar]
    return there


def best(scores: Floats, newest: Numbers, positions: Numbers, count: int) -> list[int]:
    """The places of the `count` highest scores above 0, best first; of equals the newest, then
    the one that is first in the log: an index numbers texts in the order in which it met them."""
    order = np.lexsort((positions, -newest, -scores))
    return [int(each) for each in order[:count] if scores[each] > 0]


def diverse(
    relevance: Floats,
    places: Sequence[int],
    vectors: Vectors,
    count: int,
    diversity: float,
) -> list[int]:
    """Choose `count` one after the other: each time the one with the most of

        (1 − diversity)·relevance/highest − diversity·(its highest cosine with those chosen)

    Carbonell and Goldstein, The Use of MMR, SIGIR 1998. `relevance` is best first; `vectors` are of
    the `places` that have one, the others are like nothing. Returns places, best first.
    """
    size = len(relevance)
    row_of = {place: row for row, place in enumerate(places)}
    relative = relevance / relevance[0] if size else relevance
    nearest = np.zeros(size, np.float32)
    left = np.ones(size, np.bool_)
    chosen: list[int] = []
    while len(chosen) < min(count, size):
        worth_now = np.where(left, (1 - diversity) * relative - diversity * nearest, -np.inf)
        at = int(np.argmax(worth_now))
        left[at] = False
        chosen.append(at)
        if at in row_of:
            # Not by BLAS: for so little it is three times slower, as its threads wait busily.
            cosines = np.einsum("ij,j->i", vectors, vectors[row_of[at]])
            nearest[places] = np.maximum(nearest[places], cosines)
    return chosen
