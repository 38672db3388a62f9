"""Events of reading: what an agent was shown."""

from __future__ import annotations

from typing import ClassVar

from ledger.events.kind import Event, Fact


class MemoriesRecalled(Event):
    """An agent was shown memories. Access counts are folded from here, so ranking survives a
    rebuild and an auditor can ask what influenced an answer."""

    NAME: ClassVar = "memories.recalled.v1"
    purpose: Fact[str]
    session_tag: Fact[str | None]
    """The session in which they were shown: what its speaker repeats is an echo, not a mention."""
    query_digest: Fact[str]
    """HMAC-SHA-256 of the query under the subject's key."""
    ranker: Fact[str]
    memories: Fact[tuple[str, ...]]
    """Best first."""
    scores: Fact[tuple[int, ...]]
