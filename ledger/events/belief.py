"""Events of one belief: one slot of one subject, its values and its history."""

from functools import partial
from operator import is_
from typing import ClassVar

from pydantic import Field

from beliefledger.ledger.candidate import Span
from beliefledger.ledger.events.kind import Event, Fact
from beliefledger.ledger.fields import Name, Score
from beliefledger.ledger.memory import Memory, Saying
from beliefledger.ledger.times import Micros


class Written(Event):
    """The facts shared by the events that write a memory."""

    memory_id: Fact[str]
    decision: Fact[str]
    """The event id of the decision (or review, or resolution) that made it."""
    mentions: Fact[int]
    visibility_scope: Fact[Name[str]]
    basis: Fact[Name[str]]
    """The lawful basis it stands on, such as `consent`."""
    type: str
    confidence: Score
    base: Score
    importance: Score
    grant: str
    """The event id of the `ConsentGranted` it stands on, whose categories may tell this one's."""
    memory: Memory


class MemoryAdmitted(Written):
    """A candidate became a memory, or a quarantined memory was promoted."""

    NAME: ClassVar = "memory.admitted.v2"
    promotes: Fact[str | None] = None
    """The quarantined memory that this lifts; it keeps its id."""
    past: Fact[bool] = False
    """It was over already when it was written; the current value stays as it is."""


class MemoryConfirmed(Event):
    """A turn said again what is believed, or what is held in quarantine."""

    NAME: ClassVar = "memory.confirmed.v2"
    memory_id: Fact[str]
    decision: Fact[str]
    mentions: Fact[int]
    counted: Fact[bool]
    """False when the turn does not count as a mention (it had counted before)."""
    confidence: Score
    base: Score
    turn: str
    said_at: Micros
    spans: tuple[Span, ...]


class MemorySuperseded(Written):
    """A memory took the place of another in the same slot and context."""

    NAME: ClassVar = "memory.superseded.v2"
    supersedes: Fact[str]
    kind: Fact[str]
    """`change`: the old was true until the new begins. `correction`: the old was never so."""
    promotes: Fact[str | None] = None
    past: Fact[bool] = False
    """Both are of the past: the old one ends where the new begins, the current value stays."""


class MemoryQuarantined(Written):
    """A candidate was kept apart: never recalled by default, promoted by later mentions."""

    NAME: ClassVar = "memory.quarantined.v2"
    reason: Fact[str]
    capped: Fact[bool]
    """The words were not sincere; it can never count as a mention."""


class MemoryRevoked(Event):
    """A memory was taken back: consent was withdrawn, a named actor revoked it, or the policy keeps
    what is in quarantine no longer."""

    NAME: ClassVar = "memory.revoked.v1"
    memory_id: Fact[str]
    cause: Fact[str]
    """`consent_withdrawn`, `actor` (who may have changed it into one of another slot), `asked` (in
    a turn, whose words asked to have it forgotten), or `retention` (it was in quarantine for long
    enough)."""
    note: str | None = None


class MemoryExpired(Event):
    """A memory reached the end of its time, or was `never` so: then it ends as it begins. `never`
    is left out where no words say what ended it."""

    NAME: ClassVar = "memory.expired.v1"
    memory_id: Fact[str]
    valid_to: Micros
    never: Fact[bool | None] = Field(default=None, exclude_if=partial(is_, None))


class MemoryMovedOut(Event):
    """A memory left this belief: for another slot (appended together with its `MemoryMovedIn`),
    into a merged memory there (together with `MemoriesConsolidated`), or, a note, into the typed
    memory that came of its sentence."""

    NAME: ClassVar = "memory.moved_out.v1"
    memory_id: Fact[str]
    to: Fact[str]
    """The belief that it, or what it was merged into, is in from now on."""
    cause: Fact[str]
    """`merged` or `split` (entities), `backfilled` (types), `consolidated`, `folded` (a note),
    `undone`."""
    into: Fact[str | None] = None
    """The merged memory, where it was consolidated; the typed one, where it was folded."""
    decision: Fact[str]
    """The event id of what moved it."""


class MemoryMovedIn(Written):
    """A memory came to this belief from another slot; its id survives. `decision` is the one that
    made the memory."""

    NAME: ClassVar = "memory.moved_in.v2"
    moved_from: Fact[str]
    cause: Fact[str]
    moved_by: Fact[str]
    """The event id of what moved it."""
    past: Fact[bool] = False
    """It was over before: the current value of this belief stays."""
    quarantined: Fact[bool] = False
    turns: tuple[str, ...]
    """The turns that counted as mentions where it came from: none of one whose words were not
    sincere, which can never count as a mention."""
    last_said_at: Micros
    """When it was last said."""


class MemoriesConsolidated(Written):
    """Rephrasings of one memory were merged into one. `memory.spans` unites their evidence, each
    span naming its turn."""

    NAME: ClassVar = "memories.consolidated.v2"
    originals: Fact[tuple[str, ...]]
    beliefs: Fact[tuple[str, ...]]
    """The beliefs that the originals were in, in the same order."""
    how: Fact[str]
    """`words` (the most confident wording) or `model`."""
    merger: Fact[str]
    """The merging code or model and its version."""
    similarity: Fact[Score]
    """The least cosine of the cluster."""
    input_tokens: Fact[int] = 0
    output_tokens: Fact[int] = 0
    cost_micro_usd: Fact[int | None] = 0
    sayings: tuple[Saying, ...]
    """What the originals said, in their order: saying one of these again confirms this memory."""
    turns: tuple[str, ...]
    """The turns that counted as mentions of an original."""
    last_said_at: Micros
    """When one of them was last said."""


class ConsolidationUndone(Event):
    """A named principal took a merge back: the merged memory ends, the originals come back to their
    beliefs in the same append."""

    NAME: ClassVar = "consolidation.undone.v1"
    memory_id: Fact[str]
    originals: Fact[tuple[str, ...]]
    note: str | None = None


class BeliefContested(Event):
    """A belief was superseded three times within the policy's window: the next conflicting
    statement is escalated, not resolved."""

    NAME: ClassVar = "belief.contested.v1"
    supersessions: Fact[int]
    decision: Fact[str]


class ConflictEscalated(Event):
    """A statement about a contested belief waits for a person to choose."""

    NAME: ClassVar = "conflict.escalated.v1"
    decision: Fact[str]


class ConflictResolved(Event):
    """A named principal settled a contested belief: one value, or a value for each context.

    The memories that the resolution writes follow in the same append.
    """

    NAME: ClassVar = "conflict.resolved.v1"
    kind: Fact[str]
    """`choose` or `by_context`."""
    settles: Fact[tuple[str, ...]]
    """The escalated decisions that it settles."""
    memories: Fact[tuple[str, ...]]
    """The memories that hold from now on."""
    closes: Fact[tuple[str, ...]]
    """The memories that held until now and do not any more."""
    resolved_at: Fact[Micros]
    """Where what held until now ends, and what holds from now on begins."""
    note: str | None = None


_KINDS = [
    event
    for event in list(globals().values())
    if isinstance(event, type) and issubclass(event, Event) and hasattr(event, "NAME")
]
NAMES = frozenset(event.NAME for event in _KINDS)
"""The names of the events of a belief's stream."""
WRITING = frozenset(event.NAME for event in _KINDS if issubclass(event, Written))
"""The names of those that write a memory."""
