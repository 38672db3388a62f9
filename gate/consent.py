"""On what lawful basis something may be kept about a subject, folded from the subject's stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ledger.codec import Recorded
from ledger.events.subject import ConsentGranted, ConsentWithdrawn, ErasureRequested
from ledger.times import Micros

ORDINARY = "ordinary"
"""The category of everything that is in no special category."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One recorded basis. `id` is the event id of its `ConsentGranted`."""

    id: str
    basis: str
    categories: frozenset[str]
    purpose: str
    scope: str
    expires_at: Micros | None


@dataclass(frozen=True, slots=True)
class Consent:
    """The grants in force, and the version of the subject's stream they were read at."""

    version: int = 0
    grants: tuple[Grant, ...] = ()
    erasing: bool = False

    def covering(self, category: str, purpose: str, now: Micros) -> Grant | None:
        """The latest grant in force for the category and purpose."""
        for grant in reversed(self.grants):
            in_force = grant.expires_at is None or now < grant.expires_at
            if in_force and category in grant.categories and grant.purpose == purpose:
                return grant
        return None


def folded(recorded: Iterable[Recorded], start: Consent | None = None) -> Consent:
    """The consent after these events of the subject's stream. Everything it needs is in envelopes,
    so it is the same after an erasure."""
    version, grants, erasing = (
        (0, (), False) if start is None else (start.version, start.grants, start.erasing)
    )
    for each in recorded:
        version = each.version
        if each.type == ConsentGranted.NAME:
            facts = each.facts
            grants = (
                *grants,
                Grant(
                    each.event_id,
                    facts["basis"],
                    frozenset(facts["categories"]),
                    facts["purpose"],
                    facts["scope"],
                    facts["expires_at"],
                ),
            )
        elif each.type == ConsentWithdrawn.NAME:
            ended = frozenset(each.facts["grants"])
            grants = tuple(grant for grant in grants if grant.id not in ended)
        elif each.type == ErasureRequested.NAME:
            erasing = True
    return Consent(version, grants, erasing)
