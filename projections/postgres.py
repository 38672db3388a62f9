"""Views in a schema of Postgres.

No state is kept in a session. What is sent first in each transaction says as whom, for which tenant
and where; locks are of the transaction, so that they end with it and with the process.
"""

from __future__ import annotations

import re
import select
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, LargeBinary, Table, create_engine, event, inspect
from sqlalchemy.exc import DBAPIError, DisconnectionError, OperationalError

from beliefledger.ledger.errors import BackendUnavailable, BackendUnusable
from beliefledger.ledger.postgres.faults import first_line, remedy_for
from beliefledger.projections.compiled import STATEMENTS
from beliefledger.projections.tables import view_state
from beliefledger.projections.view_databases import (
    REBUILD_RUNS,
    Home,
    StillRead,
    gathered,
    making,
)

_READERS_MAY_TAKE = "2s"
"""How long to wait for readers before tables are dropped, while new readers are held up. Longer
than a vacuum takes to give way."""
_WRITERS_MAY_TAKE = "20s"
"""How long to wait for another writer. Folding a page takes well under a second."""
_WRITERS_MAY_IDLE = "60s"
"""A process that stopped while it wrote is ended by the server after this, so that the others go
on."""
_NOT_TO_BE_ENDED = """
SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN
('idle_in_transaction_session_timeout', 'transaction_timeout', 'statement_timeout', 'lock_timeout')
"""
_HOLDERS_MAY_TAKE = 10.0
"""For how many seconds older transactions may keep deleted rows."""
_LOCK_NOT_AVAILABLE = "55P03"
_DEADLOCK = "40P01"
_COLUMNS = """
SELECT t.relname, c.attname FROM pg_class AS t JOIN pg_attribute AS c ON c.attrelid = t.oid
WHERE t.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = %s)
AND t.relkind = 'r' AND c.attnum > 0 AND NOT c.attisdropped
"""
_RAW = {"no_parameters": True}
"""Sends several statements as one message, unchanged."""


