"""On what lawful basis something may be kept about a subject, and what of theirs is on its way out,
folded from the subject's stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
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
DEFAULT_GRANT = "policy.default_basis"
"""Stands where a grant's id would, for what was kept on the policy's default basis: which policy
that was, the decision says."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One recorded basis. `id` is the event id of its `ConsentGranted`."""

    id: str
    basis: str
    categories: frozenset[str]
    purpose: str
    scope: str
    expires_at: Micros | None

    def in_force(self, now: Micros) -> bool:
        return self.expires_at is None or now < self.expires_at


class Defaults(Protocol):
    """A policy, as far as consent is concerned."""

    @property
    def default_grant(self) -> Grant | None:
        """The basis in force for everybody who has not withdrawn theirs; None where there is
        none."""
        ...


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
    withdrawn: bool = False
    """True from a withdrawal that concerned ordinary memories to the next grant for them. The
    policy's default basis does not apply meanwhile."""
    answered: bool = False
    """True once there was any grant for ordinary memories, or any withdrawal: nothing is granted
    by itself from then on."""

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

    def covering(
        self, category: str, purpose: str, now: Micros, policy: Defaults | None = None
    ) -> Grant | None:
        """The latest grant in force for the category and purpose; where there is none, the default
        basis of `policy`, unless the subject withdrew."""
        for grant in (*reversed(self.grants), *self._default(policy)):
            if grant.in_force(now) and category in grant.categories and grant.purpose == purpose:
                return grant
        return None

    def covered(self, purpose: str, now: Micros, policy: Defaults | None = None) -> frozenset[str]:
        """All categories for which a grant is in force, as `covering` finds it."""
        return frozenset(
            category
            for grant in (*self.grants, *self._default(policy))
            if grant.in_force(now) and grant.purpose == purpose
            for category in grant.categories
        )

    def with_grant(self, grant: Grant) -> Consent:
        """The same with one more grant."""
        return replace(self, grants=(*self.grants, grant))

    def first_grant(self, basis: str, purpose: str) -> ConsentGranted | None:
        """What a subject is granted by itself at the first turn; None for one who was ever granted
        anything for ordinary memories, or ever withdrew."""
        if self.answered:
            return None
        return ConsentGranted(
            basis=basis,
            special=False,
            categories=(ORDINARY,),
            purpose=purpose,
            scope="subject",
            note="granted at the first turn",
        )

    def _default(self, policy: Defaults | None) -> tuple[Grant, ...]:
        """The policy's default, where it applies to this subject."""
        grant = None if policy is None or self.withdrawn else policy.default_grant
        return () if grant is None else (grant,)


def folded(recorded: Iterable[Recorded], start: Consent | None = None) -> Consent:
    """The consent after these events of the subject's stream. A grant's categories are in its body,
    which is only erased with the whole subject."""
    begun = start or Consent()
    version, grants, erasing = begun.version, begun.grants, begun.erasing
    withdrawn, answered = begun.withdrawn, begun.answered
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
            if ORDINARY in categories:
                withdrawn, answered = False, True
        elif each.type == ConsentWithdrawn.NAME:
            ended = frozenset(each.facts["grants"])
            over = [grant for grant in grants if grant.id in ended]
            withdrawn = withdrawn or ends_default(ended, over)
            answered = True
            grants = tuple(grant for grant in grants if grant.id not in ended)
        elif each.type == ErasureRequested.NAME and each.facts["reach"] == SUBJECT:
            erasing = True
        elif each.type == ErasureRequested.NAME:
            going[each.event_id] = tuple((first, last) for first, last in each.facts["positions"])
        elif each.type == ContentErased.NAME:
            going.pop(each.facts["request"], None)
    return Consent(version, grants, erasing, tuple(going.items()), withdrawn, answered)


def ends_default(ended: Iterable[str], grants: Iterable[Grant]) -> bool:
    """Whether a withdrawal of these ids also ends what stands on the policy's default basis. Only
    one of special categories alone does not: of `grants` that are not for ordinary memories, or of
    approvals."""
    ids = frozenset(ended)
    ordinary = any(ORDINARY in grant.categories for grant in grants)
    return not ids or DEFAULT_GRANT in ids or ordinary


def _says(recorded: Recorded) -> bool:
    """Whether the event's body has more than a note."""
    event = recorded.event
    return event is not None and any(
        name not in event.FACTS and field.is_required()
        for name, field in type(event).model_fields.items()
    )
