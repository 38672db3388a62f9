"""Checking the log against itself and against its tree, and the vault against its register and what
the log was told of it: nothing is assumed, the first thing wrong is named."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from beliefledger.ledger import canonical, codec, commitments, envelope, register
from beliefledger.ledger.commitments import RegisterCommitment
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import LedgerError, LogCorrupted
from beliefledger.ledger.events import BY_NAME
from beliefledger.ledger.events.ops import PrincipalRegistered, VaultCommitted
from beliefledger.ledger.events.subject import SubjectErased, SubjectRegistered
from beliefledger.ledger.gc_pause import gc_paused
from beliefledger.ledger.log import PAGE, Log
from beliefledger.ledger.proofs.notes import Checkpoint, Verifier
from beliefledger.ledger.proofs.tree import Tree
from beliefledger.ledger.proofs.tree_check import TreeCheck, TreeFault
from beliefledger.ledger.store import Head, Row
from beliefledger.ledger.upcast import STEPS, stored_names

_ENTERED = {
    name: (kind, field)
    for type_, kind, field in (
        (SubjectRegistered.NAME, register.KEY, "subject_ref"),
        (SubjectErased.NAME, register.TOMBSTONE, "subject_ref"),
        (PrincipalRegistered.NAME, register.PRINCIPAL, "principal"),
    )
    for name in stored_names([type_])
}
"""What the vault's register has of an event of these types, and where the event names it."""
_OF_VAULT = {*_ENTERED, *stored_names([VaultCommitted.NAME])}


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
    decisions: int = 0
    """How many decisions were made again."""
    registered: int = 0
    """How many entries of the vault's register were checked, and what they are about."""
    keys: str | None = None
    """By whose word the keys that signed are believed: those that were given (`pinned`), the one at
    hand (`key file`), or the list beside the tree (`listed`); None where there is no tree."""

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


class Wrong(NamedTuple):
    """The first thing that is wrong, and where."""

    position: int | None
    problem: str


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
        self.commitments: list[RegisterCommitment] = []
        self.entered: list[tuple[int, str, str]] = []
        """Position, kind and reference of what the vault's register has to have."""

    def look(self, rows: Iterable[Row]) -> Wrong | None:
        try:
            return self._look(rows)
        except LogCorrupted as problem:
            return Wrong(self.position + 1, problem.detail)
        except LedgerError as problem:
            return Wrong(self.position + 1, str(problem))

    def _look(self, rows: Iterable[Row]) -> Wrong | None:
        decode, encode, versions = canonical.decode, canonical.encode, self._versions
        fields_of, opened, vault = envelope.FIELDS, self._opened, self._log.vault
        for row in rows:
            at, data, body, _ = row
            if at != self.position + 1:
                lost = self._gaps.lost(self.position, at)
                if lost is not None:
                    return Wrong(lost, "this position is missing")
                self.position = at - 1
            try:
                fields = decode(data)
            except ValueError:
                fields = None
            if type(fields) is not dict or fields.keys() != fields_of:
                fields = envelope.read(data, at)
            if encode(fields) != data:
                return Wrong(at, "the envelope is not in canonical form")
            stream, version = fields["stream"], fields["version"]
            if version != versions.get(stream, 0) + 1:
                return Wrong(at, f"version {version} of its stream is out of order")
            versions[stream] = version
            recorded_at = fields["recorded_at"]
            if recorded_at < self.recorded_at:
                return Wrong(at, "it was recorded before the event in front of it")
            self.recorded_at = recorded_at
            digest = fields["body_digest"]
            if body is not None:
                self.bodies += 1
                if sha256(body).hexdigest() != digest:
                    return Wrong(at, "the body is not the one that was written")
                if fields["subject_ref"] not in opened:
                    codec.unseal(row, vault)
                    opened.add(fields["subject_ref"])
            elif digest is not None:
                self.destroyed += 1
                codec.unseal(row, vault)  # whether an erasure explains it
            if fields["type"] not in BY_NAME and fields["type"] not in STEPS:
                codec.unseal(row, vault)  # what is the matter with it
            if fields["type"] in _OF_VAULT:
                self._told(at, fields)
            self.position = at
            self.events += 1
        return None

    def _told(self, at: int, fields: dict[str, Any]) -> None:
        if fields["type"] in _ENTERED:
            kind, field = _ENTERED[fields["type"]]
            ref = fields["facts"][field] if field in fields["facts"] else fields[field]
            self.entered.append((at, kind, ref))
        else:
            self.commitments.append(RegisterCommitment.of(at, fields["facts"]))

    def end(self, head: Head) -> Wrong | None:
        """What the head claims that is not so."""
        lost = self._gaps.lost(self.position, head.position + 1)
        if lost is not None:
            return Wrong(lost, f"the log ends here, but its head is at {head.position}")
        if head.recorded_at < self.recorded_at:
            return Wrong(self.position, "it was recorded after the head says the last event was")
        return None


