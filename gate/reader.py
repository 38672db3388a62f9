"""Runs the extractor on turns: legible, with their context, within a deadline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from beliefledger.gate.consent import ORDINARY
from beliefledger.gate.deadline import Deadline
from beliefledger.gate.decision import TurnView
from beliefledger.gate.extractor import Extraction, Extractor, Known, checked
from beliefledger.gate.failures import raised
from beliefledger.gate.foreign_calls import ForeignCalls, is_ours
from beliefledger.gate.turns import CONTEXT_TURNS, Earlier, Pending, Receipt, view_of
from beliefledger.gate.writer import Writer
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.errors import ExtractionTooLong, ExtractionUnavailable, LedgerError
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.memory import Memory

T = TypeVar("T")

Looked = Extraction | ExtractionUnavailable
"""What an extractor found in a turn, or why it could not look."""


def holds_lane(looked: Looked) -> bool:
    """Whether the subject's later turns wait for this one: it failed and will be tried again. A
    turn that took too long is parked at once, so it holds up nothing."""
    return isinstance(looked, ExtractionUnavailable) and not isinstance(looked, ExtractionTooLong)


Believed = Callable[[str], Sequence[tuple[str, int]]]
"""(subject_ref) → the memories of a subject that are in force, oldest first: the id of each, and
the position of the event that has its words. A view supplies it."""
MOST_KNOWN = 400
"""How many memories are looked through for what a model is shown; the latest ones."""


class TurnReader:
    """Looks at turns with an extractor, which can be replaced while it is open.

    `earlier` finds the turns before one in its session, newest last, and `believed` the memories of
    a subject; views supply them.
    """

    def __init__(
        self,
        writer: Writer,
        extractor: Extractor,
        earlier: Callable[[Pending, int], Sequence[int]],
        deadline: Deadline | None = None,
        believed: Believed = lambda _subject: (),
    ) -> None:
        self.extractor = extractor
        self._writer = writer
        self._earlier = earlier
        self._believed = believed
        self._deadline = deadline
        self._foreign = (
            ForeignCalls() if deadline is None else ForeignCalls(deadline.foreign_seconds)
        )

    @property
    def concurrency(self) -> int:
        """How many turns are looked at in parallel: more than one if the extractor waits for
        answers."""
        return getattr(self.extractor, "concurrency", 1)

    def look(
        self, turn: TurnView, before: Sequence[TurnView], subject_ref: str | None = None
    ) -> Looked:
        """What the extractor found in a turn, or why it could not look."""
        if turn.role != "user":
            return Extraction(skipped=f"role:{turn.role}")
        if not turn.content:
            return Extraction()  # it is withheld
        try:
            return self._extract(turn, before, subject_ref)
        except ExtractionUnavailable as problem:
            return problem

    def _extract(
        self, turn: TurnView, before: Sequence[TurnView], subject_ref: str | None
    ) -> Extraction:
        """Raises `ExtractionUnavailable` for any error of the extractor: one turn that it cannot
        read must not stop the others."""
        read: Any = self.extractor.extract
        unplaced: Any = getattr(self.extractor, "unplaced", None)
        if unplaced is not None:
            plainly = read

            def read(said: TurnView, earlier: Sequence[TurnView]) -> list[Candidate]:
                return [*plainly(said, earlier), *unplaced(said)]

        if subject_ref is None or not getattr(self.extractor, "wants_known", False):
            found = self.within_deadline(turn, before, read)
        else:
            known = self.known(subject_ref)
            found = self.within_deadline(
                turn, before, lambda said, earlier: read(said, earlier, known)
            )
        ask = getattr(self.extractor, "not_read", None)
        placed = any(not each.looked_for() for each in found.candidates)
        if ask is None or placed or found.skipped is not None:
            return found
        return replace(found, not_read=self._asked(lambda: ask(turn)))

    def known(self, subject_ref: str) -> list[Known]:
        """What is believed of a subject now, as a model may be shown it: in force, with a lawful
        basis, and of no special category."""
        if self._writer.erased(subject_ref):
            return []
        rules = self._writer.rulebook.current()
        consent = self._writer.memo.consent(subject_ref)
        if (
            consent.covering(ORDINARY, rules.policy.purpose, self._writer.now(), rules.policy)
            is None
        ):
            return []
        there = list(self._believed(subject_ref))[-MOST_KNOWN:]
        recorded = self._writer.log.read_at([position for _memory, position in there])
        found = []
        for memory_id, position in there:
            event = recorded[position].event
            memory = getattr(event, "memory", None)
            if not isinstance(memory, Memory) or consent.is_going(position):
                continue  # it is erased, or about to be
            if memory.category is None:
                found.append(
                    Known(
                        memory_id=memory_id,
                        type=getattr(event, "type", "fact"),
                        entity=memory.entity,
                        attribute=memory.attribute,
                        value=memory.value,
                        negated=memory.negated,
                        context=memory.context,
                    )
                )
        return found

    def within_deadline(
        self,
        turn: TurnView,
        before: Sequence[TurnView],
        read: Callable[[TurnView, Sequence[TurnView]], list[Candidate] | Extraction],
    ) -> Extraction:
        """What `read` finds in a turn. Raises `ExtractionUnavailable` for any error, and
        `ExtractionTooLong` if it takes too long."""
        from beliefledger.gate.legible_turn import legible  # noqa: PLC0415  (whoever asks reads no turn)

        def reading() -> Extraction:
            with self._deadline.turn() if self._deadline else nullcontext():
                shown = legible(turn, before)
                found = checked(read(shown.turn, shown.earlier))
                told = shown.returned(found)
                return found if told.candidates == found.candidates else checked(told)

        return self._asked(reading)

    def _asked(self, call: Callable[[], T]) -> T:
        """What a call of the extractor returns: of one that is not ours, within its time."""
        try:
            return call() if is_ours(self.extractor) else self._foreign.made(call)
        except LedgerError:
            raise
        except Exception as problem:  # recorded, held, tried again, parked in sight
            raise raised(problem) from problem

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
