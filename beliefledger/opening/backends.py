"""What lies at a place, on either backend: opens it, makes it, brings it up to date."""

# What a server needs is imported where one is meant, so that the embedded ledger opens quickly:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from beliefledger.ledger.errors import CopyUnfinished
from beliefledger.ledger.sqlite import upgrades
from beliefledger.ledger.sqlite.schema import UPGRADES as LOG_UPGRADES
from beliefledger.ledger.sqlite.vault import UPGRADES as VAULT_UPGRADES
from beliefledger.ledger.unfinished import Unfinished
from beliefledger.opening.directory import open_directory
from beliefledger.opening.place import (
    Copy,
    NoLedger,
    Opened,
    Place,
    Version,
    Versions,
    is_server,
    place_of,
    shown,
)
from beliefledger.settings import Settings


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
        opened = open_directory(place, settings, create=False)
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


def _open(place: Place, settings: Settings, *, create: bool) -> Opened:
    if isinstance(place, Path):
        return open_directory(place, settings, create=create)
    from beliefledger.opening import postgres

    return postgres.open_server(place, settings, create=create)
