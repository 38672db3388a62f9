"""What may be shown, and what has become of a text: the words of the gate at the way out. Pure.

Every text has a standing. Whether a lawful basis covers it is asked at the time of showing; what
was decided about it, and what became of that, is folded from the log (`standing_fold`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from beliefledger.gate.consent import ORDINARY, Consent
from beliefledger.gate.policy import Policy
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.times import Micros

Run = tuple[int, int]


class Cause(StrEnum):
    """Why something is withheld. A cause never changes its meaning."""

    NO_BASIS = "no_basis"
    UNDECIDED = "undecided"
    INSTRUCTION = "instruction"
    REFUSED = "refused"
    SPECIAL_CATEGORY = "special_category"
    WAITS = "waits_for_review"
    REVIEW_REFUSED = "review_refused"
    QUARANTINED = "quarantined"
    REVOKED = "revoked"
    WITHDRAWN = "consent_withdrawn"
    RETENTION = "retention"
    UNTRUE = "untrue"
    ERASED = "erased"


DOUBTED = frozenset({Cause.QUARANTINED})
"""Causes that lie in how something was said, not in what may be told of it."""


class State(StrEnum):
    """What has become of a memory."""

    HELD = "held"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    CORRECTED = "corrected"
    EXPIRED = "expired"
    MERGED = "merged"
    ENDED = "ended"
    REVOKED = "revoked"
    WITHDRAWN = "consent_withdrawn"
    RETENTION = "retention"
    UNTRUE = "untrue"
    ERASED = "erased"


WITHHELD = {
    State.QUARANTINED: Cause.QUARANTINED,
    State.REVOKED: Cause.REVOKED,
    State.WITHDRAWN: Cause.WITHDRAWN,
    State.RETENTION: Cause.RETENTION,
    State.UNTRUE: Cause.UNTRUE,
    State.ERASED: Cause.ERASED,
}
OUTDATED = frozenset({State.SUPERSEDED, State.CORRECTED, State.EXPIRED})


@dataclass(frozen=True, slots=True)
class MemoryStanding:
    """What has become of one memory: by which other, and since when (microseconds UTC)."""

    state: State
    belief: str
    category: str = ORDINARY
    grant: str = ""
    by: str | None = None
    since: Micros | None = None
    position: int = 0
    originals: tuple[str, ...] = ()
    """The memories that were merged into it."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """Words of a turn that are not to be shown: code points [start, end), and why."""

    start: int
    end: int
    cause: Cause
    reason: str | None = None
    """The reason code of the decision, where it was one that refused."""
    category: str | None = None


@dataclass(frozen=True, slots=True)
class Outdated:
    """Words of a turn that are no longer so: the memory that came of them, what took its place, and
    since when."""

    start: int
    end: int
    memory: str
    state: State
    by: str | None
    since: Micros | None


@dataclass(frozen=True, slots=True)
class TurnStanding:
    """What may be shown of one turn. `whole` is why nothing of it may be."""

    whole: Cause | None = None
    withheld: tuple[Withheld, ...] = ()
    outdated: tuple[Outdated, ...] = ()
    contested: bool = False
    memories: Mapping[str, tuple[Run, ...]] = field(default_factory=dict)
    """The memories that came of its words, and may be shown; each with these words."""
    remembered: tuple[Run, ...] = ()
    """The words that these came of."""


@dataclass(frozen=True, slots=True)
class Rights:
    """What the lawful bases in force cover, for one purpose at one time."""

    purpose: str
    covered: frozenset[str] = frozenset()
    """The categories; without `ordinary` nothing of a conversation is shown."""
    approvals: bool = False
    """Whether what a reviewer approved may be shown for this purpose."""
    grants: frozenset[str] = frozenset()
    """The ids of all grants: what stands on another was approved by a reviewer."""
    prohibited: frozenset[str] = frozenset()

    def cover(self, memory: MemoryStanding) -> bool:
        """Whether a memory may be shown, as far as its lawful basis goes."""
        if memory.category in self.covered:
            return True
        approved = memory.category != ORDINARY and memory.grant not in self.grants
        return approved and self.approvals and memory.category not in self.prohibited


def rights_of(consent: Consent, policy: Policy, purpose: str, now: Micros) -> Rights:
    """What may be shown for a purpose at a time, by a subject's consents and the policy."""
    prohibited = frozenset(
        name for name, rule in policy.special_categories.items() if rule == "prohibit"
    )
    if consent.erasing:
        return Rights(purpose, prohibited=prohibited)
    return Rights(
        purpose=purpose,
        covered=consent.covered(purpose, now, policy) - prohibited,
        approvals=purpose == policy.purpose,
        grants=frozenset(grant.id for grant in consent.grants),
        prohibited=prohibited,
    )
