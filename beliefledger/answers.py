"""What the front door answers with. Times are datetimes in UTC, scores are from 0 to 1.

`model_dump(mode="json")` of any of these is the documented JSON.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from pydantic import Field

from beliefledger.ledger.candidate import Frozen


class TurnReceipt(Frozen):
    """A turn that is durably recorded. `already` is True when it was there before."""

    turn_id: str
    position: int
    already: bool = False


class Evidence(Frozen):
    """Words that justify a memory: code point offsets [start, end) into a turn."""

    turn_id: str
    start: int
    end: int
    said_at: datetime


class BeliefAnswer(Frozen):
    """One memory that holds, or one version of it in a history."""

    memory_id: str
    belief_id: str
    subject: str | None
    type: str
    topic: str
    entity: str
    attribute: str
    value: str
    negated: bool
    text: str
    context: str | None
    confidence: float
    importance: float
    mentions: int
    contested: bool
    quarantined: bool
    valid_from: datetime
    valid_to: datetime | None
    recorded_from: datetime
    recorded_to: datetime | None
    recorded_from_position: int
    recorded_to_position: int | None
    event_from: datetime | None
    event_to: datetime | None
    event_precision: str
    superseded_by: str | None
    supersedes: str | None
    contradicts: tuple[str, ...] = ()
    """The memories with which it disagrees, where neither took the other's place."""
    evidence: tuple[Evidence, ...]
    visibility_scope: str
    consent_basis: str
    expires_at: datetime | None
    session: str | None
    agent: str | None
    decision_id: str


class SpanAnswer(Frozen):
    """Code point offsets [start, end) into the turn, and the words there."""

    start: int
    end: int
    text: str
    turn_id: str


class DecisionAnswer(Frozen):
    """What the gate did with a candidate, and why."""

    decision_id: str
    position: int
    turn_id: str
    subject: str | None
    claim: str | None
    type: str | None
    """None once its words are erased, as are claim, confidence and span."""
    outcome: str
    reason: str
    confidence: float | None
    mentions: int
    span: SpanAnswer | None
    policy: str
    belief_id: str
    memory_id: str | None
    waits: bool
    recorded_at: datetime
    hint: str | None = None
    """What to do about it, where there is something to do."""


class Handover(Frozen):
    """The checkpoint that a key signed together with the one that took over from it, and the proof
    of consistency between that and the head of the file that it stands in."""

    note: str
    hashes: tuple[str, ...]


class Proof(Frozen):
    """A proof that anybody can check without the ledger: see docs/proofs.md."""

    origin: str
    """The name of the log in its checkpoints."""
    hashes: tuple[str, ...]
    verifier_keys: tuple[str, ...]
    handovers: tuple[Handover, ...] = ()
    """Between each of these keys and the next."""

    def text(self) -> str:
        """The file, whose bytes are the only ones that are taken for it."""
        document = self.model_dump(mode="json")
        return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=True) + "\n"


class InclusionProof(Proof):
    """That an event is at its position in the log that a checkpoint was signed over."""

    format: str = "beliefledger.inclusion.v1"
    position: int
    envelope: str
    checkpoint: str


class ConsistencyProof(Proof):
    """That the log of a new checkpoint begins with the log of an old one."""

    format: str = "beliefledger.consistency.v1"
    old: str
    new: str


class CheckpointAnswer(Frozen):
    """A signed head of the log; `text` is the note."""

    origin: str
    size: int
    root: str
    text: str


class SigningKeyAnswer(Frozen):
    """The keys by which checkpoints are known, the one in force last. `here` tells whether that is
    at hand."""

    origin: str
    verifier_keys: tuple[str, ...]
    file: str | None
    here: bool


class Explanation(Frozen):
    """Why a memory is there: memory, decision, candidate, and the words in the turn."""

    memory: BeliefAnswer
    holds: bool
    decision: DecisionAnswer | None
    decided_by: str
    scores: dict[str, float]
    trace: tuple[str, ...]
    candidate: dict[str, Any] | None
    turn: dict[str, Any] | None
    policy: dict[str, str]
    extractor: str | None
    confirmed_by: tuple[Evidence, ...]
    history: tuple[BeliefAnswer, ...]
    originals: tuple[BeliefAnswer, ...] = ()
    """What it was merged from, each as it is last known."""
    positions: dict[str, int] = Field(default_factory=dict)
    """Where the turn, the decision and the admission are in the log."""
    proofs: dict[str, InclusionProof] = Field(default_factory=dict)
    """That they are there, where it was asked for."""


