"""A search's request and its results: without numpy, for callers that only pass them on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from beliefledger.ledger.candidate import MILLION
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.recall import SearchQuery
from beliefledger.ledger.times import Micros
from beliefledger.projections.decay import Profile
from beliefledger.projections.showing import ShownTurn, Superseded
from beliefledger.projections.slot_routing import SlotWords

VERSION = 25
"""The version of the ranking profiles. It is recorded with each search, so a replay can tell why it
differs."""
PROFILES = ("default", "recall")
NOW: Final = "now"
THEN: Final = "then"
ALL: Final = "all"
STANDINGS = (NOW, THEN, ALL)


@dataclass(frozen=True, slots=True)
class TaggedWhere:
    """What alone is to be found: only of this session and topic (tags), agent and type, with each
    of these beside it. None, and no metadata, ask for all."""

    session_tag: str | None = None
    agent: str | None = None
    topic_tags: tuple[str | None, ...] | None = None
    types: tuple[str, ...] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def of_memories(self) -> bool:
        """Whether it asks for what turns do not have."""
        return self.types is not None or self.topic_tags is not None


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search, checked: everything that its result depends on besides the log."""

    subject_ref: str
    asked: SearchQuery
    position: int | None
    """The position of the log that is searched; None: the present one."""
    now: Micros
    topic_tags: tuple[str | None, ...] = ()
    scopes: tuple[str, ...] = ()
    """The visibility scopes that are searched."""
    session_tag: str | None = None
    """Memories of the scope `session` are for this session alone."""
    episodes: bool = True
    """Whether turns are searched: the caller may see them and wants to."""
    ages: Profile = field(default_factory=Profile)
    purpose: str | None = None
    """What for; None: the policy's purpose."""
    standing: str = NOW
    """`now`: what may be shown now. For whoever audits: `then`, what could be shown at
    `standing_at`; `all`, also what is withheld."""
    standing_at: int | None = None
    permitted_at: Micros | None = None
    """The time at which lawful bases were to be in force; None: now."""
    where: TaggedWhere | None = None
    slots: tuple[SlotWords, ...] = ()
    """By which words the slots of the ledger's own types are asked for, as registered then."""

    @property
    def of_types(self) -> bool:
        """Whether memories of some types alone are asked for."""
        return bool(self.asked.types) or (self.where is not None and self.where.types is not None)


@dataclass(frozen=True, slots=True)
class Vote:
    """One arm's verdict on one text: its rank, from 1 (0: none), and its score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One result: a memory, in a row of `belief_versions`, or a turn, which has no row."""

    id: str
    row_id: int | None
    words_at: int
    score: float
    votes: Mapping[str, Vote]
    components: Mapping[str, float]
    against: tuple[str, ...] = ()
    """The memories that contradicted it at that time."""
    turn: ShownTurn | None = None
    """Of a turn: what is shown of it."""
    superseded: Superseded | None = None
    """What took its place, where it is outdated by now."""
    parts: tuple[Superseded, ...] = ()
    """Of a turn: which of its words are outdated by now."""
    reasons: tuple[str, ...] = ()
    """For whoever audits: why it is withheld from agents."""
    taken_up_by: str | None = None
    """A later result that says of it that something changed: it is perhaps outdated."""
    accesses: int | None = None
    """How often a memory was shown before."""
    left: float | None = None
    """How much is left of a memory, from 0 to 1."""

    @property
    def millionths(self) -> int:
        return round(self.score * MILLION)


@dataclass(frozen=True, slots=True)
class Looked:
    """What a search found, best first, before words are read.

    `candidates` is how many texts were searched, `suppressed` how many of them have nothing to do
    with the query, `unembedded` how many have no vector yet.
    """

    hits: tuple[Hit, ...]
    candidates: int
    suppressed: int
    unembedded: int
    position: int
    embedder: str
    index: str
    routed: tuple[str, ...] = ()
    route: str | None = None
    note: str | None = None
    pending: int = 0
    """How many turns of the subject are not decided yet: nothing of them is shown."""
    lawful: bool = True
    """Whether a lawful basis for the purpose is in force."""
