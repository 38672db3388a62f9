"""Runs the extractor on turns: legible, with their context, within a deadline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial

from beliefledger.gate.deadline import Deadline
from beliefledger.gate.decision import TurnView
from beliefledger.gate.extractor import Extraction, Extractor, checked
from beliefledger.gate.legible_turn import legible
from beliefledger.gate.turns import CONTEXT_TURNS, Earlier, Pending, Receipt, view_of
from beliefledger.gate.writer import Writer
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.errors import ExtractionTooLong, ExtractionUnavailable, LedgerError
from beliefledger.ledger.events.turn import TurnRecorded

Looked = Extraction | ExtractionUnavailable
"""What an extractor found in a turn, or why it could not look."""


def holds_lane(looked: Looked) -> bool:
    """Whether the subject's later turns wait for this one: it failed and will be tried again. A
    turn that took too long is parked at once, so it holds up nothing."""
    return isinstance(looked, ExtractionUnavailable) and not isinstance(looked, ExtractionTooLong)


class TurnReader:
    """Looks at turns with an extractor, which can be replaced while it is open.

    `earlier` finds the turns before one in its session, newest last; a view supplies it.
    """

    def __init__(
        self,
        writer: Writer,
        extractor: Extractor,
        earlier: Callable[[Pending, int], Sequence[int]],
        deadline: Deadline | None = None,
    ) -> None:
        self.extractor = extractor
        self._writer = writer
        self._earlier = earlier
        self._deadline = deadline

    @property
    def concurrency(self) -> int:
        """How many turns are looked at in parallel: more than one if the extractor waits for
        answers."""
        return getattr(self.extractor, "concurrency", 1)

    def look(self, turn: TurnView, before: Sequence[TurnView]) -> Looked:
        """What the extractor found in a turn, or why it could not look."""
        if turn.role != "user":
            return Extraction(skipped=f"role:{turn.role}")
        if not turn.content:
            return Extraction()  # it is withheld
        try:
            return self._extract(turn, before)
        except ExtractionUnavailable as problem:
            return problem

    def _extract(self, turn: TurnView, before: Sequence[TurnView]) -> Extraction:
        """Raises `ExtractionUnavailable` for any error of the extractor: one turn that it cannot
        read must not stop the others."""
        return self.within_deadline(turn, before, self.extractor.extract)

    def within_deadline(
        self,
        turn: TurnView,
        before: Sequence[TurnView],
        read: Callable[[TurnView, Sequence[TurnView]], list[Candidate] | Extraction],
    ) -> Extraction:
        """What `read` finds in a turn. Raises `ExtractionUnavailable` for any error, and
        `ExtractionTooLong` if it takes too long."""
        try:
            with self._deadline.turn() if self._deadline else nullcontext():
                shown = legible(turn, before)
                return checked(shown.returned(checked(read(shown.turn, shown.earlier))))
        except LedgerError:
            raise
        except Exception as problem:  # recorded, held, tried again, parked in sight
            raise ExtractionUnavailable(f"{type(problem).__name__}: {problem}.") from problem

    def turn_of(self, each: Pending) -> tuple[TurnView, Earlier] | None:
        """What an extractor is shown of a turn; None for one that was erased in the meantime."""
        recorded = self._writer.log.read_at([each.position])[each.position]
        erased = self._writer.erased(each.subject_ref, each.position)
        if not isinstance(recorded.event, TurnRecorded) or erased:
            return None
        return view_of(recorded, recorded.event, {}), Earlier(partial(self.before, each))

    def before(self, pending: Pending) -> list[TurnView]:
        positions = self._earlier(pending, CONTEXT_TURNS)
        found = self._writer.log.read_at(positions)
        return [
            view_of(each, each.event, {})
            for position in positions
            if isinstance((each := found[position]).event, TurnRecorded)
            and not each.event.withheld
            and not self._writer.erased(pending.subject_ref, position)
        ]

    def session_before(self, receipt: Receipt, session_tag: str) -> list[TurnView]:
        """The last turns of a session before a withheld turn, whose own event does not name its
        session."""
        ref = receipt.subject_ref
        found = [
            view_of(each, each.event, {})
            for each in self._writer.log.of_subject(ref, receipt.position - 1)
            if isinstance(each.event, TurnRecorded)
            and each.event.session_tag == session_tag
            and not each.event.withheld
            and not self._writer.erased(ref, each.position)
        ]
        return found[-CONTEXT_TURNS:]
