"""Backups: history and bodies as they are stored, and apart from them, if at all, the vault.

A backup is a directory: `log.db` with the events up to one position, ciphertext and all; `proofs/`
with the tree and what was signed of it; and `backup.json`, which says what it is. It has no key of
any kind: what it holds of a person can be read as long as their key is in a living vault, and no
longer. The vault's backup is another directory (`keys.db`, `vault.json`), in which every key is
wrapped under the master key, which is in neither.

`backup.json` is replaced last. While bodies of erased people are taken out of an older backup, what
it will say lies beside it, so that one of the two is right at every moment.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

from beliefledger.ledger import canonical, envelope, files, register
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import CallerMistake, LogCorrupted, NotPermitted
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.keystore import META, VaultContents, fill, read
from beliefledger.ledger.ledger_copy import (
    PAGE,
    Digesting,
    Explained,
    Progress,
    Side,
    contents_of,
    gone_for,
    page_of,
    vault_digest,
)
from beliefledger.ledger.proofs.notes import Checkpoint
from beliefledger.ledger.proofs.tiles import DirectoryTiles, Edge, edge_root, grow
from beliefledger.ledger.proofs.tree_copy import bring_tree
from beliefledger.ledger.sqlite import SQLiteEventStore
from beliefledger.ledger.sqlite.vault import SQLiteVault
from beliefledger.ledger.store import EventStore, Row

LOG, TREE, KEYS = "log.db", "proofs", "keys.db"
MANIFEST, VAULT_MANIFEST = "backup.json", "vault.json"
FORMAT, VAULT_FORMAT = "beliefledger.backup.v1", "beliefledger.vault-backup.v2"
_BEFORE = {VAULT_FORMAT: "beliefledger.vault-backup.v1"}
"""The format of before that is still read: it had no register."""
_NEXT = ".next"
_PART = ".part"

Step = Callable[[str], None]
"""Called before each step of a write with its name: where tests let it die."""
M = TypeVar("M", bound="Manifest | VaultManifest")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself. `history` and `bodies` are digests as `copying.Digests` has
    them; `checkpoint` is the last signed note of no more than `position` events."""

    made_at: str
    tenant: str
    origin: str | None
    master_key: str
    """The id of the key that the vault was under."""
    position: int
    history: str
    bodies: str
    with_body: int
    checkpoint: str | None
    format: str = FORMAT


@dataclass(frozen=True, slots=True)
class VaultManifest:
    """What a vault's backup says of itself. `digest` is over all that it holds."""

    made_at: str
    tenant: str
    origin: str | None
    master_key: str
    subjects: int
    erased: int
    digest: str
    format: str = VAULT_FORMAT


@dataclass(frozen=True, slots=True)
class BackedUp:
    """What a backup has now. `already` events were in it before; `removed` bodies were taken out,
    since they were erased in the meantime; `signed` is the size of its last checkpoint."""

    position: int
    with_body: int
    already: int
    removed: int
    signed: int


# Making one


def back_up(
    source: Side,
    directory: Path,
    *,
    head: int,
    origin: str | None,
    master_key: str,
    made_at: str,
    progress: Progress | None = None,
    step: Step = lambda _: None,
) -> BackedUp:
    """Write the first `head` events, or what of them is not there yet. Broken off and begun again,
    it goes on.

    Raises `CallerMistake` where there is anything else than an earlier backup of this ledger, and
    `LogCorrupted` where the ledger, or that backup, is not as it was written.
    """
    total, done = 2 * head, 0

    def tell(more: int) -> None:
        nonlocal done
        done += more
        if progress:
            progress(done, total)

    before = _begin(directory, source.tenant, origin)
    if before is None:
        empty = Manifest(made_at, source.tenant, origin, master_key, 0, *_NOTHING, 0, None)
        _write(directory / MANIFEST, empty)
    step("begun")
    with _opened(directory) as store:
        already = store.head().position
        if already > head:
            raise NotPermitted(
                f"{directory} has {already} events, and {source.name} {head}: it is the backup of"
                " another ledger, or this one was set back. Back up to an empty directory."
            )
        digests, gone = _bring(source, store, head, str(directory), tell, step)
        step("sign")
        signed: Checkpoint | None = None
        if source.tiles is not None:
            signed = bring_tree(source.tiles, DirectoryTiles(directory / TREE), head)
        for cursor in source.store.cursors.all():
            store.cursors.restore(cursor.name, min(cursor.position, head))
        history, bodies = digests.digests()
        text = None if signed is None else signed.text
        manifest = Manifest(
            made_at, source.tenant, origin, master_key, head, history, bodies, digests.bodies, text
        )
        _write(_beside(directory / MANIFEST), manifest)
        step("remove")
        if gone:
            store.delete_bodies_of(gone)
        step("compare")
        _check(store, manifest, str(directory), tell)
        store.flush_wal()
    step("finish")
    _replace(_beside(directory / MANIFEST), directory / MANIFEST)
    return BackedUp(head, digests.bodies, already, len(gone), 0 if signed is None else signed.size)


