"""A ledger in a directory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from beliefledger.ledger.errors import BackendUnavailable, BackendUnusable, LogCorrupted
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.log import Log
from beliefledger.ledger.proofs.tiles import DirectoryTiles
from beliefledger.ledger.sqlite import SQLiteEventStore, upgrades
from beliefledger.ledger.sqlite.schema import UPGRADES as LOG_UPGRADES
from beliefledger.ledger.sqlite.vault import UPGRADES as VAULT_UPGRADES
from beliefledger.opening.backend import Backend, Opening
from beliefledger.opening.place import (
    DEFAULT_TENANT,
    KEY_FILE,
    PROOFS,
    NoLedger,
    Opened,
    Version,
)
from beliefledger.projections.projector import Projector
from beliefledger.projections.view import View
from beliefledger.projections.view_databases import SQLiteHome
from beliefledger.settings import Settings


class Directory(Backend):
    """`log.db`, `keys.db` and what belongs to them. Nobody has to prepare it: files are made, and
    brought up to date, when they are opened."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def exists(self) -> bool:
        return (self._path / "log.db").exists()

    def has_vault(self) -> bool:
        return (self._path / "keys.db").exists()

    def begin(self, settings: Settings, *, create: bool) -> Opening:
        path = self._path
        if not create and not self.exists():
            if self.has_vault():
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
        return _InDirectory(self, path, settings.master_key_file or path / KEY_FILE)

    def prepare(self, settings: Settings) -> None:
        """Nothing has to be."""

    def names(self, settings: Settings) -> list[str]:
        return []

    def rights(self, settings: Settings) -> list[str]:
        return []

    def log_version(self) -> Version:
        return _version(self._path / "log.db", LOG_UPGRADES)

    def vault_version(self) -> Version:
        return _version(self._path / "keys.db", VAULT_UPGRADES)

    def upgrade(self, settings: Settings, open_: Callable[[], Opened]) -> None:
        opened = open_()
        opened.store.close()
        opened.vault.close()


def _version(file: Path, known: Sequence[upgrades.Upgrade]) -> Version:
    return Version(upgrades.version_of(file), partial(upgrades.steps, known))


class _InDirectory(Opening):
    def __init__(self, backend: Directory, path: Path, key_file: Path) -> None:
        self.tenant = DEFAULT_TENANT
        self.directory = path
        self.key_file = key_file
        self._backend = backend
        self._views = path / "views" / "views.db"

    def has_vault(self) -> bool:
        return self._backend.has_vault()

    def make(self) -> None:
        """The store makes its file."""

    def check(self) -> None:
        """The store looks at its file."""

    def is_new(self) -> bool:
        return not self._backend.exists()

    def store(self) -> SQLiteEventStore:
        return SQLiteEventStore(self.directory / "log.db")

    def replica(self) -> None:
        """None: it is on this machine alone."""

    def tiles(self) -> DirectoryTiles:
        return DirectoryTiles(self.directory / PROOFS)

    def home(self) -> SQLiteHome:
        return SQLiteHome(self._views)

    def views(self, log: Log, views: Sequence[View]) -> Projector:
        return _projector(log, self._views, views)

    def warnings(self, *, vault_beside: bool) -> Sequence[str]:
        return ()

    def close(self) -> None:
        """Nothing is open before the store is."""


def _projector(log: Log, path: Path, views: Sequence[View]) -> Projector:
    """A projector over a SQLite file; a file that is damaged is thrown away and folded anew."""
    home = SQLiteHome(path)
    try:
        return Projector(log, home, views)
    except (BackendUnavailable, BackendUnusable) as problem:
        if not home.discard(problem):
            raise
    return Projector(log, SQLiteHome(path), views)
