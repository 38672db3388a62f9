"""Events of one data subject: registration, lawful bases, forgetting."""

from __future__ import annotations

from typing import ClassVar

from ledger.events.kind import Event, Fact
from ledger.times import Micros


class SubjectRegistered(Event):
    """A person became known to the ledger; their key was made just before."""

    NAME: ClassVar = "subject.registered.v1"
    anew: Fact[bool] = False
    """Registered again by a named actor after an erasure."""


class ConsentGranted(Event):
    """A lawful basis for keeping memories of some categories for some purpose was recorded."""

    NAME: ClassVar = "consent.granted.v1"
    basis: Fact[str]
    categories: Fact[tuple[str, ...]]
    """`ordinary`, or names of special categories; each must be named."""
    purpose: Fact[str]
    scope: Fact[str]
    """The widest visibility that it allows."""
    expires_at: Fact[Micros | None] = None
    note: str | None = None


class ConsentWithdrawn(Event):
    """A lawful basis was withdrawn; what stood on it is revoked in the same append."""

    NAME: ClassVar = "consent.withdrawn.v1"
    grants: Fact[tuple[str, ...]]
    """The event ids of the grants that end."""
    revoked: Fact[int]
    note: str | None = None


class ErasureRequested(Event):
    """Forgetting was asked for. From here on nothing is written for the subject."""

    NAME: ClassVar = "erasure.requested.v1"
    reach: Fact[str]
    legal_basis: Fact[str]


class SubjectErased(Event):
    """The subject's key and bodies are destroyed, everywhere that this ledger keeps them."""

    NAME: ClassVar = "subject.erased.v1"
    bodies: Fact[int]
    """How many bodies were deleted."""
    key_fingerprint: Fact[str]


class ContentErased(Event):
    """Bodies of a living subject were deleted: a memory, a turn, a session."""

    NAME: ClassVar = "content.erased.v1"
    reach: Fact[str]
    positions: Fact[tuple[int, ...]]


class LegalHoldPlaced(Event):
    """Erasing this subject is forbidden until the hold is lifted."""

    NAME: ClassVar = "legal_hold.placed.v1"
    hold: Fact[str]
    reason: str


class LegalHoldLifted(Event):
    """A legal hold ended."""

    NAME: ClassVar = "legal_hold.lifted.v1"
    hold: Fact[str]
