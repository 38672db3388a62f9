"""What may be shown of texts, as an index is told: the port that the gate at the way out fills."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.times import Micros

Run = tuple[int, int]
"""Code points [start, end) of a text."""
BLANK = "[…]"
"""What stands where words are withheld."""


@dataclass(frozen=True, slots=True)
class Superseded:
    """A memory whose words are in a turn and no longer so; `by` took its place, `since` then. Its
    words are text[start:end] of the turn."""

    memory: str
    by: str | None
    since: Micros | None
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn that may be shown, without the words in `withheld`."""

    withheld: tuple[Run, ...] = ()
    """In order, and apart from each other."""
    superseded: tuple[Superseded, ...] = ()
    contested: bool = False
    memories: tuple[str, ...] = ()
    """The memories that came of what is shown of it."""
    decided: int = 0
    """The position at which everything noticed in it was decided."""
    reasons: tuple[str, ...] = ()
    """For whoever audits: why it, or words of it, are withheld from agents."""

    def outdated(self, now: Micros) -> Superseded | None:
        """What took the place of its memories, where none of them is current any more: what ends on
        a day to come is. Of several the last one."""
        over = self.over(now)
        if not over or not {each.memory for each in over}.issuperset(self.memories):
            return None
        return max(reversed(over), key=lambda each: (each.since is not None, each.since or 0))

    def over(self, now: Micros) -> tuple[Superseded, ...]:
        """Which of its words are no longer so, and what took their place."""
        return tuple(each for each in self.superseded if is_over(each.since, now))


def is_over(since: Micros | None, now: Micros) -> bool:
    """Whether what ends at a time is over: "on Friday" is not, on a Thursday."""
    return since is None or since <= now


def shown_again(parts: Mapping[str, Any]) -> ShownTurn:
    """Made of its parts, as JSON gives them back."""
    return ShownTurn(
        withheld=tuple((start, end) for start, end in parts["withheld"]),
        superseded=tuple(Superseded(**each) for each in parts["superseded"]),
        contested=parts["contested"],
        memories=tuple(parts["memories"]),
        decided=parts["decided"],
        reasons=tuple(parts["reasons"]),
    )


class Showing(Protocol):
    """Says what may be shown."""

    def is_decided(self, turn_id: str) -> bool:
        """Whether all that was noticed in a turn is decided: before, nothing of it is shown."""
        ...

    def turn(self, turn_id: str, content: str) -> ShownTurn | None:
        """What may be shown of a decided turn; None for nothing of it."""
        ...

    def memory(self, memory_id: str) -> bool:
        """Whether a memory may be shown."""
        ...


def blanked(text: str, withheld: Sequence[Run]) -> str:
    """The text with `[…]` for each run of words that is withheld."""
    parts, at = [], 0
    for start, end in withheld:
        parts += [text[at:start], BLANK]
        at = end
    return "".join([*parts, text[at:]])


def bare(text: str, withheld: Sequence[Run]) -> str:
    """The text as it is indexed: as if what is withheld had not been said."""
    if not withheld:
        return text
    return " ".join(blanked(text, withheld).replace(BLANK, " ").split())


def touches(one: Run, others: Sequence[Run]) -> bool:
    """Whether a run of words has any of those of the others."""
    return any(start < one[1] and one[0] < end for start, end in others)


def joined(runs: Sequence[Run]) -> list[Run]:
    """Runs in order, those that overlap or touch as one."""
    found: list[Run] = []
    for start, end in sorted(runs):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def says_nothing(text: str) -> bool:
    """Whether nothing is left of a text but blanks and marks."""
    return not any(each.isalnum() for each in text.replace(BLANK, ""))
