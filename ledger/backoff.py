"""How long to wait before trying again: longer each time, and not all at the same moment."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator


def delays(
    first: float = 0.05,
    longest: float = 5.0,
    chance: Callable[[], float] = random.random,
) -> Iterator[float]:
    """Seconds to wait, without end: doubling from `first` up to `longest`, each shortened by up to
    a half by chance (0 to 1), so that all who lost one server do not come back to it together."""
    seconds = first
    while True:
        yield min(seconds, longest) * (1 - chance() / 2)
        seconds = min(seconds * 2, longest)
