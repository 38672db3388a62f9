"""What a caller of `store` chose instead of leaving it to the gate."""

from pydantic import Field

from beliefledger.ledger.candidate import MILLION, Frozen, unset
from beliefledger.ledger.fields import Score
from beliefledger.ledger.times import Micros


class Meant(Frozen):
    """A memory that a person named, by its id and its belief's."""

    memory: str
    belief: str


class Choices(Frozen):
    """None where the caller left the field to the gate."""

    confidence: Score | None = Field(default=None, ge=0, le=MILLION)
    """Replaces the confidence formula for this memory."""
    valid_from: Micros | None = None
    valid_to: Micros | None = None
    expires_at: Micros | None = None
    visibility_scope: str | None = None
    changes: Meant | None = Field(default=None, exclude_if=unset)
    """The memory that a named person changed into this one."""
