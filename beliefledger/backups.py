"""Backing a ledger up, and putting a backup in its place, without bringing anybody back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from pathlib import Path

from beliefledger.ledger import restoration
from beliefledger.ledger.backup import (
    MANIFEST,
    VAULT_MANIFEST,
    BackedUp,
    Step,
    VaultManifest,
    back_up,
    back_up_vault,
    manifest_of,
    vault_contents,
)
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import (
    BackendUnavailable,
    BackendUnusable,
    CallerMistake,
    KeyMissing,
    MustStop,
    NotPermitted,
    SigningKeyMissing,
)
from beliefledger.ledger.keystore import VaultContents
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.restoration import Restored
from beliefledger.ledger.times import SECOND, iso, system_clock
from beliefledger.ledger.vault import Vault
from beliefledger.opener import open_memory
from beliefledger.opening.backends import exists, has_vault, open_place
from beliefledger.opening.build import check_witness
from beliefledger.opening.place import (
    KEY_FILE,
    NO_DIRECTORY,
    NoLedger,
    Opened,
    Place,
    key_file,
    master_key,
    place_of,
)
from beliefledger.opening.vaults import open_vault, vault_place
from beliefledger.operations.copy import refuse_stranger, side
from beliefledger.operations.rotation import Rotated, rotate
from beliefledger.settings import MASTER_KEY, MASTER_KEY_FILE, SIGNING_KEY_FILE, VAULT, Settings
from beliefledger.times import Progress

__all__ = ["Rotated", "backup", "restore", "restore_vault", "rotate"]


@dataclass(frozen=True, slots=True)
class BackedUpWhole(BackedUp):
    """What a backup has, and how many keys the vault's has; None where none was asked for."""

    keys: int | None = None


@dataclass(frozen=True, slots=True)
class RestoredWhole(Restored):
    """What was restored. `head` is the last position once it was opened: what was erased after the
    backup was made is erased again, on the record. `warnings` are of what could not be done."""

    head: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RestoredVault:
    """How many keys came back, whom the log still has without a key, and how many are erased."""

    keys: int
    keyless: tuple[str, ...]
    erased: int


