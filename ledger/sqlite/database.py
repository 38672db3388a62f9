"""One SQLite file: its connections, its queue of writers, and the transactions over them."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eventsourcing.persistence import InterfaceError, OperationalError
from eventsourcing.sqlite import SQLiteConnection, SQLiteConnectionPool

from beliefledger.ledger.errors import (
    AppendUncertain,
    BackendUnavailable,
    CallerMistake,
    CopyUnfinished,
)
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.sqlite.connection import Datastore, WriteQueue, make_private
from beliefledger.ledger.sqlite.faults import fault

_AT_HAND = 8
"""How many connections are kept beside the pool."""


class Database:
    """Safe to use from several threads of the process that opened it.

    `step` is called before each step of a write with its name: where tests let it fail.
    """

    def __init__(self, path: Path, step: Callable[[str], None]) -> None:
        self.path = path
        in_memory = SQLiteConnectionPool.detect_memory_mode(str(path))
        self._step = step
        self._process = os.getpid()
        self._using_lock = threading.Lock()
        self._idle = threading.Condition(self._using_lock)
        self._read_only: str | None = None
        self._using = 0
        self._spare: list[SQLiteConnection] = []
        """Connections of the pool that are at hand, and used by nobody."""
        self._closed = False
        try:
            if not in_memory:
                make_private(path)
            self.queue = WriteQueue(None if in_memory else path.with_name("write.lock"))
        except OSError as problem:
            raise file_fault(f"{path} cannot be opened", problem) from problem
        self.datastore = Datastore(str(path))

    def only_read(self, why: str) -> None:
        """From now on refuse to write, by a `CopyUnfinished` that says why."""
        self._read_only = why

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Cursor]:
        """One write transaction. Leaving it rolls back unless the commit went through."""
        self.check_process()
        if self._read_only is not None:
            raise CopyUnfinished(self._read_only)
        with self.queue.turn(), self.connection(writing=True) as raw:
            cursor = raw.cursor()
            try:
                cursor.execute("BEGIN IMMEDIATE")
                self._step("begun")
                yield cursor
                if raw.in_transaction:
                    self.commit(cursor)
            finally:
                cursor.close()
                if raw.in_transaction:
                    raw.rollback()

    @contextmanager
    def connection(self, *, writing: bool) -> Iterator[sqlite3.Connection]:
        """A connection from the pool. What SQLite says over it is raised as our own errors."""
        self.check_process()
        with self._using_lock:
            if self._closed:
                raise CallerMistake(f"{self.path} was closed: open it again.")
            self._using += 1
            connection = self._spare.pop() if self._spare else None
        try:
            if connection is None:
                connection = self._from_pool(writing)
            try:
                yield connection._sqlite_conn  # noqa: SLF001  its cursor hides row counts
            finally:
                self._put_back(connection)
        except (
            sqlite3.DatabaseError,
            InterfaceError,
            OperationalError,
            UnicodeDecodeError,  # SQLite quotes damaged names in its messages
        ) as problem:
            raise fault(str(self.path), self.path, problem) from problem
        finally:
            with self._using_lock:
                self._using -= 1
                if self._closed:
                    self._idle.notify_all()

    def _from_pool(self, writing: bool) -> SQLiteConnection:
        pool = self.datastore.pool
        # The pool's own lock on writers stays locked for good when a connection cannot be made.
        return pool.get_connection(is_writer=writing if pool.is_sqlite_memory_mode else None)

    def _put_back(self, connection: SQLiteConnection) -> None:
        """To those at hand: to give one to the pool and take it again takes longer than most
        questions do."""
        with self._using_lock:
            kept = len(self._spare) < _AT_HAND and not self.datastore.pool.is_sqlite_memory_mode
            if kept:
                self._spare.append(connection)
        if not kept:
            self.datastore.pool.put_connection(connection)

    def check_process(self) -> None:
        if os.getpid() != self._process:
            raise CallerMistake(f"{self.path} was opened before a fork: open it in the child.")

    def commit(self, cursor: sqlite3.Cursor) -> None:
        self._step("commit")
        try:
            cursor.execute("COMMIT")
            self._step("committed")
        except sqlite3.OperationalError as problem:
            still_open = cursor.connection.in_transaction
            if still_open and problem.sqlite_errorcode & 0xFF in {
                sqlite3.SQLITE_BUSY,
                sqlite3.SQLITE_FULL,
            }:
                raise  # nothing was written: the transaction is still there to be rolled back
            raise AppendUncertain(f"Committing to {self.path} failed: {problem}.") from problem

    def fetch(self, statement: str, values: Sequence[object]) -> list[Any]:
        with self.connection(writing=False) as connection:
            cursor = connection.cursor()
            cursor.row_factory = None
            return cursor.execute(statement, values).fetchall()

    def truncate_wal(self) -> None:
        """Move the zeroed pages into the file and empty the WAL, where the old ones still lie."""
        with self.queue.turn(), self.connection(writing=True) as connection:
            if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise BackendUnavailable(
                    f"{self.path} is being read by a process that does not let go, so deleted"
                    " bodies may still lie in its WAL."
                )

    def close(self) -> None:
        """What is under way in other threads ends first: closing a connection in use crashes the
        process. In a child of the process that opened it there is nothing to close."""
        if os.getpid() != self._process:
            return
        self._closed = True
        with self.queue.lock, self._idle:
            self._idle.wait_for(lambda: not self._using)
            while self._spare:
                self.datastore.pool.put_connection(self._spare.pop())
            self.datastore.close()
            self.queue.close()
