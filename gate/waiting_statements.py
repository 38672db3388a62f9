"""The statements of a subject that wait for a reviewer, and which of them somebody takes back or
asks to have forgotten: nobody is to believe them any more by approving them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beliefledger.gate.decision import TurnView
from beliefledger.gate.denials import Request, request_of
from beliefledger.gate.draft import Draft
from beliefledger.gate.entity_names import of_speaker
from beliefledger.gate.outcomes import Outcome
from beliefledger.gate.rules.denials import ATTRIBUTE, RETRACTION, asks_to_forget
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.codec import New
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.turn import CandidateProposed, GateDecided, ReviewDecided
from beliefledger.ledger.log import new_id
from beliefledger.ledger.vault import SYSTEM

ASKED, TAKEN_BACK = "asked to be forgotten", "taken back"
"""The note of a review that the person's own words settled."""
_TYPES = (CandidateProposed.NAME, GateDecided.NAME, ReviewDecided.NAME)


class _Waiting(NamedTuple):
    decision: str
    turn: str
    candidate: Candidate


def refuse_taken_back(
    draft: Draft, subject_ref: str, turn: TurnView, candidates: Sequence[Candidate], cause: str
) -> None:
    """Refuse what waits for a reviewer where a turn says that it is not so, or asks to have it
    forgotten.

    `cause` is the id of the turn's event. As for memories, only what was said before counts.
    """
    asked = [
        each
        for each in candidates
        if each.attribute in (ATTRIBUTE, RETRACTION)
        and (asks_to_forget(each.spans[0].quote) or any(ends.never for ends in each.ends))
        and of_speaker(draft, subject_ref, turn, each) is each
    ]
    if not asked:
        return
    requests = [(each.spans[0].quote, request_of(each)) for each in asked]
    for each in list(_waiting(draft, subject_ref)):
        if each.turn == turn.turn_id:
            continue
        words = next((quote for quote, one in requests if _is_meant(each, one)), None)
        if words is None:
            continue
        draft.rely_on(each.turn)
        note = ASKED if asks_to_forget(words) else TAKEN_BACK
        refused = ReviewDecided(decision=each.decision, approved=False, note=note)
        draft.write(New(refused, new_id(), each.turn, subject_ref, SYSTEM, cause, turn.turn_id))


def _is_meant(waiting: _Waiting, request: Request) -> bool:
    if request.before is not None:
        return waiting.turn in request.before
    said = waiting.candidate
    return request.may_mean(said) and request.names(said, at_all=True)


def _waiting(draft: Draft, subject_ref: str) -> Iterator[_Waiting]:
    """What waits, of the log and of the draft itself."""
    proposed: dict[str, Candidate] = {}
    queued: dict[str, tuple[str, str]] = {}
    for event_id, stream, event in draft.of_subject(subject_ref, _TYPES):
        _follow(event_id, stream, event, proposed, queued)
    for decision, (turn, candidate) in queued.items():
        if candidate in proposed:
            yield _Waiting(decision, turn, proposed[candidate])


def _follow(
    event_id: str,
    stream: str,
    event: Event,
    proposed: dict[str, Candidate],
    queued: dict[str, tuple[str, str]],
) -> None:
    match event:
        case CandidateProposed():
            proposed[event_id] = event.candidate
        case GateDecided():
            queued.pop(event.reconsiders or "", None)
            if event.outcome == Outcome.QUEUE:
                queued[event_id] = stream, event.candidate
        case ReviewDecided():
            queued.pop(event.decision, None)
