"""Copying a ledger from one place to another: positions, times, bodies, keys and erasures alike.

The vault goes first, so that no event is ever there without its subject's key; then the events, as
they are stored; then the cursors of consumers, and the tree over the events with all that was
signed of it. At the end both are read again and compared. Broken
off anywhere and begun again, it goes on where it was; until it is complete it is marked as
unfinished (`ledger.unfinished`), and only read. Nothing is written to the source here;
whoever opened it may have: a directory that an older version made is brought up to date by that.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from beliefledger.ledger import codec, envelope
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.erasures import Erasure, erasures, spread
from beliefledger.ledger.errors import CallerMistake, KeyMissing, LogCorrupted, NotPermitted
from beliefledger.ledger.keystore import VaultContents
from beliefledger.ledger.proofs.merkle import Growing, leaf_hash
from beliefledger.ledger.proofs.tiles import TileStore
from beliefledger.ledger.proofs.tree_copy import bring_tree
from beliefledger.ledger.store import ERASURE_TYPES, EventStore, Head, Row
from beliefledger.ledger.times import Micros
from beliefledger.ledger.vault import Vault

PAGE = 5_000
_SETTLING_TRIES = 5
_NEAR = 200
"""So few events behind, a copy is near its source. With the source still, they take no time."""
_ROUNDS = 20
"""So often a source that is written to is run after; then its writers are stopped all the same."""
Progress = Callable[[int, int], None]
"""(done, of how much)"""


@dataclass(frozen=True, slots=True)
class Side:
    """A ledger that is copied, or copied to. `name` is what it is called in errors."""

    name: str
    store: EventStore
    vault: Vault
    tenant: str
    tiles: TileStore | None = None
    """Where its tree is kept."""


@dataclass(frozen=True, slots=True)
class Digests:
    """SHA-256 over every position and envelope; over every position that has a body, with the
    body's SHA-256; over all that the vault holds."""

    history: str
    bodies: str
    vault: str


@dataclass(frozen=True, slots=True)
class Copied:
    """What the copy holds. `already` events were there before, `meanwhile` came to the source
    while it was copied; the digests of both sides are the same."""

    events: int
    bodies: int
    subjects: int
    erased: int
    consumers: int
    already: int
    meanwhile: int
    signed: int
    """The size of the last checkpoint that came along; 0 without any."""
    root: str
    """The root of the tree over all events, in hex, of both."""
    source: Digests
    copy: Digests


def copy(
    source: Side,
    destination: Side,
    progress: Progress | None = None,
    begin: Callable[[], None] = lambda: None,
    near: Sequence[Callable[[], None]] = (),
) -> Copied:
    """Bring the destination to where the source is, until that stands still. `begin` is called
    before the first of it is written, and after it was looked whether it may be. Each of `near` is
    called once, when the copy has come near: what is written meanwhile is brought over, too, before
    the next. The last may see to it that the source stands still.

    Raises `CallerMistake`, before anything is written, where one cannot be a copy of the other:
    another tenant, another ledger's events or people, a log that is shared with other tenants.
    Raises `KeyMissing` for another master key, or a vault that is not the source's.
    """
    return _Copying(source, destination, progress).run(begin, near)


