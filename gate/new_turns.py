"""Decides about a turn as soon as it is recorded, without looking up what is known already."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from beliefledger.gate.decision import TurnView
from beliefledger.gate.lanes import Lane
from beliefledger.gate.queue import Processed, TurnQueue
from beliefledger.gate.reader import TurnReader, holds_lane
from beliefledger.gate.turns import Earlier, Pending, Receipt, view_of
from beliefledger.gate.writer import Writer
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import VersionConflict
from beliefledger.ledger.events.turn import (
    CandidateProposed,
    ExtractionCompleted,
    ExtractionFailed,
    GateDecided,
    TurnParked,
    TurnRecorded,
)
from beliefledger.ledger.spans import DECIDE, traced

MOST_UNVIEWED = 500
"""By how many positions the view of turns may fall behind what is decided without it."""
_OF_TURNS = (ExtractionCompleted, ExtractionFailed, TurnParked, CandidateProposed, GateDecided)


class Decided(NamedTuple):
    """What was decided, and the events of the turn."""

    done: Processed
    told: list[Recorded]


class NewTurns:
    """Decides about turns that this process recorded a moment ago."""

    def __init__(self, writer: Writer, reader: TurnReader, queue: TurnQueue) -> None:
        self._writer = writer
        self._reader = reader
        self._queue = queue

    def decide(self, receipt: Receipt) -> Decided:
        """Extract and decide what waits of a turn's subject.

        Where the turn is new, and this process knows that no other one of theirs waits, that is the
        turn alone, and the views are not asked.
        """
        recorded = receipt.recorded
        if recorded is not None and not receipt.withheld and not self._queue.slow:
            decided = self._alone(recorded)
            if decided is not None:
                return decided
        done = self._queue.process(receipt.subject_ref)
        return Decided(done, self._writer.log.read_stream(receipt.turn_id))

    @traced(DECIDE, lambda decided: {"beliefledger.turns": 0 if decided is None else 1})
    def _alone(self, recorded: Recorded) -> Decided | None:
        """None where another turn may wait, and where another writer was first."""
        ref, event = recorded.subject_ref, recorded.event
        if ref is None or not isinstance(event, TurnRecorded):
            return None
        if recorded.position - self._queue.viewed > MOST_UNVIEWED:
            return None
        draft, done = self._writer.draft(), Processed()
        lanes = self._writer.memo.lanes
        lane = lanes.before(ref, recorded.position)
        if lane is None or self._writer.erased(ref, recorded.position):
            return None
        pending = Pending(recorded.stream, recorded.position, recorded.version, ref)
        turn = view_of(recorded, event, {})
        before = lane.sessions.get(event.session_tag)
        if before is None:
            before = Earlier(partial(self._reader.before, pending))
        said: Earlier | list[TurnView] = before if event.role == "user" else []
        looked = self._reader.look(turn, said, ref)
        self._queue.write(draft, pending, recorded, event, looked, done)
        try:
            appended = self._writer.commit(draft)
        except VersionConflict:
            return None
        if appended is None:
            return None
        if holds_lane(looked) or done.failed:
            lanes.forget(ref)
        else:
            # Where others wrote in between, it is read on from the turn.
            own = appended.first == recorded.position + 1
            reached = appended.last if own else recorded.position
            sessions = {**lane.sessions, event.session_tag: before.then(turn)}
            lanes.keep(ref, Lane(reached, sessions))
        done.settle(draft)
        return Decided(done, [recorded, *draft.written(appended, *_OF_TURNS)])
