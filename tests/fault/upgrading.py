"""A process that brings a ledger up to date, and can be told to die on the way.

`last` counts what is sent to a database, of statements that do more than ask: the process kills
itself before the one of that number. What was sent goes to a file, a line for each.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from pathlib import Path

import psycopg

ASKS = ("SELECT", "PRAGMA", "EXPLAIN", "SHOW", "--")


class Counting:
    """Writes down each statement that writes, and ends the process before one of them."""

    def __init__(self, file: str, last: int | None) -> None:
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._last = last
        self._number = 0

    def __call__(self, statement: str) -> None:
        said = " ".join(str(statement).split())
        if said.upper().startswith(ASKS) and "USER_VERSION =" not in said.upper():
            return
        self._number += 1
        if self._number == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        os.write(self._file, said[:100].encode() + b"\n")


def _count_sqlite(count: Counting) -> None:
    connect = sqlite3.connect

    def connected(*given, **named):
        made = connect(*given, **named)
        made.set_trace_callback(count)
        return made

    sqlite3.connect = connected


def _count_postgres(count: Counting) -> None:
    for owner in (psycopg.Connection, psycopg.Cursor):
        execute = owner.execute

        def executed(self, query, *given, _execute=execute, _owner=owner, **named):
            if _owner is psycopg.Cursor:
                told = query if isinstance(query, (str, bytes)) else query.as_string(self)
                count(told.decode() if isinstance(told, bytes) else told)
            return _execute(self, query, *given, **named)

        owner.execute = executed
    leave = psycopg.Transaction.__exit__

    def left(self, *what):
        count("leave a transaction")
        done = leave(self, *what)
        count("left a transaction")
        return done

    psycopg.Transaction.__exit__ = left


def upgrade(place: str, file: str, last: int | None, environment: dict[str, str]) -> None:
    os.environ.update(environment)
    sys.stderr = Path(file).with_suffix(".stderr").open("a", buffering=1)
    from beliefledger.opening.backends import upgrade
    from beliefledger.opening.place import place_of
    from beliefledger.settings import Settings

    count = Counting(file, last)
    _count_sqlite(count)
    _count_postgres(count)
    upgrade(place_of(place), Settings.read())
    count("done")
