"""Where a ledger is: a directory, or a schema on a Postgres. Opens what lies there."""

# What a server needs is imported where one is meant, so that the embedded ledger opens quickly:
# ruff: noqa: PLC0415

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import (
    BackendUnusable,
    CallerMistake,
    KeyMissing,
)
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.log import Log
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.replica import Replica
from beliefledger.ledger.store import EventStore
from beliefledger.ledger.vault import Vault
from beliefledger.opening.signing import Signing
from beliefledger.projections.projector import Projector
from beliefledger.projections.view import View
from beliefledger.projections.view_databases import Home
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
    replica: Replica | None = None
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


class Version(NamedTuple):
    """Of what format something is, where it lies, and what leads to it from an earlier one."""

    number: int
    steps_from: Callable[[int], list[str]]


class Versions(NamedTuple):
    """The vault has none where it is not made yet, or lies where only its own login comes."""

    log: Version
    vault: Version


def shown(place: Place) -> str:
    """A place as it can be given again from anywhere, without its passwords."""
    return str(place.resolve()) if isinstance(place, Path) else place.without_passwords


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
