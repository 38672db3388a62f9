"""What a server's own settings can do to the ledger, and what we say of it."""

from __future__ import annotations

import threading

import psycopg
import pytest

from beliefledger.ledger.envelope import Address
from beliefledger.ledger.errors import (
    BackendUnavailable,
    BackendUnusable,
    LedgerError,
    LogCorrupted,
)
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres.server import PostgresURL, Server
from beliefledger.ledger.postgres.store import PostgresEventStore
from beliefledger.ledger.store import Sealed


@pytest.fixture
def server(postgres_url):
    made = Server(PostgresURL.parse(postgres_url))
    schema.init(made)
    yield made
    made.close()


def of(url, **settings):
    """The URL for a session with these settings."""
    said = "%20".join(f"-c%20{name}={value}" for name, value in settings.items())
    return Server(PostgresURL.parse(f"{url}&options={said}"))


def test_another_isolation_by_default_is_refused_at_start(server, postgres_url):
    strict = of(postgres_url, default_transaction_isolation="serializable")
    with pytest.raises(BackendUnusable, match="ALTER ROLE"):
        schema.check(strict)
    strict.close()


def test_a_commit_waits_for_the_disk_even_where_sessions_do_not(server, postgres_url):
    hasty = of(postgres_url, synchronous_commit="off")
    with hasty.connection() as connection, connection.transaction():
        marks = ", ".join(["%s"] * 17)
        none: list[str] = []
        connection.execute(
            f"SELECT * FROM {server.url.schema}.append({marks})",
            ("default", 1, 1, None, 5_000, None, 0, *[none] * 10),
        )
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
    hasty.close()


def test_the_database_itself_refuses_to_change_history(server):
    name = server.url.schema
    with server.connection() as connection:  # a superuser
        for statement in (
            f"UPDATE {name}.head SET position = -1",
            f"DELETE FROM {name}.head",
            f"TRUNCATE {name}.history",
            f"TRUNCATE {name}.bodies",
        ):
            with pytest.raises(psycopg.errors.RaiseException):
                connection.execute(statement)
        connection.execute(
            f"INSERT INTO {name}.history VALUES (1, 's', 1, 't', 'e', 'default', NULL, 1, 'x')"
        )
        connection.execute(f"INSERT INTO {name}.bodies VALUES (1, 'default', 'x')")
        for statement in (
            f"UPDATE {name}.history SET version = 2",
            f"DELETE FROM {name}.history",
            f"UPDATE {name}.bodies SET body = 'y'",
        ):
            with pytest.raises(psycopg.errors.RaiseException):
                connection.execute(statement)


def test_the_app_s_role_can_do_nothing_to_history(server):
    name = server.url.schema
    with server.connection() as connection:
        for statement in (
            f"INSERT INTO {name}.history VALUES (1, 's', 1, 't', 'e', 'x', NULL, 1, 'x')",
            f"UPDATE {name}.history SET version = 2",
            f"DELETE FROM {name}.history",
            f"TRUNCATE {name}.history",
            f"INSERT INTO {name}.bodies VALUES (1, 'default', 'x')",
            f"UPDATE {name}.bodies SET body = 'y'",
            f"TRUNCATE {name}.bodies",
            f"UPDATE {name}.head SET position = 9",
            f"ALTER TABLE {name}.history DISABLE TRIGGER ALL",
        ):
            with connection.transaction(force_rollback=True):
                connection.execute(f"SET LOCAL ROLE {schema.app_role(name)}")
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement)


def test_a_connection_that_forgets_its_tenant_sees_nothing(server):
    name = server.url.schema
    with server.connection() as connection:
        connection.execute(
            f"INSERT INTO {name}.history VALUES (1, 's', 1, 't', 'e', 'default', NULL, 1, 'x')"
        )
        connection.execute(f"INSERT INTO {name}.bodies VALUES (1, 'default', 'x')")
        connection.execute(
            f"INSERT INTO {name}.consumers VALUES ('default', 'c', 0, 1, 'h', now())"
        )
        for table in ("history", "bodies", "consumers"):
            counted = f"SELECT count(*) FROM {name}.{table}"
            with connection.transaction():
                connection.execute(f"SET LOCAL ROLE {schema.app_role(name)}")
                assert connection.execute(counted).fetchone() == (0,)
                for tenant, there in (("another", 0), ("default", 1)):
                    connection.execute(
                        "SELECT set_config('beliefledger.tenant', %s, true)", (tenant,)
                    )
                    assert connection.execute(counted).fetchone() == (there,)


def test_init_and_migrate_are_safe_to_run_at_once(postgres_url):
    url = PostgresURL.parse(postgres_url)
    start, problems = threading.Barrier(4), []

    def make(how):
        server = Server(url)
        start.wait()
        try:
            how(server)
            schema.check(server)
        except LedgerError as problem:
            problems.append(problem)
        server.close()

    threads = [
        threading.Thread(target=make, args=(how,)) for how in [schema.init, schema.migrate] * 2
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_a_head_past_the_last_event_takes_no_more(server):
    with server.connection() as connection:
        connection.execute(f"UPDATE {server.url.schema}.head SET position = 7")
    schema.check(server)
    store = PostgresEventStore(server)
    address = Address("e" * 32, "turn.parked.v1", "s", 1, "default", None)
    with pytest.raises(LogCorrupted, match="position 7 is missing"):
        store.append([Sealed(address, b"{", b"}", None)], {"s": 0}, lambda: 1)
    store.close()


def test_a_server_that_is_asked_once_is_connected_to_once(postgres_url):
    asking = Server(PostgresURL.parse(f"{postgres_url}&application_name=asks_once"))
    ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'asks_once'"
    assert asking.ask_plain(ours) == [(1,)]
    asking.close()


def test_a_server_that_goes_away_right_after_the_connection_is_unavailable(
    server, postgres_url, monkeypatch
):
    """Before it has told whether a pooler stands between."""
    other = Server(PostgresURL.parse(postgres_url))
    ordinary, begun = other._connected, []

    def cut(conninfo):
        made = ordinary(conninfo)
        if not begun:
            begun.append(made)
            with server.connection() as connection:
                connection.execute("SELECT pg_terminate_backend(%s)", (made.info.backend_pid,))
        return made

    monkeypatch.setattr(other, "_connected", cut)
    with pytest.raises(BackendUnavailable):
        other.connect()
    assert begun[0].closed
    assert other.pooled is None
    with other.connection() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert other.pooled is False
    other.close()
