"""What this process knows of subjects' lanes, so that it need not be looked up again: up to which
position none of their turns waits, and what was said last in their sessions.

It is known of a position, and counts for a later one only where all that the log holds of the
subject between the two was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from itertools import islice

from beliefledger.gate.turns import Earlier
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.turn import (
    ExtractionCompleted,
    ExtractionFailed,
    TurnParked,
    TurnRecorded,
    TurnRetried,
)
from beliefledger.ledger.log import Log

MOST_READ = 200
"""How many events of a subject are read on at most; behind more, views are asked."""
_TURNS = frozenset(
    {
        TurnRecorded.NAME,
        ExtractionCompleted.NAME,
        ExtractionFailed.NAME,
        TurnParked.NAME,
        TurnRetried.NAME,
    }
)


@dataclass(frozen=True, slots=True)
class Lane:
    """At `position` no turn of the subject waits. `sessions` has what was said last in some."""

    position: int
    sessions: Mapping[str, Earlier] = field(default_factory=dict)
    """By the session's tag."""


class Lanes:
    """By subject. Safe to use from several threads: each lane is true by itself, an older one is
    only read on from further back."""

    LIMIT = 10_000
    SESSIONS = 20
    """How many sessions of a subject are kept."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._known: dict[str, Lane] = {}

    def clear(self) -> None:
        self._known.clear()

    def forget(self, subject_ref: str) -> None:
        """It is not known any more whether a turn of theirs waits."""
        self._known.pop(subject_ref, None)

    def keep(self, subject_ref: str, lane: Lane) -> None:
        if len(self._known) >= self.LIMIT:
            self._known.clear()
        if len(lane.sessions) > self.SESSIONS:
            lane = Lane(lane.position)
        self._known[subject_ref] = lane

    def before(self, subject_ref: str, position: int) -> Lane | None:
        """The lane as it is just before a position; None where a turn waits there, and where that
        is not known."""
        lane, upto = self._known.get(subject_ref), position - 1
        if lane is None or lane.position == upto:
            return lane
        if lane.position > upto:
            return None
        events = self._log.of_subject(subject_ref, upto, lane.position, _TURNS, MOST_READ)
        waits: set[str] = set()
        spoken = False
        for number, each in enumerate(islice(events, MOST_READ)):
            if each.type in {TurnRecorded.NAME, TurnRetried.NAME}:
                spoken = spoken or each.type == TurnRecorded.NAME
                waits.add(each.stream)
            elif each.type != ExtractionFailed.NAME:
                waits.discard(each.stream)
            if number == MOST_READ - 1:
                return None
        return None if waits else Lane(upto, {} if spoken else lane.sessions)
