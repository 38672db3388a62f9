"""History and bodies in SQLite: the embedded store.

It stands on eventsourcing's SQLite datastore and implements its `ApplicationRecorder`; the ledger
uses the richer `append`. Every write takes the same path: queue on the lock, begin at once, move
the head row first, insert, commit.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from eventsourcing.persistence import (
    IntegrityError,
    InterfaceError,
    Notification,
    OperationalError,
    StoredEvent,
)
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteConnectionPool

from beliefledger.ledger import envelope, steady
from beliefledger.ledger.errors import (
    AppendUncertain,
    BackendUnavailable,
    CallerMistake,
    ClockWentBack,
    CopyUnfinished,
    EventIdReused,
    LedgerError,
    LogCorrupted,
    VersionConflict,
)
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.grouping import GroupCommit, Outcome, Request, Take, appended_before
from beliefledger.ledger.sqlite.connection import Datastore, WriteQueue, make_private
from beliefledger.ledger.sqlite.cursors import SQLiteCursors
from beliefledger.ledger.sqlite.faults import fault
from beliefledger.ledger.sqlite.schema import DAMAGE, SCHEMA, UPGRADES
from beliefledger.ledger.sqlite.upgrades import bring_up_to_date
from beliefledger.ledger.steady import Steadiness
from beliefledger.ledger.store import (
    CLOCK_TOLERANCE,
    ERASURE_TYPES,
    FILED,
    RARE_LISTED,
    RARE_TYPES,
    Appended,
    Cursors,
    ErasedMeanwhile,
    Head,
    Row,
    Sealed,
)
from beliefledger.ledger.streams import stream_of
from beliefledger.ledger.times import SECOND, Clock, Micros, system_clock
from beliefledger.ledger.unfinished import ReadOnlyCursors

_POLL_SECONDS = 0.005
_CACHE, _LOOKING_CACHE = 2_000, 131_072
"""KiB of pages that a connection keeps: SQLite's default, and while everything is looked at."""
_MOVE_HEAD = (
    "UPDATE head SET position = position + ?, recorded_at = max(recorded_at, ?),"
    " erasures = erasures + ? RETURNING position, recorded_at, erasures"
)
_MARK_CLOCK = "INSERT OR REPLACE INTO clock_mark VALUES (1, ?, ?)"
_VERSION = "SELECT max(version) FROM history WHERE stream = ?"
_FEW_STREAMS = 20
_INSERT_EVENT = "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_BODY = "INSERT INTO bodies VALUES (?, ?)"
_ROW = (
    "SELECT h.position, h.envelope, b.body, h.type FROM history h"
    " LEFT JOIN bodies b ON b.position = h.position "
)


