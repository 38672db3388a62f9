"""What SQLite says, as our errors. The one table of its result codes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from beliefledger.ledger.errors import (
    BackendUnavailable,
    BackendUnusable,
    LedgerError,
    LedgerMoved,
    LogCorrupted,
)
from beliefledger.ledger.faults import obstacle
from beliefledger.ledger.fence import told_by

_WRITABLE = "let the file and its directory be writable for the user who runs this"
PASSING = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
}
"""What may succeed later: `BackendUnavailable`. A file that cannot be opened is among these, as a
process with too many open files is told the same; where something is seen in its way, it stays."""
STAYING = {
    sqlite3.SQLITE_READONLY: _WRITABLE,
    sqlite3.SQLITE_PERM: _WRITABLE,
    sqlite3.SQLITE_AUTH: _WRITABLE,
    sqlite3.SQLITE_NOLFS: "the file has grown too large for its file system: move it to another",
    sqlite3.SQLITE_TOOBIG: "a text is larger than SQLite takes: make it smaller",
}
"""What stays until somebody does what is said here: `BackendUnusable`. All that is in neither of
the two is damage: `LogCorrupted`."""
_READONLY_MOVED = sqlite3.SQLITE_READONLY_DBMOVED


def fault(name: str, path: Path, problem: Exception) -> LedgerError:
    """The error for what SQLite said of the database at `path`, which is called `name`. Nothing is
    ever told as a version conflict here."""
    inmost = _inmost(problem)
    said = str(inmost).split(" with text ")[0]  # what cannot be decoded is not quoted
    code = getattr(inmost, "sqlite_errorcode", None)
    if code is None:
        known = isinstance(inmost, sqlite3.Error | UnicodeError)
        return LogCorrupted(f"{name}: {said}.") if known else BackendUnavailable(f"{name}: {said}.")
    moved = told_by(said) if code == sqlite3.SQLITE_CONSTRAINT_TRIGGER else None
    if moved is not None:
        return LedgerMoved(f"{name}: {moved}")
    primary = code & 0xFF
    remedy = STAYING.get(primary)
    if code == _READONLY_MOVED:
        remedy = "the file was moved or deleted while it was open: put it back"
    elif primary in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR}:
        remedy = obstacle(path) or remedy
    if remedy is not None:
        return BackendUnusable(f"{name}: {said}. What to do: {remedy}.")
    if primary in PASSING:
        return BackendUnavailable(f"{name}: {said}.")
    return LogCorrupted(f"{name}: {said}.")


def _inmost(problem: BaseException) -> BaseException:
    """What SQLite raised, which a library between may have wrapped."""
    while not isinstance(problem, sqlite3.Error):
        wrapped = getattr(problem, "orig", None) or next(iter(problem.args), None)
        inner = wrapped if isinstance(wrapped, BaseException) else problem.__cause__
        if inner is None:
            break
        problem = inner
    return problem
