"""What a speaker was shown of their own memories. Pure: folded from the recall stream.

Somebody who repeats what an agent has just told them adds no evidence.
"""

from __future__ import annotations

from collections.abc import Iterable

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.recall import MemoriesRecalled

KEPT = 200
"""How many of the latest showings are kept."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The latest showings: each one's position, session tag and memories."""

    version: int = 0
    showings: tuple[tuple[int, str | None, frozenset[str]], ...] = ()

    def then(self, recorded: Iterable[Recorded]) -> Shown:
        """This and later showings."""
        version, more = self.version, list(self.showings)
        for each in recorded:
            version = each.version
            if isinstance(
                each.event, MemoriesRecalled
            ):  # one whose words are erased has no session
                memories = frozenset(each.event.memories)
                more.append((each.position, each.event.session_tag, memories))
        if version == self.version:
            return self
        return Shown(version, tuple(more[-KEPT:]))

    def before(self, position: int, session_tag: str) -> frozenset[str]:
        """The memories shown in a session before a turn at a position."""
        return frozenset().union(
            *(
                memories
                for at, session, memories in self.showings
                if at < position and session == session_tag
            )
        )
