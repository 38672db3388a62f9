"""The vault at a place of its own, and the making of one."""

# What a server needs is imported where one is meant, so that the embedded ledger opens quickly:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.vault import Vault
from beliefledger.opening.place import may_make_vault, place_of
from beliefledger.settings import Settings

if TYPE_CHECKING:
    from beliefledger.ledger.postgres.server import PostgresURL


def other_vault(
    settings: Settings, master: MasterKey, tenant: str, is_new: Callable[[], bool]
) -> Vault | None:
    """The vault at the place that the environment gives it, if it gives one; made for a ledger
    that is new."""
    if settings.vault is None:
        return None
    place = place_of(settings.vault)
    if not isinstance(place, Path):
        return open_vault(replace(place, tenant=tenant), master, is_new)
    may_make_vault((place / "keys.db").exists, is_new, str(place / "keys.db"))
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as problem:
        raise file_fault(f"{place} cannot hold a vault", problem) from problem
    return Vault(place / "keys.db", master)


def open_vault(
    url: PostgresURL, master: MasterKey, is_new: Callable[[], bool] = lambda: True
) -> Vault:
    """Open a vault, making it for a ledger that is new.

    Raises `KeyMissing` where there is none for a ledger that is not: its vault lies elsewhere.
    """
    from beliefledger.ledger.postgres import vault as postgres_vault
    from beliefledger.ledger.postgres.server import Server

    server = Server(url, size=4)
    try:
        if may_make_vault(lambda: postgres_vault.there(server), is_new, str(url)):
            postgres_vault.init(server)
        database = postgres_vault.PostgresVault(server)
    except BaseException:  # closed again, whatever it is
        server.close()
        raise
    return Vault(database, master)
