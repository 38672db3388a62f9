"""How fresh a memory still is: two profiles, computed when asked, never stored as truth.

Freshness halves with every half-life of the memory's type, and what is shown often lasts: up to
three times as much, but never more than whole. Decay falls at one rate for all types, and each time
that a memory was shown gives back a part of what was lost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.times import DAY, Micros

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ProfileName = Literal["freshness", "decay"]
BOOST = 1.2
MOST_BOOST = 3.0
_ENOUGH = 7
"""The number of accesses that give the full boost: 1.2⁷ is above 3."""
OTHER_HALF_LIFE = 180.0
"""Half-life in days for a type that is no longer in force."""


def days_since(last: Micros, now: Micros) -> float:
    """Days since the last access; 0 for one in the future."""
    return max(0, now - last) / DAY


def freshness(days: float, half_life_days: float, accesses: int) -> float:
    """`2^(−days/half-life)`, boosted by `min(3, 1.2^accesses)` and clamped to 1: a boost makes up
    for what was lost, and nothing is fresher than just said."""
    boost = min(MOST_BOOST, math.pow(BOOST, min(accesses, _ENOUGH)))
    return min(1.0, math.pow(2.0, -days / half_life_days) * boost)


def decay(days: float, accesses: int, *, rate: float, cap: int) -> float:
    """`raw + (1 − raw)·min(1, ln(1+accesses)/ln(1+cap))`, where `raw = exp(−rate·days)`: whole
    again from `cap` accesses on."""
    raw = math.exp(-rate * days)
    return raw + (1.0 - raw) * min(1.0, math.log1p(accesses) / math.log1p(cap))


@dataclass(frozen=True, slots=True)
class Profile:
    """How memories age. `rate` (for each day) and `cap` are of the profile `decay`; half-lives, in
    days by type, are of `freshness`."""

    name: ProfileName = "freshness"
    rate: float = 0.02
    cap: int = 10
    half_lives: Mapping[str, float] = field(default_factory=dict)

    def score(self, type_: str, days: float, accesses: int) -> float:
        """The score of one memory, from 0 to 1."""
        if self.name == "freshness":
            return freshness(days, self.half_lives.get(type_, OTHER_HALF_LIFE), accesses)
        return decay(days, accesses, rate=self.rate, cap=self.cap)

    def scores(
        self,
        half_lives: NDArray[np.float64],
        days: NDArray[np.float64],
        accesses: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """As `score`, for many at once: arrays of one length, half-lives in place of types."""
        import numpy as np  # noqa: PLC0415  (a tenth of a second, and questions need none of it)

        if self.name == "freshness":
            boost = np.minimum(MOST_BOOST, BOOST ** np.minimum(accesses, _ENOUGH))
            fresh: NDArray[np.float64] = np.minimum(1.0, np.exp2(-days / half_lives) * boost)
            return fresh
        raw = np.exp(-self.rate * days)
        kept = np.minimum(1.0, np.log1p(accesses) / math.log1p(self.cap))
        left: NDArray[np.float64] = raw + (1.0 - raw) * kept
        return left
