"""What Postgres says, as our errors. The one table of its codes, and of what it says where a
connection that could not be made has no code.

What may pass is `BackendUnavailable`: a server that starts, stops, is full or cannot be reached.
What another session keeps locked is `HeldUp`, which may pass, too.
What stays until somebody changes it is `BackendUnusable`, with what to do. All else is
`LogCorrupted`.
"""

from __future__ import annotations

import re

import psycopg
from psycopg_pool import PoolTimeout

from beliefledger.ledger.errors import (
    BackendUnavailable,
    BackendUnusable,
    HeldUp,
    LedgerError,
    LedgerMoved,
    LogCorrupted,
)
from beliefledger.ledger.fence import told_by

OLDEST = 14
"""The oldest version of Postgres that has what is asked of it."""
MOVED = "BLMVD"
"""What the fence of a moved ledger refuses with; a code of our own."""
_LOGIN = (
    "give the right user and password in the ledger's URL or in ~/.pgpass, or have the server's"
    " administrator let this login in"
)
_ROLE = "name a role that exists and may log in, or have the database's owner create it"
_ROLES = (
    "a role of the ledger is missing: restore the server's roles (pg_dumpall --roles-only), or copy"
    " the ledger to a new schema"
)
_DATABASE = "name a database that exists, or create it with CREATE DATABASE"
_INIT = "as the database's owner run `beliefledger init` with the same URL"
_RIGHT = (
    "the login lacks a right: as the database's owner run `beliefledger init`, which may make"
    " roles, and GRANT {schema}_app TO the login"
)
_READ_ONLY = (
    "the server is a standby, or the database or login is set to read only: name the primary in the"
    " ledger's URL, or set default_transaction_read_only to off"
)
_POOLER = (
    "a pooler that does not know prepared statements stands between: say prepare=no in the ledger's"
    " URL"
)
_PARAMETERS = "correct the parameters in the ledger's URL, or take out those that are not known"
_VERSION = f"the server lacks something that is needed: use PostgreSQL {OLDEST} or newer"
_TLS = "correct sslmode, certificates and keys in the ledger's URL, or on the server"
_HOST = "correct the host in the ledger's URL, or let its name be known to this machine"
_NO_SERVER = "something else than Postgres answers there: correct host and port in the ledger's URL"

_HELD_UP = (
    "Another session keeps it locked: SELECT pid, usename, state, query FROM pg_stat_activity tells"
    " which are there, pg_blocking_pids whom they wait for, and pg_terminate_backend ends one."
)

PASSING = (
    "08",  # the connection broke
    "25",  # a transaction that stood still or took too long, or had failed before
    "40",  # another transaction was in the way
    "53",  # no room: disk, memory, connections
    "55",  # a lock, or something else in use
    "57",  # an administrator, a restart, a time that was over
    "58",  # the system below the server
)  # fmt: skip
"""Codes and classes of codes that may pass."""
STAYING = {
    "0A": _VERSION,
    "0L": _RIGHT,
    "0P": _ROLE,
    "22023": _ROLES,
    "25006": _READ_ONLY,
    "26000": _POOLER,
    "28": _LOGIN,
    "3D000": _DATABASE,
    "3F000": f"there is no ledger there yet, or an older one: {_INIT}",
    "42501": _RIGHT,
    "42601": _VERSION,
    "42704": _INIT,
    "42883": f"there is no ledger there yet, or an older one: {_INIT}",
    "42P01": f"there is no ledger there yet, or an older one: {_INIT}",
    "42P05": _POOLER,
    "57P04": _DATABASE,
}
"""Codes and classes of codes that stay, each with what to do. The longest that fits counts."""
MISSING = ("42703", "42883", "42P01", "42P13")
"""Codes for a column, function or table that is not there: a newer program may have changed it."""
NOT_NOW = re.compile(
    r"too many (clients|connections)|remaining connection slots|is starting up|is shutting down"
    r"|in recovery mode|not yet accepting connections|consistent recovery state"
    r"|terminat(ed|ing)|server closed the connection|Temporary failure in name resolution"
)
"""What a server says that is there and takes nobody just now. It counts before all that follows."""
REFUSED = (
    (re.compile(r'role "[^"]*" (does not exist|is not permitted)|no such user'), _ROLE),
    (re.compile(r'database "[^"]*" (does not exist|is not currently accept)|no such database'),
     _DATABASE),
    (re.compile(r"permission denied for (database|schema)"), _RIGHT),
    (re.compile(r"authentication failed|no password supplied|password is required|pg_hba\.conf"
                r"|user name map|failed: Permission denied"), _LOGIN),
    (re.compile(r"does not support SSL|certificate|private key file|sslmode|channel binding"),
     _TLS),
    (re.compile(r"unrecognized configuration parameter|unsupported startup parameter"
                r"|permission denied to set parameter|invalid value for parameter"
                r"|invalid [\w.-]+ value|invalid integer value|invalid port number"), _PARAMETERS),
    (re.compile(r"expected authentication request|invalid response to SSL negotiation"
                r"|unsupported frontend protocol|received invalid"), _NO_SERVER),
)  # fmt: skip
"""What a connection is refused with that is not to be had until somebody changes something. libpq
hands out no code then, so this is read in English, which servers speak unless told otherwise: in
another language it is taken for something that may pass."""
UNKNOWN_HOST = re.compile(
    r"could not translate host name|Name or service not known|nodename nor servname|"
    r"No address associated with hostname"
)