def verify(
    log: Log,
    progress: Callable[[int, int], None] | None = None,
    *,
    tree: Tree | None = None,
    against: Sequence[Checkpoint] = (),
    keys: Sequence[Verifier] = (),
) -> Verified:
    """Check every event: positions without gaps but for other tenants', canonical envelopes, stream
    versions without gaps, times that never go back, bodies that match their digests, of each
    subject one that opens under the key; then the store's own structure, and the vault: whether
    every id, name, lookup and entry of its register is as it was written, each row has its entry
    and each entry its row, and the register goes on from what the log was told of it.

    With a `tree`, also that the envelopes lead to every one of its tiles and checkpoints, and to
    those in `against`, kept elsewhere by somebody who trusts nobody here; with `keys` only what one
    of these signed counts. Without a tree, a fact that was changed canonically is not found:
    nothing outside of the envelope says what it was.
    """
    try:
        checked = None if tree is None else TreeCheck(tree, against, keys)
    except LogCorrupted as problem:
        return Verified(0, 0, 0, None, problem.detail)
    head = log.head()
    events = _Events(log, head.position)
    damage = _Damage(log)
    with gc_paused():
        wrong = _walk(log, head.position, events, checked, progress)
    if wrong is None:
        wrong = events.end(head)
    found = None if checked is None else checked.end(head.position)
    if found is not None and (wrong is None or _comes_first(found, wrong)):
        wrong = Wrong(found.first, found.problem)
    wrong = damage.or_first(wrong)
    registered = 0
    if wrong is None:
        wrong, registered = _look_at_vault(log, events)
    if wrong is None and progress:
        progress(head.position, head.position)
    return Verified(
        events.events,
        events.bodies,
        events.destroyed,
        None if wrong is None else wrong.position,
        None if wrong is None else wrong.problem,
        checked.signed if checked else 0,
        checked.checkpoints if checked else 0,
        keys=checked.keys if checked else None,
        registered=registered,
    )


def _look_at_vault(log: Log, events: _Events) -> tuple[Wrong | None, int]:
    """The first thing that is wrong with the vault, and how many entries its register has."""
    with gc_paused():
        checked = log.vault.check()
    told = commitments.in_force(events.commitments)
    first = told[0].position if told else None
    missing = [
        f"the register has no {kind} of {ref}, whom position {at} tells of"
        for at, kind, ref in events.entered
        if first is not None and at > first and (kind, ref) not in checked.registered
    ]
    behind = commitments.broken(told, checked.chains)
    if behind is not None:
        behind += (
            "; if an older vault was put back, `beliefledger ops vault restored` puts that on"
            " record"
        )
    found = [*checked.problems, *([] if behind is None else [behind]), *missing]
    if not found:
        return None, len(checked.chains)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return Wrong(None, f"in the vault {log.vault}, {found[0]}{more}"), len(checked.chains)


class _Damage:
    """Lets the store look at itself meanwhile: the database does that without us."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._found: tuple[int | None, str] | None = None
        self._failed: LedgerError | None = None
        self._thread = threading.Thread(target=self._look, name="verify", daemon=True)
        self._thread.start()

    def _look(self) -> None:
        try:
            self._found = self._log.damage()
        except LedgerError as problem:
            self._failed = problem

    def or_first(self, wrong: Wrong | None) -> Wrong | None:
        """What the store finds, unless what is wrong comes before it. An envelope that is not even
        JSON keeps it from looking, and was found already."""
        self._thread.join()
        if wrong is None and self._failed is not None:
            raise self._failed
        if self._found is None:
            return wrong
        at = self._found[0]
        earlier = wrong is not None and (
            at is None or (wrong.position is not None and wrong.position <= at)
        )
        return wrong if earlier else Wrong(*self._found)


def _walk(
    log: Log,
    head: int,
    events: _Events,
    checked: TreeCheck | None,
    progress: Callable[[int, int], None] | None,
) -> Wrong | None:
    """Look at everything in one pass, until it is known what the first thing wrong is."""
    wrong: Wrong | None = None
    pages = _pages(log, head)
    while True:
        try:
            page = next(pages, None)
        except LogCorrupted as problem:
            return wrong or Wrong(events.position + 1, problem.detail)
        except LedgerError as problem:
            return wrong or Wrong(events.position + 1, str(problem))
        if page is None:
            return wrong
        after, upto, rows = page
        wrong = wrong or events.look(rows)
        if checked is not None:
            try:
                checked.feed(_leaves(log, after, upto, rows))
            except LogCorrupted:  # a position is missing, which looking at the events tells
                return wrong
            if checked.found is not None:
                return wrong
        if wrong is not None and (checked is None or checked.has_passed(wrong.position or 0)):
            return wrong
        if progress and wrong is None and upto < head:
            progress(upto, head)


def _comes_first(found: TreeFault, wrong: Wrong) -> bool:
    """Whether the tree found something before what is wrong with an event by itself, and that does
    not explain it."""
    if found.last is None or wrong.position is None:
        return wrong.position is None and found.last is not None
    return found.last < wrong.position


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