def backup(
    path_or_url: str | Path,
    destination: Path,
    *,
    vault: Path | None = None,
    progress: Progress | None = None,
    step: Step = lambda _: None,
) -> BackedUpWhole:
    """Write history and bodies, as they are encrypted, to a directory, and the vault to another one
    if it is given. Into a backup of the same ledger it writes what is missing there.

    Raises `CallerMistake` for a destination that has anything else in it.
    """
    settings = Settings.read()
    place = place_of(path_or_url)
    if not exists(place):
        raise NoLedger(f"There is no ledger at {place}.")
    if vault is not None:
        _keep_apart(destination, vault)
    for each in filter(None, (destination, vault)):
        _refuse_within(place, each)
    with _open(place, settings, create=False) as opened:
        source = side(opened)
        made_at = iso(system_clock() // SECOND * SECOND)
        origin, head = _head(opened, settings)
        done = back_up(
            source,
            destination,
            head=head,
            origin=origin,
            master_key=opened.master_key.id,
            made_at=made_at,
            progress=progress,
            step=step,
        )
        kept: VaultManifest | None = None
        if vault is not None:
            step("vault")
            kept = back_up_vault(
                source, vault, origin=origin, master_key=opened.master_key.id, made_at=made_at
            )
    own = {field.name: getattr(done, field.name) for field in fields(done)}
    return BackedUpWhole(**own, keys=None if kept is None else kept.subjects)


def _head(opened: Opened, settings: Settings) -> tuple[str | None, int]:
    """The origin, and up to where to back up: what is signed, which is made to be all there is.

    Raises `BehindWitness` and `SplitView`: such a ledger must not replace an earlier backup.
    """
    try:
        tree = opened.signing.tree()
    except SigningKeyMissing:
        if opened.signing.tiles.vkeys():
            raise
        return None, opened.store.head().position  # never signed, and the key here is another's
    try:
        check_witness(opened, settings)
        signed = tree.extend(keep=True)
    except (KeyMissing, BackendUnavailable, BackendUnusable):
        # Nobody can sign here, or nobody can tell whether it may be signed: what was, goes along.
        latest = tree.latest()
        return (latest.origin if latest else None), opened.store.head().position
    return signed.origin, signed.size


def _refuse_within(place: Place, directory: Path) -> None:
    around = directory.resolve().parents
    if isinstance(place, Path) and place.resolve() in around:
        raise CallerMistake(f"{directory} is in the ledger itself: name a directory elsewhere.")
    other = next(
        (each for each in around for name in (MANIFEST, VAULT_MANIFEST) if (each / name).exists()),
        None,
    )
    if other is not None:
        raise CallerMistake(f"{directory} is in another backup, {other}: name one elsewhere.")


def _keep_apart(destination: Path, vault: Path) -> None:
    one, other = destination.resolve(), vault.resolve()
    if one == other or one in other.parents or other in one.parents:
        raise CallerMistake(
            f"{vault} and {destination} are not apart: whoever has both, and the master key, has"
            " everything. Name another directory for the vault."
        )


def restore(
    source: Path,
    destination: str | Path,
    *,
    vault: Path | None = None,
    progress: Progress | None = None,
    step: Step = lambda _: None,
) -> RestoredWhole:
    """Bring a backup to a directory or a URL where no log is, and open it.

    The vault is the one that is there, or where the environment says; with `vault`, the backup of
    one is taken in first. Whoever is erased in either of them, or in the log, stays erased. The
    master key is never in a backup: it has to be where the ledger looks for it.

    Raises `CallerMistake`, `KeyMissing` or `LogCorrupted` before anything is written, and what
    opening the ledger raises: then the files stay, and nothing was served.
    """
    settings = Settings.read()
    place = place_of(destination)
    manifest_of(source)
    contents = None if vault is None else _contents(vault, place, settings)
    if contents is None and not _vault_is_there(place, settings):
        raise KeyMissing(
            f"There is no vault at {vault_place(place, settings)}: put it back there, name it in"
            f" {VAULT}, or restore its backup, too, with --vault."
        )
    _need_key(place, settings)
    with _open(place, settings, create=True) as opened:
        if not isinstance(place, Path):
            refuse_stranger(opened)
        done = restoration.restore(source, side(opened), contents, progress=progress, step=step)
        given_up = opened.signing.restored()
    step("open")
    try:
        with open_memory(destination, create=False) as memory:
            memory.proofs.record_vault_restored()
            head = memory.status(digests=False).position
    except (MustStop, BackendUnavailable, NotPermitted) as problem:
        people = f" {_keyless(done.keyless)}" if done.keyless else ""
        raise type(problem)(
            f"{problem.detail}{people} Nothing was served; what was restored stays at {place}, to"
            " be looked at."
        ) from problem
    own = {field.name: getattr(done, field.name) for field in fields(done)}
    with _open(place, settings, create=False) as opened:
        unsigned = list(_unsigned(opened))
    warnings = [*([_keyless(done.keyless)] if done.keyless else []), *unsigned]
    if given_up is not None and given_up.size > head:
        warnings.append(
            f"The key here had signed {given_up.size} events, and the backup is of fewer: what came"
            " after it is given up, and whoever kept a later checkpoint will see that."
        )
    return RestoredWhole(**own, head=head, warnings=tuple(warnings))


def _unsigned(opened: Opened) -> Iterator[str]:
    tree = opened.signing.tree_if_signed()
    if tree is None:
        return
    signer = tree.signer
    if signer is None:
        yield (
            f"The key that signs for {tree.origin} is not here, and no backup has it: put it back,"
            f" or name its file in {SIGNING_KEY_FILE}; until then nothing more is signed."
        )
    elif signer.verifier not in tree.verifiers()[-1:]:  # it was rotated after the backup
        try:
            tree.extend()
        except KeyMissing as problem:
            yield str(problem)


def restore_vault(
    path_or_url: str | Path, source: Path, *, step: Step = lambda _: None
) -> RestoredVault:
    """Put an older backup of its vault in the place of a ledger's, or beside what is left of it.

    Who was erased since stays erased: the log says so, or the vault that is there. Raises
    `KeyMissing` when the backup is under another master key, or another ledger's.
    """
    settings = Settings.read()
    place = place_of(path_or_url)
    if not exists(place):
        raise NoLedger(f"There is no ledger at {place}.")
    contents = _contents(source, place, settings)
    if not _vault_is_there(place, settings):
        _make_vault(place, settings).close()
    with _open(place, settings, create=False) as opened:
        keys, keyless = restoration.restore_vault(contents, opened.store, opened.vault, step)
    step("open")
    try:
        with open_memory(path_or_url, create=False) as memory:
            memory.proofs.record_vault_restored()
    except MustStop as problem:
        people = f" {_keyless(keyless)}" if keyless else ""
        raise type(problem)(f"{problem.detail}{people}") from problem
    with _open(place, settings, create=False) as opened:
        erased = len(opened.vault.tombstones())
    return RestoredVault(keys, keyless, erased)


def _keyless(people: tuple[str, ...]) -> str:
    return (
        f"The vault is older than the log: {len(people)} of its people have neither key nor"
        f" tombstone ({people[0]}), so nothing of theirs can be read until a newer backup of the"
        " vault is restored with `beliefledger ops vault restore`."
    )


@contextmanager
def _open(place: Place, settings: Settings, *, create: bool) -> Iterator[Opened]:
    with ExitStack() as closing:
        opened = open_place(place, settings, create=create)
        closing.callback(opened.vault.close)
        closing.callback(opened.store.close)
        yield opened


def _file(place: Place, settings: Settings) -> Path | None:
    """The master key's file; None where the environment tells the key itself."""
    file = settings.master_key_file or (place / KEY_FILE if isinstance(place, Path) else None)
    if file is None and settings.master_key is None:
        raise KeyMissing(NO_DIRECTORY)
    return key_file(settings, file)


def _need_key(place: Place, settings: Settings) -> None:
    """Refuse to make a new master key: it would open nothing of what is restored."""
    file = _file(place, settings)
    if file is not None and not file.exists():
        raise KeyMissing(
            f"There is no master key at {file}, and no backup has one: put it back there, or set"
            f" {MASTER_KEY_FILE} or {MASTER_KEY}."
        )


def _key(place: Place, settings: Settings) -> MasterKey:
    _need_key(place, settings)
    return master_key(settings, _file(place, settings), lambda: True)[0]


def _contents(directory: Path, place: Place, settings: Settings) -> VaultContents:
    """What a vault's backup holds. Raises `KeyMissing` where the master key here is another."""
    manifest, contents = vault_contents(directory)
    key = _key(place, settings)
    if key.id != manifest.master_key:
        raise KeyMissing(
            f"{directory} is a vault under the master key {manifest.master_key}, and the key here"
            f" is {key.id}. Where the master key was rotated since, such a backup opens only with"
            " the key before."
        )
    return contents


def _vault_is_there(place: Place, settings: Settings) -> bool:
    return has_vault(vault_place(place, settings))


def _make_vault(place: Place, settings: Settings) -> Vault:
    """An empty vault, for a backup to be taken in. Never for a ledger to be opened with."""
    where = vault_place(place, settings)
    return open_vault(where, _key(place, settings))