class _Copying:
    def __init__(self, source: Side, destination: Side, progress: Progress | None) -> None:
        self._source = source
        self._destination = destination
        self._progress = progress
        self._done = self._total = 0
        self._gone: set[str] = set()
        """The events whose bodies are in the destination alone."""
        self._explained = Explained(source.store, source.vault)
        self._compare_anew(0)

    def run(self, begin: Callable[[], None], near: Sequence[Callable[[], None]]) -> Copied:
        source, destination = self._source.store, self._destination.store
        if self._source.tenant != self._destination.tenant:
            raise CallerMistake(
                f"{self._source.name} is the ledger of the tenant {self._source.tenant!r}, and"
                f" {self._destination.name} of {self._destination.tenant!r}: a ledger keeps its"
                " tenant."
            )
        first = head = source.head()
        already = destination.head().position
        self._total = 3 * head.position - already
        self._look(head, already)
        begin()
        tries_left = _SETTLING_TRIES
        left, rounds = list(near), _ROUNDS
        while True:
            self._bring_people()
            self._bring_events(head)
            self._compare(head)
            consumers = self._bring_cursors(head)
            now = source.head()
            mine = self._contents(self._source.vault)
            its = self._contents(self._destination.vault)
            same = vault_digest(mine) == vault_digest(its) and not self._gone
            if same and its.register[: len(mine.register)] != mine.register:
                raise NotPermitted(
                    f"The register of the vault {self._destination.vault} does not go on from that"
                    f" of {self._source.vault}: copy to a place where there is none."
                )
            rounds -= 1
            if left and (now.position - head.position <= _NEAR or rounds <= 0):
                left.pop(0)()
                now, rounds = source.head(), _ROUNDS
            elif same and now == head:
                break
            elif now == head:  # somebody is being registered or erased, or was found to be erased
                tries_left -= 1
            if not tries_left:
                raise LogCorrupted(
                    f"The vault {self._destination.vault} does not come to hold what the vault"
                    f" {self._source.vault} holds."
                )
            self._total += 2 * (now.position - head.position)
            head = now
        signed = None
        if self._source.tiles is not None and self._destination.tiles is not None:
            signed = bring_tree(self._source.tiles, self._destination.tiles, head.position)
        return Copied(
            events=head.position,
            bodies=self._copied.bodies,
            subjects=len(its.keys),
            erased=len(its.tombstones),
            consumers=consumers,
            already=already,
            meanwhile=head.position - first.position,
            signed=0 if signed is None else signed.size,
            root=self._tree.root.hex(),
            source=Digests(*self._read.digests(), vault_digest(mine)),
            copy=Digests(*self._copied.digests(), vault_digest(its)),
        )

    # Before anything is written

    def _look(self, head: Head, already: int) -> None:
        """Refuse what cannot be copied, and a destination that has something else."""
        if already > head.position:
            raise self._other(head.position + 1)
        subjects: set[str] = set()
        for after in range(0, head.position, PAGE):
            upto = min(after + PAGE, head.position)
            rows = self._page(self._source, after, upto)
            copies = self._page(self._destination, after, max(after, min(upto, already)))
            for row, copied in zip(rows, copies, strict=False):
                if row.envelope != copied.envelope:
                    raise self._other(row.position)
                self._compare_bodies(row, copied)
            for row in rows:
                subject_ref = subject_of(row)
                if subject_ref is not None:
                    subjects.add(subject_ref)
            self._tell(len(rows))
        vault = self._source.vault
        contents = vault.dump()
        known = {each[0] for each in (*contents.keys, *contents.tombstones)}
        strangers = subjects - known - self._explained.finished().keys()
        if strangers:
            raise KeyMissing(
                f"The vault {vault} has no key for {len(strangers)} of the people of"
                f" {self._source.name}, {min(strangers)} among them: is it the vault of this"
                " ledger?"
            )

    def _other(self, position: int) -> NotPermitted:
        return NotPermitted(
            f"{self._destination.name} has something else at position {position} than"
            f" {self._source.name}: it is another ledger, or was used since it was copied. Copy to"
            " a place where there is none."
        )

    @staticmethod
    def _page(side: Side, after: int, upto: int) -> list[Row]:
        return page_of(side.store, side.name, after, upto)

    # Bringing over

    def _bring_people(self) -> None:
        """Register who is new and bury who was erased: their keys first, then their bodies."""
        self._destination.vault.restore(self._contents(self._source.vault))
        if self._gone:
            self._destination.store.delete_bodies_of(sorted(self._gone))
            self._gone.clear()
            self._compare_anew(0)

    def _contents(self, vault: Vault) -> VaultContents:
        return contents_of(vault, self._explained.finished())

    def _bring_events(self, head: Head) -> None:
        store = self._destination.store
        after = store.head().position
        while after < head.position:
            rows = self._page(self._source, after, min(after + PAGE, head.position))
            try:
                store.load(rows)
            except LogCorrupted as problem:
                if store.head().position == after:
                    raise
                raise NotPermitted(
                    f"Somebody else writes to {self._destination.name}: let it be until it is"
                    " copied."
                ) from problem
            after = rows[-1].position
            self._tell(len(rows))
        if after:
            self._destination.vault.notes.note_log_begun()

    def _bring_cursors(self, head: Head) -> int:
        cursors = self._destination.store.cursors
        there = {each.name: (each.position, each.since) for each in cursors.all()}
        mine = self._source.store.cursors.all()
        for each in mine:
            position = min(each.position, head.position)
            if there.get(each.name) != (position, each.since):
                cursors.restore(each.name, position, each.since)
        return len(mine)

    # Comparing

    def _compare_anew(self, erasures: int) -> None:
        self._compared = 0
        self._erasures = erasures
        self._read, self._copied = Digesting(), Digesting()
        self._tree = Growing()

    def _compare(self, head: Head) -> None:
        """Read both sides as far as they were not compared yet: bodies go only with an erasure."""
        if head.erasures != self._erasures:
            self._total += self._compared
            self._compare_anew(head.erasures)
        while self._compared < head.position:
            upto = min(self._compared + PAGE, head.position)
            rows = self._page(self._source, self._compared, upto)
            copies = self._page(self._destination, self._compared, upto)
            for row, copied in zip(rows, copies, strict=True):
                if row.envelope != copied.envelope:
                    raise LogCorrupted(
                        f"{self._destination.name}: position {row.position} is not what was copied."
                    )
                self._compare_bodies(row, copied)
                self._read.take(row)
                self._copied.take(copied)
                self._tree.add(leaf_hash(copied.envelope))
            self._compared = upto
            self._tell(len(rows))

    def _compare_bodies(self, row: Row, copied: Row) -> None:
        if row.body == copied.body:
            return
        if row.body is not None:
            raise LogCorrupted(
                f"{self._destination.name}: the body at position {row.position} is not what was"
                " copied."
            )
        self._gone.add(gone_for(row, self._explained, self._source.name))

    def _tell(self, more: int) -> None:
        self._done += more
        if self._progress:
            self._progress(min(self._done, self._total), self._total)


