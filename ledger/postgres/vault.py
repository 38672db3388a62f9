"""The vault in a Postgres: the log's own, or one that its URL names.

What is destroyed is deleted, and then the table is rewritten, so that the heap has no byte of the
wrapped key left: DELETE and VACUUM alone would leave it there. Statistics never hold any. The WAL,
and what was made of it (archives, replicas' files), are out of our hands: there the key stays,
wrapped under the master key, until they are recycled. A rewrite takes the table's lock for as long
as it takes to write every living key again.

Each tenant sees a vault of its own, and a connection that did not say whose it is sees nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, TypeVar

from psycopg import errors
from psycopg.sql import SQL, Identifier
from psycopg_pool import PoolTimeout

from beliefledger.ledger.errors import BackendUnavailable, BackendUnusable, OlderProgram
from beliefledger.ledger.postgres.schema import app_role, first_line, vault_schema
from beliefledger.ledger.postgres.server import Connection, Server, is_lost

VERSION = 3
T = TypeVar("T")

_WRITE_TRIES = 5
"""Of a write whose connection was lost: whether it was committed is then looked up."""
_READ_COMMITTED = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
_NOTED = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s"
_TRIGGERS = """
SELECT tgname::text FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = ? AND NOT tgisinternal AND tgenabled <> 'D'
UNION SELECT rulename::text FROM pg_rules WHERE schemaname = ?
"""
_ALONE = """
SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')
        WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true),
    set_config('lock_timeout', '10s', true),
    pg_advisory_xact_lock(hashtextextended(%s, 0))
