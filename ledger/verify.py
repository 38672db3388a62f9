"""Checking the log against itself: nothing is assumed, the first thing wrong is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ledger import canonical, codec, envelope
from ledger.errors import LedgerError, LogCorrupted
from ledger.log import PAGE, Log


@dataclass(frozen=True, slots=True)
class Verified:
    """What was checked: this tenant's events. `position` and `problem` name the first thing that is
    wrong, if any."""

    events: int
    bodies: int
    destroyed: int
    position: int | None = None
    problem: str | None = None

    @property
    def ok(self) -> bool:
        return self.problem is None


class _Gaps:
    """Tells positions that are other tenants' from those that are lost.

    The log is asked for many positions at a time: where tenants alternate, each is a gap.
    """

    def __init__(self, log: Log, head: int) -> None:
        self._log = log
        self._head = head
        self._looked = 0
        self._lost: int | None = None

    def lost(self, after: int, before: int) -> int | None:
        """The first position between these two that nobody has. Ask in order of position."""
        if self._lost is None and before - 1 > self._looked:
            self._looked = max(before - 1, min(after + PAGE, self._head))
            self._lost = self._log.first_missing(after, self._looked)
        return None if self._lost is None or self._lost >= before else self._lost


def verify(log: Log, progress: Callable[[int, int], None] | None = None) -> Verified:
    """Check every event: positions without gaps but for other tenants', canonical envelopes, stream
    versions without gaps, times that never go back, bodies that match their digests and open under
    their keys; then the store's own structure.

    A fact that was changed in an envelope, canonically, by somebody who can write to the files is
    not found: nothing outside the envelope says what it was.
    """
    head = log.head()
    versions: dict[str, int] = {}
    gaps = _Gaps(log, head.position)
    events, position, recorded_at, bodies, destroyed = 0, 0, 0, 0, 0

    def wrong(at: int | None, problem: str) -> Verified:
        return Verified(events, bodies, destroyed, at, problem)

    try:
        for row in log.raw(0, head.position):
            if row.position != position + 1:
                lost = gaps.lost(position, row.position)
                if lost is not None:
                    return wrong(lost, "this position is missing")
                position = row.position - 1
            fields = envelope.read(row.envelope, row.position)
            if canonical.encode(fields) != row.envelope:
                return wrong(row.position, "the envelope is not in canonical form")
            stream, version = fields["stream"], fields["version"]
            if version != versions.get(stream, 0) + 1:
                return wrong(row.position, f"version {version} of its stream is out of order")
            versions[stream] = version
            if fields["recorded_at"] < recorded_at:
                return wrong(row.position, "it was recorded before the event in front of it")
            recorded_at = fields["recorded_at"]
            if row.body is not None:
                bodies += 1
                if canonical.digest(row.body) != fields["body_digest"]:
                    return wrong(row.position, "the body is not the one that was written")
            elif fields["body_digest"] is not None:
                destroyed += 1
            codec.unseal(row, log.vault)
            position = row.position
            events += 1
            if progress and events % 1_000 == 0:
                progress(position, head.position)
    except LogCorrupted as problem:
        return wrong(position + 1, problem.detail)
    except LedgerError as problem:
        return wrong(position + 1, str(problem))
    lost = gaps.lost(position, head.position + 1)
    if lost is not None:
        return wrong(lost, f"the log ends here, but its head is at {head.position}")
    if head.recorded_at < recorded_at:
        return wrong(position, "it was recorded after the head says the last event was")
    damage = log.damage()
    if damage is not None:
        return wrong(*damage)
    if progress:
        progress(position, head.position)
    return Verified(events, bodies, destroyed)
