"""What became of memories and of decisions after the moment that somebody asks about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from beliefledger.answers import Became
from beliefledger.gate import consent as consents
from beliefledger.gate.consent import Consent
from beliefledger.gate.outcomes import Outcome, Reason
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.erasures import NAMES, Erasure, erasures
from beliefledger.ledger.events.belief import (
    ConflictResolved,
    ConsolidationUndone,
    MemoriesConsolidated,
    MemoryExpired,
    MemoryMovedOut,
    MemoryRevoked,
    MemorySuperseded,
    Written,
)
from beliefledger.ledger.events.subject import ConsentGranted
from beliefledger.ledger.events.turn import GateDecided, ReviewDecided
from beliefledger.ledger.log import Log
from beliefledger.ledger.streams import subject_stream
from beliefledger.ledger.times import Micros, to_datetime
from beliefledger.ledger.vault import SYSTEM
from beliefledger.projections import questions
from beliefledger.projections.beliefs import Version
from beliefledger.projections.questions import DecisionRow

_TEXTS = {
    "superseded": "superseded",
    "corrected": "corrected",
    "resolved": "settled otherwise",
    "reconsidered": "decided again",
    "revoked": "revoked",
    "consent_withdrawn": "consent withdrawn",
    "consent_expired": "consent expired",
    "retention": "not kept longer",
    "expired": "expired",
    "ended": "ended",
    "merged": "merged",
    "unmerged": "unmerged",
    "moved": "moved",
    "promoted": "promoted",
    "erased": "erased",
    "approved": "approved",
    "refused": "refused",
}
CAUSES = {
    "actor": "revoked",
    "asked": "revoked",
    "consent_withdrawn": "consent_withdrawn",
    "retention": "retention",
}
"""What each cause of a `MemoryRevoked` is called."""
_BY_THE_PERSON = ", as the person asked"
_OVER = frozenset({MemoriesConsolidated.NAME, MemoryMovedOut.NAME})


def became(what: str, on: Micros, by: str | None, why: str = "") -> Became:
    at = to_datetime(on)
    return Became(what=what, on=at, by=by, text=f"{_TEXTS[what]} on {at:%Y-%m-%d}{why}")


class Ending(NamedTuple):
    """What the rows of a memory tell of its end: the event at `position` did it, at `on`. `what` is
    None where that event's type has to tell."""

    position: int | None
    on: Micros
    by: str | None = None
    what: str | None = None


def ending(
    rows: Sequence[Version], now: Micros, *, belief: str | None, quarantined: bool
) -> Ending | None:
    """What became of a memory, from all of its rows in order: None where it still holds. It was in
    this `belief` (None: wherever), and perhaps `quarantined`. Pure."""
    last = rows[-1]
    if last.closed is not None:
        return Ending(last.closed, last.closed_at or 0, last.closed_by)
    if last.valid_to is not None and last.valid_to <= now:
        first = _first(rows, lambda row: row.valid_to == last.valid_to)
        if last.superseded_by is not None:
            first = _first(rows, lambda row: row.superseded_by == last.superseded_by)
            return Ending(first.opened, first.opened_at, last.superseded_by)
        if last.valid_to <= last.valid_from and first is not rows[0]:  # it was never so
            return Ending(first.opened, first.opened_at, what="corrected")
        return Ending(first.opened, last.valid_to, None)
    if last.expires_at is not None and last.expires_at <= now:
        return Ending(None, last.expires_at, what="expired")
    if belief is not None and last.belief != belief:
        first = _first(rows, lambda row: row.belief == last.belief)
        return Ending(first.opened, first.opened_at, what="moved")
    if quarantined and not last.quarantined:
        first = _first(rows, lambda row: not row.quarantined)
        return Ending(first.opened, first.opened_at, what="promoted")
    return None


def _first(rows: Sequence[Version], like: Callable[[Version], bool]) -> Version:
    """The row from which on all are alike, up to the last."""
    first = rows[-1]
    for row in reversed(rows):
        if not like(row):
            break
        first = row
    return first


def told(end: Ending, event: Recorded | None) -> Became:
    """The end as its event tells it, body or not. Pure."""
    if event is None:
        return became(end.what or "ended", end.on, end.by)
    what, by = end.what, end.by or event.event_id
    why = ""
    if event.type == MemoryExpired.NAME and event.facts.get("never") is False:
        what = None  # it ended before it was told, and was so all the same
    if what is None:
        match event.type:
            case MemoryRevoked.NAME:
                what = CAUSES[event.facts["cause"]]
                if what == "consent_withdrawn":
                    by = event.causation or by
                elif event.facts["cause"] == "asked":
                    why = _BY_THE_PERSON
            case MemorySuperseded.NAME:
                what = "corrected" if event.facts["kind"] == "correction" else "superseded"
            case ConflictResolved.NAME:
                what = "resolved"
            case MemoryExpired.NAME:
                what = "expired"
            case ConsolidationUndone.NAME:
                what = "unmerged"
            case name if name in _OVER:
                what = "merged" if end.by else "moved"
            case _:
                # Written as over, or closed by words that are erased since.
                what = "erased" if event.destroyed else "ended"
    return became(what, end.on, by, why)