def fault(where: object, schema: str, problem: Exception, *, first: bool = False) -> LedgerError:
    """The error for what Postgres said at `where`. Nothing is ever told as a version conflict.

    A host's name that nobody knows stays for the `first` connection, and may come back for one that
    was reached before.
    """
    said = f"{where}: {first_line(problem)}"
    code = getattr(problem, "sqlstate", None) or ""
    if code == MOVED:
        return LedgerMoved(f"{where}: {told_by(first_line(problem)) or first_line(problem)}.")
    if code == "55P03":
        return HeldUp(f"{said}. {_HELD_UP}")
    if code:
        remedy = remedy_for(code)
        if remedy is not None:
            return BackendUnusable(f"{said}. What to do: {remedy.format(schema=schema)}.")
        if code.startswith(PASSING) or isinstance(problem, psycopg.OperationalError):
            return BackendUnavailable(f"{said}.")
        if isinstance(problem, psycopg.errors.InternalError_) and re.search(
            r"could not (write|extend)", said
        ):
            return BackendUnavailable(f"{said}.")  # a quota, or a limit of files' size
        return LogCorrupted(f"{said}.")
    if isinstance(problem, UnicodeError):
        return BackendUnusable(f"{said}. What to do: {_HOST}.")
    if isinstance(problem, psycopg.OperationalError) and not isinstance(problem, PoolTimeout):
        refused = _refused(str(problem), first=first)
        if refused is not None:
            line, remedy = refused
            return BackendUnusable(f"{where}: {line}. What to do: {remedy.format(schema=schema)}.")
    if isinstance(problem, PoolTimeout | psycopg.OperationalError | psycopg.InterfaceError):
        return BackendUnavailable(f"{said}.")
    return LogCorrupted(f"{said}.")


def remedy_for(code: str) -> str | None:
    """What to do about an SQLSTATE that stays, with `{schema}` for its name; None for one that may
    pass, or is damage."""
    fitting = [each for each in (*STAYING, *PASSING) if code.startswith(each)]
    return STAYING.get(max(fitting, key=len)) if fitting else None


def _refused(said: str, *, first: bool) -> tuple[str, str] | None:
    """The line that says why no connection is to be had until somebody changes something, and what.

    Of several hosts and addresses each has its line: one that answers "not now" may take us later,
    and one that refuses says more than one that cannot be reached.
    """
    if NOT_NOW.search(said):
        return None
    patterns = [*REFUSED, *([(UNKNOWN_HOST, _HOST)] if first else [])]
    for pattern, remedy in patterns:
        for line in said.splitlines():
            if pattern.search(line):
                return line.strip().lstrip("- ").rstrip("."), remedy
    return None


def first_line(problem: BaseException) -> str:
    lines = str(problem).strip().splitlines() or [type(problem).__name__]
    return lines[0].rstrip(".")
