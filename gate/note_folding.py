"""Folds a note into the typed memory that came of its sentence.

The sentence is said again, and is typed now: by a rule that is new, by a model, by a type that was
added. The typed memory then takes the note's place, on record, and to say it again confirms that.
"""

from __future__ import annotations

from collections.abc import Iterator

from beliefledger.gate.decision import Decision, TurnView
from beliefledger.gate.draft import Draft
from beliefledger.gate.notes import ATTRIBUTE, is_called, is_of_length
from beliefledger.gate.outcomes import Outcome
from beliefledger.gate.registry import NOTE
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import SELF, Candidate
from beliefledger.ledger.codec import New
from beliefledger.ledger.events.belief import MemoryMovedOut
from beliefledger.ledger.log import new_id

_BELIEVED = frozenset({Outcome.ADMIT, Outcome.SUPERSEDE, Outcome.CONFIRM})


def fold_notes(
    draft: Draft,
    candidate: Candidate,
    decision: Decision,
    decision_id: str,
    turn: TurnView,
    subject_ref: str,
    into: tuple[str, str],
    actor: str,
) -> None:
    """Close the notes of the sentences that a typed memory rests on. `into` is that memory's belief
    and its id."""
    registry = draft.rules.registry
    if (
        decision.outcome not in _BELIEVED
        or decision.past
        or candidate.type == NOTE
        or not registry.keeps_notes()
    ):
        return
    stream, memory_id = into
    keys = draft.keys(subject_ref)
    for sentence in _sentences(candidate, turn):
        said = Candidate(
            claim=sentence,
            spans=candidate.spans,
            type=NOTE,
            entity=SELF,
            attribute=ATTRIBUTE,
            value=sentence,
            importance=0,
            confidence=0,
        )
        slot = draft.slot(keys, NOTE, said)
        if not draft.holds(slot):
            continue
        belief = draft.belief(slot)
        for note in (*belief.current, *belief.quarantined):
            if note.type != NOTE:
                continue  # an event that is told in the very words of its sentence
            gone = MemoryMovedOut(
                memory_id=note.memory_id,
                to=stream,
                cause="folded",
                into=memory_id,
                decision=decision_id,
            )
            draft.write_belief(
                New(gone, new_id(), slot, subject_ref, actor, decision_id, turn.turn_id)
            )


def _sentences(candidate: Candidate, turn: TurnView) -> Iterator[str]:
    """The sentences of the turn that hold a span of the candidate, unless that is but a name: the
    note tells more."""
    spans = [
        span for span in candidate.spans if span.turn is None and not is_called(candidate, span)
    ]
    for start, end in sentences(turn.content):
        if is_of_length(turn.content, start, end) and any(
            span.start < end and start < span.end for span in spans
        ):
            yield turn.content[start:end]
