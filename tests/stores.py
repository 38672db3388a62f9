"""Opens the stores, vaults and logs of tests: in a directory, or in a schema on a Postgres."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from beliefledger.ledger.log import Log
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres import vault as postgres_vault
from beliefledger.ledger.postgres.server import PostgresURL, Server, is_postgres
from beliefledger.ledger.postgres.store import PostgresEventStore
from beliefledger.ledger.sqlite import SQLiteEventStore
from beliefledger.ledger.store import EventStore
from beliefledger.ledger.times import Micros
from beliefledger.ledger.vault import Vault

MASTER = MasterKey(bytes(range(32)))


def store_at(place: str, **how: float) -> EventStore:
    """The store of a place, made if it is not there. What else is given is for one on Postgres."""
    if not is_postgres(place):
        Path(place).mkdir(exist_ok=True)
        return SQLiteEventStore(Path(place) / "log.db")
    server = Server(PostgresURL.parse(place))
    schema.init(server)
    schema.check(server)
    return PostgresEventStore(server, **how)


def vault_at(place: str) -> Vault:
    """The vault of a place, made if it is not there."""
    if not is_postgres(place):
        return Vault(Path(place) / "keys.db", MASTER)
    server = Server(PostgresURL.parse(place))
    postgres_vault.init(server)
    return Vault(postgres_vault.PostgresVault(server), MASTER)


def log_at(place: str, clock: Callable[[], Micros]) -> Log:
    """The log of a place over its store and vault, which are made if they are not there."""
    with ExitStack() as opened:  # what was opened is closed again when a later step fails
        store = store_at(place)
        opened.callback(store.close)
        vault = vault_at(place)
        opened.callback(vault.close)
        log = Log(store, vault, clock=clock)
        opened.pop_all()
    return log
