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
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from eventsourcing.persistence import (
    IntegrityError,
    Notification,
    OperationalError,
    StoredEvent,
)
from eventsourcing.sqlite import SQLiteApplicationRecorder

from beliefledger.ledger import envelope, steady
from beliefledger.ledger.errors import (
    LedgerError,
    LogCorrupted,
)
from beliefledger.ledger.fence import Fence
from beliefledger.ledger.group_commit import AppendRequest
from beliefledger.ledger.sqlite.appender import INSERT_BODY, INSERT_EVENT, SQLiteAppender
from beliefledger.ledger.sqlite.connection import Datastore
from beliefledger.ledger.sqlite.cursors import SQLiteCursors
from beliefledger.ledger.sqlite.database import Database
from beliefledger.ledger.sqlite.fence import put_up, take_down
from beliefledger.ledger.sqlite.schema import DAMAGE, SCHEMA, SCHEMA_VERSION, UPGRADES
from beliefledger.ledger.sqlite.upgrades import bring_up_to_date
from beliefledger.ledger.store import (
    CLOCK_TOLERANCE,
    ERASURE_TYPES,
    FILED,
    RARE_LISTED,
    RARE_TYPES,
    Activity,
    Appended,
    Cursors,
    Head,
    Row,
    Sealed,
)
from beliefledger.ledger.streams import stream_of
from beliefledger.ledger.times import Clock, Micros, system_clock
from beliefledger.ledger.unfinished import ReadOnlyCursors

_POLL_SECONDS = 0.005
_CACHE, _LOOKING_CACHE = 2_000, 131_072
"""KiB of pages that a connection keeps: SQLite's default, and while everything is looked at."""
T = TypeVar("T")

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
        self._grown = threading.Condition()
        self._database = database = Database(self.path, self._told_step)
        self._transaction, self._fetch = database.transaction, database.fetch
        self.cursors: Cursors = SQLiteCursors(database.transaction, database.fetch)
        self._appender = SQLiteAppender(
            self.path, database.transaction, step=self._told_step, wake=self._wake
        )
        super().__init__(database.datastore, "history")
        try:
            with database.queue.turn(), database.connection(writing=True) as connection:
                self.found = bring_up_to_date(connection, str(self.path), SCHEMA, UPGRADES)
                if self.found == SCHEMA_VERSION:  # else all of it was made just now
                    for statement in SCHEMA:  # whatever was taken away: a trigger, an index
                        connection.execute(statement)
        except LedgerError:
            self.close()
            raise

    def construct_create_table_statements(self) -> list[str]:
        return SCHEMA

    def _told_step(self, name: str) -> None:
        self.step(name)

    # Writing

    def append(
        self,
        batch: Sequence[Sealed],
        expect: Mapping[str, int],
        clock: Clock,
        erasures: int | None = None,
    ) -> Appended:
        self._database.check_process()
        return self._appender.append(AppendRequest(batch, expect, clock, erasures))

    def load(self, rows: Sequence[Row]) -> None:
        with self._transaction() as cursor:
            for row in rows:
                fields = envelope.read(row.envelope, row.position)
                filed = [fields[name] for name in (*FILED, "recorded_at")]
                cursor.execute(INSERT_EVENT, (row.position, *filed, row.envelope))
                if row.body is not None:
                    cursor.execute(INSERT_BODY, (row.position, row.body))
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

    def put_up_fence(self, fence: Fence) -> None:
        with self._transaction() as cursor:
            put_up(cursor, fence)

    def take_down_fence(self) -> None:
        with self._transaction() as cursor:
            take_down(cursor)

    def only_read(self, why: str) -> None:
        self._database.only_read(why)
        self.cursors = ReadOnlyCursors(self.cursors, why)

    def delete_bodies(self, subject_ref: str) -> int:
        with self._transaction() as cursor:
            # Whoever sealed something before this has to seal it again.
            cursor.execute("UPDATE head SET erasures = erasures + 1")
            deleted = cursor.execute(
                "DELETE FROM bodies WHERE position IN"
                " (SELECT position FROM history WHERE subject_ref = ?)",
                (subject_ref,),
            ).rowcount
        self._database.truncate_wal()
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
        self._database.truncate_wal()
        return deleted

    def flush_wal(self) -> None:
        self._database.truncate_wal()

    # Reading

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
        return list(map(Row._make, rows))

    def read_at(self, positions: Sequence[int]) -> list[Row]:
        return self._rows_in("position", positions)

    def read_stream(self, stream: str, after: int = 0, upto: int | None = None) -> list[Row]:
        rows = self._fetch(
            _ROW + "WHERE h.stream = ? AND h.version > ? AND h.version <= ? ORDER BY h.version",
            (stream, after, 2**62 if upto is None else upto),
        )
        return list(map(Row._make, rows))

    def read_streams(self, streams: Sequence[str]) -> list[Row]:
        return self._rows_in("stream", streams)

    def _rows_in(self, column: str, values: Sequence[object]) -> list[Row]:
        """The rows with one of these values, in order of position."""
        rows: list[Row] = []
        for some in _some(values):
            marks = ",".join("?" * len(some))
            found = self._fetch(f"{_ROW} WHERE h.{column} IN ({marks})", some)
            rows += [Row(*row) for row in found]
        return sorted(rows)

    def read_subject(
        self, subject_ref: str, after: int, limit: int, upto: int | None = None
    ) -> list[Row]:
        rows = self._fetch(
            f"{_ROW} WHERE h.subject_ref = ? AND h.position > ? AND h.position <= ?"
            " ORDER BY h.position LIMIT ?",
            (subject_ref, after, 2**62 if upto is None else upto, limit),
        )
        return list(map(Row._make, rows))

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

    def activity(self, subject_refs: Sequence[str]) -> dict[str, Activity]:
        found: dict[str, Activity] = {}
        for some in _some(subject_refs):
            marks = ",".join("?" * len(some))
            rows = self._fetch(
                "SELECT subject_ref, count(*), min(position), max(position) FROM history"
                f" WHERE subject_ref IN ({marks}) GROUP BY subject_ref",
                some,
            )
            found.update((row[0], Activity(*row[1:])) for row in rows)
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
        return list(map(Row._make, rows))

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
        with self._database.connection(writing=False) as connection:
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
        self._database.close()

    # eventsourcing's recorder port

    def insert_events(self, stored_events: Sequence[StoredEvent], **_: Any) -> Sequence[int] | None:
        """Append events whose state is opaque and whose versions the caller gives."""
        try:
            with self._transaction() as cursor:
                first, recorded_at, _erasures = self._appender.move_head(
                    cursor, len(stored_events), system_clock
                )
                cursor.executemany(
                    INSERT_EVENT,
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


def _some(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Splits values into parts that fit into one SQL statement."""
    for start in range(0, len(values), 500):
        yield values[start : start + 500]