def page_of(store: EventStore, name: str, after: int, upto: int) -> list[Row]:
    """The events of (after, upto]. Raises `LogCorrupted` when one is missing, and `NotPermitted`
    when it is another tenant's."""
    rows = store.read(after, upto - after, upto) if after < upto else []
    if len(rows) < upto - after:
        missing = store.first_missing(after, upto)
        if missing is not None:
            raise LogCorrupted(f"{name}: position {missing} is missing.")
        raise NotPermitted(
            f"{name} shares its log with other tenants, so its positions have gaps: only a log that"
            " is one tenant's alone can be copied, or copied to."
        )
    return rows


class Explained:
    """Which bodies are gone by an erasure, as the log and the vault of a ledger tell."""

    def __init__(self, store: EventStore, vault: Vault) -> None:
        self._store = store
        self._vault = vault
        self._whole: set[str] = set()
        self._content: set[int] = set()

    def _erasures(self) -> list[Erasure]:
        rows = self._store.of_types(ERASURE_TYPES)
        return erasures(codec.unseal(row, self._vault) for row in rows)

    def finished(self) -> dict[str, Micros]:
        """Who was erased as a whole, and when that was done."""
        return {
            each.subject_ref: each.done.recorded_at
            for each in self._erasures()
            if each.whole and each.done is not None
        }

    def explains(self, row: Row) -> bool:
        fields = envelope.read(row.envelope, row.position)
        subject_ref = fields["subject_ref"]
        if subject_ref is None:
            return False
        if self._vault.is_erased(subject_ref):
            return True
        if self._vault.is_content_erased(subject_ref, fields["event_id"]):
            return True
        if not self._knows(subject_ref, row.position):
            told = self._erasures()  # again: somebody may have been erased since
            self._whole = {each.subject_ref for each in told if each.whole}
            self._content = {at for each in told for at in spread(each.positions)}
        return self._knows(subject_ref, row.position)

    def _knows(self, subject_ref: str, position: int) -> bool:
        return subject_ref in self._whole or position in self._content


def gone_for(row: Row, explained: Explained, name: str) -> str:
    """The id of an event whose body is gone. Raises `LogCorrupted` when no erasure explains it."""
    if not explained.explains(row):
        raise LogCorrupted(
            f"{name} lost the body at position {row.position}, and no erasure explains it."
        )
    event_id: str = envelope.read(row.envelope, row.position)["event_id"]
    return event_id


def contents_of(vault: Vault, erased: Mapping[str, Micros]) -> VaultContents:
    """The contents of the vault. Of erased subjects only the tombstone is in it, even where a
    backup brought their key back."""
    return without_erased(vault.dump(), erased)


def without_erased(contents: VaultContents, erased: Mapping[str, Micros]) -> VaultContents:
    """The contents of a vault with a tombstone for each key of somebody who was erased."""
    buried = {each[0] for each in contents.tombstones}
    gone = erased.keys() | buried
    stones = [
        (ref, lookup, erased[ref])
        for ref, _, _, lookup, *_ in contents.keys
        if ref in erased and ref not in buried
    ]
    return replace(
        contents,
        keys=[each for each in contents.keys if each[0] not in gone],
        tombstones=sorted([*contents.tombstones, *stones]),
    )


class Digesting:
    """The digests of events that are read in order."""

    def __init__(self) -> None:
        self.bodies = 0
        self._history = hashlib.sha256()
        self._bodies = hashlib.sha256()

    def take(self, row: Row) -> None:
        self._history.update(struct.pack(">QI", row.position, len(row.envelope)))
        self._history.update(row.envelope)
        if row.body is not None:
            self.bodies += 1
            self._bodies.update(struct.pack(">Q", row.position))
            self._bodies.update(hashlib.sha256(row.body).digest())

    def digests(self) -> tuple[str, str]:
        return self._history.hexdigest(), self._bodies.hexdigest()


def vault_digest(contents: VaultContents, *, register: bool = False) -> str:
    """SHA-256 over all that a vault holds, and over its register if that is wanted."""
    running = hashlib.sha256()
    meta = [each for each in contents.meta if each[0] == "pepper"]
    tables: list[Sequence[tuple[Any, ...]]] = [
        meta, contents.keys, contents.tombstones, contents.principals, contents.erasures
    ]  # fmt: skip
    if register and contents.register:  # a vault from before there was one has the digest it had
        tables.append(contents.register)
    for rows in tables:
        for row in sorted(rows):
            running.update(repr(tuple(row)).encode() + b"\n")
        running.update(b"\n")
    return running.hexdigest()


def subject_of(row: Row) -> str | None:
    subject_ref: str | None = envelope.read(row.envelope, row.position)["subject_ref"]
    return subject_ref
