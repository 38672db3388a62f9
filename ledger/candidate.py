"""A candidate: a statement noticed in a turn, with the exact words that justify it.

This is the shape that extractors return, that `CandidateProposed` records and that the gate
decides on. It is cheap and untrusted: nothing here says that it will be believed.

Times are integer microseconds since 1970-01-01 UTC. Scores are integer millionths (0 to 1_000_000).
"""

import operator
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field

from beliefledger.ledger.fields import Score
from beliefledger.ledger.times import Micros

SELF = "User"
"""The entity name of the person a memory is about."""

MILLION = 1_000_000
_put = object.__setattr__


class Precision(StrEnum):
    """How exactly a time is known. `unknown` goes with no time at all."""

    EXACT = "exact"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    APPROXIMATE = "approximate"
    UNKNOWN = "unknown"


class SpeechAct(StrEnum):
    """What the speaker does with the words.

    The first four are sincere. The others cap confidence, except `question` and `instruction`,
    which state nothing and are refused.
    """

    STATEMENT = "statement"
    CHANGE = "change"
    CORRECTION = "correction"
    REMOVAL = "removal"
    HYPOTHETICAL = "hypothetical"
    CONDITIONAL = "conditional"
    ROLE_PLAY = "role_play"
    LEVERAGE = "leverage"
    QUOTED = "quoted"
    SARCASTIC = "sarcastic"
    QUESTION = "question"
    INSTRUCTION = "instruction"


class Durability(StrEnum):
    """How long the statement can be expected to hold."""

    LASTING = "lasting"
    TRANSIENT = "transient"
    SESSION = "session"


class Source(StrEnum):
    """Who vouches for the statement; a policy gives each a strength."""

    STATED = "stated"
    CONFIRMED = "confirmed"
    OPERATOR = "operator"
    THIRD_PARTY = "third_party"
    ASSISTANT = "assistant"


class Frozen(BaseModel):
    """An immutable value that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As any model's, in a quarter of the time: what never changes need not be copied."""
        if deep or self.__pydantic_private__ is not None:
            return super().model_copy(update=update, deep=deep)
        changed = update or {}
        made = self.__class__.__new__(self.__class__)
        _put(made, "__dict__", {**self.__dict__, **changed})
        _put(made, "__pydantic_fields_set__", self.__pydantic_fields_set__ | changed.keys())
        _put(made, "__pydantic_extra__", None)
        _put(made, "__pydantic_private__", None)
        return made


class Span(Frozen):
    """Words of one turn: code point offsets [start, end) and the words as the extractor saw them.

    `turn` is None for the turn the candidate was noticed in, else the id of an earlier turn of
    the same subject (a question that the subject answered with "yes").
    """

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote: str
    turn: str | None = None


class When(Frozen):
    """A stated time: the range [start, end) that the precision means."""

    start: Micros | None = None
    end: Micros | None = None
    precision: Precision = Precision.UNKNOWN


unset: Callable[[Any], bool] = operator.not_
"""Whether a field says nothing: such fields are left out of what is written, so that the bytes of
events from before there were such fields stay as they are. It is asked some thirty times for each
memory."""


class Resolved(Frozen):
    """Whom and what a statement is about, found out when it came to the gate. Ids name nobody."""

    entity: str
    """The id of the entity that the memory is about."""
    target: str | None = Field(default=None, exclude_if=unset)
    """The id of a relation's far end."""
    target_name: str | None = Field(default=None, exclude_if=unset)
    """The canonical name of the far end: two names of one person are one value."""
    participants: tuple[str, ...] = Field(default=(), exclude_if=unset)
    """The ids of the participants, in their order."""
    shown: tuple[str, ...] = Field(default=(), exclude_if=unset)
    """The memories of its belief that the speaker was shown in this session: what repeats one is
    an echo, not a mention."""
    repeats: str | None = Field(default=None, exclude_if=unset)
    """The memory that one of these very words moved into, from the slot that they name."""
    reading: int = Field(default=0, exclude_if=unset)
    """The edition of the cues of speech acts by which the gate reads the words."""


