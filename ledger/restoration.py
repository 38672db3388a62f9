"""Putting a backup in the place of a ledger that is lost, without bringing anybody back.

The vault decides: bodies of whoever it knows to be erased, and those that its register names, never
reach the restored log. The log's own erasures hold as well, whatever the vault knows. Broken off
anywhere and begun again, it goes on; the log is the last thing that is complete.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from beliefledger.ledger import backup, envelope
from beliefledger.ledger.backup import Manifest, Step, people_of
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import CallerMistake, KeyMissing, NotPermitted
from beliefledger.ledger.keystore import VaultContents
from beliefledger.ledger.ledger_copy import PAGE, Explained, Progress, Side, page_of, without_erased
from beliefledger.ledger.proofs.tiles import DirectoryTiles
from beliefledger.ledger.proofs.tree_copy import bring_tree
from beliefledger.ledger.store import EventStore, Row
from beliefledger.ledger.vault import Vault


@dataclass(frozen=True, slots=True)
class Restored:
    """What is there now. `withheld` bodies of `people` erased as a whole, and of `content` erased
    of the living, are in the backup and were not restored. `keyless` people have events here and
    neither key nor tombstone in the vault; `unheard` ones have a key and no event."""

    position: int
    with_body: int
    already: int
    withheld: int
    people: int
    content: int
    keyless: tuple[str, ...]
    unheard: int
    signed: int


@dataclass(slots=True)
class _Forgotten:
    """What a restore must not bring back."""

    subjects: set[str]
    events: set[str]

    @classmethod
    def of(cls, vault: Vault, log: EventStore) -> _Forgotten:
        erased = vault.tombstones() | Explained(log, vault).finished().keys()
        register = vault.register_of_erased().values()
        return cls(set(erased), set().union(*(events for _, events in register)))


def restore(
    directory: Path,
    destination: Side,
    vault: VaultContents | None = None,
    *,
    progress: Progress | None = None,
    step: Step = lambda _: None,
) -> Restored:
    """Bring a backup to where no log is, or one that an earlier try left unfinished.

    `vault` is what the destination's vault takes in first. Raises, before anything is written:
    `LogCorrupted` for a backup that is not as it was written, `CallerMistake` where there is
    another log, `KeyMissing` for a vault that is not this ledger's.
    """
    with backup.opened(directory) as (manifest, store):
        return _Restoring(directory, manifest, store, destination, progress, step).run(vault)


class _Restoring:
    def __init__(
        self,
        directory: Path,
        manifest: Manifest,
        store: EventStore,
        destination: Side,
        progress: Progress | None,
        step: Step,
    ) -> None:
        self._directory = directory
        self._manifest = manifest
        self._store = store
        self._destination = destination
        self._progress = progress
        self._step = step
        self._done = 0
        self._total = 2 * manifest.position
        self._withheld = self._bodies = 0
        self._people: set[str] = set()
        self._content = 0

    def run(self, vault: VaultContents | None) -> Restored:
        to = self._destination
        if to.tenant != self._manifest.tenant:
            raise CallerMistake(
                f"{self._directory} is a backup of the tenant {self._manifest.tenant!r}, and"
                f" {to.name} is for {to.tenant!r}: a ledger keeps its tenant."
            )
        already = to.store.head().position
        self._refuse_log(already)
        subjects = self._look(already)
        backup.check(self._directory, self._store, self._manifest, self._tell)
        keyed = self._keyed(vault)
        if subjects and not subjects & keyed:
            raise KeyMissing(
                f"The vault {to.vault} knows nobody of {self._directory}: it is another ledger's."
                " Name its backup with --vault, or its place."
            )
        self._step("vault")
        if vault is not None:
            erased = Explained(self._store, to.vault).finished()
            to.vault.restore(without_erased(vault, erased), older=True)
        for cursor in self._store.cursors.all():
            position = min(cursor.position, self._manifest.position)
            to.store.cursors.restore(cursor.name, position)
        forgotten = _Forgotten.of(to.vault, self._store)
        self._load(already, forgotten)
        self._step("tree")  # a head is taken of what is there only
        signed = None
        if to.tiles is not None:
            signed = bring_tree(self._tree(), to.tiles, self._manifest.position)
        to.vault.notes.note_log_begun()
        living = {each[0] for each in to.vault.dump().keys}
        return Restored(
            position=self._manifest.position,
            with_body=self._bodies,
            already=already,
            withheld=self._withheld,
            people=len(self._people),
            content=self._content,
            keyless=tuple(sorted(subjects - living - forgotten.subjects)),
            unheard=len(living - subjects),
            signed=0 if signed is None else signed.size,
        )

    def _tree(self) -> DirectoryTiles:
        return DirectoryTiles(self._directory / backup.TREE)

    def _refuse_log(self, already: int) -> None:
        """A log that is as long as the backup, and has its tree as well, is no unfinished one."""
        if already > self._manifest.position or (
            already == self._manifest.position and not self._lacks_tree()
        ):
            raise self._other(already)

    def _lacks_tree(self) -> bool:
        tiles, signed = self._destination.tiles, self._tree().checkpoint()
        return signed is not None and tiles is not None and tiles.checkpoint() is None

    def _other(self, already: int) -> NotPermitted:
        return NotPermitted(
            f"There is a ledger at {self._destination.name} already, of {already} events:"
            " restore to a place without one, or move its log away first."
        )

    def _look(self, already: int) -> set[str]:
        """Who has events in the backup. Raises `NotPermitted` where there is another log."""
        subjects: set[str] = set()
        for after, upto in self._pages(0):
            rows = page_of(self._store, str(self._directory), after, upto)
            there = page_of(
                self._destination.store,
                self._destination.name,
                after,
                max(after, min(upto, already)),
            )
            for row, restored in zip(rows, there, strict=False):
                if row.envelope != restored.envelope:
                    raise self._other(self._manifest.position)
            for row in rows:
                subject_ref = _fields(row)["subject_ref"]
                if subject_ref is not None:
                    subjects.add(subject_ref)
        return subjects

    def _pages(self, begin: int) -> list[tuple[int, int]]:
        end = self._manifest.position
        return [(after, min(after + PAGE, end)) for after in range(begin, end, PAGE)]

    def _keyed(self, vault: VaultContents | None) -> set[str]:
        """Whom the vault that there will be knows."""
        held = [self._destination.vault.dump(), *([] if vault is None else [vault])]
        return set().union(*map(people_of, held))

    def _load(self, already: int, forgotten: _Forgotten) -> None:
        for after, upto in self._pages(0):
            rows = page_of(self._store, str(self._directory), after, upto)
            rows = [self._without(row, forgotten) for row in rows]
            new = [row for row in rows if row.position > already]
            if new:
                self._step("load")
                self._destination.store.load(new)
            self._tell(len(rows))

    def _without(self, row: Row, forgotten: _Forgotten) -> Row:
        """The event without its body, where that is not to come back."""
        if row.body is None:
            return row
        fields = _fields(row)
        whole = fields["subject_ref"] in forgotten.subjects
        if not whole and fields["event_id"] not in forgotten.events:
            self._bodies += 1
            return row
        self._withheld += 1
        if whole:
            self._people.add(fields["subject_ref"])
        else:
            self._content += 1
        return row._replace(body=None)

    def _tell(self, more: int) -> None:
        self._done += more
        if self._progress:
            self._progress(min(self._done, self._total), self._total)


def restore_vault(
    contents: VaultContents, log: EventStore, vault: Vault, step: Callable[[str], None]
) -> tuple[int, tuple[str, ...]]:
    """Take an older state of its vault in beside a newer log: who was erased since stays so.

    Returns how many keys came back, and who has events and neither key nor tombstone afterwards.
    """
    finished = Explained(log, vault).finished()
    subjects: set[str] = set()
    head = log.head().position
    for after in range(0, head, PAGE):
        for row in log.read(after, PAGE, head):
            subject_ref = _fields(row)["subject_ref"]
            if subject_ref is not None:
                subjects.add(subject_ref)
    if subjects and not subjects & people_of(contents):
        raise KeyMissing("That backup of a vault knows nobody of this log: it is of another one.")
    before = {each[0] for each in vault.dump().keys}
    step("vault")
    vault.restore(without_erased(contents, finished), older=True)
    after_ = vault.dump()
    living = {each[0] for each in after_.keys}
    buried = {each[0] for each in after_.tombstones}
    return len(living - before), tuple(sorted(subjects - living - buried - finished.keys()))


def _fields(row: Row) -> dict[str, Any]:
    return envelope.read(row.envelope, row.position)
