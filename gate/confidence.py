"""The confidence formula, in integer millionths so that a replay gives the same number anywhere.

    c = min(1, 0.45 s + 0.20 r + 0.25 e + 0.10 t),   r = clamp((mentions - 1) / 4, 0, 1)

s is the strength of the source, e the extractor's confidence (times 0.6 for an inference), t the
prior of the type. `base` leaves r out: superseding compares by it, so that a belief that was
repeated often does not become immovable.

A policy may map both to what became of memories before, by the knots of a calibration.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from beliefledger.ledger.candidate import MILLION
from beliefledger.ledger.dataclass import dataclass

_S, _R, _E, _T = 45, 20, 25, 10  # hundredths

Knots = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Confidence:
    """All in millionths."""

    s: int
    r: int
    e: int
    t: int
    base: int
    c: int


def repetition(mentions: int) -> int:
    """r: 0 for the first mention, 1 from the fifth on."""
    return min(MILLION, max(0, (mentions - 1) * MILLION // 4))


def calibrated(c: int, knots: Knots) -> int:
    """The observed frequency for a stated confidence, both in millionths.

    Straight between the knots (stated, observed), which rise; flat outside of them, but below them
    never more than c: that stronger statements were right lends nothing to one so weak that none
    like it was ever judged. c itself without any.
    """
    if not knots:
        return c
    if c <= knots[0][0]:
        return knots[0][1] if c == knots[0][0] else min(c, knots[0][1])
    for (low, below), (high, above) in pairwise(knots):
        if c <= high:
            return below + (above - below) * (c - low) // (high - low)
    return knots[-1][1]


def score(
    s: int, e: int, t: int, mentions: int, cap: int | None = None, knots: Knots = ()
) -> Confidence:
    """The confidence of a statement made in so many turns; `cap` is the most it may reach, also
    after the calibration that `knots` are."""
    r = repetition(mentions)
    base = calibrated(min(MILLION, (_S * s + _E * e + _T * t) // 100), knots)
    c = calibrated(min(MILLION, (_S * s + _R * r + _E * e + _T * t) // 100), knots)
    if cap is not None:
        base, c = min(base, cap), min(c, cap)
    return Confidence(s, r, e, t, base, c)