_NOTHING = Digesting().digests()


def _begin(directory: Path, tenant: str, origin: str | None) -> Manifest | None:
    """What an earlier backup here says; None where there is nothing at all."""
    log = {LOG, f"{LOG}-wal", f"{LOG}-shm", "write.lock"}
    _make(directory, {TREE, *log, *_manifests(MANIFEST)}, MANIFEST)
    if not (directory / MANIFEST).exists():
        return None
    before = _parse(directory / MANIFEST, Manifest)
    _check_same(directory, before, tenant, origin)
    return before


def _make(directory: Path, ours: set[str], manifest: str) -> None:
    """Make a directory, or see that there is nothing in it that a backup did not put there."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        names = {each.name for each in directory.iterdir()}
    except OSError as problem:
        raise file_fault(f"{directory} cannot hold a backup", problem) from problem
    others = sorted(names - ours) or (sorted(names) if manifest not in names else [])
    if others and others != [manifest + _PART]:
        raise CallerMistake(
            f"{directory} has something in it that is no backup ({others[0]}): name an empty"
            " directory, or an earlier backup of this ledger."
        )


def _check_same(
    directory: Path, before: Manifest | VaultManifest, tenant: str, origin: str | None
) -> None:
    other = before.origin is not None and origin is not None and before.origin != origin
    if before.tenant != tenant or other:
        raise CallerMistake(
            f"{directory} is the backup of another ledger ({before.origin}, tenant"
            f" {before.tenant!r}): name an empty directory."
        )


@contextmanager
def _opened(directory: Path) -> Iterator[SQLiteEventStore]:
    store = SQLiteEventStore(directory / LOG)
    try:
        yield store
    finally:
        store.close()


def _bring(
    source: Side,
    store: EventStore,
    head: int,
    name: str,
    tell: Callable[[int], None],
    step: Step,
) -> tuple[Digesting, list[str]]:
    """Bring the events that are missing; returns the digests of what is to be there, and the events
    whose bodies are there and were erased since."""
    explained = Explained(source.store, source.vault)
    digests, gone = Digesting(), list[str]()
    already = store.head().position
    for after in range(0, head, PAGE):
        upto = min(after + PAGE, head)
        rows = page_of(source.store, source.name, after, upto)
        copies = page_of(store, name, after, max(after, min(upto, already)))
        for row, copied in zip(rows, copies, strict=False):
            if row.envelope != copied.envelope:
                raise NotPermitted(
                    f"{name} has something else at position {row.position} than {source.name}: it"
                    " is the backup of another ledger. Back up to an empty directory."
                )
            if row.body is None and copied.body is not None:
                gone.append(gone_for(row, explained, source.name))
            elif row.body != copied.body:
                raise LogCorrupted(f"{name}: the body at position {row.position} was changed.")
        for row in rows[len(copies) :]:
            if row.body is None and _fields(row)["body_digest"] is not None:
                gone_for(row, explained, source.name)
        if len(copies) < len(rows):
            step("load")
            store.load(rows[len(copies) :])
        for row in rows:
            digests.take(row)
        tell(len(rows))
    return digests, gone


# What is in one


@contextmanager
def opened(directory: Path) -> Iterator[tuple[Manifest, SQLiteEventStore]]:
    """A backup, as `backup.json` says; to be read up to its position.

    Raises `CallerMistake` where there is none, or one that was never finished.
    """
    manifest = manifest_of(directory)
    with _opened(directory) as store:
        following = _beside(directory / MANIFEST)
        if following.exists() and not _is_of(store, manifest):
            manifest = _parse(following, Manifest)  # killed while bodies were taken out
        if not manifest.position:
            raise CallerMistake(f"The backup at {directory} was not finished: make it again.")
        yield manifest, store


def manifest_of(directory: Path) -> Manifest:
    """What a backup says of itself. Raises `CallerMistake` where there is none."""
    if not (directory / MANIFEST).exists() or not (directory / LOG).exists():
        raise CallerMistake(f"There is no backup at {directory}: it would have a {MANIFEST}.")
    return _parse(directory / MANIFEST, Manifest)


def _is_of(store: EventStore, manifest: Manifest) -> bool:
    digests = Digesting()
    for rows in _rows(store, manifest.position, MANIFEST):
        for row in rows:
            digests.take(row)
    return digests.digests() == (manifest.history, manifest.bodies)


def check(
    directory: Path, store: EventStore, manifest: Manifest, tell: Callable[[int], None]
) -> None:
    """Compare a backup with what it says of itself, body by body, and with what was signed.

    Raises `LogCorrupted`, naming the position where it can.
    """
    tiles = DirectoryTiles(directory / TREE)
    published = tiles.kept() if manifest.checkpoint else []
    if manifest.checkpoint and manifest.checkpoint not in {*published, tiles.checkpoint()}:
        raise LogCorrupted(f"{directory}: the checkpoint of {MANIFEST} is not in {TREE}.")
    _check(store, manifest, str(directory), tell)


def _check(store: EventStore, manifest: Manifest, name: str, tell: Callable[[int], None]) -> None:
    signed = None if manifest.checkpoint is None else Checkpoint.parse(manifest.checkpoint)
    digests, edge = Digesting(), list[list[bytes]]()
    position = 0
    for rows in _rows(store, manifest.position, name):
        for row in rows:
            digests.take(row)
            if row.body is not None and canonical.digest(row.body) != _fields(row)["body_digest"]:
                raise LogCorrupted(f"{name}: the body at position {row.position} was changed.")
        edge = _grown(store, edge, position, rows[-1].position, signed)
        position = rows[-1].position
        tell(len(rows))
    if signed is not None and edge_root(edge) != signed.root:
        raise LogCorrupted(
            f"{name}: its events are not those of its checkpoint of {signed.size} events."
        )
    if digests.digests() != (manifest.history, manifest.bodies):
        raise LogCorrupted(f"{name}: its events are not those that {MANIFEST} says.")


def _grown(store: EventStore, edge: Edge, after: int, upto: int, signed: Checkpoint | None) -> Edge:
    """The edge of the tree with these events in it, as far as they were signed."""
    upto = min(upto, 0 if signed is None else signed.size)
    return grow(after, edge, store.leaf_hashes(after, upto))[0] if after < upto else edge


def _rows(store: EventStore, upto: int, name: str) -> Iterator[list[Row]]:
    for after in range(0, upto, PAGE):
        yield page_of(store, name, after, min(after + PAGE, upto))


def _fields(row: Row) -> dict[str, Any]:
    return envelope.read(row.envelope, row.position)


# The vault's


def back_up_vault(
    source: Side, directory: Path, *, origin: str | None, master_key: str, made_at: str
) -> VaultManifest:
    """Write what the vault holds, wrapped as it is, in the place of an earlier backup of it. Killed
    at any moment, the earlier one or this one is there.

    Raises `CallerMistake` where there is anything else.
    """
    new = f"{KEYS}{_NEXT}"
    ours = {KEYS, new, f"{new}-journal", *_manifests(VAULT_MANIFEST)}
    _make(directory, ours, VAULT_MANIFEST)
    if (directory / VAULT_MANIFEST).exists():
        before = _parse(directory / VAULT_MANIFEST, VaultManifest)
        _check_same(directory, before, source.tenant, origin)
    there = people_of(_read_keys(directory / KEYS)) if (directory / KEYS).exists() else set()
    contents = contents_of(source.vault, Explained(source.store, source.vault).finished())
    if there and not there & people_of(contents):
        raise CallerMistake(
            f"{directory} is the backup of another ledger's vault: name an empty directory."
        )
    manifest = VaultManifest(
        made_at,
        source.tenant,
        origin,
        master_key,
        len(contents.keys),
        len(contents.tombstones),
        vault_digest(contents, register=True),
    )
    first = not (directory / VAULT_MANIFEST).exists()
    _write(directory / VAULT_MANIFEST if first else _beside(directory / VAULT_MANIFEST), manifest)
    (directory / new).unlink(missing_ok=True)
    _write_keys(directory / new, contents)
    _replace(directory / new, directory / KEYS)
    if not first:
        _replace(_beside(directory / VAULT_MANIFEST), directory / VAULT_MANIFEST)
    return manifest


def _write_keys(path: Path, contents: VaultContents) -> None:
    database = SQLiteVault(path)
    try:
        meta = [each for each in contents.meta if each[0] == "pepper"]

        def write(transaction: Any) -> None:
            transaction.run(f"INSERT INTO vault.meta ({META}) VALUES (?, ?)", *meta)
            fill(transaction, contents)
            register.write(transaction, contents.register)

        database.write(write)
    finally:
        database.close()


def vault_contents(directory: Path) -> tuple[VaultManifest, VaultContents]:
    """The backup of a vault, as it was written. Raises `CallerMistake` where there is none, and
    `LogCorrupted` for one that was changed."""
    if not (directory / VAULT_MANIFEST).exists() or not (directory / KEYS).exists():
        raise CallerMistake(
            f"There is no backup of a vault at {directory}: it would have a {VAULT_MANIFEST} and a"
            f" {KEYS}."
        )
    contents = _read_keys(directory / KEYS)
    said = [directory / VAULT_MANIFEST, _beside(directory / VAULT_MANIFEST)]
    for manifest in (_parse(each, VaultManifest) for each in said if each.exists()):
        if manifest.digest == vault_digest(contents, register=True):
            return manifest, contents
    raise LogCorrupted(f"{directory}: {KEYS} is not what {VAULT_MANIFEST} says.")


def _read_keys(path: Path) -> VaultContents:
    database = SQLiteVault(path)
    try:
        return database.write(read)
    finally:
        database.close()


def people_of(contents: VaultContents) -> set[str]:
    return {each[0] for each in contents.keys} | {each[0] for each in contents.tombstones}


# Files


def _manifests(name: str) -> set[str]:
    return {name, f"{name}{_NEXT}", f"{name}{_PART}", f"{name}{_NEXT}{_PART}"}


def _beside(path: Path) -> Path:
    return path.with_name(path.name + _NEXT)


def _parse(path: Path, kind: type[M]) -> M:
    """Raises `CallerMistake` for a file of something else, or of a newer beliefledger."""
    try:
        said = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as problem:
        raise LogCorrupted(f"{path} cannot be read: {problem}.") from problem
    names = {each.name for each in fields(kind)}
    known = str(kind.__dataclass_fields__["format"].default)
    formats = {known, _BEFORE.get(known, known)}
    if not isinstance(said, dict) or said.get("format") not in formats or set(said) != names:
        raise CallerMistake(f"{path} is not of a backup that this beliefledger knows.")
    return kind(**said)


def _write(path: Path, manifest: Manifest | VaultManifest) -> None:
    part = path.with_name(path.name + _PART)
    text = json.dumps(asdict(manifest), indent=2, sort_keys=True, ensure_ascii=True) + "\n"
    try:
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as problem:
        raise file_fault(f"{path} cannot be written", problem) from problem
    _replace(part, path)


def _replace(part: Path, path: Path) -> None:
    try:
        part.replace(path)
        files.sync(path.parent)
    except OSError as problem:
        raise file_fault(f"{path} cannot be written", problem) from problem
