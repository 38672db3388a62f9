"""Stores and logs as the processes of these tests open them, and events to put into them."""

from __future__ import annotations

from pathlib import Path

from beliefledger.ledger import codec
from beliefledger.ledger.codec import New
from beliefledger.ledger.events.turn import TurnParked
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres.server import PostgresURL, Server, is_postgres
from beliefledger.ledger.postgres.store import PostgresEventStore
from beliefledger.ledger.sqlite import SQLiteEventStore
from beliefledger.ledger.store import EventStore, Sealed
from beliefledger.ledger.times import system_clock
from beliefledger.ledger.vault import Vault

MASTER = MasterKey(bytes(range(32)))


def open_store(place: str, **how) -> EventStore:
    """The store at a URL of Postgres, made if it is not there, or in a directory."""
    if not is_postgres(place):
        return SQLiteEventStore(Path(place) / "log.db")
    server = Server(PostgresURL.parse(place))
    schema.init(server)
    schema.check(server)
    return PostgresEventStore(server, **how)


def open_log(place: str, directory: str | Path, **how) -> Log:
    """A log whose vault is in the directory."""
    vault = Vault(Path(directory) / "keys.db", MASTER)
    return Log(open_store(place, **how), vault, clock=system_clock)


def sealed(stream: str, first: int, count: int = 1, ids: list[str] | None = None) -> list[Sealed]:
    """Events of a stream from version `first` on, ready to be appended, that every log can read."""
    vault = None  # nobody's events need no key
    return [
        codec.seal(
            New(TurnParked(attempts=version), ids[n] if ids else new_id(), stream, None),
            version,
            "default",
            vault,
        )
        for n, version in enumerate(range(first, first + count))
    ]


def ids_of(batch) -> list[str]:
    return [each.address.event_id for each in batch]
