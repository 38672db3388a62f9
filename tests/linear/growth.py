"""Whether the cost of reading a text grows as its length does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from counting import Counter

SIZES = (2_500, 10_000, 40_000)
MOST = 1.5
"""How much faster than the text the cost may grow."""
ONCE = 2.5
"""The same where time is measured and the step before was not too fast: a text that outgrows the
caches costs up to twice as much a character, and what is quadratic four times."""
GLANCE = (1_250, 5_000)
"""Two sizes that are measured first, for what costs as much as it should is seen in them."""
STRAIGHT = 1.07
"""A cost c·n + d·n² that grew by less than this from the first to the second of them grows by less
than `MOST` from the second to the third of `SIZES`, which then need not be measured."""
DOUBTS = 4
"""How often those two are measured before the others are, which cost as much as all of that."""
TIMES = 12
"""How often each size is measured before its growth counts as too fast: the least cost counts."""
SURELY = 3
"""What grew so much faster each of so many times was not held up by others so often."""


class Run(NamedTuple):
    """A text made of one piece, over and over, between a beginning and an end."""

    piece: str
    before: str = ""
    after: str = ""

    def text(self, size: int) -> str:
        """So many characters of it."""
        return self.before + (self.piece * (size // len(self.piece) + 1))[:size] + self.after


def growth(
    counter: Counter, read: Callable[[str], object], run: Run, *, thorough: bool = False
) -> str | None:
    """How the cost of reading a run grows too fast; None where it does not.

    All sizes are measured if `thorough`, or if a glance leaves a doubt.
    """
    if not thorough and _straight(counter, read, run):
        return None
    texts = [run.text(size) for size in SIZES]
    costs = [counter.cost(read, texts[0])]
    if costs[0] * (_ratio(1) * _ratio(2)) ** 2 <= counter.floor:
        return None  # even if it were quadratic
    costs.append(counter.cost(read, texts[1]))
    told = _too_fast(counter, read, texts, costs, MOST)
    if told is None or not counter.exact:  # times mislead; what they show twice is so
        most = MOST if told is not None or counter.exact else ONCE
        costs.append(counter.cost(read, texts[2]))
        told = _too_fast(counter, read, texts, costs, most)
    return told


def _straight(counter: Counter, read: Callable[[str], object], run: Run) -> bool:
    """Whether it grows as it should between two small sizes, or costs nothing at any."""
    small, large = (run.text(size) for size in GLANCE)
    least = counter.cost(read, small)
    if least * (SIZES[-1] / GLANCE[0]) ** 2 <= counter.floor:
        return True  # even if it were quadratic
    most = counter.cost(read, large)
    for _ in range(DOUBTS):
        if most * (SIZES[-1] / GLANCE[1]) ** 2 <= counter.floor:
            return True
        if most <= STRAIGHT * GLANCE[1] / GLANCE[0] * least:
            return True
        least = min(least, counter.cost(read, small))
        most = min(most, counter.cost(read, large))
    return False


def _ratio(at: int) -> float:
    return SIZES[at] / SIZES[at - 1]


def _too_fast(
    counter: Counter,
    read: Callable[[str], object],
    texts: list[str],
    costs: list[int],
    most: float,
) -> str | None:
    """How the last cost is too much more than the one before; it is measured again to be sure."""
    at = len(costs) - 1
    for again in range(TIMES):
        if costs[at] <= max(most * _ratio(at) * costs[at - 1], counter.floor):
            return None
        if again >= SURELY and costs[at] > SURELY * _ratio(at) * costs[at - 1]:
            break
        if again > 2:
            time.sleep(0.02)  # somebody else may have been at the processor all the time
        for which in (at - 1, at):
            costs[which] = min(costs[which], counter.cost(read, texts[which]))
    times = costs[at] / max(costs[at - 1], 1)
    return f"{times:.1f} times the cost for {_ratio(at):.0f} times the text ({SIZES[at]:,})"
