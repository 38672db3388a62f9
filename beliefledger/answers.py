"""The answers of the front door. Times are datetimes in UTC, scores are from 0 to 1.

`model_dump(mode="json")` of any of these is the documented JSON.
"""

import json
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import Field, JsonValue

from beliefledger.ledger.candidate import Frozen


class ReadState(NamedTuple):
    """Whether a turn still has to be read, and what went wrong so far."""

    pending: bool
    problem: str | None = None


class TurnReceipt(Frozen):
    """A turn that is durably recorded. `already` is True if it was recorded before."""

    turn_id: str
    position: int
    already: bool = False
    pending: bool = False
    """Whether it is not decided yet: that nothing came of it says nothing so far."""
    problem: str | None = None
    """Why it could not be read, where that was tried; it stays pending, and is tried again by
    `process` unless it is parked."""


class Evidence(Frozen):
    """Words that justify a memory: code point offsets [start, end) into a turn."""

    turn_id: str
    start: int
    end: int
    said_at: datetime


class Became(Frozen):
    """What became of a memory, or of a decision, after the moment that was asked about.

    `what` is one of `superseded`, `corrected`, `resolved` (a person chose another value),
    `revoked`, `consent_withdrawn`, `consent_expired`, `retention`, `expired`, `ended`, `merged`,
    `unmerged`, `moved`, `promoted`, `erased`; of a decision also `approved`,
    `refused` and `reconsidered`.
    """

    what: str
    on: datetime
    by: str | None
    """The id of the memory that took its place, else of the event that did it."""
    text: str
    """The same for a person, such as `revoked on 2026-03-01`."""


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
    """Ids of memories that it disagrees with, where neither superseded the other."""
    evidence: tuple[Evidence, ...]
    visibility_scope: str
    consent_basis: str
    expires_at: datetime | None
    session: str | None
    agent: str | None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    """What was kept beside the turn that it comes from."""
    decision_id: str
    became: Became | None = None
    """What became of it since; None where it holds."""


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
    """None once the words are erased; so are claim, confidence and span."""
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
    """What the reader can do about it, if anything."""
    says: str = ""
    """The reason in a sentence."""
    became: Became | None = None
    """What became since of the decision, or of the memory that it wrote or confirmed."""
    settled_at: int | None = None
    """The position at which a person settled it, or it was decided again."""
    reconsiders: str | None = None
    """The decision that this one takes the place of, after a late grant."""


class ReconsideredAnswer(Frozen):
    """A decision that had no lawful basis, and the one that took its place, or would."""

    decision_id: str
    reason: str
    claim: str
    category: str
    said_at: datetime
    outcome: str
    """Of the new decision, as are `new_reason` and `memory_id`."""
    new_reason: str
    memory_id: str | None
    new_decision_id: str | None
    """None in a preview."""


class Handover(Frozen):
    """How one signing key handed over to the next: `note` is the checkpoint that both signed,
    `hashes` the proof of consistency between it and the head of the file it is in."""

    note: str
    hashes: tuple[str, ...]


class Proof(Frozen):
    """A proof that anybody can check without the ledger: see docs/proofs.md."""

    origin: str
    """The name of the log in its checkpoints."""
    hashes: tuple[str, ...]
    verifier_keys: tuple[str, ...]
    handovers: tuple[Handover, ...] = ()
    """One between each key and the next."""

    def text(self) -> str:
        """The content of the file. A verifier refuses any other spelling of the same JSON."""
        document = self.model_dump(mode="json")
        return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=True) + "\n"


class InclusionProof(Proof):
    """Proof that an event is at its position in the log that the checkpoint signs."""

    format: str = "beliefledger.inclusion.v1"
    position: int
    envelope: str
    checkpoint: str


class ConsistencyProof(Proof):
    """Proof that the log of the new checkpoint begins with that of the old one."""

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
    """The verifier keys of all keys that ever signed, the one in force last. `here` is True if that
    key's private half is available."""

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
    """The memories it was merged from, each in its last version."""
    positions: dict[str, int] = Field(default_factory=dict)
    """Positions of the turn, the decision and the admission in the log."""
    proofs: dict[str, InclusionProof] = Field(default_factory=dict)
    """Proofs of inclusion for these, if they were asked for."""


class ReplayAnswer(Frozen):
    """A decision made again. `differs` has both values of each field that is different."""

    decision_id: str
    position: int
    verdict: str
    recorded: dict[str, Any]
    again: dict[str, Any] | None
    differs: dict[str, tuple[Any, Any]]


class ReplaySummary(Frozen):
    """All decisions made again: counts by verdict, and those that came out different."""

    decisions: int
    same: int
    different: int
    inputs_destroyed: int
    differing: tuple[ReplayAnswer, ...]


class LoopAnswer(Frozen):
    """A belief that keeps changing: its values in the order they were said, with who said and who
    wrote each, and when.

    `together` is the largest number of its supersessions within one window, of the length that was
    asked about. `settle` is the command that ends the loop, if there is something to settle.
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
    """What happened to the queued turns."""

    turns: int
    failed: int
    parked: int
    pending: int
    decisions: tuple[str, ...]
    problem: str | None = None
    """The error of the last turn that could not be read."""
    outcomes: dict[str, int] = Field(default_factory=dict)
    """How many of these decisions there are of each outcome."""


class GrantAnswer(Frozen):
    """A lawful basis in force."""

    grant_id: str
    basis: str
    categories: tuple[str, ...]
    purpose: str
    scope: str
    expires_at: datetime | None


class ErasureAnswer(Frozen):
    """What an erasure destroyed. `erasure` is its id; None if there was nothing to erase. `also`
    has the ids of erasures that went with it, of other people's relations to the subject.
    `already` is True if an earlier try or another process had done it before."""

    subject_ref: str
    bodies: int
    position: int
    erasure: str | None = None
    reach: str = "subject"
    also: tuple[str, ...] = ()
    already: bool = False


class ViewAnswer(Frozen):
    """How far a view is. The digests are None unless they were asked for."""

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
    """How far a named consumer is. `holder` is the process that runs it now, or None."""

    name: str
    position: int
    lag: int
    epoch: int
    holder: str | None
    last_problem: str | None = None
    """Of a webhook: why deliveries failed when they last did so repeatedly."""
    last_problem_at: datetime | None = None


class JobAnswer(Frozen):
    """A run of a job: when it was due, how it ended (`done` or `failed`, with the error's class),
    and what it did."""

    job: str
    due: datetime
    ran_at: datetime
    outcome: str
    counts: dict[str, int]
    seconds: float
    error: str | None


class ReplicaAnswer(Frozen):
    """How the replica is that the URL names: how far it is behind (None where nobody knows),
    and whether that is within the bound, so that it is asked."""

    name: str
    reachable: bool
    lag: int | None
    """In events …"""
    lag_seconds: float | None
    """… and since when: how long ago the first event was recorded that it lacks."""
    bound_seconds: float
    """What `read_lag` says."""
    within: bool
    answered: int
    """How many questions it answered since the ledger was opened …"""
    passed_on: int
    """… and how many the primary had to."""


class StatusAnswer(Frozen):
    """The state of the ledger: position, queue, views, consumers, jobs, warnings."""

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
    """The last run of each job."""
    replica: ReplicaAnswer | None = None
    """Where the URL names one."""
    warnings: tuple[str, ...] = ()
