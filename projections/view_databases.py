"""The databases that hold views: the port, and its SQLite implementation.

What a home guarantees:
- A read is one snapshot: tables that it may look at are there until it ends.
- Writers take turns, over all processes, from before their first look until their commit. One that
  dies lets go at once.
- Nobody else rebuilds while one rebuilds.
"""

from __future__ import annotations

import fcntl
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import URL, Connection, Engine, Index, Table, create_engine, event, inspect
from sqlalchemy.exc import DBAPIError, InvalidRequestError
from sqlalchemy.exc import OperationalError as SQLOperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement

from beliefledger.ledger.errors import (
    BackendUnavailable,
    BackendUnusable,
    LedgerError,
    LogCorrupted,
)
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.sqlite.faults import fault
from beliefledger.projections.compiled import STATEMENTS
from beliefledger.projections.tables import WHERE

REBUILD_RUNS = (
    "A rebuild of the views is running and has not ended in time. What was begun stays open: do it"
    " again once the rebuild is over, or open the ledger again, to go on with it."
)
_IF_DAMAGED = (
    "If they are damaged, close the ledger, delete its views directory and open it again: they are"
    " folded anew."
)
_ASK_AGAIN = 0.02
_TRIES = 100


class StillRead(Exception):
    """A table that is to be dropped is being read; it can be dropped later."""


