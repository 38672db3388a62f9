"""What lies at a place, on either backend: opens it, makes it, brings it up to date."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from beliefledger.ledger import key_rotation
from beliefledger.ledger.errors import CopyUnfinished
from beliefledger.ledger.fence import Fence
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.unfinished import Unfinished
from beliefledger.ledger.vault import Vault
from beliefledger.opening.backend import Backend
from beliefledger.opening.place import (
    Copy,
    NoLedger,
    Opened,
    Place,
    Versions,
    is_server,
    key_file,
    master_key,
    shown,
)
from beliefledger.opening.signing import Signing, key_place
from beliefledger.opening.vaults import open_vault, vault_place
from beliefledger.settings import Settings


def exists(place: Place) -> bool:
    """Whether there is a ledger. Raises `BackendUnavailable` for a server that does not answer."""
    return _backend_of(place).exists()


def has_vault(place: Place) -> bool:
    """Whether a ledger has its vault with it; else it is where the environment says."""
    return _backend_of(place).has_vault()


@contextmanager
def preparing(place: Place, settings: Settings) -> Iterator[list[str]]:
    """Make on a server what a ledger needs and is not there, with the rights of the database's
    owner; open the ledger inside. At the end the list has the names of what was made."""
    made: list[str] = []
    backend = _backend_of(place)
    before = backend.names(settings)
    backend.prepare(settings)
    yield made
    made += [name for name in backend.names(settings) if name not in before]


def rights(place: Place, settings: Settings) -> list[str]:
    """The statements that let a login work with a ledger on a server, and no more."""
    return _backend_of(place).rights(settings)


def versions(place: Place, settings: Settings) -> Versions:
    """Of what format a ledger is, which may be older or newer than what this program writes.

    Raises `NoLedger`.
    """
    log = _backend_of(place).log_version()
    if log.number == 0 and (is_server(place) or not exists(place)):
        raise NoLedger(f"There is no ledger at {place}.")
    return Versions(log, _backend_of(vault_place(place, settings)).vault_version())


def upgrade(place: Place, settings: Settings) -> None:
    """Bring what lies at a place up to date: the log, and its vault. Done again, nothing changes.

    On a server this needs the rights of the database's owner, and no key; a directory is brought
    up to date whenever it is opened. Raises `NoLedger`, and `OlderProgram` for what a newer
    beliefledger wrote.
    """
    _backend_of(place).upgrade(settings, lambda: _open(place, settings, create=False))


def open_place(
    place: Place, settings: Settings, *, create: bool, unfinished: Copy = "refuse"
) -> Opened:
    """Open what lies at a place, with `create` making it when it is not there. An `unfinished` copy
    is refused, or only read, or opened to be completed. One that is moved is opened as it is: the
    database refuses what is written to it.

    Raises `KeyMissing` for a wrong master key, before anything is written, and `CopyUnfinished`.
    """
    opened = _open(place, settings, create=create)
    note = None if unfinished == "complete" else opened.store.unfinished()
    if note is None:
        return opened
    fence = Fence.read(note)
    if fence is not None:
        return replace(opened, warnings=(fence.told, *opened.warnings))
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
    """The vault first: its commit comes before the first append."""
    with ExitStack() as closing:  # what was opened is closed again when a later step fails
        opening = _backend_of(place).begin(settings, create=create)
        closing.callback(opening.close)
        file = opening.key_file
        master, made = master_key(settings, file, lambda: not create or opening.has_vault())
        if create:
            opening.make()
        opening.check()
        where = vault_place(place, settings)

        def vault_under(master: MasterKey) -> Vault:
            return open_vault(where, master, lambda: create and opening.is_new())

        vault, master = key_rotation.opened(key_file(settings, file), master, vault_under)
        closing.callback(vault.close)
        vault.look_for_keys(partial(key_rotation.keys_in, key_file(settings, file)))
        store = opening.store()
        warnings = tuple(opening.warnings(vault_beside=settings.vault is None))
        closing.pop_all()
    return Opened(
        place=place,
        store=store,
        vault=vault,
        tenant=opening.tenant,
        views=opening.views,
        home=opening.home,
        master_key=master,
        made_key_file=made,
        signing=Signing(store, opening.tiles, key_place(settings, opening.directory)),
        replica=opening.replica(),
        warnings=warnings,
    )


def _backend_of(place: Place) -> Backend:
    """The backend for a place."""
    # Imported where one is meant, so that the embedded ledger opens quickly.
    if isinstance(place, Path):
        from beliefledger.opening.directory import Directory  # noqa: PLC0415

        return Directory(place)
    from beliefledger.opening.postgres import Schema  # noqa: PLC0415

    return Schema(place)
