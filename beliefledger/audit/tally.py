"""One reading of the log for the checklists: what was recorded, decided, allowed, run, erased."""

from __future__ import annotations

from collections import Counter
from dataclasses import field

from beliefledger.gate.consent import DEFAULT_GRANT, ORDINARY
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.belief import (
    ConflictResolved,
    MemoryAdmitted,
    MemoryQuarantined,
    MemoryRevoked,
    MemorySuperseded,
)
from beliefledger.ledger.events.ops import JobRan
from beliefledger.ledger.events.policy import PolicyAdopted
from beliefledger.ledger.events.subject import (
    ConsentGranted,
    ConsentWithdrawn,
    ErasureRequested,
    SubjectErased,
)
from beliefledger.ledger.events.turn import (
    CandidateProposed,
    ExtractionCompleted,
    ExtractionFailed,
    GateDecided,
    ReviewDecided,
    TurnParked,
    TurnRecorded,
    TurnRetried,
)
from beliefledger.ledger.times import Micros
from beliefledger.ledger.vault import SYSTEM

_DECISIONS = {GateDecided.NAME, ReviewDecided.NAME, ConflictResolved.NAME}
_OF_A_TURN = {
    ExtractionCompleted.NAME,
    ExtractionFailed.NAME,
    TurnParked.NAME,
    CandidateProposed.NAME,
    GateDecided.NAME,
    ReviewDecided.NAME,
}
_WRITTEN = {MemoryAdmitted.NAME, MemorySuperseded.NAME, MemoryQuarantined.NAME}
TYPES = (
    _DECISIONS
    | _OF_A_TURN
    | _WRITTEN
    | {
        kind.NAME
        for kind in (
            ConsentGranted,
            ConsentWithdrawn,
            ErasureRequested,
            JobRan,
            MemoryRevoked,
            PolicyAdopted,
            SubjectErased,
            TurnRecorded,
            TurnRetried,
        )
    }
)


@dataclass(slots=True)
class LogReading:
    """What one reading of the log showed; each offender is the first of its kind."""

    turns: set[str] = field(default_factory=set)
    unrecorded: str | None = None
    twice: str | None = None
    candidates: int = 0
    undecided: dict[tuple[str, int], str] = field(default_factory=dict)
    decisions: set[str] = field(default_factory=set)
    unfounded: dict[str, str] = field(default_factory=dict)
    """Decisions that a written memory names and that were not seen yet."""
    written: int = 0
    redacted: Counter[str] = field(default_factory=Counter)
    grants: dict[str, tuple[frozenset[str], Micros | None]] = field(default_factory=dict)
    withdrawn: set[str] = field(default_factory=set)
    objectors: set[str] = field(default_factory=set)
    """Subjects for whom the policy's default basis is over."""
    approvals: set[str] = field(default_factory=set)
    failed: int = 0
    parked: dict[str, None] = field(default_factory=dict)
    adopted: int = 0
    settled: int = 0
    nameless: str | None = None
    jobs: dict[str, Recorded] = field(default_factory=dict)
    done: dict[str, Recorded] = field(default_factory=dict)
    """The last run of each job that ended well."""
    erased: set[str] = field(default_factory=set)

    def apply(self, event: Recorded) -> None:
        facts, stream, name = event.facts, event.stream, event.type
        if name in _OF_A_TURN and stream not in self.turns:
            self.unrecorded = self.unrecorded or stream
        if name in _DECISIONS:
            self.decisions.add(event.event_id)
            self.unfounded.pop(event.event_id, None)
        if name in _WRITTEN:
            self.written += 1
            if facts["decision"] not in self.decisions:
                self.unfounded[facts["decision"]] = facts["memory_id"]
        match name:
            case TurnRecorded.NAME:
                if stream in self.turns:
                    self.twice = self.twice or stream
                self.turns.add(stream)
                if isinstance(event.event, TurnRecorded):  # the kinds go with the words
                    self.redacted.update(event.event.redacted)
            case CandidateProposed.NAME:
                self.candidates += 1
                self.undecided[stream, event.version] = event.event_id
            case GateDecided.NAME:
                self.undecided.pop((stream, facts["candidate_version"]), None)
            case ReviewDecided.NAME if facts["approved"]:
                self.approvals.add(event.event_id)
            case ConsentGranted.NAME:
                told = event.event
                categories = told.categories if isinstance(told, ConsentGranted) else ()
                self.grants[event.event_id] = frozenset(categories), facts["expires_at"]
                if ORDINARY in categories:
                    self.objectors.discard(event.subject_ref or "")
            case ConsentWithdrawn.NAME:
                self.withdrawn.update(facts["grants"])
                if DEFAULT_GRANT in facts["grants"]:
                    self.objectors.add(event.subject_ref or "")
            case ExtractionFailed.NAME:
                self.failed += 1
            case TurnParked.NAME:
                self.parked[stream] = None
            case TurnRetried.NAME:
                self.parked.pop(stream, None)
            case SubjectErased.NAME:
                self.erased.add(event.subject_ref or "")
            case JobRan.NAME:
                self.jobs[facts["job"]] = event
                if facts["outcome"] == "done":
                    self.done[facts["job"]] = event
        self._named(event)

    def _named(self, event: Recorded) -> None:
        """The first policy is a new ledger's own, and a retention period ends by itself."""
        self.adopted += event.type == PolicyAdopted.NAME
        settles = (
            (event.type == MemoryRevoked.NAME and event.facts["cause"] == "actor")
            or (event.type == PolicyAdopted.NAME and self.adopted > 1)
            or (
                event.type == ErasureRequested.NAME
                and event.facts["legal_basis"] != "retention period over"
            )
        )
        self.settled += settles
        if settles and event.actor == SYSTEM:
            self.nameless = self.nameless or f"position {event.position}"