class PostgresHome(Home):
    """Views in a schema that is there already.

    `connect` opens a psycopg connection in autocommit mode; the pool is made of these. Transactions
    are begun here, in the same message that says what each begins with: a round trip of its own
    would cost as much as most questions do. They act as `app_role`, who is to own
    the schema (None: as whoever connects), with `tenant` as the value of `tenant_setting`. Rows are
    shown and written on behalf of that tenant alone. What is written goes at once to replicas that
    questions are asked of (`replicated`).
    """

    own_columns = frozenset({"tenant"})

    def __init__(
        self,
        connect: Callable[[], Any],
        schema: str,
        app_role: str | None,
        tenant: str,
        tenant_setting: str,
        *,
        replicated: bool = False,
    ) -> None:
        self._schema = schema
        self._setting = tenant_setting
        self._one_rebuilds = threading.Lock()
        self._first = (
            f"{'' if app_role is None else f'SET LOCAL ROLE {_name(app_role)};'}"
            f"SET LOCAL {tenant_setting} = {_text(tenant)};"
            f"SET LOCAL search_path = {_name(schema)};"
        )
        state = f"{_name(schema)}.{view_state.name}"
        # A SELECT would fix the snapshot, and a table that it knows could be dropped before the
        # lock is there. LOCK does not.
        self._lock_for_reading = f"LOCK TABLE {state} IN ACCESS SHARE MODE;"
        self._lock_for_clearing = (
            f"SET LOCAL lock_timeout = '{_READERS_MAY_TAKE}';"
            f"LOCK TABLE {state} IN ACCESS EXCLUSIVE MODE;"
        )
        # Lost in a crash, the last transactions are folded again: they need not wait for the disk.
        # But a replica is sent only what is on the disk.
        self._lock_for_writing = (
            f"SET LOCAL synchronous_commit = {'local' if replicated else 'off'};"
            f"SET LOCAL idle_in_transaction_session_timeout = '{_WRITERS_MAY_IDLE}';"
            f"SET LOCAL lock_timeout = '{_WRITERS_MAY_TAKE}';"
            f"{self._lock('writing')};"
            "SET LOCAL lock_timeout = DEFAULT;"
        )

        self.engine = create_engine(
            "postgresql+psycopg://",
            creator=connect,
            use_native_hstore=False,  # not to be looked for
            execution_options={"compiled_cache": STATEMENTS},
        )
        event.listen(self.engine, "checkout", _check_it_lives)

        @event.listens_for(self.engine, "begin")
        def _begin(connection: Connection) -> None:
            options = connection.get_execution_options()
            begin = f"BEGIN {options.get('mode', 'ISOLATION LEVEL READ COMMITTED')};"
            first = begin + self._first + options.get("first", "")
            connection.exec_driver_sql(first, execution_options=_RAW)

    def _lock(self, what: str) -> str:
        key = _text(f"beliefledger views {self._schema} {what}")
        return f"SELECT pg_advisory_xact_lock(hashtextextended({key}, 0))"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._transaction(
            first=self._lock_for_reading, mode="ISOLATION LEVEL REPEATABLE READ READ ONLY"
        ) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with self._transaction(first=self._lock_for_writing) as connection:
            yield connection

    @contextmanager
    def filling(self, tables: Sequence[Table]) -> Iterator[Connection]:
        """A rebuild has these tables to itself, so other writers need not wait.

        COPY is refused where row-level security binds. It is lifted from their owner until this
        transaction ends, and nobody can look at them that long.
        """
        first = "SET LOCAL synchronous_commit = off;"
        with self._transaction(first=first, copying=True) as connection:
            self._force(connection, tables, "NO FORCE")
            yield connection
            self._force(connection, tables, "FORCE")

    @contextmanager
    def clearing(self) -> Iterator[Connection]:
        with self.writing() as connection:
            try:
                connection.exec_driver_sql(self._lock_for_clearing, execution_options=_RAW)
                yield connection
            except OperationalError as problem:
                if _code(problem) == _LOCK_NOT_AVAILABLE:
                    raise StillRead from problem
                raise

    @contextmanager
    def rebuilding(self, seconds: float | None = None) -> Iterator[Callable[[], None]]:
        """Keeps a transaction open, on a connection of its own: one for each process, so that
        waiting rebuilds do not use up the pool."""
        until = time.monotonic() + (seconds or 0)
        with self._alone_here(seconds), self._transaction() as connection:
            connection.exec_driver_sql(_NOT_TO_BE_ENDED)
            if seconds is not None:  # of 0 the server makes no limit at all
                left = max(1, int(1000 * (until - time.monotonic())))
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {left}")
            try:
                connection.exec_driver_sql(self._lock("rebuilding"))
            except OperationalError as problem:
                if _code(problem) == _LOCK_NOT_AVAILABLE:
                    raise BackendUnavailable(REBUILD_RUNS) from problem
                raise
            connection.exec_driver_sql("SET LOCAL lock_timeout = 0")

            def check() -> None:
                try:
                    connection.exec_driver_sql("SELECT")
                except DBAPIError as problem:
                    raise self._unavailable(problem) from problem

            yield check

    @contextmanager
    def _alone_here(self, seconds: float | None) -> Iterator[None]:
        """Lets one thread of this process in at a time."""
        if not self._one_rebuilds.acquire(timeout=-1 if seconds is None else seconds):
            raise BackendUnavailable(REBUILD_RUNS)
        try:
            yield
        finally:
            self._one_rebuilds.release()

    def create(self, connection: Connection, table: Table) -> None:
        """Make a table that shows each tenant its own rows. The column for it is not among those
        that the views know."""
        name = _text(f"{_name(self._schema)}.{table.name}")
        asked = connection.exec_driver_sql(f"SELECT to_regclass({name}) IS NULL")
        if not asked.scalar_one():
            return
        self.run(connection, self.statements(connection, table))

    def statements(self, connection: Connection, table: Table) -> list[str]:
        unsampled = [  # no sample of what is sealed in statistics
            f"ALTER TABLE {table.name} ALTER COLUMN {column.name} SET STATISTICS 0"
            for column in table.columns
            if isinstance(column.type, LargeBinary)
        ]
        return [
            making(connection, table),
            f'ALTER TABLE {table.name} ADD COLUMN tenant text COLLATE "C" NOT NULL'
            f" DEFAULT current_setting('{self._setting}')",
            f"ALTER TABLE {table.name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
            f"CREATE POLICY of_tenant ON {table.name}"
            f" USING (tenant = (SELECT current_setting('{self._setting}', true)))",
            *unsampled,
        ]

    def run(self, connection: Connection, statements: Sequence[str]) -> None:
        """As one message."""
        if statements:
            connection.exec_driver_sql(";".join(statements), execution_options=_RAW)

    def settle(self, connection: Connection, tables: Sequence[Table]) -> None:
        """Let the planner know what questions look rows up by; roughly, until the server itself
        comes round to it."""
        connection.exec_driver_sql("SET LOCAL default_statistics_target = 20")
        for table in tables:
            asked = dict.fromkeys(each.name for index in table.indexes for each in index.columns)
            connection.exec_driver_sql(f"ANALYZE {table.name} ({', '.join(asked)})")

    def table_names(self, connection: Connection) -> list[str]:
        return inspect(connection).get_table_names(schema=self._schema)

    def columns(self, connection: Connection) -> dict[str, set[str]]:
        found = gathered(connection.exec_driver_sql(_COLUMNS, (self._schema,)))
        return {table: columns - self.own_columns for table, columns in found.items()}

    def scrub(self) -> None:
        """Does nothing: views hold references and tags, no words, so a deleted row left in a file
        says nothing of anybody whose key is gone."""

    def rewrite(self, table: Table) -> None:
        """Write the table's living rows anew, which takes it for so long: DELETE and VACUUM leave
        the bytes of deleted ones there. What the WAL has is out of our hands."""
        until = time.monotonic() + _HOLDERS_MAY_TAKE
        while not self._rewritten(table):
            if time.monotonic() > until:
                raise BackendUnavailable(
                    f"Rows of {table.name} are deleted, but a transaction that began before (a"
                    " backup, a session left open) still keeps their bytes: end it, and erase"
                    " again."
                )
            time.sleep(0.05)

    def _rewritten(self, table: Table) -> bool:
        """Rewrite the table; False if deleted rows had to be kept, or the table was locked.

        CLUSTER does what VACUUM FULL does, and may be done in a transaction, which a role and the
        time to wait for the lock can be set for.
        """
        told: list[str] = []

        def listen(notice: Any) -> None:
            told.append(notice.message_detail or "")

        try:
            with self._transaction(first="SET LOCAL lock_timeout = '1s';") as connection:
                driver: Any = connection.connection.driver_connection
                driver.add_notice_handler(listen)
                try:
                    connection.exec_driver_sql(
                        f"CLUSTER VERBOSE {table.name} USING {table.name}_pkey"
                    )
                finally:
                    driver.remove_notice_handler(listen)
        except BackendUnavailable as problem:
            if _code(problem.__cause__) in {_LOCK_NOT_AVAILABLE, _DEADLOCK}:
                return False
            raise
        # "1 dead row versions cannot be removed yet", in the server's language.
        counts = [re.search(r"\d+", each.partition("\n")[0]) for each in told if each]
        return bool(counts) and all(count is not None and count[0] == "0" for count in counts)

    def beside(self, name: str) -> Home:
        """This home itself: tables of one schema do not get in each other's way."""
        return self

    def _force(self, connection: Connection, tables: Sequence[Table], how: str) -> None:
        for table in tables:
            connection.exec_driver_sql(f"ALTER TABLE {table.name} {how} ROW LEVEL SECURITY")

    def _unavailable(self, problem: Exception) -> BackendUnavailable | BackendUnusable:
        cause = problem.orig if isinstance(problem, DBAPIError) else problem
        said = f"The views did not answer: {first_line(cause or problem)}."
        code = _code(problem)
        if code in _MENDED:
            return BackendUnusable(f"{said} {_MENDED[code]}")
        remedy = remedy_for(code)
        if remedy is not None:
            return BackendUnusable(f"{said} What to do: {remedy.format(schema=self._schema)}.")
        return BackendUnavailable(f"{said} {_ADVICE.get(code, '')}".rstrip())


