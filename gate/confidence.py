"""The confidence formula, in integer millionths so that a replay gives the same number anywhere.

    c = min(1, 0.45 s + 0.20 r + 0.25 e + 0.10 t),   r = clamp((mentions - 1) / 4, 0, 1)

s is the strength of the source, e the extractor's confidence (times 0.6 for an inference), t the
prior of the type. `base` leaves r out: superseding compares by it, so that a belief that was
repeated often does not become immovable.
"""

from __future__ import annotations

from dataclasses import dataclass

from ledger.candidate import MILLION

_S, _R, _E, _T = 45, 20, 25, 10  # hundredths


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
    """r: nothing for the first mention, all of it from the fifth on."""
    return min(MILLION, max(0, (mentions - 1) * MILLION // 4))


def score(s: int, e: int, t: int, mentions: int, cap: int | None = None) -> Confidence:
    """The confidence of a statement made in so many turns; `cap` is the most it may reach."""
    r = repetition(mentions)
    base = min(MILLION, (_S * s + _E * e + _T * t) // 100)
    c = min(MILLION, (_S * s + _R * r + _E * e + _T * t) // 100)
    if cap is not None:
        base, c = min(base, cap), min(c, cap)
    return Confidence(s, r, e, t, base, c)
