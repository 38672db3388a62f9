"""What a ledger believes of somebody after what they said."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

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

    def is_asked(self, words: str) -> None:
        """The assistant says something to them, an hour before they go on."""
        said_at = self._next - timedelta(hours=1)
        self.memory.record_turn(self.who, words, role="assistant", said_at=said_at)

    def beliefs(self, **asked: Any) -> Any:
        return self.memory.beliefs(self.who, **asked)

    def search(self, query: str, k: int = 10, **asked: Any) -> Any:
        return self.memory.search(self.who, query, k, **asked)

    def believed_after(self, *turns: str, besides: Collection[str] = ("note", "event")) -> Any:
        """Their beliefs after these turns, but those `besides`."""
        for each in turns:
            self.remember(each)
        return [each for each in self.beliefs() if each.type not in besides]

    def ends_with(self, turns: Iterable[str], over: Iterable[str], stands: Iterable[str]) -> None:
        """Asserts that after these turns no belief has any of the words that are `over`, and that
        some belief has each of those that stand."""
        believed = [each.text for each in self.believed_after(*turns, besides=())]
        assert not [each for each in over if any(each in text for text in believed)], believed
        assert not [each for each in stands if not any(each in t for t in believed)], believed

    def keeps_nothing_of(self, said: str) -> None:
        """Asserts that nothing is believed of them after these words."""
        assert [each.text for each in self.believed_after(said, besides=())] == []

    def keeps(self, said: str, words: str) -> None:
        """Asserts that after these words a belief has some of them, in any case of letters."""
        believed = [each.text for each in self.believed_after(said, besides=())]
        assert any(words.lower() in each.lower() for each in believed), believed