class ReplayAnswer(Frozen):
    """A decision made again. `differs` has, for each field that is not the same, both values."""

    decision_id: str
    position: int
    verdict: str
    recorded: dict[str, Any]
    again: dict[str, Any] | None
    differs: dict[str, tuple[Any, Any]]


class ReplaySummary(Frozen):
    """All decisions made again: how many gave what, and those that did not give the same."""

    decisions: int
    same: int
    different: int
    inputs_destroyed: int
    differing: tuple[ReplayAnswer, ...]


class LoopAnswer(Frozen):
    """A belief that keeps changing: its values in the order they were said, with who said and who
    wrote each, and when.

    `together` is the most of its supersessions that lie within the window that was asked about.
    `settle` is the command that ends it, where there is something to settle.
    """

    belief_id: str
    subject: str | None
    attribute: str
    supersessions: int
    together: int
    contested: bool
    values: tuple[dict[str, Any], ...]
    settle: str | None


class ChoiceAnswer(Frozen):
    """One value that a person may choose, and the command that chooses it.

    `id` is the memory that stands, or the last decision that escalated the value.
    """

    id: str
    stands: bool
    value: str
    negated: bool
    context: str | None
    text: str
    confidence: float
    mentions: int
    last_said: datetime
    resolve: str


class ConflictAnswer(Frozen):
    """What a person has to choose: the value that stands, and the statements against it.

    `choices` has each value once; `by_context` is the command that keeps all, each for a context.
    """

    belief_id: str
    subject: str | None
    attribute: str
    reason: str
    standing: tuple[BeliefAnswer, ...]
    escalated: tuple[DecisionAnswer, ...]
    choices: tuple[ChoiceAnswer, ...]
    by_context: str


class ProcessAnswer(Frozen):
    """What became of the queued turns."""

    turns: int
    failed: int
    parked: int
    pending: int
    decisions: tuple[str, ...]
    problem: str | None = None
    """Why the last turn that could not be read could not."""


class GrantAnswer(Frozen):
    """A lawful basis in force."""

    grant_id: str
    basis: str
    categories: tuple[str, ...]
    purpose: str
    scope: str
    expires_at: datetime | None


class ErasureAnswer(Frozen):
    """What an erasure destroyed. `erasure` is its id, None where nothing had to go; `also` has
    those of others that went with it: of other people's relations to the subject. `already` is
    True when it was done before this was asked, by an earlier try or another process."""

    subject_ref: str
    bodies: int
    position: int
    erasure: str | None = None
    reach: str = "subject"
    also: tuple[str, ...] = ()
    already: bool = False


class ViewAnswer(Frozen):
    """How far a view is. The digests are None where they were not asked for."""

    name: str
    position: int
    lag: int
    digest: str | None
    content_digest: str | None
    stopped_at: int | None
    reason: str | None


class RebuildAnswer(Frozen):
    """A rebuilt view. `same` is None unless the rebuild was compared with what it replaced."""

    name: str
    position: int
    digest: str | None = None
    content_digest: str | None = None
    same: bool | None = None
    first_difference: str | None = None


class ConsumerAnswer(Frozen):
    """How far a named consumer is. `holder` runs it now; None when nobody does."""

    name: str
    position: int
    lag: int
    epoch: int
    holder: str | None


class JobAnswer(Frozen):
    """A run of a job: the time it was to run at, how it ended (`done` or `failed`, with the error's
    class), and what it did."""

    job: str
    due: datetime
    ran_at: datetime
    outcome: str
    counts: dict[str, int]
    seconds: float
    error: str | None


class StatusAnswer(Frozen):
    """How the ledger is."""

    ledger: str
    position: int
    recorded_at: datetime | None
    subjects: int
    pending_turns: int
    parked_turns: int
    turns: dict[str, int]
    outcomes: dict[str, int]
    waiting: int
    policy: dict[str, str]
    extractor: str
    master_key: str
    views: tuple[ViewAnswer, ...]
    consumers: tuple[ConsumerAnswer, ...] = ()
    jobs: tuple[JobAnswer, ...] = ()
    """The last run of each."""
    warnings: tuple[str, ...] = ()
