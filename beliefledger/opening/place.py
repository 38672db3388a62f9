"""Where a ledger is: a directory, or a schema on a Postgres. Opens what lies there."""

# What a server needs is imported where one is meant, so that the embedded ledger opens quickly:
# ruff: noqa: PLC0415

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from beliefledger.ledger import rotating
from beliefledger.ledger.errors import (
    BackendUnusable,
    CallerMistake,
    CopyUnfinished,
    KeyMissing,
    LogCorrupted,
)
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.log import Log
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.proofs.tiles import DirectoryTiles
from beliefledger.ledger.sqlite import SQLiteEventStore, upgrades
from beliefledger.ledger.sqlite.schema import UPGRADES as LOG_UPGRADES
from beliefledger.ledger.sqlite.vault import UPGRADES as VAULT_UPGRADES
from beliefledger.ledger.store import EventStore
from beliefledger.ledger.unfinished import Unfinished
from beliefledger.ledger.vault import Vault
from beliefledger.opening.signing import Signing, key_place
from beliefledger.projections.homes import Home, SQLiteHome
from beliefledger.projections.projector import Projector, open_projector
from beliefledger.projections.view import View
from beliefledger.settings import MASTER_KEY, MASTER_KEY_FILE, VAULT, Settings

if TYPE_CHECKING:
    from beliefledger.ledger.postgres.server import PostgresURL

Place: TypeAlias = "Path | PostgresURL"
Copy: TypeAlias = Literal["refuse", "read", "complete"]
"""What is to be done where there is an unfinished copy."""

KEY_FILE = "master.key"
PROOFS = "proofs"
"""Where the tree of a ledger in a directory lies in it."""
NO_DIRECTORY = (
    "A ledger on a server has no directory for its master key: set"
    f" {MASTER_KEY_FILE} to a file, which is made for a new ledger, or {MASTER_KEY}."
)
DEFAULT_TENANT = "default"


class NoLedger(BackendUnusable):
    """Make one with `beliefledger init`."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What a ledger stands on. `views` opens the projector once the log is open, `home` opens where
    the views are without looking at any."""

    place: Place
    store: EventStore
    vault: Vault
    tenant: str
    views: Callable[[Log, Sequence[View]], Projector]
    home: Callable[[], Home]
    master_key: MasterKey
    made_key_file: Path | None
    signing: Signing
    warnings: tuple[str, ...] = ()
    unfinished: str | None = None
    """Why it is only read: what it is an unfinished copy of, and how to complete it."""


def place_of(path_or_url: str | Path) -> Place:
    """Raises `CallerMistake` for a URL of something else."""
    text = str(path_or_url)
    if text.startswith(("postgresql://", "postgres://")):
        from beliefledger.ledger.postgres.server import PostgresURL

        return PostgresURL.parse(text)
    if re.match(r"postgres(ql)?\W", text, re.IGNORECASE) or "password=" in text:
        raise CallerMistake(  # not quoted: it may hold a password
            "That looks like a server and is no URL: write postgresql://user@host/database."
        )
    if "://" in text and not text.startswith("file://"):
        raise CallerMistake(
            f"{text.partition('://')[0]}:// is no place of a ledger: give a directory, or a"
            " postgresql:// URL."
        )
    return Path(text.removeprefix("file://"))


def is_server(place: Place) -> bool:
    return not isinstance(place, Path)


def exists(place: Place) -> bool:
    """Whether there is a ledger. Raises `BackendUnavailable` for a server that does not answer."""
    if isinstance(place, Path):
        return (place / "log.db").exists()
    from beliefledger.opening import postgres

    return postgres.exists(place)


def has_vault(place: Place) -> bool:
    """Whether a ledger has its vault with it; else it is where the environment says."""
    if isinstance(place, Path):
        return (place / "keys.db").exists()
    from beliefledger.opening import postgres

    return postgres.has_vault(place)


