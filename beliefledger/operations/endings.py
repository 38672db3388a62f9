"""Records that memories have ended."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from beliefledger.gate.draft import Draft
from beliefledger.gate.gate import Gate
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import NotPermitted
from beliefledger.ledger.events.belief import MemoryExpired, MemoryRevoked
from beliefledger.ledger.log import new_id
from beliefledger.ledger.times import Micros
from beliefledger.ledger.vault import SYSTEM
from beliefledger.projections.beliefs import Version

BATCH = 200
"""Memories ended in one append."""
Ending = tuple[Version, MemoryExpired | MemoryRevoked]


class Endings:
    """Records that memories have ended, many in one append. What ended before is left alone."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def expire(self, ended: Sequence[tuple[Version, Micros]]) -> list[str]:
        """Record the end of these memories; returns the ids of those that still held."""
        return self._batches(
            [(row, MemoryExpired(memory_id=row.memory_id, valid_to=end)) for row, end in ended]
        )

    def revoke(self, rows: Sequence[Version]) -> list[str]:
        """Take these memories out of quarantine for good; returns the ids of those still there."""
        return self._batches(
            [(row, MemoryRevoked(memory_id=row.memory_id, cause="retention")) for row in rows]
        )

    def _batches(self, endings: Sequence[Ending]) -> list[str]:
        done: list[str] = []
        for start in range(0, len(endings), BATCH):
            batch = endings[start : start + BATCH]
            try:
                done += self._append(batch)
            except NotPermitted:  # somebody was erased meanwhile: now that is known
                self._gate.forget()
                done += self._append(batch)
        return done

    def _append(self, batch: Sequence[Ending]) -> list[str]:
        def attempt() -> list[str]:
            # Another process may have written there: who finds nothing to end would not conflict.
            self._gate.memo.forget(*(row.belief for row, _ in batch))
            draft = self._gate.draft()
            ended = []
            for row, event in batch:
                if self._holds(draft, row, event):
                    draft.write_belief(New(event, new_id(), row.belief, row.subject_ref, SYSTEM))
                    ended.append(row.memory_id)
            self._gate.commit(draft)
            return ended

        return self._gate.again(attempt)

    def _holds(self, draft: Draft, row: Version, event: MemoryExpired | MemoryRevoked) -> bool:
        """Whether the memory is still where the view had it, and was not said again since. Nothing
        is written about somebody who is being erased."""
        with suppress(NotPermitted):
            draft.consent(row.subject_ref)
            belief = draft.belief(row.belief)
            among = belief.current if isinstance(event, MemoryExpired) else belief.quarantined
            return any(
                held.memory_id == row.memory_id and held.said_at <= row.said_at for held in among
            )
        return False
