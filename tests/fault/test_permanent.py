"""What stays until somebody changes it is told as that, with what to do; what may pass is not: each
caused for real, on a server of our own and in files."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import tempfile
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from ledgers import MASTER
from own_postgres import OwnPostgres

from beliefledger import open_memory
from beliefledger.ledger.errors import BackendUnavailable, BackendUnusable
from beliefledger.ledger.postgres import faults as postgres_faults
from beliefledger.ledger.sqlite import faults as sqlite_faults

NOBODY = 65_534
LOGINS = """
CREATE ROLE anna LOGIN PASSWORD 'right';
CREATE ROLE barred LOGIN PASSWORD 'right';
CREATE ROLE sleeping PASSWORD 'right';
CREATE ROLE stranger LOGIN PASSWORD 'right';
CREATE ROLE reader LOGIN PASSWORD 'right';
CREATE ROLE crowded LOGIN PASSWORD 'right' CONNECTION LIMIT 0;
ALTER ROLE reader SET default_transaction_read_only = on;
CREATE DATABASE secluded;
REVOKE CONNECT ON DATABASE secluded FROM PUBLIC;
CREATE DATABASE closed ALLOW_CONNECTIONS false;
"""


class Served:
    """A server that asks for passwords, with a ledger that `anna` may use."""

    def __init__(self, own):
        self.own = own
        self.directory = parse_qs(urlsplit(own.url).query)["host"][0]

    def url(self, who="anna", password="right", database="postgres", more=""):
        return f"postgresql://{who}:{password}@/{database}?host={self.directory}{more}"

    def root(self, statement):
        with psycopg.connect(self.own.url, autocommit=True) as connection:
            connection.execute(statement)


@pytest.fixture(scope="module")
def served():
    own = OwnPostgres()
    made = Served(own)
    try:
        for statement in filter(str.strip, LOGINS.split(";")):
            made.root(statement)
        rules = own._data / "pg_hba.conf"
        asked = "local all postgres trust\nlocal all barred reject\nlocal all all scram-sha-256\n"
        rules.write_text(asked + rules.read_text())
        made.root("SELECT pg_reload_conf()")
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("BELIEFLEDGER_MASTER_KEY", MASTER.key.hex())
            open_memory(own.url).close()
        for who in ("anna", "reader"):
            made.root(f"GRANT beliefledger_app TO {who}")
        yield made
    finally:
        own.close()


@pytest.fixture(autouse=True)
def keys(monkeypatch, tmp_path):
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", MASTER.key.hex())
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))


# Postgres: at the first connection


@pytest.mark.parametrize(
    ("login", "said", "remedy"),
    [
        ({"password": "wrong"}, "password authentication failed", "right user and password"),
        ({"password": ""}, "no password supplied", "right user and password"),
        ({"who": "nobody"}, "authentication failed", "right user and password"),
        ({"who": "sleeping"}, "is not permitted to log in", "name a role that exists"),
        ({"who": "barred"}, r"pg_hba\.conf rejects", "have the server's administrator"),
        ({"database": "nowhere"}, 'database "nowhere" does not exist', "CREATE DATABASE"),
        ({"database": "secluded"}, "permission denied for database", "lacks a right"),
        ({"database": "closed"}, "not currently accepting", "name a database that exists"),
        ({"more": "&options=-c%20nonsense%3D1"}, "unrecognized configuration", "parameters"),
        ({"who": "stranger"}, "permission denied for", "GRANT beliefledger_app TO the login"),
        ({"who": "reader"}, "read-only transaction", "name the primary"),
    ],
)
def test_a_login_that_is_refused_is_told_with_what_to_do(served, login, said, remedy):
    with pytest.raises(BackendUnusable, match=f"{said}.*What to do: .*{remedy}") as told:
        with open_memory(served.url(**login), create=False) as memory:
            memory.record_turn("ana", "I live in Porto.")
    assert "right@" not in str(told.value)  # nor the password


def test_a_role_that_is_missing_is_named_where_no_password_is_asked_first(served):
    rules = served.own._data / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text("local all nobody trust\n" + before)
    served.root("SELECT pg_reload_conf()")
    try:
        with pytest.raises(BackendUnusable, match=r'role "nobody" does not exist.*name a role'):
            open_memory(served.url("nobody"))
    finally:
        rules.write_text(before)
        served.root("SELECT pg_reload_conf()")


def test_a_server_that_takes_nobody_just_now_may_later(served):
    with pytest.raises(BackendUnavailable, match="too many connections for role"):
        open_memory(served.url("crowded"))
    with tempfile.TemporaryDirectory() as empty:
        nobody_there = f"postgresql://anna:right@/postgres?host={empty}"
        with pytest.raises(BackendUnavailable, match="No such file or directory"):
            open_memory(nobody_there)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(BackendUnavailable, match="refused"):
        open_memory(f"postgresql://anna:right@127.0.0.1:{port}/postgres")


@contextmanager
def answering(words):
    """A server on a port that answers whatever it is asked with these words."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(1_000)
                    connection.sendall(words)

        threading.Thread(target=serve, daemon=True).start()
        yield f"postgresql://anna:right@127.0.0.1:{server.getsockname()[1]}/postgres"
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("words", "mode", "remedy"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "disable", "something else than Postgres answers"),
        (b"N", "require", "correct sslmode"),
    ],
)
def test_something_else_at_the_port_or_no_tls_is_told(words, mode, remedy):
    with answering(words) as url, pytest.raises(BackendUnusable, match=remedy):
        open_memory(f"{url}?sslmode={mode}")


