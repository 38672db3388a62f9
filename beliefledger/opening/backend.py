"""The port to what lies at a place: a directory, or a schema on a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from beliefledger.ledger.log import Log
from beliefledger.ledger.proofs.tiles import TileStore
from beliefledger.ledger.replica import Replica
from beliefledger.ledger.store import EventStore
from beliefledger.opening.place import Opened, Version
from beliefledger.projections.projector import Projector
from beliefledger.projections.view import View
from beliefledger.projections.view_databases import Home
from beliefledger.settings import Settings


class Opening(Protocol):
    """A ledger that is being opened. Its parts are asked for in the order in which they are here;
    what they need stays open until the store is closed."""

    tenant: str
    directory: Path | None
    """Where it lies, if it lies in one."""
    key_file: Path | None
    """The master key's file, there or not; None where nobody names one."""

    def has_vault(self) -> bool:
        """Whether a vault is beside it."""
        ...

    def make(self) -> None:
        """Make what the store needs and is not there. Only for a ledger that may be made."""
        ...

    def check(self) -> None:
        """Raises what is wrong with it, before anything is read or written."""
        ...

    def is_new(self) -> bool:
        """Whether nothing was ever recorded in it."""
        ...

    def store(self) -> EventStore: ...

    def replica(self) -> Replica | None:
        """What questions may be asked of, if the place names one."""
        ...

    def tiles(self) -> TileStore: ...

    def home(self) -> Home:
        """Where its views are, without looking at any."""
        ...

    def views(self, log: Log, views: Sequence[View]) -> Projector: ...

    def warnings(self, *, vault_beside: bool) -> Sequence[str]:
        """What whoever opens it is to know."""
        ...

    def close(self) -> None:
        """Close what was opened before the store was."""
        ...


class Backend(Protocol):
    """What lies at one place, or may come to lie there."""

    def exists(self) -> bool:
        """Whether there is a ledger."""
        ...

    def has_vault(self) -> bool:
        """Whether there is a vault."""
        ...

    def begin(self, settings: Settings, *, create: bool) -> Opening:
        """Begin to open the ledger. Raises `NoLedger`, unless it may be made."""
        ...

    def prepare(self, settings: Settings) -> None:
        """Make, with an owner's rights, what a ledger needs."""
        ...

    def names(self, settings: Settings) -> list[str]:
        """What there is of that."""
        ...

    def rights(self, settings: Settings) -> list[str]:
        """The statements that let a login work with the ledger, and no more."""
        ...

    def log_version(self) -> Version: ...

    def vault_version(self) -> Version: ...

    def upgrade(self, settings: Settings, open_: Callable[[], Opened]) -> None:
        """Bring the ledger up to date, by opening it where that does it."""
        ...
