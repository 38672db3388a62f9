"""What a decision is about and what it says: the turn as the gate sees it, what is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from beliefledger.gate.belief import Held
from beliefledger.gate.confidence import Confidence
from beliefledger.gate.outcomes import Outcome, Reason
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.choices import Meant
from beliefledger.ledger.metadata import Metadata
from beliefledger.ledger.times import Micros


@dataclass(frozen=True, slots=True)
class TurnView:
    """The turn as the gate sees it: its words, and those of earlier turns that a candidate
    cites."""

    turn_id: str
    role: str
    content: str
    said_at: Micros
    said_at_stated: bool = True
    session: str | None = None
    agent: str | None = None
    cited: Mapping[str, str] = field(default_factory=dict)
    session_tag: str | None = None
    position: int = 0
    """Where the turn stands in the log; with `session_tag`, what was shown before it."""

    speaker: str | None = None
    """Who spoke, if the turn names them."""

    metadata: Metadata = field(default_factory=dict)
    corrects: Meant | None = None
    """The memory that these words say is wrong."""
    ask: bool = False
    """Whether a person is to choose where these words contradict a belief."""

    def citing(self, more: Mapping[str, str]) -> TurnView:
        """The same with the words of more turns."""
        if not more:
            return self
        return replace(self, cited={**self.cited, **more})

    def text_of(self, turn: str | None) -> str | None:
        return self.content if turn is None else self.cited.get(turn)


@dataclass(frozen=True, slots=True)
class Approval:
    """A named principal approved a queued candidate: permission is given, on this basis."""

    grant: str
    basis: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gate does, why, and what the events about it will say."""

    outcome: Outcome
    reason: Reason
    confidence: Confidence
    mentions: int = 1
    trace: tuple[str, ...] = ()
    target: str | None = None
    """The memory that is confirmed, superseded or promoted."""
    promotes: str | None = None
    counted: bool = True
    kind: str = "change"
    past: bool = False
    contests: int = 0
    """The number of supersessions if this one makes the belief contested, else 0."""
    capped: bool = False
    expired: Held | None = None
    """The memory of this slot that had ended when these words were said."""
    valid_from: Micros = 0
    valid_to: Micros | None = None
    expires_at: Micros | None = None
    scope: str = "subject"
    basis: str = ""
    grant: str = ""