"""


def version(server: Server) -> int:
    """The version of the vault that is there; 0 for none. Raises `OlderProgram`."""
    return _found(server)


def steps(before: int) -> list[str]:
    """What the steps from a version to the newest do."""
    return [
        f"{number}: {first_line(f'vault_{number}.sql')}"
        for number in range(max(before, 1) + 1, VERSION + 1)
    ]


def init(server: Server) -> bool:
    """Make the vault's tables, or bring an older version's up to date; True if anything was done.

    Safe to do again, and twice at once. Needs the rights to make a role and a schema, once.
    """
    schema, app = server.url.schema, app_role(server.url.schema)
    vault = vault_schema(schema)
    if _found(server) == VERSION:
        return False  # without the lock, which anybody could keep
    with server.connection() as connection, connection.transaction():
        connection.execute(_READ_COMMITTED)
        # The lock of making the log's schema, which makes the same role.
        connection.execute(
            "SELECT set_config('lock_timeout', '60s', true),"
            " pg_advisory_xact_lock(hashtextextended(%s, 0))",
            (f"beliefledger schema {schema}",),
        )
        before = _version(connection.execute(_NOTED, (vault,)).fetchall(), server)
        if before == VERSION:
            return False
        names = {"vault": Identifier(vault), "app": Identifier(app)}
        if before == 0:
            _make_role(connection, app)
            connection.execute(SQL("CREATE SCHEMA {vault} AUTHORIZATION {app}").format(**names))
        connection.execute(SQL("SET LOCAL ROLE {app}").format(**names))
        for text in _scripts(before):
            # The URL only lets names through that need no quotes.
            connection.execute(text.replace("@vault@", vault).replace("@app@", app))
        note = SQL("COMMENT ON SCHEMA {vault} IS {}")
        connection.execute(note.format(f"beliefledger vault, version {VERSION}", **names))
    return True


def _scripts(before: int = 0) -> list[str]:
    """The scripts that lead from a version to the newest, one for each version after it."""
    numbers = range(before + 1, VERSION + 1)
    return [(files(__package__) / f"vault_{number}.sql").read_text("utf-8") for number in numbers]


def there(server: Server) -> bool:
    """Whether `init` has been done."""
    return _found(server) > 0


def _found(server: Server) -> int:
    """The version that is there; 0 for none."""
    return _version(server.ask_plain(_NOTED, (vault_schema(server.url.schema),)), server)


def _version(noted: list[Any], server: Server) -> int:
    found = re.search(r"version (\d+)", (noted and noted[0][0]) or "")
    known = int(found[1]) if found else 0
    if known > VERSION:
        raise OlderProgram.of(f"The vault at {server}", known, VERSION)
    return known


def _make_role(connection: Connection, app: str) -> None:
    """The app's role, which is there already where the log lies in the same cluster."""
    names = {"name": app, "app": Identifier(app)}
    connection.execute(
        SQL(
            "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {name}) THEN"
            " CREATE ROLE {app} NOLOGIN; END IF;"
            " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        ).format(**names)
    )
    connection.execute(
        SQL(
            "DO $$ BEGIN IF NOT pg_has_role(current_user, {name}, 'USAGE') THEN"
            " GRANT {app} TO CURRENT_USER; END IF; END $$"
        ).format(**names)
    )


class PostgresVault:
    """The tables of one tenant's vault. Closing it closes the server it was given.

    `patience` is for how many seconds a destroyed key's bytes may be held on to by transactions
    that began before, until that is told.
    """

    def __init__(self, server: Server, *, patience: float = 10.0) -> None:
        if not there(server):
            raise BackendUnusable(f"There is no vault at {server}: run `beliefledger init`.")
        [(could_see_all,)] = server.ask_plain(
            "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
        )
        if could_see_all:
            server.act_as(app_role(server.url.schema))
        init(server)  # an older version's: the app has the tables, so that any login may
        self._server = server
        self._schema = vault_schema(server.url.schema)
        self._patience = patience
        self._mark: int | None = None
        self._seen = self._changes()

    def __str__(self) -> str:
        return str(self._server)

    @property
    def tenant(self) -> str | None:
        return self._server.url.tenant

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self._server.ask(_translated(statement, self._schema), values)

    def write(self, work: Callable[[PostgresTransaction], T]) -> T:
        for tries_left in reversed(range(_WRITE_TRIES)):
            try:
                with self._server.connection() as connection, connection.transaction():
                    with connection.pipeline():
                        connection.execute(_READ_COMMITTED)  # each statement sees what came before
                        connection.execute(*self._server.settings())
                        connection.execute(_ALONE, (f"{self._schema} {self.tenant}",))
                    return work(PostgresTransaction(connection, self._schema))
            except BackendUnavailable as problem:
                if not tries_left or not _was_lost(problem):
                    raise
                self._server.pool.drain()
        raise AssertionError("unreachable")

    def changed(self, mark: int | None) -> bool:
        """Whether another process changed the vault: judged by the log's mark where one is given,
        else by asking the database."""
        if mark is not None:
            moved = mark != self._mark
            self._mark = mark
        else:
            seen = self._changes()
            moved = seen != self._seen
            self._seen = seen
        return moved

    def _changes(self) -> int:
        return int(self.rows("SELECT count FROM vault.changes")[0][0])

    def scrub(self) -> None:
        """Rewrite the keys without the deleted ones.

        A transaction that began before they were deleted can hold on to them: another's backup, a
        session left open, a replica's question. Raises `BackendUnavailable` while one does.
        """
        until = time.monotonic() + self._patience
        while not self._rewritten():
            if time.monotonic() > until:
                raise BackendUnavailable(
                    f"The key is destroyed, but a transaction that began before (a backup, a"
                    f" session left open) still keeps its sealed bytes in {self._schema}.keys at"
                    f" {self}: end it, and erase again."
                )
            time.sleep(0.05)

    def _rewritten(self) -> bool:
        """Write the living keys anew; False where dead ones had to be taken along.

        CLUSTER does what VACUUM FULL does, and may be done in a transaction, which the role and the
        time to wait for the lock can be set for.
        """
        told: list[str] = []

        def listen(notice: errors.Diagnostic) -> None:
            told.append(notice.message_detail or "")

        try:
            with self._server.connection() as connection:
                connection.add_notice_handler(listen)
                try:
                    with connection.transaction():
                        connection.execute(*self._server.settings())
                        connection.execute("SELECT set_config('lock_timeout', '1s', true)")
                        connection.execute(
                            SQL("CLUSTER VERBOSE {} USING keys_pkey").format(
                                Identifier(self._schema, "keys")
                            )
                        )
                finally:
                    connection.remove_notice_handler(listen)
        except BackendUnavailable as problem:
            if isinstance(problem.__cause__, errors.LockNotAvailable | errors.DeadlockDetected):
                return False
            if not _was_lost(problem):
                raise
            self._server.pool.drain()
            return False
        # "1 dead row versions cannot be removed yet", in the server's language.
        counts = [re.search(r"\d+", each.partition("\n")[0]) for each in told if each]
        return bool(counts) and all(count is not None and count[0] == "0" for count in counts)

    def damage(self) -> str | None:
        """Nothing that could be asked: the server checks its own pages, where that is on."""
        return None

    def rewired(self) -> str | None:
        """Which trigger or rule on the vault's tables was never made here, or is gone: one may keep
        what is deleted, or keep it from being deleted."""
        there = {str(name) for (name,) in self.rows(_TRIGGERS, (self._schema, self._schema))}
        made = set(re.findall(r"CREATE TRIGGER (\w+)", "".join(_scripts())))
        for name in sorted(made ^ there):
            said = "is none of the vault's" if name in there else "is missing, or switched off"
            return f"the trigger or rule {name!r} in {self._schema} {said}"
        return None

    def close(self) -> None:
        self._server.close()


class PostgresTransaction:
    def __init__(self, connection: Connection, schema: str) -> None:
        self._connection = connection
        self._schema = schema

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        statement = _translated(statement, self._schema)
        return self._connection.execute(statement, values, binary=True).fetchall()

    def run(self, statement: str, *values: Sequence[object]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_translated(statement, self._schema), values)


def _translated(statement: str, schema: str) -> str:
    return statement.replace("vault.", f"{schema}.").replace("?", "%s")


def _was_lost(problem: BackendUnavailable) -> bool:
    return is_lost(problem.__cause__) and not isinstance(problem.__cause__, PoolTimeout)
