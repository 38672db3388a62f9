"""Events of one turn: what was said, what was noticed in it, and what the gate did with that."""

from typing import ClassVar

from pydantic import Field

from beliefledger.ledger.candidate import Candidate, unset
from beliefledger.ledger.events.choices import Choices, Meant
from beliefledger.ledger.events.kind import Event, Fact
from beliefledger.ledger.fields import Clean, Name, Score
from beliefledger.ledger.metadata import Metadata
from beliefledger.ledger.times import Micros


class TurnRecorded(Event):
    """Someone said something. The first event of its stream, appended before anything can fail."""

    NAME: ClassVar = "turn.recorded.v2"
    role: Fact[str]
    channel: Fact[str]
    """`conversation`, `store` for a memory written with chosen fields, or `imported`: said to
    another ledger, and read there."""
    secrets: Fact[int]
    """How many secrets were taken out before this was written."""
    said_at_stated: Fact[bool]
    """False when nobody said when, so that a clock stood in."""
    content: Clean[str]
    """Empty where it is `withheld`."""
    redacted: Clean[dict[str, int]] = Field(default_factory=dict, exclude_if=unset)
    """How many secrets of each kind were taken out."""
    session_tag: str
    """The session's HMAC under the subject's key: turns of one session can be told together."""
    speaker: str | None = None
    session: Name[str | None] = None
    agent: Name[str | None] = None
    said_at: Micros | None = None
    """None where the time of recording stands in."""
    metadata: Metadata = Field(default_factory=dict, exclude_if=unset)
    """What the caller keeps beside it."""
    corrects: Meant | None = Field(default=None, exclude_if=unset)
    """The memory that these words say is wrong."""
    ask: bool = Field(default=False, exclude_if=unset)
    """Where these words contradict a belief a person is to choose, which is else decided by the
    gate."""
    withheld: bool = Field(default=False, exclude_if=unset)
    """An erased turn was told again: it stays erased, so nothing of it is kept here."""

    redactions: Fact[str | None] = Field(default=None, exclude_if=unset)
    """The digest of the redactions of one's own that were in force, which `redactions.declared.v1`
    names; None where there were none."""

    @property
    def said_by(self) -> str:
        """Who spoke, as far as it is known."""
        return self.speaker or self.role


class ExtractionCompleted(Event):
    """An extractor looked at a turn. Also when it found nothing, so that "nothing" is known."""

    NAME: ClassVar = "extraction.completed.v1"
    extractor: Fact[Name[str]]
    candidates: Fact[int]
    skipped: Fact[str | None] = None
    """Why the extractor was not asked at all (a role without statements), or None."""
    input_tokens: Fact[int] = 0
    output_tokens: Fact[int] = 0
    cost_micro_usd: Fact[int | None] = 0
    """None where the model's price is not known."""
    fallen: Fact[int] = Field(default=0, exclude_if=unset)
    """How many of the model's statements could not be read as such, and were left out."""
    shown: Fact[tuple[str, ...]] = Field(default=(), exclude_if=unset)
    """The memories that the model was shown, by their ids."""
    not_read: str | None = Field(default=None, exclude_if=unset)
    """`language`: the extractor reads others only, so that it found nothing says nothing."""


class ExtractionFailed(Event):
    """An extractor could not look at a turn. The turn stays queued."""

    NAME: ClassVar = "extraction.failed.v1"
    extractor: Fact[Name[str]]
    attempt: Fact[int]
    error: Fact[str]
    """The error's class; its text may quote the turn and is in the body."""
    detail: str


class TurnParked(Event):
    """A turn was set aside, so that its subject's later turns can go on. Nobody takes it up again
    by themselves."""

    NAME: ClassVar = "turn.parked.v2"
    attempts: Fact[int]
    reason: Fact[str] = "tries"
    """`tries`: it kept failing; `deadline`: reading it took too long."""


class TurnRetried(Event):
    """A parked turn was taken up again: it waits for its extraction as if it were new."""

    NAME: ClassVar = "turn.retried.v1"
    attempts: Fact[int]
    """How often it had been tried before."""


class CandidateProposed(Event):
    """An extractor, or a caller of `store`, proposed a statement. Nothing is believed yet."""

    NAME: ClassVar = "candidate.proposed.v2"
    index: Fact[int]
    """Its place among the turn's candidates, from 0."""
    act: Fact[str]
    inferred: Fact[bool]
    chosen: Fact[bool] = False
    """True when a caller of `store` chose the fields; `choices` says which."""
    candidate: Candidate
    choices: Choices | None = None


class GateDecided(Event):
    """The gate decided about a candidate. Every candidate gets one, refusals included.

    The facts say what was done, why, and what a replay needs to find its inputs: which versions of
    the belief, the subject and the policy the decision saw, and at what time. The scores are in the
    body: they tell the type, which may be as much as a diagnosis.
    """

    NAME: ClassVar = "gate.decided.v2"
    candidate: Fact[str]
    candidate_version: Fact[int]
    outcome: Fact[str]
    reason: Fact[str]
    decided_at: Fact[Micros]
    belief: Fact[str]
    belief_version: Fact[int]
    subject_version: Fact[int]
    policy_version: Fact[int]
    policy: Fact[str]
    registry: Fact[str]
    mentions: Fact[int]
    memory: Fact[str | None]
    """The memory written, confirmed or superseding; None where none was."""
    reconsiders: Fact[str | None] = Field(default=None, exclude_if=unset)
    """The decision that this one takes the place of, now that there is a lawful basis."""
    trace: Fact[tuple[str, ...]]
    """Each check in order, as `truth.span=pass`. Of a category it says `special` at most."""
    type: str
    s: Score
    r: Score
    e: Score
    t: Score
    c: Score
    base: Score
    """The confidence without r, by which superseding compares."""
    importance: Score


class ReviewDecided(Event):
    """A named principal approved or refused what the gate had queued."""

    NAME: ClassVar = "review.decided.v1"
    decision: Fact[str]
    approved: Fact[bool]
    memory: Fact[str | None] = None
    note: str | None = None
