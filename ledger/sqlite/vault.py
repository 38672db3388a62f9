"""The vault in a file (`keys.db`).

The journal is a rollback journal, which is unlinked at commit, and `secure_delete` is on: after a
key is destroyed no file here holds its bytes, not even wrapped.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ledger.errors import BackendUnavailable, CallerMistake, LedgerError, LogCorrupted

T = TypeVar("T")

_BROKEN = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What a call on the database can raise; in its messages SQLite quotes damaged names."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS keys (
    subject_ref TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    kek_id TEXT NOT NULL,
    lookup BLOB NOT NULL UNIQUE,
    wrapped BLOB NOT NULL,
    sealed_id BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS tombstones (
    subject_ref TEXT PRIMARY KEY,
    lookup BLOB NOT NULL,
    erased_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS tombstones_by_lookup ON tombstones (lookup);
CREATE TABLE IF NOT EXISTS principals (
    principal_ref TEXT PRIMARY KEY,
    lookup BLOB NOT NULL UNIQUE,
    sealed_name BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS erasures (
    erasure TEXT PRIMARY KEY,
    subject_ref TEXT NOT NULL,
    events BLOB NOT NULL,
    erased_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS erasures_by_subject ON erasures (subject_ref);
"""


class SQLiteVault:
    """Opens the file, making it when it is not there. It shows every tenant's rows."""

    tenant: str | None = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._process = os.getpid()
        fresh = not path.exists()
        try:
            self._db = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=10
            )
        except _BROKEN as problem:
            raise _named(path, problem) from problem
        try:
            if fresh:
                path.chmod(0o600)
            self._db.execute("PRAGMA secure_delete=ON")
            self._db.execute("PRAGMA synchronous=FULL")
            # A rotation changes every page: with less, each spill syncs the journal once more.
            self._db.execute("PRAGMA cache_size=-65536")
            there = "SELECT 1 FROM sqlite_master WHERE name = 'erasures_by_subject'"
            if not self._db.execute(there).fetchone():
                self._db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT")
            self._seen = self._data_version()
        except _BROKEN as problem:
            self._db.close()
            raise _named(path, problem) from problem

    def __str__(self) -> str:
        return str(self._path)

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        self._check_process()
        with self._lock:
            try:
                return self._db.execute(_plain(statement), values).fetchall()
            except _BROKEN as problem:
                raise _named(self._path, problem) from problem

    def write(self, work: Callable[[SQLiteTransaction], T]) -> T:
        with self.writing() as transaction:
            return work(transaction)

    @contextmanager
    def writing(self) -> Iterator[SQLiteTransaction]:
        self._check_process()
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    yield SQLiteTransaction(self._db)
                    self._db.execute("COMMIT")
                finally:
                    if self._db.in_transaction:
                        self._db.execute("ROLLBACK")
            except _BROKEN as problem:
                raise _named(self._path, problem) from problem

    def changed(self, mark: int | None) -> bool:
        """Whether another connection wrote anything; asking costs so little that no mark helps."""
        with self._lock:
            seen = self._data_version()
            moved = seen != self._seen
            self._seen = seen
            return moved

    def _data_version(self) -> int:
        return int(self.rows("PRAGMA data_version")[0][0])

    def scrub(self) -> None:
        """Nothing is left to be done: what is deleted is overwritten in the same commit."""

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise CallerMistake(f"{self._path} was opened before a fork: open it in the child.")

    def close(self) -> None:
        if os.getpid() == self._process:
            with self._lock:
                self._db.close()


class SQLiteTransaction:
    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self._db.execute(_plain(statement), values).fetchall()

    def run(self, statement: str, *values: Sequence[object]) -> None:
        self._db.executemany(_plain(statement), values)


def _plain(statement: str) -> str:
    return statement.replace("vault.", "")


def _named(path: Path, problem: Exception) -> LedgerError:
    if isinstance(problem, sqlite3.ProgrammingError):
        return CallerMistake(f"The vault {path} was closed: open it again.")
    if isinstance(problem, sqlite3.OperationalError):
        return BackendUnavailable(f"The vault {path} did not answer: {problem}.")
    return LogCorrupted(f"The vault {path} is damaged: {problem}.")
