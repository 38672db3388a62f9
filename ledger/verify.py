"""Checking the log against itself and against its tree: nothing is assumed, the first thing wrong
is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from ledger import canonical, codec, envelope
from ledger.errors import LedgerError, LogCorrupted
from ledger.events import BY_NAME
from ledger.log import PAGE, Log
from ledger.proofs.checking import TreeCheck
from ledger.proofs.notes import Checkpoint
from ledger.proofs.tree import Tree
from ledger.store import Row
from ledger.uncollected import uncollected
from ledger.upcast import STEPS


@dataclass(frozen=True, slots=True)
class Verified:
    """What was checked: this tenant's events. `position` and `problem` name the first thing that is
    wrong, if any."""

    events: int
    bodies: int
    destroyed: int
    position: int | None = None
    problem: str | None = None
    signed: int = 0
    """Up to which position a signed checkpoint vouches for them."""
    checkpoints: int = 0
    """How many checkpoints the log was held against."""

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


class Wrong(Exception):
    """The first thing that is wrong, and where."""

    def __init__(self, position: int | None, problem: str) -> None:
        super().__init__(problem)
        self.position = position
        self.problem = problem


class _Events:
    """Looks at each event by itself, and at those before it in its stream."""

    def __init__(self, log: Log, head: int) -> None:
        self._log = log
        self._gaps = _Gaps(log, head)
        self._versions: dict[str, int] = {}
        self._opened: set[str | None] = set()
        self.events = self.bodies = self.destroyed = 0
        self.position = 0
        self.recorded_at = 0

    def look(self, rows: Iterable[Row]) -> None:
        """Raises `Wrong`."""
        try:
            self._look(rows)
        except LogCorrupted as problem:
            raise Wrong(self.position + 1, problem.detail) from None
        except LedgerError as problem:
            raise Wrong(self.position + 1, str(problem)) from None

    def _look(self, rows: Iterable[Row]) -> None:
        decode, encode, versions = canonical.decode, canonical.encode, self._versions
        for row in rows:
            at, data, body, _ = row
            if at != self.position + 1:
                lost = self._gaps.lost(self.position, at)
                if lost is not None:
                    raise Wrong(lost, "this position is missing")
                self.position = at - 1
            try:
                fields = decode(data)
            except ValueError:
                fields = None
            if type(fields) is not dict or fields.keys() != envelope.FIELDS:
                fields = envelope.read(data, at)
            if encode(fields) != data:
                raise Wrong(at, "the envelope is not in canonical form")
            stream, version = fields["stream"], fields["version"]
            if version != versions.get(stream, 0) + 1:
                raise Wrong(at, f"version {version} of its stream is out of order")
            versions[stream] = version
            if fields["recorded_at"] < self.recorded_at:
                raise Wrong(at, "it was recorded before the event in front of it")
            self.recorded_at = fields["recorded_at"]
            digest = fields["body_digest"]
            if body is not None:
                self.bodies += 1
                if sha256(body).hexdigest() != digest:
                    raise Wrong(at, "the body is not the one that was written")
                if fields["subject_ref"] not in self._opened:
                    codec.unseal(row, self._log.vault)
                    self._opened.add(fields["subject_ref"])
            elif digest is not None:
                self.destroyed += 1
                codec.unseal(row, self._log.vault)  # whether an erasure explains it
            if fields["type"] not in BY_NAME and fields["type"] not in STEPS:
                codec.unseal(row, self._log.vault)  # what is the matter with it
            self.position = at
            self.events += 1

    def end(self, head: int, recorded_at: int) -> None:
        """Raises `Wrong` where the head says something else."""
        lost = self._gaps.lost(self.position, head + 1)
        if lost is not None:
            raise Wrong(lost, f"the log ends here, but its head is at {head}")
        if recorded_at < self.recorded_at:
            raise Wrong(self.position, "it was recorded after the head says the last event was")


def verify(
    log: Log,
    progress: Callable[[int, int], None] | None = None,
    *,
    tree: Tree | None = None,
    against: Sequence[Checkpoint] = (),
) -> Verified:
    """Check every event: positions without gaps but for other tenants', canonical envelopes, stream
    versions without gaps, times that never go back, bodies that match their digests, of each
    subject one that opens under the key; then the store's own structure.

    With a `tree`, also that every one of its tiles and checkpoints is what the envelopes lead to;
    and the checkpoints that are given, kept somewhere else by somebody who trusts nobody here.
    Without any, a fact that was changed canonically is not found: nothing outside of the envelope
    says what it was.
    """
    head = log.head()
    events = _Events(log, head.position)
    with uncollected():
        wrong, checked = _whole(log, events, progress, tree, against)
    return Verified(
        events.events,
        events.bodies,
        events.destroyed,
        None if wrong is None else wrong.position,
        None if wrong is None else wrong.problem,
        checked.signed if checked else 0,
        checked.checkpoints if checked else 0,
    )


def _whole(
    log: Log,
    events: _Events,
    progress: Callable[[int, int], None] | None,
    tree: Tree | None,
    against: Sequence[Checkpoint],
) -> tuple[Wrong | None, TreeCheck | None]:
    head = log.head()
    checked = None if tree is None else TreeCheck(tree, head.position, against)
    wrong: Wrong | None = None
    for after, upto, rows in _pages(log, head.position):
        if wrong is None:
            try:
                events.look(rows)
            except Wrong as found:
                wrong = found
        if checked is not None:
            try:
                checked.feed(_leaves(log, after, upto, rows))
            except LogCorrupted:  # a position is missing, which was found, or is found at the end
                break
        if wrong is not None and (checked is None or checked.knows(wrong.position)):
            break
        if checked is not None and checked.found is not None:
            break
        if progress:
            progress(min(upto, head.position), head.position)
    if wrong is None and (checked is None or checked.found is None):
        wrong = _ending(log, events, head.position, head.recorded_at)
    return _first(wrong, checked), checked


def _ending(log: Log, events: _Events, head: int, recorded_at: int) -> Wrong | None:
    try:
        events.end(head, recorded_at)
    except Wrong as found:
        return found
    damage = log.damage()
    return None if damage is None else Wrong(*damage)


def _first(wrong: Wrong | None, checked: TreeCheck | None) -> Wrong | None:
    """What the events say, unless the tree knows of something before that."""
    if checked is None:
        return wrong
    found = checked.end()
    if found is None or (
        wrong is not None and wrong.position is not None and wrong.position <= found.last
    ):
        if found is not None and wrong is not None and not found.within(wrong.position):
            return Wrong(found.position, found.problem)
        return wrong
    return Wrong(found.position, found.problem)


def _pages(log: Log, head: int) -> Iterator[tuple[int, int, list[Row]]]:
    """The rows as stored, and the positions (after, upto] that they are all of that is there."""
    after = 0
    while after < head:
        rows = log.store.read(after, PAGE, head)
        upto = rows[-1].position if len(rows) == PAGE else head
        yield after, upto, rows
        after = upto


def _leaves(log: Log, after: int, upto: int, rows: Sequence[Row]) -> list[bytes]:
    """The hash of each position's envelope; those of other tenants the store tells.

    Raises `LogCorrupted` when a position is missing.
    """
    own = [sha256(b"\x00" + row[1]).digest() for row in rows]
    if len(own) == upto - after:
        return own
    every = log.store.leaf_hashes(after, upto)
    for row, leaf in zip(rows, own, strict=True):
        every[row.position - after - 1] = leaf
    return every
