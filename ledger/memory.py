"""The content of a memory: the body shared by the events that write one."""

from pydantic import Field

from beliefledger.ledger.candidate import SELF, Frozen, Resolved, Span, When, unset
from beliefledger.ledger.fields import Name
from beliefledger.ledger.metadata import Metadata
from beliefledger.ledger.times import Micros


class Memory(Frozen):
    """The words and dates of one memory. Everything here is personal and lives in bodies only."""

    claim: str
    entity: str = SELF
    attribute: str
    value: str
    negated: bool = False
    context: str | None = None
    topic: str = "general"
    category: str | None = None
    session: Name[str | None] = None
    agent: Name[str | None] = None
    said_at: Micros
    """When the words were said."""
    said_at_stated: bool
    """False when nobody said when, so that the recording clock stood in."""
    valid_from: Micros
    """From when it holds: the date stated, else when it was said."""
    valid_to: Micros | None = None
    """Until when it holds; set at writing only for what is past already."""
    when: When = When()
    """The time the words name, with its precision; for an event, when it happens."""
    expires_at: Micros | None = None
    turn: str
    """The turn it comes from."""
    spans: tuple[Span, ...]
    participants: tuple[str, ...] = ()
    fields: dict[str, str] = Field(default_factory=dict, exclude_if=unset)
    """What its type asks for besides a value: a medication's dose."""
    metadata: Metadata = Field(default_factory=dict, exclude_if=unset)
    """What was kept beside the turn that it comes from."""
    resolved: Resolved | None = Field(default=None, exclude_if=unset)
    """The ids of whom and what it is about; None in memories from before entities had any."""


class Saying(Frozen):
    """One way of saying what a merged memory says: its slot's words, of one of the originals."""

    type: str
    entity: str = SELF
    attribute: str
    value: str
    negated: bool = False
    context: str | None = None
