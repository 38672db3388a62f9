"""How far each named consumer is, in the SQLite file of the log.

A row without a holder was released or restored: no epoch of it is in force until the next claim.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from beliefledger.ledger.errors import AppendUncertain, BackendUnavailable, NotPermitted
from beliefledger.ledger.store import Cursor, check_claim
from beliefledger.ledger.times import SECOND, Clock, Micros, system_clock

_HELD_BY_ANOTHER = "SELECT 1 FROM consumers WHERE name = ? AND holder <> ? AND held_until > ?"
_CLAIM = """
    INSERT INTO consumers VALUES (?, 0, 1, ?, ?, (SELECT position FROM head))
    ON CONFLICT (name) DO UPDATE SET
        epoch = epoch + 1, holder = excluded.holder, held_until = excluded.held_until
    WHERE holder = excluded.holder OR held_until <= ?
    RETURNING name, position, epoch, holder, 1, since"""
_IN_FORCE = "WHERE name = ? AND epoch = ? AND holder <> ''"
_RENEW = f"UPDATE consumers SET held_until = ? {_IN_FORCE}"
_ACKNOWLEDGE = f"UPDATE consumers SET position = max(position, ?) {_IN_FORCE}"
_RELEASE = f"UPDATE consumers SET holder = '', held_until = 0 {_IN_FORCE}"
_RESTORE = """
    INSERT INTO consumers VALUES (?, ?, 0, '', 0, ?)
    ON CONFLICT (name) DO UPDATE SET
        position = excluded.position, holder = '', held_until = 0, since = excluded.since
    WHERE held_until <= ?"""
_REWIND = """
    UPDATE consumers SET position = ?, epoch = epoch + 1, holder = '', held_until = 0
    WHERE name = ?"""
_ALL = "SELECT name, position, epoch, holder, held_until > ?, since FROM consumers ORDER BY name"


class SQLiteCursors:
    """See `ledger.store.Cursors` for the guarantees.

    `transaction` and `fetch` are the store's: a durable write transaction, and the rows of a
    question. Leases run by `clock`, which all processes of one machine share; set back, it prolongs
    the lease of one that died. Fencing does not depend on it.
    """

    def __init__(
        self,
        transaction: Callable[[], AbstractContextManager[sqlite3.Cursor]],
        fetch: Callable[[str, Sequence[object]], list[Any]],
        clock: Clock = system_clock,
    ) -> None:
        self._transaction = transaction
        self._fetch = fetch
        self._clock = clock

    def claim(self, name: str, holder: str, seconds: float) -> Cursor | None:
        check_claim(name)
        if self._fetch(_HELD_BY_ANOTHER, (name, holder, self._clock())):
            return None  # seen without keeping writers waiting
        with self._writing() as cursor:
            now = self._clock()
            values = (name, holder, now + _micros(seconds), now)
            rows = cursor.execute(_CLAIM, values).fetchall()
        return _cursor(*rows[0]) if rows else None

    def renew(self, name: str, epoch: int, seconds: float) -> bool:
        with self._writing() as cursor:
            until = self._clock() + _micros(seconds)
            return cursor.execute(_RENEW, (until, name, epoch)).rowcount == 1

    def acknowledge(self, name: str, epoch: int, position: int) -> bool:
        with self._writing() as cursor:
            return cursor.execute(_ACKNOWLEDGE, (position, name, epoch)).rowcount == 1

    def release(self, name: str, epoch: int) -> None:
        with self._writing() as cursor:
            cursor.execute(_RELEASE, (name, epoch))

    def all(self) -> list[Cursor]:
        return [_cursor(*row) for row in self._fetch(_ALL, (self._clock(),))]

    def restore(self, name: str, position: int, since: int = 0) -> None:
        with self._writing() as cursor:
            restored = cursor.execute(_RESTORE, (name, position, since, self._clock())).rowcount
        if not restored:
            raise NotPermitted(f"Consumer {name} is running: stop it before its cursor is set.")

    def rewind(self, name: str, position: int) -> bool:
        with self._writing() as cursor:
            return cursor.execute(_REWIND, (position, name)).rowcount == 1

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Cursor]:
        try:
            with self._transaction() as cursor:
                yield cursor
        except AppendUncertain as problem:
            # No event is at stake, and each of these writes may be done again.
            raise BackendUnavailable(problem.detail) from problem


def _micros(seconds: float) -> Micros:
    return int(seconds * SECOND)


def _cursor(name: str, position: int, epoch: int, holder: str, held: int, since: int) -> Cursor:
    return Cursor(name, position, epoch, holder, bool(held), since)
