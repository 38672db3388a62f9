"""Greedy clusters of vectors by cosine. Pure: the same vectors always give the same clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from beliefledger.ledger.dataclass import dataclass

if TYPE_CHECKING:
    from beliefledger.projections.embedding import Vectors

_PRODUCTS = 1 << 23
"""How many cosines are in memory at a time: 32 MB."""
_BLOCK = 1 << 10
_MILLION = 1_000_000


@dataclass(slots=True)
class Cluster:
    """A leader with the rows that joined it. Members are row numbers, the leader's first."""

    leader: int
    members: list[int] = field(default_factory=list)
    cosines: list[int] = field(default_factory=list)
    """Each member's cosine to the leader, in millionths."""

    @property
    def similarity(self) -> int:
        """The least of them."""
        return min(self.cosines)


@dataclass(frozen=True, slots=True)
class Apart:
    """A row near enough to join a leader that was refused by `agree`; the nearest such."""

    row: int
    leader: int
    similarity: int


def greedy(
    vectors: Vectors,
    threshold: float,
    *,
    kinds: Sequence[int] | None = None,
    agree: Callable[[Sequence[int], int], bool] = lambda _members, _row: True,
    progress: Callable[[int], None] = lambda _done: None,
) -> tuple[list[Cluster], list[Apart]]:
    """Each row joins the first leader it is as near to as `threshold`, or leads a new cluster.

    The rows come in the order in which they may lead. Rows of different `kinds` never join; `agree`
    is asked about the members of a cluster and a row that is near enough. Memory is bounded, time
    grows with rows × leaders.
    """
    count = len(vectors)
    of_kind = np.zeros(count, np.int64) if kinds is None else np.asarray(kinds, np.int64)
    least = round(threshold * _MILLION)
    clusters: list[Cluster] = []
    apart: list[Apart] = []
    leaders = np.empty(count, np.int64)  # rows, of which the first len(clusters) count
    start = 0
    while start < count:
        before = len(clusters)
        stop = min(count, start + max(1, min(_BLOCK, _PRODUCTS // max(1, before))))
        block = vectors[start:stop]
        # A cosine is rounded, so that the last bits of a product decide nothing.
        outside = _cosines(block, vectors[leaders[:before]])
        inside = _cosines(block, block)
        for row in range(start, stop):
            new = leaders[before : len(clusters)]
            cosines = np.concatenate((outside[row - start], inside[row - start][new - start]))
            near = np.flatnonzero(cosines >= least)
            same = near[of_kind[leaders[near]] == of_kind[row]]
            joined = next(
                (clusters[at] for at in same.tolist() if agree(clusters[at].members, row)), None
            )
            if joined is not None:
                joined.members.append(row)
                at = int(np.searchsorted(leaders[: len(clusters)], joined.leader))
                joined.cosines.append(int(cosines[at]))
                continue
            if near.size:
                nearest = near[int(np.argmax(cosines[near]))]
                apart.append(Apart(row, int(leaders[nearest]), int(cosines[nearest])))
            leaders[len(clusters)] = row
            clusters.append(Cluster(row, [row], [_MILLION]))
        start = stop
        progress(stop)
    return clusters, apart


def _cosines(left: Vectors, right: Vectors) -> Vectors:
    """In whole millionths, which a float32 holds exactly."""
    product: Vectors = left @ right.T
    product *= _MILLION
    return np.rint(product, out=product)
