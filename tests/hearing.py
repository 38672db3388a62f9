"""What a ledger believes of somebody after what they said."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from beliefledger.ledger.times import DAY

FIRST = datetime(2026, 3, 1, 9, tzinfo=UTC)
"""When somebody says the first of their turns."""


class Somebody:
    """A person of a ledger in which others are spoken to as well. They say something each day."""

    def __init__(self, memory: Any, who: str) -> None:
        self.memory, self.who = memory, who
        self._next = FIRST

    def remember(self, words: str) -> Any:
        said_at, self._next = self._next, self._next + timedelta(days=1)
        return self.memory.remember(self.who, words, said_at=said_at)

    def beliefs(self) -> Any:
        return self.memory.beliefs(self.who)

    def believed_after(self, *turns: str, besides: Collection[str] = ("note", "event")) -> Any:
        """As `believed_after`."""
        for each in turns:
            self.remember(each)
        return [each for each in self.beliefs() if each.type not in besides]


def believed_after(
    memory: Any, *turns: str, clock: Any = None, besides: Collection[str] = ("note", "event")
) -> list[Any]:
    """The beliefs after these turns, a day apart where there is a clock, but those `besides`."""
    for each in turns:
        memory.remember("ana", each)
        if clock is not None:
            clock.now += DAY
    return [each for each in memory.beliefs("ana") if each.type not in besides]