@contextmanager
def preparing(place: Place, settings: Settings) -> Iterator[list[str]]:
    """Make on a server what a ledger needs and is not there, with the rights of the database's
    owner; open the ledger inside. At the end the list has the names of what was made."""
    made: list[str] = []
    if isinstance(place, Path):
        yield made
        return
    from beliefledger.opening import postgres

    before = postgres.names(place, settings)
    postgres.prepare(place, settings)
    yield made
    made += [name for name in postgres.names(place, settings) if name not in before]


def rights(place: Place, settings: Settings) -> list[str]:
    """The statements that let a login work with a ledger on a server, and no more."""
    if isinstance(place, Path):
        return []
    from beliefledger.opening import postgres

    return postgres.rights(place, settings)


@dataclass(frozen=True, slots=True)
class Version:
    """Of what format something is, where it lies, and what leads to it from an earlier one."""

    number: int
    steps_from: Callable[[int], list[str]]


@dataclass(frozen=True, slots=True)
class Versions:
    """The vault has none where it is not made yet, or lies where only its own login comes."""

    log: Version
    vault: Version


def versions(place: Place, settings: Settings) -> Versions:
    """Of what format a ledger is, which may be older or newer than what this program writes.

    Raises `NoLedger`.
    """
    log = _log_version(place)
    if log.number == 0 and (is_server(place) or not exists(place)):
        raise NoLedger(f"There is no ledger at {place}.")
    other = None if settings.vault is None else place_of(settings.vault)
    return Versions(log, _vault_version(place if other is None else other))


def _log_version(place: Place) -> Version:
    if isinstance(place, Path):
        return Version(upgrades.version_of(place / "log.db"), partial(upgrades.steps, LOG_UPGRADES))
    from beliefledger.opening import postgres

    return postgres.log_version(place)


def _vault_version(place: Place) -> Version:
    if isinstance(place, Path):
        number = upgrades.version_of(place / "keys.db")
        return Version(number, partial(upgrades.steps, VAULT_UPGRADES))
    from beliefledger.opening import postgres

    return postgres.vault_version(place)


def upgrade(place: Place, settings: Settings) -> None:
    """Bring what lies at a place up to date: the log, and its vault. Done again, nothing changes.

    On a server this needs the rights of the database's owner, and no key; a directory is brought
    up to date whenever it is opened. Raises `NoLedger`, and `OlderProgram` for what a newer
    beliefledger wrote.
    """
    if isinstance(place, Path):
        opened = _open_directory(place, settings, create=False)
        opened.store.close()
        opened.vault.close()
        return
    from beliefledger.opening import postgres

    postgres.upgrade(place, settings)


def open_place(
    place: Place, settings: Settings, *, create: bool, unfinished: Copy = "refuse"
) -> Opened:
    """Open what lies at a place, with `create` making it when it is not there. An `unfinished` copy
    is refused, or only read, or opened to be completed.

    Raises `KeyMissing` for a wrong master key, before anything is written, and `CopyUnfinished`.
    """
    opened = _open(place, settings, create=create)
    note = None if unfinished == "complete" else opened.store.unfinished()
    if note is None:
        return opened
    with ExitStack() as closing:
        closing.callback(opened.vault.close)
        closing.callback(opened.store.close)
        why = Unfinished.read(note).told(shown(place))
        if unfinished == "refuse":
            raise CopyUnfinished(why)
        opened.store.only_read(why)
        opened.vault.only_read(why)
        opened.signing.only_read(why)
        closing.pop_all()
    return replace(opened, unfinished=why, warnings=(why, *opened.warnings))


def shown(place: Place) -> str:
    """A place as it can be given again from anywhere, without its passwords."""
    return str(place.resolve()) if isinstance(place, Path) else place.without_passwords


def _open(place: Place, settings: Settings, *, create: bool) -> Opened:
    if isinstance(place, Path):
        return _open_directory(place, settings, create=create)
    from beliefledger.opening import postgres

    return postgres.open_server(place, settings, create=create)