@pytest.mark.parametrize("host", [f"{'x' * 64}.example", "no%20such%20host"])
def test_a_host_that_cannot_be_is_told_at_the_first_connection(host):
    with pytest.raises(BackendUnusable, match="correct the host"):
        open_memory(f"postgresql://anna:right@{host}/postgres")


def test_a_server_that_is_too_old_is_told(served, monkeypatch):
    monkeypatch.setattr("beliefledger.ledger.postgres.server.OLDEST", 99)
    with pytest.raises(BackendUnusable, match=r"is PostgreSQL \d+, which lacks .* use 99 or newer"):
        open_memory(served.url())


# Postgres, when it is open


def test_a_password_that_was_changed_under_a_running_pool_is_told_and_can_be_put_right(served):
    with open_memory(served.url()) as memory:
        memory.consent.grant("ana", "consent")
        pools = [memory._log.store.server.pool, memory._log.vault._database._server.pool]
        for pool in pools:
            pool.timeout = 1
        served.root("ALTER ROLE anna PASSWORD 'another'")
        try:
            served.root("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE usename = 'anna'")  # fmt: skip
            with pytest.raises(BackendUnusable, match="password authentication failed"):
                memory.record_turn("ana", "I live in Porto.")
            with pytest.raises(BackendUnusable, match="right user and password"):
                memory.status()
        finally:
            served.root("ALTER ROLE anna PASSWORD 'right'")
            for pool in pools:
                pool.timeout = 20  # it asks the server less and less often
        memory.record_turn("ana", "I live in Porto.")
        assert memory.proofs.verify().ok


def test_a_right_that_was_taken_away_is_told_and_can_be_given_back(served):
    with open_memory(served.url()) as memory:
        memory.consent.grant("ana", "consent")
        served.root("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA beliefledger FROM beliefledger_app")
        try:
            with pytest.raises(BackendUnusable, match=r"permission denied.*lacks a right"):
                memory.record_turn("ana", "I live in Faro.")
        finally:
            served.root("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA beliefledger TO beliefledger_app")
        memory.record_turn("ana", "I live in Faro.")


def test_a_standby_answers_and_refuses_to_write(served):
    """The same server, started as a standby, and then let be a primary again."""
    served.own.stop("fast")
    signal = served.own._data / "standby.signal"
    signal.touch()
    shutil.chown(signal, served.own._server.system_user)
    served.own.start()
    try:
        refused = pytest.raises(BackendUnusable, match=r"read-only transaction.*name the primary")
        with refused, open_memory(served.url()) as memory:
            memory.record_turn("ana", "I live in Lisbon.")
    finally:
        served.own.stop("fast")
        signal.unlink()
        served.own.start()
    with open_memory(served.url()) as memory:
        memory.consent.grant("ana", "consent")


