"""Erasures and legal holds, folded from their events. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.subject import (
    ContentErased,
    ErasureRequested,
    LegalHoldLifted,
    LegalHoldPlaced,
    SubjectErased,
)
from beliefledger.ledger.times import Micros

SUBJECT = "subject"
"""The reach of an erasure of all that there is of somebody."""
RELATION = "relation"
"""The reach of one that goes with the erasure of somebody else, the first in the same request."""
RESTORED = "restored"
"""The reach of one that is done again because the log was restored from before it."""
NAMES = (ErasureRequested.NAME, SubjectErased.NAME, ContentErased.NAME)
"""The events that tell of erasures."""

Runs = tuple[tuple[int, int], ...]


def commitment(positions: Iterable[int]) -> str:
    """SHA-256, in hex, over a line that says what this is and one with each position, ascending."""
    running = hashlib.sha256(b"beliefledger positions v1\n")
    for position in sorted(positions):
        running.update(b"%d\n" % position)
    return running.hexdigest()


def runs(positions: Iterable[int]) -> Runs:
    """Positions as (first, last) of each run without a gap."""
    found: list[list[int]] = []
    for position in sorted(set(positions)):
        if found and position == found[-1][1] + 1:
            found[-1][1] = position
        else:
            found.append([position, position])
    return tuple((first, last) for first, last in found)


def spread(of: Iterable[Sequence[int]]) -> list[int]:
    """The positions of runs."""
    return [position for first, last in of for position in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure that was requested. `id` is the event id of its request; `done` is its
    completion."""

    id: str
    position: int
    subject_ref: str
    actor: str
    requested_at: Micros
    reach: str
    legal_basis: str
    of: str | None
    positions: Runs
    because: str | None
    key_fingerprint: str
    master_key: str
    done: Recorded | None = None

    @property
    def whole(self) -> bool:
        """Whether it is of a whole subject, whose key goes."""
        return self.reach == SUBJECT


@dataclass(frozen=True, slots=True)
class Hold:
    """A legal hold in force. `id` is the event id that it was placed by; `reason` is None once its
    words are erased."""

    id: str
    hold: str
    subject_ref: str
    reason: str | None
    actor: str
    placed_at: Micros


def holds(recorded: Iterable[Recorded]) -> list[Hold]:
    """The legal holds in force after these events of a subject's stream."""
    found: dict[str, Hold] = {}
    for each in recorded:
        if each.type == LegalHoldPlaced.NAME:
            reason = each.event.reason if isinstance(each.event, LegalHoldPlaced) else None
            name = each.facts["hold"]
            found[name] = Hold(
                each.event_id, name, each.subject_ref or "", reason, each.actor, each.recorded_at
            )
        elif each.type == LegalHoldLifted.NAME:
            found.pop(each.facts["hold"], None)
    return list(found.values())


def erasures(recorded: Iterable[Recorded]) -> list[Erasure]:
    """The erasures that these events tell of, in order, each with its completion if there is one.

    Of the first version of a completion, which did not name its request, the last one is meant.
    """
    found: dict[str, Erasure] = {}
    for each in recorded:
        facts = each.facts
        if each.type == ErasureRequested.NAME:
            found[each.event_id] = requested(
                each.event_id,
                each.position,
                each.subject_ref,
                each.actor,
                each.recorded_at,
                facts,
            )
        elif each.type in {SubjectErased.NAME, ContentErased.NAME}:
            meant = facts["request"] or next(
                (i for i, e in reversed(found.items()) if e.subject_ref == each.subject_ref), ""
            )
            if meant in found:
                found[meant] = replace(found[meant], done=each)
    return list(found.values())


def requested(
    event_id: str,
    position: int,
    subject_ref: str | None,
    actor: str,
    requested_at: Micros,
    facts: Mapping[str, Any],
) -> Erasure:
    """The erasure that an event with these facts requests."""
    return Erasure(
        id=event_id,
        position=position,
        subject_ref=subject_ref or "",
        actor=actor,
        requested_at=requested_at,
        reach=facts["reach"],
        legal_basis=facts["legal_basis"],
        of=facts["of"],
        positions=tuple((first, last) for first, last in facts["positions"]),
        because=facts["because"],
        key_fingerprint=facts["key_fingerprint"],
        master_key=facts["master_key"],
    )