class Home(ABC):
    """A database that keeps views. Nothing in it is the truth: all of it can be folded anew."""

    engine: Engine
    own_columns: frozenset[str] = frozenset()
    """Columns that it adds to every table for its own use."""

    @contextmanager
    def _transaction(self, **options: Any) -> Iterator[Connection]:
        driver = self.engine.dialect.loaded_dbapi
        try:
            with (
                self._connected().execution_options(**options) as connection,
                connection.begin(),
            ):
                yield connection
        except (DBAPIError, PoolTimeout, driver.Error) as problem:
            raise self._unavailable(problem) from problem

    def _connected(self) -> Connection:
        try:
            return self.engine.connect()
        except InvalidRequestError as problem:  # each that the pool tried was ended by the server
            raise self._unavailable(problem) from problem

    @abstractmethod
    def _unavailable(self, problem: Exception) -> BackendUnavailable | BackendUnusable:
        """The error with what the database said and what to do next."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one snapshot."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Connection]:
        """A write transaction; writers take turns."""

    @abstractmethod
    def filling(self, tables: Sequence[Table]) -> AbstractContextManager[Connection]:
        """A transaction that fills tables which are not in use yet."""

    @abstractmethod
    def clearing(self) -> AbstractContextManager[Connection]:
        """As `writing`, when nobody reads, so that tables can be dropped that were in use.

        Raises `StillRead`.
        """

    @abstractmethod
    def rebuilding(
        self, seconds: float | None = None
    ) -> AbstractContextManager[Callable[[], None]]:
        """A lock on rebuilding, over all processes. Yields a function that checks that it still
        holds and raises `BackendUnavailable` if not; so does waiting longer than `seconds`."""

    def create(self, connection: Connection, table: Table) -> None:
        """Make a table that is not there, without its indexes."""
        self.run(connection, self.statements(connection, table))

    def statements(self, connection: Connection, table: Table) -> list[str]:
        """What makes a table that is not there, without its indexes."""
        return [making(connection, table)]

    def index(self, connection: Connection, indexes: Sequence[Index]) -> None:
        """Make indexes that are not there."""
        self.run(connection, [making(connection, index) for index in indexes])

    def run(self, connection: Connection, statements: Sequence[str]) -> None:
        """Run statements that have no values and give no rows."""
        for statement in statements:
            connection.exec_driver_sql(statement)

    @abstractmethod
    def settle(self, connection: Connection, tables: Sequence[Table]) -> None:
        """Prepare filled tables for queries."""

    def table_names(self, connection: Connection) -> list[str]:
        return inspect(connection).get_table_names()

    @abstractmethod
    def columns(self, connection: Connection) -> dict[str, set[str]]:
        """The names of the columns of every table that there is, by the table's name; without
        `own_columns`."""

    @abstractmethod
    def scrub(self) -> None:
        """Remove deleted rows from the files."""

    @abstractmethod
    def rewrite(self, table: Table) -> None:
        """As `scrub`, for a table of rows that are sealed under a living key. Raises
        `BackendUnavailable` while somebody reads deleted ones."""

    @abstractmethod
    def beside(self, name: str) -> Home:
        """A database for tables that are no view: a file of its own beside this one, or this
        one."""

    def discard(self, problem: BackendUnavailable | BackendUnusable) -> bool:
        """Delete the database if the problem shows that it is damaged; False if it is another
        problem."""
        return False

    def close(self) -> None:
        self.engine.dispose()


_COLUMNS = """
SELECT t.name, c.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'
"""


def gathered(pairs: Iterable[Any]) -> dict[str, set[str]]:
    """Tables and their columns, from pairs of names."""
    found: dict[str, set[str]] = {}
    for table, column in pairs:
        found.setdefault(table, set()).add(column)
    return found


_made: WeakKeyDictionary[Table | Index, dict[str, str]] = WeakKeyDictionary()
"""By table and kind of database. It goes with the table: a rebuild makes others."""


def making(connection: Connection, new: Table | Index) -> str:
    """The statement that makes a table or an index. It is put together once in a process, which
    takes longer than to run it."""
    known, dialect = _made.setdefault(new, {}), connection.dialect.name
    if dialect not in known:
        make: DDLElement
        if isinstance(new, Table):
            make = CreateTable(new, if_not_exists=True)
        else:
            make = CreateIndex(new, if_not_exists=True)
        some = f" WHERE {new.info[WHERE]}" if WHERE in new.info else ""
        known[dialect] = f"{make.compile(dialect=connection.dialect)}{some}"
    return known[dialect]


def _patiently(work: Callable[[], object], locked: type[Exception]) -> None:
    """Retries while another process opens a new file: SQLite does not wait by itself to change the
    journal mode."""
    for tries_left in reversed(range(_TRIES)):
        try:
            work()
            return
        except locked:
            if not tries_left:
                raise
            time.sleep(0.05)


def sqlite_engine(path: Path) -> Engine:
    """An engine over a disposable SQLite file, whose write transactions begin at once."""
    url = URL.create("sqlite", database=str(path))  # a path may hold any character
    engine = create_engine(
        url, connect_args={"timeout": 30}, execution_options={"compiled_cache": STATEMENTS}
    )
    locked = engine.dialect.loaded_dbapi.OperationalError

    @event.listens_for(engine, "connect")
    def _connect(raw: Any, _: Any) -> None:
        raw.isolation_level = None
        # Lost on power failure, these files are rebuilt; so they need not wait for the disk.
        for pragma in ("synchronous=OFF", "journal_mode=WAL", "secure_delete=ON"):
            _patiently(partial(raw.execute, f"PRAGMA {pragma}"), locked)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("writing", False)
        raw: Any = connection.connection.driver_connection  # by itself in a tenth of the time
        raw.execute("BEGIN IMMEDIATE" if writing else "BEGIN").close()

    return engine


class SQLiteHome(Home):
    """Views in a SQLite file, where a snapshot holds tables too that are dropped meanwhile."""

    def __init__(self, path: Path) -> None:
        self.engine = sqlite_engine(path)
        self._path = path

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._transaction() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._transaction(writing=True) as connection:
            yield connection

    @contextmanager
    def filling(self, tables: Sequence[Table]) -> Iterator[Connection]:
        with self.writing() as connection:
            yield connection

    @contextmanager
    def clearing(self) -> Iterator[Connection]:
        with self.writing() as connection:
            yield connection

    @contextmanager
    def rebuilding(self, seconds: float | None = None) -> Iterator[Callable[[], None]]:
        lock = self._path.with_name(f"{self._path.name}.rebuild")
        try:
            file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as problem:
            raise file_fault(f"{lock} cannot be opened", problem) from problem
        try:
            if seconds is None:
                fcntl.flock(file, fcntl.LOCK_EX)
            else:
                self._lock_within(file, seconds)
            yield lambda: None  # the lock stays as long as the file is open
        finally:
            os.close(file)

    @staticmethod
    def _lock_within(file: int, seconds: float) -> None:
        """Polls for the file lock, which has no timeout of its own."""
        until = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise BackendUnavailable(REBUILD_RUNS) from None
                time.sleep(_ASK_AGAIN)
            else:
                return

    def run(self, connection: Connection, statements: Sequence[str]) -> None:
        """By the driver: dozens make a new file, and SQLAlchemy takes longer for each than SQLite
        does."""
        raw: Any = connection.connection.driver_connection
        for statement in statements:
            raw.execute(statement)

    def settle(self, connection: Connection, tables: Sequence[Table]) -> None:
        """Does nothing: SQLite's planner needs no statistics for these queries."""

    def columns(self, connection: Connection) -> dict[str, set[str]]:
        return gathered(connection.exec_driver_sql(_COLUMNS))

    def scrub(self) -> None:
        """Empty the WAL, where deleted rows may still lie; in the file itself they are zeros.

        Raises `BackendUnavailable` while another process reads them there.
        """
        with self.engine.connect() as connection:
            raw = connection.connection.driver_connection
            if raw is not None and raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise BackendUnavailable(
                    "The views are being read by a process that does not let go, so deleted rows"
                    " may still lie in their WAL."
                )

    def rewrite(self, table: Table) -> None:
        self.scrub()

    def discard(self, problem: BackendUnavailable | BackendUnusable) -> bool:
        if isinstance(problem.__cause__, SQLOperationalError):
            return False  # locked, full, not to be opened: nothing is wrong with the file itself
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        return True

    def beside(self, name: str) -> Home:
        return SQLiteHome(self._path.with_name(f"{name}.db"))

    def _unavailable(self, problem: Exception) -> BackendUnavailable | BackendUnusable:
        told: LedgerError = fault(f"The views did not answer: {self._path}", self._path, problem)
        if isinstance(told, BackendUnusable):
            return told
        kind = BackendUnusable if isinstance(told, LogCorrupted) else BackendUnavailable
        return kind(f"{told.detail} {_IF_DAMAGED}")
