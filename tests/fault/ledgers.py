"""Stores and logs as the processes of these tests open them, and events to put into them."""

from __future__ import annotations

import sys
from pathlib import Path

from beliefledger.ledger import codec
from beliefledger.ledger.codec import New
from beliefledger.ledger.events.turn import TurnParked
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.store import Sealed
from beliefledger.ledger.times import system_clock
from beliefledger.ledger.vault import Vault

sys.path.insert(0, str(Path(__file__).parent.parent))  # for scripts that are started by their path

from stores import MASTER
from stores import store_at as open_store

__all__ = ["MASTER", "ids_of", "open_log", "open_store", "sealed"]


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