def test_every_code_in_the_table_is_one_of_postgres():
    """Its tables name codes and classes; none is there twice, and each means something."""
    every = (getattr(each, "sqlstate", None) for each in vars(psycopg.errors).values())
    known = [each for each in every if isinstance(each, str)]
    for code in (*postgres_faults.STAYING, *postgres_faults.PASSING):
        assert any(each.startswith(code) for each in known), code
    assert not set(postgres_faults.STAYING) & set(postgres_faults.PASSING)


# SQLite and files


@pytest.fixture
def ledger():
    """A ledger in a directory that every user can look into, used once and closed."""
    made = Path(tempfile.mkdtemp(prefix="ledger-"))
    made.chmod(0o755)
    with open_memory(made / "l") as memory:
        memory.remember("ana", "I live in Porto.", consent="consent")
    yield made / "l"
    shutil.rmtree(made)


@contextmanager
def as_nobody():
    """Nobody may write what is root's."""
    os.seteuid(NOBODY if os.geteuid() == 0 else os.geteuid())
    try:
        yield
    finally:
        os.seteuid(os.getuid())


@contextmanager
def mode(path, bits):
    before = path.stat().st_mode
    path.chmod(bits)
    try:
        with as_nobody():
            yield
    finally:
        path.chmod(before)


@pytest.mark.parametrize("name", ["log.db", "keys.db", "views/views.db", "write.lock"])
def test_a_directory_where_a_file_belongs_is_told(ledger, name):
    for each in (ledger / name).parent.glob(f"{Path(name).name}*"):
        each.unlink()
    (ledger / name).mkdir()
    with pytest.raises(BackendUnusable, match=f"{name}.*a file belongs"):
        open_memory(ledger)


@pytest.mark.parametrize("name", ["", "views"])
def test_a_file_where_a_directory_belongs_is_told(ledger, name):
    shutil.rmtree(ledger / name)
    (ledger / name).write_text("")
    with pytest.raises(BackendUnusable, match=f"{ledger / name}.*a directory belongs"):
        open_memory(ledger)


def test_a_place_under_a_file_is_told(ledger):
    with pytest.raises(BackendUnusable, match=r"log\.db.*a directory belongs"):
        open_memory(ledger / "log.db" / "inside")


def test_files_that_may_only_be_read_are_told_to_whoever_writes(ledger):
    open_memory(ledger).close()  # what Python loads for it, root alone may be able to read
    for each in [ledger, *ledger.rglob("*")]:
        each.chmod(0o777 if each.is_dir() else 0o666)
    for name in ("log.db", "keys.db", "views/views.db"):
        with mode(ledger / name, 0o444), pytest.raises(BackendUnusable, match="right to read"):
            open_memory(ledger).record_turn("ana", "I live in Faro.")


def test_a_vault_that_was_taken_away_while_it_was_open_is_told(ledger):
    with open_memory(ledger) as memory:
        (ledger / "keys.db").rename(ledger / "elsewhere.db")
        with pytest.raises(BackendUnusable, match="put it back"):
            memory.record_turn("ben", "I live in Faro.")
        (ledger / "elsewhere.db").rename(ledger / "keys.db")
        memory.record_turn("ben", "I live in Faro.")


def test_too_many_open_files_may_pass(ledger):
    open_memory(ledger).close()  # with all that is loaded for it
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(each.name) for each in Path("/proc/self/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, hard))
    filling = []
    try:
        with suppress(OSError):
            while True:
                filling.append(os.open("/dev/null", os.O_RDONLY))
        with pytest.raises(BackendUnavailable, match="unable to open"):
            open_memory(ledger)
    finally:
        for each in filling:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    open_memory(ledger).close()


def test_the_tables_of_sqlite_have_no_code_twice():
    assert not sqlite_faults.PASSING & sqlite_faults.STAYING.keys()