class SQLiteEventStore(SQLiteApplicationRecorder):
    """History and bodies in one SQLite file. See `ledger.store.EventStore` for the guarantees."""

    datastore: Datastore
    erasures = None
    """Asking costs microseconds here, so nothing is brought along."""
    found: int
    """The version of its tables when it was opened; they are of the newest since."""
    step: Callable[[str], None] = staticmethod(lambda _: None)
    """Called before each step of a write with its name: where tests let it fail."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        in_memory = SQLiteConnectionPool.detect_memory_mode(str(path))
        self._process = os.getpid()
        self._grown = threading.Condition()
        self._idle = threading.Condition()
        self.cursors: Cursors = SQLiteCursors(self._transaction, self._fetch)
        self._read_only: str | None = None
        self._steadiness = Steadiness()
        self._clock_marked = self._marks_clock = False
        self._commits = GroupCommit(self._commit_group)
        self._using = 0
        self._closed = False
        try:
            if not in_memory:
                make_private(self.path)
            self._queue = WriteQueue(None if in_memory else self.path.with_name("write.lock"))
        except OSError as problem:
            raise file_fault(f"{self.path} cannot be opened", problem) from problem
        super().__init__(Datastore(str(path)), "history")
        try:
            with self._queue.turn(), self._connection(writing=True) as connection:
                self.found = bring_up_to_date(connection, str(self.path), SCHEMA, UPGRADES)
                for statement in SCHEMA:  # whatever was taken away: a trigger, an index
                    connection.execute(statement)
        except LedgerError:
            self.close()
            raise

    def construct_create_table_statements(self) -> list[str]:
        return SCHEMA

    # Writing

    def append(
        self,
        batch: Sequence[Sealed],
        expect: Mapping[str, int],
        clock: Clock,
        erasures: int | None = None,
    ) -> Appended:
        self._check_process()
        return self._commits.append(Request(batch, expect, clock, erasures))

    def _commit_group(self, take: Take) -> None:
        self._marks_clock = False
        with self._transaction() as cursor:
            while gathered := take():  # more come while these are written
                for request in gathered:
                    request.outcome = self._attempt(cursor, request)
        self._clock_marked |= self._marks_clock
        self._wake()

    def _attempt(self, cursor: sqlite3.Cursor, request: Request) -> Appended | Exception:
        """Write one append of a group; what is refused leaves no trace in the transaction."""
        cursor.execute("SAVEPOINT request")
        outcome: Appended | Exception
        try:
            outcome = self._write(cursor, request)
            self._marks_clock |= request.clock is system_clock
        except sqlite3.IntegrityError as problem:
            cursor.execute("ROLLBACK TO request")
            outcome = fault(str(self.path), self.path, problem)
            outcome.__cause__ = problem
        except sqlite3.Error:
            raise  # not of this request alone
        except Exception as refused:  # noqa: BLE001  told to this one; the others have no part in it
            cursor.execute("ROLLBACK TO request")
            outcome = refused
            if isinstance(refused, (VersionConflict, EventIdReused)):
                # Look only after undoing this attempt, or it would find its own events.
                outcome = self._appended_before(cursor, request.batch) or refused
        cursor.execute("RELEASE request")
        return outcome

    def _write(self, cursor: sqlite3.Cursor, request: Request) -> Appended:
        batch = request.batch
        erasing = sum(sealed.address.type in ERASURE_TYPES for sealed in batch)
        first, recorded_at, erasures = self._move_head(cursor, len(batch), request.clock, erasing)
        self.step("head moved")
        self._check_versions(cursor, request.expect)
        if request.erasures is not None and request.erasures != erasures - erasing:
            raise ErasedMeanwhile
        self._insert(cursor, batch, first, recorded_at)
        if request.clock is system_clock and not self._clock_marked:
            cursor.execute(_MARK_CLOCK, (steady.boot(), steady.ahead()))
        self.step("inserted")
        return Appended(first, first + len(batch) - 1, recorded_at)

    def load(self, rows: Sequence[Row]) -> None:
        with self._transaction() as cursor:
            for row in rows:
                fields = envelope.read(row.envelope, row.position)
                filed = [fields[name] for name in (*FILED, "recorded_at")]
                cursor.execute(_INSERT_EVENT, (row.position, *filed, row.envelope))
                if row.body is not None:
                    cursor.execute(_INSERT_BODY, (row.position, row.body))
                cursor.execute(
                    "UPDATE head SET position = ?, recorded_at = ?, erasures = erasures + ?",
                    (row.position, fields["recorded_at"], fields["type"] in ERASURE_TYPES),
                )
        self._wake()

    def _wake(self) -> None:
        with self._grown:
            self._grown.notify_all()

    def clock_warnings(self) -> list[str]:
        head = self.head()
        marks = self._fetch("SELECT boot, ahead FROM clock_mark", ()) if head.position else []
        told = [steady.jumped_since(*mark) for mark in marks]
        if head.position:
            told.append(steady.behind_or_long_after(head.recorded_at, CLOCK_TOLERANCE))
        return [each for each in told if each is not None]

    def unfinished(self) -> str | None:
        rows = self._fetch("SELECT note FROM unfinished_copy", ())
        return rows[0][0] if rows else None

    def note_unfinished(self, note: str | None) -> None:
        with self._transaction() as cursor:
            cursor.execute("DELETE FROM unfinished_copy")
            if note is not None:
                cursor.execute("INSERT INTO unfinished_copy VALUES (1, ?)", (note,))

    def only_read(self, why: str) -> None:
        self._read_only = why
        self.cursors = ReadOnlyCursors(self.cursors, why)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        """One write transaction. Leaving it rolls back unless the commit went through."""
        self._check_process()
        if self._read_only is not None:
            raise CopyUnfinished(self._read_only)
        with self._queue.turn(), self._connection(writing=True) as raw:
            cursor = raw.cursor()
            try:
                cursor.execute("BEGIN IMMEDIATE")
                self.step("begun")
                yield cursor
                if raw.in_transaction:
                    self._commit(cursor)
            finally:
                cursor.close()
                if raw.in_transaction:
                    raw.rollback()

    @contextmanager
    def _connection(self, *, writing: bool) -> Iterator[sqlite3.Connection]:
        """A connection from the pool. What SQLite says over it is raised as our own errors."""
        self._check_process()
        with self._idle:
            if self._closed:
                raise CallerMistake(f"{self.path} was closed: open it again.")
            self._using += 1
        pool = self.datastore.pool
        # The pool's own lock on writers stays locked for good when a connection cannot be made.
        is_writer = writing if pool.is_sqlite_memory_mode else None
        try:
            connection = pool.get_connection(is_writer=is_writer)
            try:
                yield connection._sqlite_conn  # noqa: SLF001  its cursor hides row counts
            finally:
                pool.put_connection(connection)
        except (
            sqlite3.DatabaseError,
            InterfaceError,
            OperationalError,
            UnicodeDecodeError,  # SQLite quotes damaged names in its messages
        ) as problem:
            raise fault(str(self.path), self.path, problem) from problem
        finally:
            with self._idle:
                self._using -= 1
                self._idle.notify_all()

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise CallerMistake(f"{self.path} was opened before a fork: open it in the child.")

    def _commit(self, cursor: sqlite3.Cursor) -> None:
        self.step("commit")
        try:
            cursor.execute("COMMIT")
            self.step("committed")
        except sqlite3.OperationalError as problem:
            still_open = cursor.connection.in_transaction
            if still_open and problem.sqlite_errorcode & 0xFF in {
                sqlite3.SQLITE_BUSY,
                sqlite3.SQLITE_FULL,
            }:
                raise  # nothing was written: the transaction is still there to be rolled back
            raise AppendUncertain(f"Committing to {self.path} failed: {problem}.") from problem

    def _move_head(
        self, cursor: sqlite3.Cursor, count: int, clock: Clock, erasing: int = 0
    ) -> tuple[int, Micros, int]:
        """The first of the new positions, when they are recorded, and the erasures so far."""
        now = clock()
        if clock is system_clock:
            self._steadiness.check()
        at = now if count else 0  # appending nothing moves nothing
        last, recorded_at, erasures = cursor.execute(_MOVE_HEAD, (count, at, erasing)).fetchone()
        recorded_at = max(recorded_at, now)
        if recorded_at - now > CLOCK_TOLERANCE:
            behind = (recorded_at - now) // SECOND
            raise ClockWentBack(f"The clock is {behind} seconds behind the last event.")
        return last - count + 1, recorded_at, erasures

    def _check_versions(self, cursor: sqlite3.Cursor, expect: Mapping[str, int]) -> None:
        """Raises `VersionConflict` naming the first stream that is at another version."""
        if len(expect) < _FEW_STREAMS:
            actual = {
                stream: cursor.execute(_VERSION, (stream,)).fetchone()[0] for stream in expect
            }
        else:
            actual = {}
            streams = list(expect)
            for start in range(0, len(streams), 500):
                some = streams[start : start + 500]
                actual.update(
                    cursor.execute(
                        "SELECT stream, max(version) FROM history WHERE stream IN"
                        f" ({','.join('?' * len(some))}) GROUP BY stream",
                        some,
                    )
                )
        for stream, version in expect.items():
            found = actual.get(stream) or 0
            if found != version:
                raise VersionConflict(stream, version, found)

    def _insert(
        self, cursor: sqlite3.Cursor, batch: Sequence[Sealed], first: int, recorded_at: Micros
    ) -> None:
        events, bodies = [], []
        for position, sealed in enumerate(batch, first):
            at = sealed.address
            events.append(
                (
                    position,
                    at.stream,
                    at.version,
                    at.type,
                    at.event_id,
                    at.tenant,
                    at.subject_ref,
                    recorded_at,
                    envelope.stamp(sealed.head, recorded_at, sealed.tail),
                )
            )
            if sealed.body is not None:
                bodies.append((position, sealed.body))
        try:
            cursor.executemany(_INSERT_EVENT, events)
            cursor.executemany(_INSERT_BODY, bodies)
        except sqlite3.IntegrityError as problem:
            if str(problem) == "event id exists":
                raise EventIdReused from problem
            raise

    def _appended_before(self, cursor: sqlite3.Cursor, batch: Sequence[Sealed]) -> Outcome:
        """Where this very batch lies already, or None, or why its ids cannot be used."""
        found = {}
        for sealed in batch:
            row = cursor.execute(
                "SELECT position, recorded_at, envelope FROM history WHERE event_id = ?",
                (sealed.address.event_id,),
            ).fetchone()
            if row is not None:
                found[sealed.address.event_id] = tuple(row)
        return appended_before(batch, found)

    def delete_bodies(self, subject_ref: str) -> int:
        with self._transaction() as cursor:
            # Whoever sealed something before this has to seal it again.
            cursor.execute("UPDATE head SET erasures = erasures + 1")
            deleted = cursor.execute(
                "DELETE FROM bodies WHERE position IN"
                " (SELECT position FROM history WHERE subject_ref = ?)",
                (subject_ref,),
            ).rowcount
        self._truncate_wal()
        return deleted

    def delete_bodies_of(self, event_ids: Sequence[str]) -> int:
        deleted = 0
        with self._transaction() as cursor:
            cursor.execute("UPDATE head SET erasures = erasures + 1")
            for some in _some(event_ids):
                deleted += cursor.execute(
                    "DELETE FROM bodies WHERE position IN (SELECT position FROM history"
                    f" WHERE event_id IN ({','.join('?' * len(some))}))",
                    some,
                ).rowcount
        self._truncate_wal()
        return deleted

    def checkpoint(self) -> None:
        self._truncate_wal()

    def _truncate_wal(self) -> None:
        """Move the zeroed pages into the file and empty the WAL, where the old ones still lie."""
        with self._queue.turn(), self._connection(writing=True) as connection:
            if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise BackendUnavailable(
                    f"{self.path} is being read by a process that does not let go, so deleted"
                    " bodies may still lie in its WAL."
                )

    # Reading

    def _fetch(self, statement: str, values: Sequence[object]) -> list[Any]:
        with self._connection(writing=False) as connection:
            cursor = connection.cursor()
            cursor.row_factory = None
            return cursor.execute(statement, values).fetchall()

    def head(self) -> Head:
        return Head(*self._fetch("SELECT position, recorded_at, erasures FROM head", ())[0])

    def first_missing(self, after: int, upto: int) -> int | None:
        expected = after + 1
        for (position,) in self._fetch(
            "SELECT position FROM history WHERE position > ? AND position <= ? ORDER BY position",
            (after, upto),
        ):
            if position != expected:
                return expected
            expected += 1
        return None if expected > upto else expected

    def leaf_hashes(self, after: int, upto: int) -> list[bytes]:
        rows = self._fetch(
            "SELECT envelope FROM history WHERE position > ? AND position <= ? ORDER BY position",
            (after, upto),
        )
        if len(rows) != max(upto - after, 0):
            missing = self.first_missing(after, upto)
            raise LogCorrupted(f"{self.path}: position {missing} is missing.")
        return [sha256(b"\x00" + envelope).digest() for (envelope,) in rows]

    def event_id_at(self, position: int) -> str | None:
        rows = self._fetch("SELECT event_id FROM history WHERE position = ?", (position,))
        return rows[0][0] if rows else None

    def read(
        self, after: int, limit: int, upto: int | None = None, *, desc: bool = False
    ) -> list[Row]:
        order = "DESC" if desc else "ASC"
        rows = self._fetch(
            f"{_ROW} WHERE h.position > ? AND h.position <= ? ORDER BY h.position {order} LIMIT ?",
            (after, 2**62 if upto is None else upto, limit),
        )
        return [Row(*row) for row in rows]

    def read_at(self, positions: Sequence[int]) -> list[Row]:
        rows: list[Row] = []
        for start in range(0, len(positions), 500):
            some = positions[start : start + 500]
            marks = ",".join("?" * len(some))
            rows += [
                Row(*row) for row in self._fetch(f"{_ROW} WHERE h.position IN ({marks})", some)
            ]
        return sorted(rows)

    def read_stream(self, stream: str, after: int = 0, upto: int | None = None) -> list[Row]:
        rows = self._fetch(
            _ROW + "WHERE h.stream = ? AND h.version > ? AND h.version <= ? ORDER BY h.version",
            (stream, after, 2**62 if upto is None else upto),
        )
        return [Row(*row) for row in rows]

    def read_subject(
        self, subject_ref: str, after: int, limit: int, upto: int | None = None
    ) -> list[Row]:
        rows = self._fetch(
            f"{_ROW} WHERE h.subject_ref = ? AND h.position > ? AND h.position <= ?"
            " ORDER BY h.position LIMIT ?",
            (subject_ref, after, 2**62 if upto is None else upto, limit),
        )
        return [Row(*row) for row in rows]

    def positions_of(self, event_ids: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for some in _some(event_ids):
            marks = ",".join("?" * len(some))
            found.update(
                self._fetch(
                    f"SELECT event_id, position FROM history WHERE event_id IN ({marks})", some
                )
            )
        return found

    def find(self, event_id: str) -> Row | None:
        rows = self._fetch(_ROW + "WHERE h.event_id = ?", (event_id,))
        return Row(*rows[0]) if rows else None

    def versions(self, streams: Sequence[str]) -> dict[str, int]:
        found = dict.fromkeys(streams, 0)
        for start in range(0, len(streams), 500):
            some = streams[start : start + 500]
            marks = ",".join("?" * len(some))
            found.update(
                self._fetch(
                    f"SELECT stream, max(version) FROM history WHERE stream IN ({marks})"
                    " GROUP BY stream",
                    some,
                )
            )
        return found

    def of_types(
        self, types: Sequence[str], subject_ref: str | None = None, after: int = 0
    ) -> list[Row]:
        marks = ",".join("?" * len(types))
        rare = f" AND h.type IN {RARE_LISTED}" if set(types) <= set(RARE_TYPES) else ""
        # The plus keeps SQLite from walking over all that comes after instead of the index.
        rows = self._fetch(
            f"{_ROW} WHERE h.type IN ({marks}){rare} AND (? IS NULL OR h.subject_ref = ?)"
            " AND +h.position > ? ORDER BY h.position",
            (*types, subject_ref, subject_ref, after),
        )
        return [Row(*row) for row in rows]

    def position_at(self, moment: Micros) -> int:
        # recorded_at never goes back, so the position can be found by halving.
        low, high = 0, self.head().position
        while low < high:
            middle = (low + high + 1) // 2
            at = self._fetch("SELECT recorded_at FROM history WHERE position = ?", (middle,))
            if not at:
                raise LogCorrupted(f"{self.path}: position {middle} is missing.")
            if at[0][0] <= moment:
                low = middle
            else:
                high = middle - 1
        return low

    def damage(self) -> tuple[int | None, str] | None:
        with self._connection(writing=False) as connection:
            # Index entries are looked up all over the file: with SQLite's small cache, again and
            # again from the disk.
            connection.execute(f"PRAGMA cache_size = {-_LOOKING_CACHE}")
            try:
                said = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            finally:
                connection.execute(f"PRAGMA cache_size = {-_CACHE}")
        if said != "ok":
            return None, f"SQLite says of {self.path.name}: {said}"
        for statement, problem in DAMAGE:
            at = self._fetch(statement, ())[0][0]
            if at is not None:
                return at, problem
        return None

    def wait(self, position: int, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while self.head().position <= position:
            left = until - time.monotonic()
            if left <= 0:
                return False
            # Another process cannot wake us, so look again soon.
            with self._grown:
                self._grown.wait(min(left, _POLL_SECONDS))
        return True

    def close(self) -> None:
        """What is under way in other threads ends first: closing a connection in use crashes the
        process. In a child of the process that opened it there is nothing to close."""
        if os.getpid() != self._process:
            return
        self._closed = True
        with self._queue.lock, self._idle:
            self._idle.wait_for(lambda: not self._using)
            self.datastore.close()
            self._queue.close()

    # eventsourcing's recorder port

    def insert_events(self, stored_events: Sequence[StoredEvent], **_: Any) -> Sequence[int] | None:
        """Append events whose state is opaque and whose versions the caller gives."""
        try:
            with self._transaction() as cursor:
                first, recorded_at, _erasures = self._move_head(
                    cursor, len(stored_events), system_clock
                )
                cursor.executemany(
                    _INSERT_EVENT,
                    [
                        (
                            position,
                            stream_of(event.originator_id),
                            event.originator_version,
                            event.topic,
                            os.urandom(16).hex(),
                            "",
                            None,
                            recorded_at,
                            event.state,
                        )
                        for position, event in enumerate(stored_events, first)
                    ],
                )
        except LedgerError as problem:
            if isinstance(problem.__cause__, sqlite3.IntegrityError):
                raise IntegrityError(problem.__cause__) from problem
            if isinstance(problem.__cause__, sqlite3.OperationalError):
                raise OperationalError(problem.__cause__) from problem
            raise
        self._wake()
        return list(range(first, first + len(stored_events)))

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        rows = self._fetch(
            "SELECT stream, version, type, envelope FROM history"
            " WHERE stream = ? AND version > ? AND version <= ?"
            f" ORDER BY version {'DESC' if desc else 'ASC'} LIMIT ?",
            (
                stream_of(originator_id),
                -1 if gt is None else gt,
                2**62 if lte is None else lte,
                -1 if limit is None else limit,
            ),
        )
        return [
            StoredEvent(self.convert_originator_id(stream), version, topic, state)
            for stream, version, topic, state in rows
        ]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        only = f"AND type IN ({','.join('?' * len(topics))})" if topics else ""
        rows = self._fetch(
            "SELECT position, stream, version, type, envelope FROM history"
            f" WHERE position >= ? AND position <= ? {only} ORDER BY position LIMIT ?",
            (
                (start or 0) + (0 if inclusive_of_start else 1),
                2**62 if stop is None else stop,
                *topics,
                limit,
            ),
        )
        return [
            Notification(self.convert_originator_id(stream), version, topic, state, position)
            for position, stream, version, topic, state in rows
        ]


def _some(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many at a time as a statement takes."""
    for start in range(0, len(values), 500):
        yield values[start : start + 500]