def _open_directory(path: Path, settings: Settings, *, create: bool) -> Opened:
    if not create and not exists(path):
        if (path / "keys.db").exists():
            raise LogCorrupted(
                f"{path / 'log.db'} is missing, and the vault beside it is there: put the file"
                " back, or restore the newest backup."
            )
        raise NoLedger(f"There is no ledger at {path}.")
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        (path / "views").mkdir(exist_ok=True, mode=0o700)
    except OSError as problem:
        raise file_fault(f"{path} cannot be a ledger", problem) from problem
    file = settings.master_key_file or path / KEY_FILE
    keys = path / "keys.db"
    master, made = master_key(settings, file, lambda: not create or keys.exists())

    def is_new() -> bool:
        return create and not exists(path)

    def vault_under(master: MasterKey) -> Vault:
        vault = other_vault(settings, master, DEFAULT_TENANT, is_new)
        if vault is None:
            may_make_vault(keys.exists, is_new, str(keys))
            vault = Vault(keys, master)
        return vault

    with ExitStack() as opened:  # what was opened is closed again when a later step fails
        vault, master = rotating.opened(key_file(settings, file), master, vault_under)
        opened.callback(vault.close)
        store = SQLiteEventStore(path / "log.db")
        opened.pop_all()
    return Opened(
        path,
        store,
        vault,
        DEFAULT_TENANT,
        lambda log, views: open_projector(log, path / "views" / "views.db", views),
        lambda: SQLiteHome(path / "views" / "views.db"),
        master,
        made,
        Signing(store, lambda: DirectoryTiles(path / PROOFS), key_place(settings, path)),
    )


def other_vault(
    settings: Settings, master: MasterKey, tenant: str, is_new: Callable[[], bool]
) -> Vault | None:
    """The vault at the place that the environment gives it, if it gives one; made for a ledger
    that is new."""
    if settings.vault is None:
        return None
    place = place_of(settings.vault)
    if not isinstance(place, Path):
        from beliefledger.opening import postgres

        return postgres.open_vault(replace(place, tenant=tenant), master, is_new)
    may_make_vault((place / "keys.db").exists, is_new, str(place / "keys.db"))
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as problem:
        raise file_fault(f"{place} cannot hold a vault", problem) from problem
    return Vault(place / "keys.db", master)


def may_make_vault(there: Callable[[], bool], is_new: Callable[[], bool], where: str) -> bool:
    """Whether a vault is to be made: when there is none, and the ledger is new.

    Raises `KeyMissing` for an older ledger, whose vault must be elsewhere: an empty one would be
    taken for it from then on.
    """
    if there():
        return False
    if is_new():
        return True
    if there():  # another process made the ledger in the meantime
        return False
    raise KeyMissing(
        f"There is no vault at {where}: put it back from its backup, or set {VAULT} to where it is."
    )


def key_file(settings: Settings, file: Path | None) -> Path | None:
    """The master key's file; None when the environment tells the key itself."""
    return None if settings.master_key else file


def master_key(
    settings: Settings, file: Path | None, vault_is_there: Callable[[], bool]
) -> tuple[MasterKey, Path | None]:
    """The master key: from the environment, else from the key file, which a new ledger gets.

    Returns also the key file if it was made just now. A ledger that has a vault and no key is
    refused: making a new key would lose everybody.
    """
    if settings.master_key:
        return MasterKey.from_hex(settings.master_key, f"The variable {MASTER_KEY}"), None
    if file is None:
        raise KeyMissing(NO_DIRECTORY)
    if file.exists():
        return MasterKey.from_file(file), None
    if vault_is_there():
        if file.exists():  # another process made both in the meantime
            return MasterKey.from_file(file), None
        raise KeyMissing(
            f"There is no master key: set {MASTER_KEY} or {MASTER_KEY_FILE}, or put the key file"
            f" back at {file}."
        )
    try:
        return MasterKey.create_file(file), file
    except FileExistsError:
        return MasterKey.from_file(file), None
    except OSError as problem:
        raise file_fault(f"The key file {file} cannot be made", problem) from problem
