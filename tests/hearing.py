"""What a ledger believes of somebody after what they said."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from beliefledger.ledger.times import DAY


def believed_after(
    memory: Any, *turns: str, clock: Any = None, besides: Collection[str] = ("note", "event")
) -> list[Any]:
    """The beliefs after these turns, a day apart where there is a clock, but those `besides`."""
    for each in turns:
        memory.remember("ana", each)
        if clock is not None:
            clock.now += DAY
    return [each for each in memory.beliefs("ana") if each.type not in besides]
