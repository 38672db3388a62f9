"""On what lawful basis something may be kept about a subject, and what of theirs is on its way out,
folded from the subject's stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.erasures import SUBJECT
from beliefledger.ledger.events.subject import (
    ConsentGranted,
    ConsentWithdrawn,
    ContentErased,
    ErasureRequested,
)
from beliefledger.ledger.times import Micros

Runs = tuple[tuple[int, int], ...]

ORDINARY = "ordinary"
"""The category of everything that is in no special category."""
SPECIAL = "special"
"""All that an envelope says of a special category: which one it is, is erased with the words."""


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
    """True while the whole subject is being erased."""
    going: tuple[tuple[str, Runs], ...] = ()
    """Erasures of less than the subject that are not completed: the request's event id, and the
    first and last position of each run. Those events must not be used any more."""

    def is_going(self, position: int) -> bool:
        """Whether the event at a position is being erased."""
        return any(first <= position <= last for _, runs in self.going for first, last in runs)

    def left(self, recorded: Iterable[Recorded]) -> list[Recorded]:
        """The events with those that are being erased shown as erased."""
        if not self.going:
            return list(recorded)
        return [
            replace(each, event=None) if self.is_going(each.position) and _says(each) else each
            for each in recorded
        ]

    def covering(self, category: str, purpose: str, now: Micros) -> Grant | None:
        """The latest grant in force for the category and purpose."""
        for grant in reversed(self.grants):
            in_force = grant.expires_at is None or now < grant.expires_at
            if in_force and category in grant.categories and grant.purpose == purpose:
                return grant
        return None


def folded(recorded: Iterable[Recorded], start: Consent | None = None) -> Consent:
    """The consent after these events of the subject's stream. A grant's categories are in its body,
    which is only erased with the whole subject."""
    begun = start or Consent()
    version, grants, erasing = begun.version, begun.grants, begun.erasing
    going = dict(begun.going)
    for each in recorded:
        version = each.version
        if each.type == ConsentGranted.NAME:
            facts, told = each.facts, each.event
            categories = told.categories if isinstance(told, ConsentGranted) else ()
            grants = (
                *grants,
                Grant(
                    each.event_id,
                    facts["basis"],
                    frozenset(categories),
                    facts["purpose"],
                    facts["scope"],
                    facts["expires_at"],
                ),
            )
        elif each.type == ConsentWithdrawn.NAME:
            ended = frozenset(each.facts["grants"])
            grants = tuple(grant for grant in grants if grant.id not in ended)
        elif each.type == ErasureRequested.NAME and each.facts["reach"] == SUBJECT:
            erasing = True
        elif each.type == ErasureRequested.NAME:
            going[each.event_id] = tuple((first, last) for first, last in each.facts["positions"])
        elif each.type == ContentErased.NAME:
            going.pop(each.facts["request"], None)
    return Consent(version, grants, erasing, tuple(going.items()))


def _says(recorded: Recorded) -> bool:
    """Whether the event's body has more than a note."""
    event = recorded.event
    return event is not None and any(
        name not in event.FACTS and field.is_required()
        for name, field in type(event).model_fields.items()
    )
