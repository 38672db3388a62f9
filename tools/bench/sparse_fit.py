"""Logistic regression over what is there or not, for thousands of features of which a row has few.

Newton's method, each step solved by conjugate gradients, so that no matrix of the features is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from beliefledger.gate.scorers import BIAS
from beliefledger.tools.bench.train_notes import Vector

T = TypeVar("T")
_STEPS, _TURNS = 30, 200
_NEAR = 1e-5
_FREE = 1e-6
"""What the bias costs."""


class Rows:
    """Rows, each as the numbers of the features that it has; all of them have the bias, 0."""

    def __init__(self, had: Sequence[Sequence[int]], features: int) -> None:
        self.count = features + 1
        self._lengths = np.array([1 + len(row) for row in had])
        self._starts = np.concatenate(([0], np.cumsum(self._lengths)[:-1]))
        self._had = np.concatenate([np.array([0, *(1 + each for each in row)]) for row in had])

    def times(self, weights: Vector) -> Vector:
        """The sum of the weights of each row."""
        sums: Vector = np.add.reduceat(weights[self._had], self._starts)
        return sums

    def back(self, of_rows: Vector) -> Vector:
        """For each feature, the sum over the rows that have it."""
        spread = np.repeat(of_rows, self._lengths)
        sums = np.zeros(self.count)
        np.add.at(sums, self._had, spread)
        return sums


def fitted(rows: Rows, y: Vector, much: Vector, ridge: float) -> Vector:
    """The bias and the weights; `much` is how much each row counts."""
    cost = np.full(rows.count, ridge)
    cost[0] = _FREE
    weights = np.zeros(rows.count)
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-rows.times(weights)))
        slope = rows.back(much * (p - y)) + cost * weights
        step = _solved(rows, much * p * (1 - p), cost, slope)
        weights -= step
        if np.abs(step).max() < _NEAR:
            return weights
    raise RuntimeError("The weights do not settle: raise the ridge.")


def _solved(rows: Rows, bend: Vector, cost: Vector, slope: Vector) -> Vector:
    """The step for which the curvature times it is the slope."""
    step = np.zeros(rows.count)
    left = slope.copy()
    way, size = left.copy(), float(left @ left)
    enough = size * 1e-12
    for _ in range(_TURNS):
        if size <= enough or size == 0:
            break
        bent = rows.back(bend * rows.times(way)) + cost * way
        far = size / float(way @ bent)
        step += far * way
        left -= far * bent
        size, before = float(left @ left), size
        way = left + size / before * way
    return step


def fitted_by_name(
    names: Sequence[str], rows: Sequence[Collection[str]], y: Vector, much: Vector, ridge: float
) -> Vector:
    """As `fitted`, of features by their names. Others that a row has are left out."""
    at = {name: number for number, name in enumerate(names)}
    had = [sorted(at[each] for each in row if each in at) for row in rows]
    return fitted(Rows(had, len(names)), y, much, ridge)


def learned(
    rows: Sequence[Collection[str]], y: Vector, much: Vector, ridge: float, common: int
) -> tuple[list[str], Vector]:
    """The names of the features that so many rows have, and the bias and their weights."""
    found = Counter(each for row in rows for each in row)
    names = sorted(name for name, number in found.items() if number >= common)
    return names, fitted_by_name(names, rows, y, much, ridge)


def told(names: Sequence[str], weights: Vector, light: float) -> str:
    """The lines of a file of weights: thousandths and the name, of the bias and of what weighs no
    less than `light`."""
    bias, *rest = weights.tolist()
    kept = [each for each in zip(names, rest, strict=True) if abs(each[1]) >= light]
    return "".join(f"{round(1000 * weight)} {name}\n" for name, weight in [(BIAS, bias), *kept])


def held_out(
    rows: Sequence[T],
    folds: NDArray[np.int64],
    learned: Callable[[Sequence[T]], tuple[list[str], Vector]],
    features: Callable[[T, Mapping[str, float]], Iterable[str]],
) -> Vector:
    """The logit of each row by a fit that has not seen its fold. `learned` gives names, and the
    bias and their weights; `features` what a row has, where these weights are known."""
    logits = np.zeros(len(rows))
    for fold in set(folds.tolist()):
        names, weights = learned([rows[each] for each in np.flatnonzero(folds != fold).tolist()])
        weighed = dict(zip(names, weights[1:].tolist(), strict=True))
        for each in np.flatnonzero(folds == fold).tolist():
            found = features(rows[each], weighed)
            logits[each] = weights[0] + sum(weighed.get(name, 0.0) for name in found)
    return logits
