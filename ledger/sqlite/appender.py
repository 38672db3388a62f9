"""Appending in SQLite: move the head row, check the versions, insert.

All of a group is one transaction; what is refused of it leaves no trace there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from beliefledger.ledger import envelope, steady
from beliefledger.ledger.errors import ClockWentBack, EventIdReused, VersionConflict
from beliefledger.ledger.group_commit import (
    AppendRequest,
    GroupCommit,
    Outcome,
    Take,
    appended_before,
)
from beliefledger.ledger.sqlite.faults import fault
from beliefledger.ledger.steady import Steadiness
from beliefledger.ledger.store import (
    CLOCK_TOLERANCE,
    ERASURE_TYPES,
    Appended,
    ErasedMeanwhile,
    Sealed,
)
from beliefledger.ledger.times import SECOND, Clock, Micros, system_clock

INSERT_EVENT = "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_BODY = "INSERT INTO bodies VALUES (?, ?)"
_MOVE_HEAD = (
    "UPDATE head SET position = position + ?, recorded_at = max(recorded_at, ?),"
    " erasures = erasures + ? RETURNING position, recorded_at, erasures"
)
_MARK_CLOCK = "INSERT OR REPLACE INTO clock_mark VALUES (1, ?, ?)"
_VERSION = "SELECT max(version) FROM history WHERE stream = ?"
_FEW_STREAMS = 20
_UNDO_ONE = ("ROLLBACK TO request",)
_UNDO_ALL = ("ROLLBACK", "BEGIN IMMEDIATE")
"""What undoes one append: that of a savepoint, or all that the transaction has so far."""


class SQLiteAppender:
    """Appends to the file at `path`, what threads append at the same time in one transaction.

    `transaction` begins one and commits it when it is left, `step` is called before each step with
    its name, and `wake` once something was committed.
    """

    def __init__(
        self,
        path: Path,
        transaction: Callable[[], AbstractContextManager[sqlite3.Cursor]],
        *,
        step: Callable[[str], None],
        wake: Callable[[], None],
    ) -> None:
        self._path = path
        self._transaction = transaction
        self._step = step
        self._wake = wake
        self._steadiness = Steadiness()
        self._clock_marked = self._marks_clock = False
        self.commits = GroupCommit(self._commit_group)

    def append(self, request: AppendRequest) -> Appended:
        """See `ledger.store.EventStore.append`."""
        return self.commits.append(request)

    def _commit_group(self, take: Take) -> None:
        self._marks_clock = written = False
        with self._transaction() as cursor:
            while gathered := take():  # more come while these are written
                for request in gathered:
                    request.outcome = self._attempt(cursor, request, beside=written)
                    written = written or isinstance(request.outcome, Appended)
        self._clock_marked |= self._marks_clock
        self._wake()

    def _attempt(
        self, cursor: sqlite3.Cursor, request: AppendRequest, *, beside: bool
    ) -> Appended | Exception:
        """Write one append of a group; what is refused leaves no trace in the transaction. With
        `beside`, others are written there already: without them, which is the usual case, no
        savepoint is needed, for which SQLite copies every page that is changed."""
        undo: Sequence[str] = _UNDO_ALL
        if beside:
            cursor.execute("SAVEPOINT request")
            undo = _UNDO_ONE
        outcome: Appended | Exception
        try:
            outcome = self.write(cursor, request)
            self._marks_clock |= request.clock is system_clock
        except sqlite3.IntegrityError as problem:
            _run(cursor, undo)
            outcome = fault(str(self._path), self._path, problem)
            outcome.__cause__ = problem
        except sqlite3.Error:
            raise  # not of this request alone
        except Exception as refused:  # noqa: BLE001  told to this one; the others have no part in it
            _run(cursor, undo)
            outcome = refused
            if isinstance(refused, (VersionConflict, EventIdReused)):
                # Look only after undoing this attempt, or it would find its own events.
                outcome = self._appended_before(cursor, request.batch) or refused
        if beside:
            cursor.execute("RELEASE request")
        return outcome

    def write(self, cursor: sqlite3.Cursor, request: AppendRequest) -> Appended:
        batch = request.batch
        erasing = sum(sealed.address.type in ERASURE_TYPES for sealed in batch)
        first, recorded_at, erasures = self.move_head(cursor, len(batch), request.clock, erasing)
        self._step("head moved")
        self._check_versions(cursor, request.expect)
        if request.erasures is not None and request.erasures != erasures - erasing:
            raise ErasedMeanwhile
        self._insert(cursor, batch, first, recorded_at)
        if request.clock is system_clock and not self._clock_marked:
            cursor.execute(_MARK_CLOCK, (steady.boot(), steady.ahead()))
        self._step("inserted")
        return Appended(first, first + len(batch) - 1, recorded_at)

    def move_head(
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
            cursor.executemany(INSERT_EVENT, events)
            cursor.executemany(INSERT_BODY, bodies)
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


def _run(cursor: sqlite3.Cursor, statements: Sequence[str]) -> None:
    for statement in statements:
        cursor.execute(statement)
