"""Which turns wait, read from the view of turns: the queue's port, on the views."""

from __future__ import annotations

from collections.abc import Sequence

from beliefledger.gate.turns import Pending
from beliefledger.ledger.times import Clock
from beliefledger.projections import questions, turn_questions
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.projector import Projector
from beliefledger.projections.turns import TurnsView


class ViewedTurns:
    """Implements `gate.queue.PendingTurns`."""

    def __init__(self, projector: Projector, clock: Clock) -> None:
        self._projector = projector
        self._clock = clock

    def waiting(
        self, limit: int | None, after: int = 0, subject_ref: str | None = None
    ) -> list[Pending]:
        with self._projector.caught_up(TurnsView.name) as (connection, (state,)):
            most = 2**31 - 1 if limit is None else limit
            rows = turn_questions.pending(connection, state.generation, most, after, subject_ref)
        return [
            Pending(row.turn_id, row.position, row.version, row.subject_ref, row.attempts)
            for row in rows
        ]

    def count(self) -> int:
        with self._projector.caught_up(TurnsView.name) as (connection, (state,)):
            return turn_questions.pending_count(connection, state.generation)

    def earlier(self, turn: Pending, limit: int) -> Sequence[int]:
        # The view may be behind a turn that was recorded a moment ago.
        with self._projector.caught_up(TurnsView.name) as (connection, (state,)):
            return turn_questions.earlier_turns(connection, state.generation, turn.position, limit)

    def believed(self, subject_ref: str) -> Sequence[tuple[str, int]]:
        with self._projector.caught_up(BeliefsView.name) as (connection, (state,)):
            rows = questions.held(connection, state.generation, subject_ref, valid_at=self._clock())
        return [(row.memory_id, row.words_at) for row in rows]
