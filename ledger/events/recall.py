"""Events of reading: what an agent was shown."""

from typing import ClassVar

from pydantic import Field

from beliefledger.ledger.candidate import Frozen, unset
from beliefledger.ledger.events.kind import Event, Fact
from beliefledger.ledger.fields import Fraction, Name, Score
from beliefledger.ledger.metadata import Metadata
from beliefledger.ledger.times import Micros


class ContextQuery(Frozen):
    """How a context was made of what a search found: ids name nobody."""

    format: str
    tokenizer: str
    """Its name; `callable` for a function of the caller's."""
    pinned: tuple[str, ...]
    """The memories that go into every context, whether there was room or not."""
    lines: tuple[str, ...]
    """The memories and turns that it has, in order."""


class Wanted(Frozen):
    """Only what was said in this session, to this agent, on this topic, of this type, and beside
    which each of these was kept."""

    session_tag: str | None = None
    agent: Name[str | None] = None
    topic: str | None = None
    type: str | None = None
    metadata: Metadata = Field(default_factory=dict, exclude_if=unset)


class SearchQuery(Frozen):
    """A search: its words, and everything that what it finds depends on besides the log."""

    query: str
    k: int
    as_of: int | None = None
    """The position that was asked about; None: as it was when asked."""
    valid_at: Micros | None = None
    types: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    scope: str | None = None
    min_confidence: Score
    min_importance: Score
    recency_weight: Score
    diversity: Score
    max_tokens: int | None = None
    include: tuple[str, ...]
    profile: str
    session: Name[str | None] = None
    """In which session it was asked: memories that are for one session alone are found in it."""
    standing: str | None = Field(default=None, exclude_if=unset)
    """Of an auditor's search: `then` (what could be shown at the position) or `all` (also what is
    withheld). None: what an agent may be shown."""
    reason: Name[str | None] = Field(default=None, exclude_if=unset)
    """Why an auditor looked."""
    context: ContextQuery | None = Field(default=None, exclude_if=unset)
    """Where a context was made of it."""
    where: Wanted | None = Field(default=None, exclude_if=unset)
    """What alone was to be found."""
    reader: str | None = Field(default=None, exclude_if=unset)
    """On whose behalf it was asked: the reference of a person. `scope` is then the narrowest that
    they might see, by the teams that they shared with the subject when it was asked."""


class MemoriesRecalled(Event):
    """An agent was shown memories. Access counts are folded from here, so ranking survives a
    rebuild and an auditor can ask what influenced an answer."""

    NAME: ClassVar = "memories.recalled.v3"
    purpose: Fact[Name[str]]
    query_digest: Fact[str]
    """HMAC-SHA-256 of the query and a salt of this event's own, under the subject's key: once the
    salt is erased, nobody can tell whether a guess is right."""
    ranker: Fact[Name[str]]
    """`shown` for what a caller chose by itself; else the profile and its version."""
    memories: Fact[tuple[str, ...]]
    """Best first."""
    scores: Fact[tuple[Fraction, ...]]
    """Of `ranked`; they go as far as points go, not only to 1."""
    ranked: Fact[tuple[str, ...]] = ()
    """What a search found, best first: ids of memories and of turns."""
    position: Fact[int] = 0
    """The head of the log as the search saw it."""
    asked_at: Fact[Micros] = 0
    embedder: Fact[str | None] = None
    """The model whose vectors were compared; None where there were none."""
    index: Fact[str | None] = None
    """The kind and version of the index."""
    unembedded: Fact[int] = 0
    """How many candidates had no vector yet."""
    session_tag: str | None = None
    """The session in which they were shown: what its speaker repeats is an echo, not a mention."""
    asked: SearchQuery | None = None
    salt: str | None = None
    """None once the words are erased, and in recalls from before there were salts."""
