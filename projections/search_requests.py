"""A search's request and its results: without numpy, for callers that only pass them on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from beliefledger.ledger.candidate import MILLION
from beliefledger.ledger.events.recall import SearchQuery
from beliefledger.ledger.times import Micros
from beliefledger.projections.decay import Profile

VERSION = 1
"""The version of the ranking profiles. It is recorded with each search, so a replay can tell why it
differs."""
PROFILES = ("default", "recall")


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
