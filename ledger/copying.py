"""Copying a ledger from one place to another: positions, times, bodies, keys and erasures alike.

The vault goes first, so that no event is ever there without its subject's key; then the events, as
they are stored; then the cursors of consumers. At the end both are read again and compared. Broken
off anywhere and begun again, it goes on where it was. Nothing is written to the source here;
whoever opened it may have: a directory that an older version made is brought up to date by that.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace

from ledger import envelope
from ledger.errors import CallerMistake, KeyMissing, LogCorrupted, NotPermitted
from ledger.events.subject import ErasureRequested, SubjectErased
from ledger.keystore import VaultContents
from ledger.store import EventStore, Head, Row
from ledger.vault import Vault

PAGE = 5_000
_SETTLING_TRIES = 5
Progress = Callable[[int, int], None]
"""(done, of how much)"""


@dataclass(frozen=True, slots=True)
class Side:
    """A ledger that is copied, or copied to. `name` is what it is called in errors."""

    name: str
    store: EventStore
    vault: Vault
    tenant: str


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
    source: Digests
    copy: Digests


def copy(source: Side, destination: Side, progress: Progress | None = None) -> Copied:
    """Bring the destination to where the source is, until that stands still.

    Raises `CallerMistake`, before anything is written, where one cannot be a copy of the other:
    another tenant, another ledger's events or people, a log that is shared with other tenants.
    Raises `KeyMissing` for another master key, or a vault that is not the source's.
    """
    return _Copying(source, destination, progress).run()


class _Copying:
    def __init__(self, source: Side, destination: Side, progress: Progress | None) -> None:
        self._source = source
        self._destination = destination
        self._progress = progress
        self._done = self._total = 0
        self._gone: set[str] = set()
        """Who has bodies in the destination alone."""
        self._compare_anew(0)

    def run(self) -> Copied:
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
        tries_left = _SETTLING_TRIES
        while True:
            self._bring_people()
            self._bring_events(head)
            self._compare(head)
            consumers = self._bring_cursors(head)
            now = source.head()
            mine = self._contents(self._source.vault)
            its = self._contents(self._destination.vault)
            same = _vault_digest(mine) == _vault_digest(its) and not self._gone
            if same and now == head:
                break
            if now == head:  # somebody is being registered or erased, or was found to be erased
                tries_left -= 1
            if not tries_left:
                raise LogCorrupted(
                    f"The vault {self._destination.vault} does not come to hold what the vault"
                    f" {self._source.vault} holds."
                )
            self._total += 2 * (now.position - head.position)
            head = now
        return Copied(
            events=head.position,
            bodies=self._copied.bodies,
            subjects=len(its.keys),
            erased=len(its.tombstones),
            consumers=consumers,
            already=already,
            meanwhile=head.position - first.position,
            source=Digests(*self._read.digests(), _vault_digest(mine)),
            copy=Digests(*self._copied.digests(), _vault_digest(its)),
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
                subject_ref = _subject(row)
                if subject_ref is not None:
                    subjects.add(subject_ref)
            self._tell(len(rows))
        vault = self._source.vault
        contents = vault.dump()
        known = {each[0] for each in (*contents.keys, *contents.tombstones)}
        strangers = subjects - known - self._erased(SubjectErased.NAME)
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

    def _page(self, side: Side, after: int, upto: int) -> list[Row]:
        rows = side.store.read(after, upto - after, upto) if after < upto else []
        if len(rows) < upto - after:
            missing = side.store.first_missing(after, upto)
            if missing is not None:
                raise LogCorrupted(f"{side.name}: position {missing} is missing.")
            raise NotPermitted(
                f"{side.name} shares its log with other tenants, so its positions have gaps: only a"
                " log that is one tenant's alone can be copied, or copied to."
            )
        return rows

    # Bringing over

    def _bring_people(self) -> None:
        """Register who is new and bury who was erased: their keys first, then their bodies."""
        self._destination.vault.restore(self._contents(self._source.vault))
        if self._gone:
            for subject_ref in sorted(self._gone):
                self._destination.store.delete_bodies(subject_ref)
            self._gone.clear()
            self._compare_anew(0)

    def _contents(self, vault: Vault) -> VaultContents:
        """What the vault holds, without keys that a backup brought back of who was erased."""
        contents = vault.dump()
        erased = self._erased(SubjectErased.NAME)
        return replace(contents, keys=[each for each in contents.keys if each[0] not in erased])

    def _erased(self, *types: str) -> set[str]:
        rows = self._source.store.of_types(types)
        return {ref for row in rows if (ref := _subject(row)) is not None}

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
            self._destination.vault.note_log_begun()

    def _bring_cursors(self, head: Head) -> int:
        cursors = self._destination.store.cursors
        there = {each.name: each.position for each in cursors.all()}
        mine = self._source.store.cursors.all()
        for each in mine:
            position = min(each.position, head.position)
            if there.get(each.name) != position:
                cursors.restore(each.name, position)
        return len(mine)

    # Comparing

    def _compare_anew(self, erasures: int) -> None:
        self._compared = 0
        self._erasures = erasures
        self._read, self._copied = _Running(), _Running()

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
            self._compared = upto
            self._tell(len(rows))

    def _compare_bodies(self, row: Row, copied: Row) -> None:
        if row.body == copied.body:
            return
        subject_ref = _subject(row)
        if subject_ref in self._gone:
            return
        if row.body is not None:
            raise LogCorrupted(
                f"{self._destination.name}: the body at position {row.position} is not what was"
                " copied."
            )
        if subject_ref is None or subject_ref not in self._erased(ErasureRequested.NAME):
            raise LogCorrupted(
                f"{self._source.name} lost the body at position {row.position}, and no erasure"
                " explains it."
            )
        self._gone.add(subject_ref)

    def _tell(self, more: int) -> None:
        self._done += more
        if self._progress:
            self._progress(min(self._done, self._total), self._total)


class _Running:
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


def _vault_digest(contents: VaultContents) -> str:
    running = hashlib.sha256()
    meta = [each for each in contents.meta if each[0] == "pepper"]
    for rows in (meta, contents.keys, contents.tombstones, contents.principals):
        for row in sorted(rows):
            running.update(repr(tuple(row)).encode() + b"\n")
        running.update(b"\n")
    return running.hexdigest()


def _subject(row: Row) -> str | None:
    subject_ref: str | None = envelope.read(row.envelope, row.position)["subject_ref"]
    return subject_ref
