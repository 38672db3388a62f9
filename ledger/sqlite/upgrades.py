"""Bringing the tables of a SQLite file up to date.

The version lies in the file itself (`PRAGMA user_version`). All steps run in one transaction, so a
process that dies leaves the older version as it was, and of several at once one does the work.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import NamedTuple

from beliefledger.ledger.errors import OlderProgram
from beliefledger.ledger.sqlite.faults import fault

Work = Callable[[sqlite3.Connection], object]


class Upgrade(NamedTuple):
    """One step: from the version before to this one."""

    version: int
    what: str
    """What changes, as it is told to whoever upgrades."""
    work: Sequence[str] | Work = ()
    """Statements, or a function that runs them. Nothing where only events are new: an older
    program does not know them, so they need a version too."""

    def run(self, db: sqlite3.Connection) -> None:
        if callable(self.work):
            self.work(db)
        else:
            for statement in self.work:
                db.execute(statement)


def version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def version_of(path: Path) -> int:
    """The version of a file; 0 if it does not exist."""
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(path, timeout=10)) as db:
            return version(db)
    except sqlite3.Error as problem:
        raise fault(str(path), path, problem) from problem


def bring_up_to_date(
    db: sqlite3.Connection, what: str, schema: Sequence[str], upgrades: Sequence[Upgrade]
) -> int:
    """Run the steps that are missing; returns the version that was found, 0 for a new file.

    `schema` is what the newest version has, in statements that leave alone what is there. Raises
    `OlderProgram` for a file that a newer program has upgraded.
    """
    newest = upgrades[-1].version
    found = _known(db, what, newest)
    if found == newest:
        return found
    db.execute("BEGIN IMMEDIATE")
    try:
        found = _known(db, what, newest)  # another process may have been first
        if db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            for each in upgrades:
                if each.version > found:
                    each.run(db)
        for statement in schema:
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {newest}")
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
    return found


def _known(db: sqlite3.Connection, what: str, newest: int) -> int:
    found = version(db)
    if found > newest:
        raise OlderProgram.of(what, found, newest)
    return found


@cache
def statements(script: str) -> Sequence[str]:
    """The statements of a script, one by one."""
    found, gathered = [], ""
    for line in script.splitlines(keepends=True):
        gathered += line
        if sqlite3.complete_statement(gathered):
            found.append(gathered.strip())
            gathered = ""
    return tuple(found)


def steps(upgrades: Sequence[Upgrade], before: int) -> list[str]:
    """What the steps from a version to the newest do."""
    return [f"{each.version}: {each.what}" for each in upgrades if each.version > before]


def columns(db: sqlite3.Connection, table: str) -> list[str]:
    """The names of a table's columns; none where there is no such table."""
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
