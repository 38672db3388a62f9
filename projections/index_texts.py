"""What is indexed of a turn and of a memory, as text."""

from __future__ import annotations

import re

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events import BY_NAME
from beliefledger.ledger.events.belief import Written
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.times import Micros, to_datetime
from beliefledger.projections.index_queries import CONVERSATION

_ATTRIBUTE_WORD = re.compile(r"[^\W\d_]+")
_WRITTEN = frozenset(kind.NAME for kind in BY_NAME.values() if issubclass(kind, Written))


def heading(speaker: str, said_at: Micros) -> str:
    """The date and the speaker of a turn, whose words are indexed apart from what was said."""
    day = to_datetime(said_at)
    return f"{day.day} {day:%B %Y} {speaker}"


def text_of(recorded: Recorded) -> str | None:
    """The text of an event that is indexed; None if there is none, or it is erased."""
    if recorded.type == TurnRecorded.NAME:
        turn = recorded.event if recorded.facts["channel"] == CONVERSATION else None
        return turn.content or None if isinstance(turn, TurnRecorded) else None
    written = recorded.event if recorded.type in _WRITTEN else None
    if not isinstance(written, Written):
        return None
    return of_memory(written.memory.claim, written.memory.attribute)


def of_memory(claim: str, attribute: str) -> str:
    """The text of a memory."""
    return f"{claim}{about(attribute)}"


def about(attribute: str) -> str:
    """The words of an attribute, which are indexed behind those of a memory: "User moved to Porto
    (home location)" is found by "home"."""
    words = _ATTRIBUTE_WORD.findall(attribute)
    return f" ({' '.join(words)})" if words else ""
