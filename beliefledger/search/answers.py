"""What a search answers."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from beliefledger.answers import BeliefAnswer
from beliefledger.ledger.candidate import Frozen


class ArmAnswer(Frozen):
    """What one way of searching said: its score (BM25+ for words, a cosine for meaning, what is
    left of a memory for recency), and the rank among the candidates that this gives, from 1; 0
    where only the score counts."""

    rank: int
    score: float


class DecisionBrief(Frozen):
    """The gate's decision that a memory stands on."""

    decision_id: str
    outcome: str
    reason: str
    confidence: float


class EpisodeAnswer(Frozen):
    """A turn of a conversation."""

    turn_id: str
    position: int
    speaker: str
    role: str
    session: str | None
    said_at: datetime


class OutdatedWords(Frozen):
    """Words of a turn that are no longer so, what took their place, and since when."""

    words: str
    superseded_by: str | None = None
    """The id of the memory."""
    since: datetime | None = None


class StandingAnswer(Frozen):
    """Whether a result still holds: `current`; `outdated`, with what took its place, and since
    when; or `contested`, where statements disagree and nobody has settled it yet."""

    state: Literal["current", "outdated", "contested"] = "current"
    superseded_by: str | None = None
    """The id of the memory."""
    since: datetime | None = None
    parts: tuple[OutdatedWords, ...] = ()
    """Of a turn: the words of it that are outdated, where it says several things."""
    reasons: tuple[str, ...] = ()
    """Of an auditor's search: why it, or words of it, are withheld from agents."""


class FoundAnswer(Frozen):
    """One result, and why it is there."""

    rank: int
    kind: Literal["memory", "episode"]
    id: str
    """Of the memory or of the turn."""
    text: str
    """Of a turn: with `[…]` for words that may not be shown."""
    score: float
    arms: dict[str, ArmAnswer]
    components: dict[str, float]
    """Of the score, where it is a sum of weighted parts: by the profile `recall`."""
    why: str
    tokens: int
    standing: StandingAnswer = StandingAnswer()
    memory: BeliefAnswer | None = None
    decision: DecisionBrief | None = None
    episode: EpisodeAnswer | None = None
    taken_up_by: str | None = None
    """The id of a later turn that says of it that something changed: it is perhaps outdated."""
    accesses: int | None = None
    """How often a memory was shown before, as far as that was on record."""
    left: float | None = None
    """How much is left of a memory by the policy's profile of decay, from 0 to 1."""


class SearchAnswer(Frozen):
    """What was found, best first, and what was searched how."""

    recall_id: str | None
    """Of the record of this search, for `recalls`; None where nothing was found or recorded."""
    subject: str
    query: str
    profile: str
    position: int
    """The log as it was searched."""
    valid_at: datetime
    embedder: str | None
    index: str | None
    candidates: int
    suppressed: int
    """Candidates that have nothing to do with the query."""
    pending: int
    """Turns that are not decided yet: nothing of them is shown. `process` decides them."""
    unembedded: int
    """Candidates that were compared by words alone, since they have no vector yet."""
    routed: tuple[str, ...]
    """The types of memories that the question asks for."""
    route: str | None
    """The rule that says so, and the words it went by."""
    results: tuple[FoundAnswer, ...]
    tokens: int
    """About how many the results' texts are for a model."""
    left_out: int
    """Results for which the budget of tokens had no room."""
    notes: tuple[str, ...]
