"""What the fold of standing keeps of each turn and each decision, and how that is kept as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from operator import attrgetter
from typing import Any

from beliefledger.gate.consent import Consent, Grant
from beliefledger.gate.outcomes import CAPPED
from beliefledger.gate.standing import MemoryStanding, Run, State
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.belief import (
    BeliefContested,
    ConflictResolved,
    ConsolidationUndone,
    MemoriesConsolidated,
    MemoryAdmitted,
    MemoryExpired,
    MemoryMovedIn,
    MemoryMovedOut,
    MemoryQuarantined,
    MemoryRevoked,
    MemorySuperseded,
)
from beliefledger.ledger.events.subject import (
    ConsentGranted,
    ConsentWithdrawn,
    ContentErased,
    ErasureRequested,
)
from beliefledger.ledger.events.turn import (
    CandidateProposed,
    ExtractionCompleted,
    GateDecided,
    ReviewDecided,
    TurnRecorded,
)

OF_SUBJECT = frozenset(
    {ConsentGranted.NAME, ConsentWithdrawn.NAME, ErasureRequested.NAME, ContentErased.NAME}
)
OF_BELIEF = frozenset(
    {
        BeliefContested.NAME,
        ConflictResolved.NAME,
        ConsolidationUndone.NAME,
        MemoriesConsolidated.NAME,
        MemoryAdmitted.NAME,
        MemoryExpired.NAME,
        MemoryMovedIn.NAME,
        MemoryMovedOut.NAME,
        MemoryQuarantined.NAME,
        MemoryRevoked.NAME,
        MemorySuperseded.NAME,
    }
)
NAMES = (
    OF_SUBJECT
    | OF_BELIEF
    | {
        TurnRecorded.NAME,
        ExtractionCompleted.NAME,
        CandidateProposed.NAME,
        GateDecided.NAME,
        ReviewDecided.NAME,
    }
)
"""The names of the events that standing depends on."""

Spans = Mapping[str, tuple[Run, ...]]
"""By turn: the runs of its words that a candidate is about."""


@dataclass(slots=True)
class FoldedTurn:
    turn_id: str
    position: int
    conversation: bool
    by_agent: bool
    expected: int | None = None
    """How many candidates were noticed; None until somebody looked."""
    decided_at: int = 0
    """The position at which all of them were decided."""
    decisions: dict[str, None] = field(default_factory=dict)
    """The decisions about its own candidates."""
    cited: dict[str, None] = field(default_factory=dict)
    """The decisions about candidates whose spans lie in it."""

    @property
    def decided(self) -> bool:
        return self.expected is not None and len(self.decisions) >= self.expected


@dataclass(slots=True)
class FoldedDecision:
    candidate: str
    outcome: str
    reason: str
    belief: str
    memory: str | None
    spans: Spans
    approved: bool | None = None
    reconsidered: bool = False


@dataclass(slots=True)
class Touched:
    """What the last events changed the standing of."""

    turns: set[str] = field(default_factory=set)
    memories: set[str] = field(default_factory=set)


def rightful(memory: MemoryStanding, others: Mapping[str, MemoryStanding]) -> MemoryStanding:
    """A memory's standing with what took its place in truth: where that was corrected, with what
    is right instead; None where it was never so."""
    seen: set[str] = set()
    while memory.by is not None and memory.by not in seen:
        seen.add(memory.by)
        after = others.get(memory.by)
        if after is None or after.state not in (State.CORRECTED, State.UNTRUE):
            break
        memory = replace(memory, by=after.by)
    return memory


def is_refusal(reason: str) -> bool:
    """Whether something was refused for what it is, and not for what was known already."""
    return reason.startswith("permission.") or reason in CAPPED.values()


# As JSON: the parts in order, which the second of each pair makes the whole of again.

_TURN = attrgetter("turn_id", "position", "conversation", "by_agent", "expected", "decided_at")
_DECISION = attrgetter(
    "candidate", "outcome", "reason", "belief", "memory", "approved", "reconsidered"
)
of_memory = attrgetter(
    "state", "belief", "category", "grant", "by", "since", "position", "originals"
)


def of_turn(turn: FoldedTurn) -> tuple[Any, ...]:
    return (*_TURN(turn), list(turn.decisions), list(turn.cited))


def turn_again(parts: Sequence[Any]) -> FoldedTurn:
    turn_id, position, conversation, by_agent, expected, decided_at, decisions, cited = parts
    return FoldedTurn(
        turn_id,
        position,
        conversation,
        by_agent,
        expected,
        decided_at,
        dict.fromkeys(decisions),
        dict.fromkeys(cited),
    )


def of_decision(decision: FoldedDecision) -> tuple[Any, ...]:
    """Without its spans, which are those of its candidate."""
    found: tuple[Any, ...] = _DECISION(decision)
    return found


def decision_again(parts: Sequence[Any], spans: Mapping[str, Spans]) -> FoldedDecision:
    candidate, outcome, reason, belief, memory, approved, reconsidered = parts
    return FoldedDecision(
        candidate, outcome, reason, belief, memory, spans.get(candidate, {}), approved, reconsidered
    )


def memory_again(parts: Sequence[Any]) -> MemoryStanding:
    state, belief, category, grant, by, since, position, originals = parts
    return MemoryStanding(
        State(state), belief, category, grant, by, since, position, tuple(originals)
    )


def spans_again(spans: Mapping[str, Sequence[Sequence[int]]]) -> Spans:
    return {turn: tuple((start, end) for start, end in runs) for turn, runs in spans.items()}


def consent_again(parts: Mapping[str, Any]) -> Consent:
    grants = tuple(
        Grant(**each | {"categories": frozenset(each["categories"])}) for each in parts["grants"]
    )
    going = tuple(
        (key, tuple((first, last) for first, last in runs)) for key, runs in parts["going"]
    )
    return Consent(**{**parts, "grants": grants, "going": going})