class Ends(Frozen):
    """What a statement ends besides the value of its own slot: memories about the speaker."""

    attribute: str = Field(min_length=1)
    """Their attribute (`work.employer`), or how it begins, with a star (`drives.*`)."""
    value: str = Field(default="", exclude_if=unset)
    """Words that such a memory must say ("civic"); none: whatever it says."""
    sparing: str = Field(default="", exclude_if=unset)
    """Words of the one that stays: a new partner ends the memory of another one."""
    denials: bool = Field(default=False, exclude_if=unset)
    """Ends what was denied ("I stopped …"), and not what was so."""
    never: bool = Field(default=False, exclude_if=unset)
    """It was never so: said by mistake, or taken back."""
    at: Micros | None = Field(default=None, exclude_if=unset)
    """When it ended; None: when this was said."""
    among: bool = Field(default=False, exclude_if=unset)
    """The words may be those of any memory: which are meant is looked up before it is decided, and
    named in place of this."""


class Candidate(Frozen):
    """A statement about one attribute of one entity.

    `claim` reads on its own ("User prefers Python for backend work") and says no more than the
    spans do. `value` and `context` are words of the spans, verbatim. `negated` turns the statement
    round ("User does not like jazz": value jazz, negated). `context` is the circumstance in which
    the value holds ("for backend work"); it is not part of the slot. `replaces` names the value
    that a correction or change says is wrong or over ("not unittest"), when it was said.

    `when` is the time the speaker named: when an event happens, or from when a state holds.
    """

    claim: str = Field(min_length=1)
    spans: tuple[Span, ...] = Field(min_length=1)
    type: str
    entity: str = SELF
    attribute: str = Field(min_length=1)
    value: str = Field(min_length=1)
    negated: bool = False
    context: str | None = None
    replaces: str | None = None
    act: SpeechAct = SpeechAct.STATEMENT
    inferred: bool = False
    source: Source = Source.STATED
    durability: Durability = Durability.LASTING
    topic: str = "general"
    category: str | None = None
    """A special category of personal data (`health`, `religion`, `politics` …), or None."""
    importance: Score = Field(ge=0, le=MILLION)
    confidence: Score = Field(ge=0, le=MILLION)
    """How sure the extractor is that the words say this: e in the confidence formula."""
    when: When = When()
    participants: tuple[str, ...] = ()
    fields: dict[str, str] = Field(default_factory=dict, exclude_if=unset)
    """What its type asks for besides a value, in words of the spans: a medication's dose."""
    ends: tuple[Ends, ...] = Field(default=(), exclude_if=unset)
    """What else is over if this is believed: "I lost my job" ends employer and role."""
    retracts: bool = Field(default=False, exclude_if=unset)
    """It only takes words back ("scratch that"): it ends others, and is itself not believed."""
    resolved: Resolved | None = Field(default=None, exclude_if=unset)
    """Set by the gate, never by an extractor."""
    check: int = Field(default=0, exclude_if=unset)
    """The version of the check that holds its claim to its spans; 0: the first. Set by the gate."""

    def looked_for(self) -> bool:
        """Whether what it ends is still to be looked up among what is believed.

        >>> from beliefledger import Candidate, Span, When
        >>> march = When(start=1_772_323_200_000_000, end=1_775_001_600_000_000, precision="month")
        >>> said = Span(start=0, end=12, quote="Scratch that")
        >>> Candidate(
        ...     claim="Scratch that", spans=(said,), type="fact", attribute="note", value="that",
        ...     when=march, importance=0, confidence=0, ends=({"attribute": "*", "among": True},),
        ... ).looked_for()
        True
        """
        return any(each.among for each in self.ends)


class Speech(Protocol):
    """What an extractor may look at: one turn, as redacted."""

    @property
    def turn_id(self) -> str: ...
    @property
    def role(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def said_at(self) -> int: ...
