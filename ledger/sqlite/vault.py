"""The vault in a file (`keys.db`).

The journal is a rollback journal, which is unlinked at commit, and `secure_delete` is on: after a
key is destroyed no file here holds its bytes, not even wrapped.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from beliefledger.ledger.errors import (
    CallerMistake,
    LedgerError,
    LogCorrupted,
    OlderProgram,
)
from beliefledger.ledger.sqlite.faults import fault
from beliefledger.ledger.sqlite.upgrades import Upgrade, bring_up_to_date, statements

T = TypeVar("T")

_SHAPE = (
    "SELECT type, name, CASE WHEN type IN ('trigger', 'view') THEN sql END FROM sqlite_master"
    " WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'"
)
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
CREATE TABLE IF NOT EXISTS register (
    serial INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    lookup BLOB,
    detail TEXT NOT NULL,
    chain BLOB NOT NULL,
    mac BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS register_by_lookup ON register (lookup);
CREATE INDEX IF NOT EXISTS register_by_ref ON register (kind, ref) WHERE kind <> 'key';
-- A rotation of the master key writes `mac` anew, and that alone.
CREATE TRIGGER IF NOT EXISTS register_refuses_update
    BEFORE UPDATE OF serial, kind, ref, lookup, detail, chain ON register
    BEGIN SELECT RAISE(ABORT, 'the register is append-only'); END;
CREATE TRIGGER IF NOT EXISTS register_refuses_delete BEFORE DELETE ON register
    BEGIN SELECT RAISE(ABORT, 'the register is append-only'); END;
-- Also stops INSERT OR REPLACE, which fires neither of the two above.
CREATE TRIGGER IF NOT EXISTS register_only_grows BEFORE INSERT ON register
    WHEN NEW.serial IS NOT (SELECT coalesce(max(serial), 0) + 1 FROM register)
    BEGIN SELECT RAISE(ABORT, 'serial is not the next one'); END;
"""
UPGRADES = (
    Upgrade(2, "the register of erased content is there in every vault"),
    Upgrade(3, "a register of what the vault ever came to hold, which is filled when it is opened"),
)
"""How an older vault becomes one of today; see those of the log. It began to have a version with 2,
which is what the one in a Postgres had by then."""


class SQLiteVault:
    """Opens the file, making it when it is not there. It shows every tenant's rows."""

    tenant: str | None = None
    found: int
    """The version of its tables when it was opened; they are of the newest since."""

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
            self.found = bring_up_to_date(
                self._db, f"The vault {path}", statements(_SCHEMA), UPGRADES
            )
            self._seen = self._data_version()
        except _BROKEN as problem:
            self._db.close()
            raise _named(path, problem) from problem
        except OlderProgram:
            self._db.close()
            raise

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
        # As `rows`, without what it does to a statement: this is asked before everything else.
        self._check_process()
        with self._lock:
            try:
                return int(self._db.execute("PRAGMA data_version").fetchone()[0])
            except _BROKEN as problem:
                raise _named(self._path, problem) from problem

    def scrub(self) -> None:
        """Nothing is left to be done: what is deleted is overwritten in the same commit."""

    def damage(self) -> str | None:
        told: str = self.rows("PRAGMA integrity_check(1)")[0][0]
        return None if told == "ok" else f"the database file {self._path} is damaged: {told}"

    def rewired(self) -> str | None:
        """Which trigger, view or table there is that was never made here, or is gone: a trigger may
        keep what is deleted, or keep it from being deleted."""
        with closing(sqlite3.connect(":memory:")) as new:
            for statement in statements(_SCHEMA):
                new.execute(statement)
            made = {row[:2]: row[2] for row in new.execute(_SHAPE)}
        there = {row[:2]: row[2] for row in self.rows(_SHAPE)}
        for kind, name in sorted(made.keys() | there.keys()):
            if (kind, name) not in made:
                return f"the {kind} {name!r} in {self._path} is none of the vault's"
            if (kind, name) not in there:
                return f"the {kind} {name!r} in {self._path} is missing"
            if made[kind, name] != there[kind, name]:
                return f"the {kind} {name!r} in {self._path} was changed"
        return None

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
    told = fault(f"The vault {path}", path, problem)
    if isinstance(told, LogCorrupted):
        return LogCorrupted(f"The vault {path} is damaged: {problem}.")
    return told
