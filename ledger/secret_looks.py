"""What was seen of texts in which secrets are looked for, kept while one piece of work lasts.

A turn, its candidate and its memory have the same words, and each event is looked at by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from beliefledger.ledger.dataclass import dataclass

MOST, LONGEST = 20_000, 400
"""How many looks are kept at a time, of texts up to which length."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a text shows at first sight, for telling whether it may hold a secret with others."""

    alone: bool
    """Whether it may hold one whatever stands beside it."""
    digits: bool
    beside_digits: bool
    """Whether it may hold one where there are digits."""
    listed: int
    """How many of its words are of the list that wallets draw from."""


class _Kept(threading.local):
    seen: dict[str, Look] | None = None


_kept = _Kept()


def kept() -> dict[str, Look] | None:
    """What this thread has seen of texts so far; None where it is not to keep any."""
    return _kept.seen


@contextmanager
def looked_at_once() -> Iterator[None]:
    """Until it is left, this thread looks at each text once, however often it is asked about.
    Nothing is kept afterwards."""
    if _kept.seen is not None:
        yield
        return
    _kept.seen = {}
    try:
        yield
    finally:
        _kept.seen = None