class Fates:
    """Reads what became of many rows at once: one query, and one reading of the events."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._limits: dict[str, tuple[str, Micros] | None] = {}
        """By id of a grant: that never changes. Its words are not kept here."""

    def of_versions(
        self, connection: Connection, generation: int, asked: Sequence[Version], now: Micros
    ) -> dict[int, Became]:
        """By row id, for those that do not hold any more."""
        memories = questions.versions_of_memories(
            connection, generation, [row.memory_id for row in asked]
        )
        ends = {}
        for row in asked:
            rows = memories[row.memory_id]
            end = ending(rows, now, belief=row.belief, quarantined=row.quarantined)
            if end is not None:
                ends[row.row_id] = end
        found = self._told(ends)
        lapsed = [row for row in asked if row.row_id not in found and self.lapsing(row, now)]
        return found | self._uncovered(lapsed, now)

    def lapsing(self, row: Version, now: Micros) -> bool:
        """Whether the grant that a row was kept under has expired."""
        limited = self._limit_of(row.grant_id)
        return limited is not None and limited[1] <= now

    def _uncovered(self, lapsed: Sequence[Version], now: Micros) -> dict[int, Became]:
        """By row id, those of rows with an expired grant that no other grant covers."""
        if not lapsed:
            return {}
        found: dict[int, Became] = {}
        words = self._log.read_at([row.words_at for row in lapsed])
        known: dict[str, Consent] = {}
        for row in lapsed:
            limited, written = self._limit_of(row.grant_id), words[row.words_at].event
            if limited is None or not isinstance(written, Written):
                continue
            if row.subject_ref not in known:
                stream = subject_stream(row.subject_ref)
                known[row.subject_ref] = consents.folded(self._log.read_stream(stream))
            purpose, expired = limited
            category = written.memory.category or consents.ORDINARY
            if known[row.subject_ref].covering(category, purpose, now) is None:
                found[row.row_id] = became("consent_expired", expired, row.grant_id)
        return found

    def _limit_of(self, grant_id: str) -> tuple[str, Micros] | None:
        """The purpose of a grant, and when it expires; None for one that does not."""
        if grant_id == consents.DEFAULT_GRANT:
            return None
        if grant_id not in self._limits:
            granted = self._log.find(grant_id)
            ends = None
            if granted is not None and granted.type == ConsentGranted.NAME:
                ends = granted.facts["expires_at"]
            limited = None if granted is None or ends is None else (granted.facts["purpose"], ends)
            self._limits[grant_id] = limited
        return self._limits[grant_id]

    def of_decisions(
        self, connection: Connection, generation: int, asked: Sequence[DecisionRow], now: Micros
    ) -> dict[int, Became]:
        """By position: what became of the memory, else how the decision was settled."""
        settled = self._log.read_at([row.settled for row in asked if row.settled is not None])
        memory_of: dict[int, str] = {}
        found: dict[int, Became] = {}
        for row in asked:
            review = None if row.settled is None else settled[row.settled]
            memory = row.memory_id
            if review is not None:
                what, why = "resolved", ""
                if review.type == ReviewDecided.NAME:
                    what = "approved" if review.facts["approved"] else "refused"
                    memory = review.facts["memory"] or memory
                    if review.actor == SYSTEM:  # no reviewer did
                        why = _BY_THE_PERSON
                elif review.type == GateDecided.NAME:
                    what = "reconsidered"
                found[row.position] = became(what, review.recorded_at, review.event_id, why)
            if memory is not None:
                memory_of[row.position] = memory
        memories = questions.versions_of_memories(connection, generation, [*memory_of.values()])
        ends = {}
        for row in asked:
            rows = memories.get(memory_of.get(row.position, ""))
            if rows is None:
                continue
            end = ending(rows, now, belief=None, quarantined=_kept_apart(row))
            if end is not None and _since(end, row, rows[0]):
                ends[row.position] = end
        return found | self._told(ends)

    def _told(self, ends: Mapping[int, Ending]) -> dict[int, Became]:
        events = self._log.read_at(
            [end.position for end in ends.values() if end.position is not None]
        )
        return {
            key: told(end, None if end.position is None else events[end.position])
            for key, end in ends.items()
        }

    def of_erased(self, rows: Sequence[DecisionRow]) -> dict[int, Became]:
        """By position, when the words of these decisions were erased, as far as that is on
        record."""
        if not rows:
            return {}
        subjects = {row.subject_ref for row in rows}
        only = subjects.pop() if len(subjects) == 1 else None
        recorded = erasures(self._log.of_types(NAMES, only))
        found = {}
        for row in rows:
            over = _erasure(recorded, row.subject_ref, (row.position, row.position - 1))
            if over is not None:
                on = over.requested_at if over.done is None else over.done.recorded_at
                found[row.position] = became("erased", on, over.id)
        return found


def _kept_apart(row: DecisionRow) -> bool:
    """Whether its memory was in quarantine after the decision."""
    return row.outcome == Outcome.QUARANTINE or (
        row.outcome == Outcome.CONFIRM and row.reason != Reason.REPEATED
    )


def _since(end: Ending, row: DecisionRow, first: Version) -> bool:
    """Whether it ended after the decision: what was written as past was over before."""
    if end.position is None:
        return end.on >= row.recorded_at
    return end.position > row.position and end.position != first.opened


def _erasure(recorded: Iterable[Erasure], subject: str, positions: Sequence[int]) -> Erasure | None:
    """The first erasure that took one of these positions."""
    for each in recorded:
        if each.subject_ref == subject and (
            each.whole
            or any(first <= at <= last for first, last in each.positions for at in positions)
        ):
            return each
    return None
