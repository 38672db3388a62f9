"""Where a ledger's vault is, and how it is opened or made."""

# What a server needs is imported where one is meant, so that the embedded ledger opens quickly:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.vault import Vault
from beliefledger.opening.place import DEFAULT_TENANT, Place, may_make_vault, place_of
from beliefledger.settings import Settings


def vault_place(place: Place, settings: Settings) -> Place:
    """Where the vault of the ledger at a place is: with it, or where the environment says."""
    if settings.vault is None:
        return place
    named = place_of(settings.vault)
    if isinstance(named, Path):
        return named
    return replace(named, tenant=DEFAULT_TENANT if isinstance(place, Path) else place.tenant)


def open_vault(place: Place, master: MasterKey, is_new: Callable[[], bool] = lambda: True) -> Vault:
    """Open a vault, making it for a ledger that is new.

    Raises `KeyMissing` where there is none for a ledger that is not: its vault lies elsewhere.
    """
    if isinstance(place, Path):
        return _in_directory(place, master, is_new)
    from beliefledger.ledger.postgres import vault as postgres_vault
    from beliefledger.ledger.postgres.server import Server

    server = Server(place, size=4)
    try:
        if may_make_vault(lambda: postgres_vault.there(server), is_new, str(place)):
            postgres_vault.init(server)
        database = postgres_vault.PostgresVault(server)
    except BaseException:  # closed again, whatever it is
        server.close()
        raise
    return Vault(database, master)


def _in_directory(directory: Path, master: MasterKey, is_new: Callable[[], bool]) -> Vault:
    file = directory / "keys.db"
    may_make_vault(file.exists, is_new, str(file))
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as problem:
        raise file_fault(f"{directory} cannot hold a vault", problem) from problem
    return Vault(file, master)