_ADVICE = {
    _LOCK_NOT_AVAILABLE: (
        "Another process holds the views and does not let go: ask again in a minute, by when the"
        " server has ended one that was stopped."
    ),
    "25P03": "This process stood still while it wrote, and was ended: ask again.",
}
"""Advice for error codes of passing problems."""
_MENDED = {
    "42501": "Its role lacks a right: run `beliefledger init` as the database's owner.",
    "3F000": "Their schema is not there: run `beliefledger init` as the database's owner.",
    "42P01": "A table is not there: open the ledger again and run `beliefledger ops rebuild`.",
    "XX001": "A file of theirs is damaged: run `beliefledger ops rebuild`.",
    "XX002": "A file of theirs is damaged: run `beliefledger ops rebuild`.",
    "23505": "They are not as they were left: run `beliefledger ops rebuild`.",
}
"""Advice for error codes of lasting problems."""


def _check_it_lives(raw: Any, _record: Any, _proxy: Any) -> None:
    """Raises `DisconnectionError`, for which the pool connects anew, where the server has ended it.

    Of an idle connection nothing is to be read, unless it was ended: only then is the server asked.
    SQLAlchemy's `pool_pre_ping` asks each time: a round trip more for each look at the views, of
    which one `remember` takes eleven; an empty transaction took a third longer on one machine.
    """
    look = select.poll()
    look.register(raw.fileno(), select.POLLIN)
    if look.poll(0):
        try:
            raw.execute("SELECT")
        except raw.OperationalError as problem:
            raise DisconnectionError from problem


def _code(problem: BaseException | None) -> str:
    return (
        getattr(problem.orig if isinstance(problem, DBAPIError) else problem, "sqlstate", "") or ""
    )


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    """A literal, however the server takes backslashes."""
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
