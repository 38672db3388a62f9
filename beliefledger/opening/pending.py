"""Which turns wait, read from the view of turns: the queue's port, on the views."""

from __future__ import annotations

from collections.abc import Sequence

from beliefledger.gate.turns import Pending
from beliefledger.projections import questions
from beliefledger.projections.projector import Projector
from beliefledger.projections.turns import TurnsView


class ViewedTurns:
    """Implements `gate.queue.PendingTurns`."""

    def __init__(self, projector: Projector) -> None:
        self._projector = projector

    def waiting(
        self, limit: int | None, after: int = 0, subject_ref: str | None = None
    ) -> list[Pending]:
        with self._projector.caught_up(TurnsView.name) as (connection, (state,)):
            most = 2**31 - 1 if limit is None else limit
            rows = questions.pending(connection, state.generation, most, after, subject_ref)
        return [
            Pending(row.turn_id, row.position, row.version, row.subject_ref, row.attempts)
            for row in rows
        ]

    def count(self) -> int:
        with self._projector.caught_up(TurnsView.name) as (connection, (state,)):
            return questions.pending_count(connection, state.generation)

    def earlier(self, turn: Pending, limit: int) -> Sequence[int]:
        # The view is far enough: it is what the turn itself was read from.
        with self._projector.reading() as connection:
            generation = self._projector.states(connection)[TurnsView.name].generation
            return questions.earlier_turns(connection, generation, turn.position, limit)
