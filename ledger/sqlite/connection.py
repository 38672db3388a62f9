"""Connections to SQLite, and the queue of writers."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

from eventsourcing.persistence import InterfaceError
from eventsourcing.sqlite import SQLiteConnection, SQLiteConnectionPool, SQLiteDatastore


class _Pool(SQLiteConnectionPool):
    """Connections of our own making: durable WAL, a real statement cache, deleted bytes zeroed."""

    def _create_connection(self) -> SQLiteConnection:
        try:
            made = sqlite3.connect(
                self.db_name,
                uri=self.db_name.startswith("file:"),
                isolation_level=None,
                check_same_thread=False,
                cached_statements=128,
                timeout=self.lock_timeout or 10,
            )
        except sqlite3.Error as problem:
            raise InterfaceError(problem) from problem
        try:
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
                made.execute("PRAGMA " + pragma).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as problem:
            made.close()
            raise InterfaceError(problem) from problem
        made.row_factory = sqlite3.Row
        return SQLiteConnection(made, max_age=self.max_age)


class Datastore(SQLiteDatastore):
    """eventsourcing's SQLite datastore over our connections."""

    def __init__(self, path: str) -> None:
        super().__init__(path, originator_id_type="uuid")
        self.pool = _Pool(
            db_name=path, lock_timeout=10, pool_timeout=60, pool_size=32, max_overflow=32
        )


class WriteQueue:
    """Writers of all processes wait in turn on a lock file.

    SQLite's busy handler sleeps and retries, so that a writer can starve; a file lock wakes.
    """

    def __init__(self, path: Path | None) -> None:
        self.lock = threading.Lock()
        """Held by the thread of this process whose turn it is."""
        self._file = None if path is None else os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def turn(self) -> WriteQueue:
        """Enter it to have the turn, and leave it to hand over."""
        return self

    def __enter__(self) -> None:
        self.lock.acquire()
        if self._file is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX)
            except BaseException:  # it is raised on, and nobody has the turn
                self.lock.release()
                raise

    def __exit__(self, *_raised: object) -> None:
        try:
            if self._file is not None:
                fcntl.flock(self._file, fcntl.LOCK_UN)
        finally:
            self.lock.release()

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def make_private(path: Path) -> None:
    """Make the file if it is not there, readable by its owner; SQLite gives the files beside it the
    same mode. An existing file is not even opened: closing it would drop SQLite's locks on it."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
