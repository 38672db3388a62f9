"""What a decision does to its belief: the events that follow from it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beliefledger.gate.belief import Belief
from beliefledger.gate.decision import Decision, TurnView
from beliefledger.gate.outcomes import Outcome
from beliefledger.ledger.candidate import Candidate, Span
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.belief import (
    BeliefContested,
    ConflictEscalated,
    MemoryAdmitted,
    MemoryConfirmed,
    MemoryExpired,
    MemoryQuarantined,
    MemorySuperseded,
)
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.times import Micros

WRITES = frozenset({Outcome.ADMIT, Outcome.SUPERSEDE, Outcome.QUARANTINE})
"""The outcomes that write a memory."""


_OF_THE_DECISION: Mapping[str, Any] = {"shown": (), "repeats": None, "reading": 0}
"""What only says how it was decided, and is no part of a memory."""
_UNSAID = {"quote": ""}


def memory_of(
    candidate: Candidate,
    turn: TurnView,
    *,
    valid_from: Micros,
    valid_to: Micros | None = None,
    expires_at: Micros | None = None,
) -> Memory:
    """The words and dates of the memory that a candidate becomes."""
    resolved = candidate.resolved
    return Memory(
        claim=candidate.claim,
        entity=candidate.entity,
        attribute=candidate.attribute,
        value=candidate.value,
        negated=candidate.negated,
        context=candidate.context,
        topic=candidate.topic,
        category=candidate.category,
        session=turn.session,
        agent=turn.agent,
        said_at=turn.said_at,
        said_at_stated=turn.said_at_stated,
        valid_from=valid_from,
        valid_to=valid_to,
        when=candidate.when,
        expires_at=expires_at,
        turn=turn.turn_id,
        spans=evidence(candidate.spans),
        participants=candidate.participants,
        fields=candidate.fields,
        metadata=turn.metadata,
        resolved=resolved and resolved.model_copy(update=_OF_THE_DECISION),
    )


def evidence(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Spans as offsets alone: the words stay where they were said."""
    return tuple(span.model_copy(update=_UNSAID) for span in spans)


def memory_id_of(decision: Decision, new_id: str) -> str | None:
    """The memory that the decision is about: the one promoted, the new one, or the one
    confirmed."""
    if decision.outcome is Outcome.CONFIRM or _adds_evidence(decision):
        return decision.target
    return decision.promotes or new_id if decision.outcome in WRITES else None


def _adds_evidence(decision: Decision) -> bool:
    """True for insincere words about a memory that is in quarantine already: they are added to it
    as evidence."""
    return decision.outcome is Outcome.QUARANTINE and decision.target is not None


def effects(
    decision: Decision,
    decision_id: str,
    candidate: Candidate,
    turn: TurnView,
    belief: Belief,
    new_memory_id: str,
) -> list[Event]:
    """The events of the belief's stream, in order. `new_memory_id` names a memory if one is
    made."""
    outcome = decision.outcome
    if outcome is Outcome.ESCALATE:
        return [ConflictEscalated(decision=decision_id)]
    if outcome is Outcome.CONFIRM or _adds_evidence(decision):
        if decision.target is None:
            raise ValueError("a confirmation names the memory that it confirms")
        return [
            MemoryConfirmed(
                memory_id=decision.target,
                decision=decision_id,
                confidence=decision.confidence.c,
                base=decision.confidence.base,
                mentions=decision.mentions,
                counted=decision.counted and not decision.capped,
                turn=turn.turn_id,
                said_at=turn.said_at,
                spans=evidence(candidate.spans),
            )
        ]
    if outcome not in WRITES:
        return []
    memory_id = decision.promotes or new_memory_id
    written: dict[str, Any] = {
        "memory_id": memory_id,
        "decision": decision_id,
        "type": candidate.type,
        "confidence": decision.confidence.c,
        "base": decision.confidence.base,
        "importance": candidate.importance,
        "mentions": decision.mentions,
        "visibility_scope": decision.scope,
        "basis": decision.basis,
        "grant": decision.grant,
        "memory": memory_of(
            candidate,
            turn,
            valid_from=decision.valid_from,
            valid_to=decision.valid_to,
            expires_at=decision.expires_at,
        ),
    }
    if outcome is Outcome.QUARANTINE:
        return [MemoryQuarantined(**written, reason=decision.reason.value, capped=decision.capped)]
    if outcome is Outcome.ADMIT:
        events: list[Event] = []
        over = decision.expired
        if over is not None:
            ends = [end for end in (over.valid_to, over.expires_at) if end is not None]
            events.append(MemoryExpired(memory_id=over.memory_id, valid_to=min(ends)))
        events.append(MemoryAdmitted(**written, promotes=decision.promotes, past=decision.past))
        return events
    if decision.target is None:
        raise ValueError("a supersession names the memory that it supersedes")
    events = [
        MemorySuperseded(
            **written,
            supersedes=decision.target,
            kind=decision.kind,
            promotes=decision.promotes,
            past=decision.past,
        )
    ]
    if decision.contests and not belief.contested:
        events.append(BeliefContested(supersessions=decision.contests, decision=decision_id))
    return events
