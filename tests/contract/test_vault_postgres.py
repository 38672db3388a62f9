"""The vault in a Postgres: rights, lost connections, and what a destroyed key leaves behind."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import psycopg
import pytest
from finding import changed_since, found_in, times
from psycopg.conninfo import conninfo_to_dict

from beliefledger.ledger.errors import (
    BackendUnavailable,
    BackendUnusable,
    CallerMistake,
    OlderProgram,
)
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.postgres import schema as log_schema
from beliefledger.ledger.postgres import vault as postgres_vault
from beliefledger.ledger.postgres.server import PostgresURL, Server
from beliefledger.ledger.postgres.vault import PostgresVault
from beliefledger.ledger.vault import Vault

MASTER = MasterKey(bytes(range(32)))


@pytest.fixture
def serve(postgres_url) -> Iterator[Callable[..., Server]]:
    """A pool of its own, as another process has."""
    opened: list[Server] = []

    def serve_(url: str = postgres_url) -> Server:
        opened.append(Server(PostgresURL.parse(url), size=4))
        return opened[-1]

    yield serve_
    for server in opened:
        server.close()


@pytest.fixture
def vault(serve) -> Vault:
    server = serve()
    postgres_vault.init(server)
    return Vault(PostgresVault(server), MASTER)


@pytest.fixture
def root(postgres) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres, autocommit=True) as connection:
        yield connection


@pytest.fixture
def tables(postgres_url) -> str:
    return PostgresURL.parse(postgres_url).schema + "_vault"


@pytest.fixture
def app(postgres_url) -> str:
    return PostgresURL.parse(postgres_url).schema + "_app"


def register(vault, *names):
    return vault.register("default", names)


# Making it


def test_a_vault_is_made_once_however_often_and_by_whomever(serve):
    made: list[bool] = []
    start = threading.Barrier(4)

    def make(server):
        start.wait()
        made.append(postgres_vault.init(server))

    threads = [threading.Thread(target=make, args=(serve(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == [False, False, False, True]
    assert postgres_vault.init(serve()) is False


def test_log_and_vault_are_made_beside_each_other_at_once(serve):
    start = threading.Barrier(2)
    told: list[bool] = []

    def make(init, server):
        start.wait()
        told.append(init(server))

    threads = [
        threading.Thread(target=make, args=(each.init, serve()))
        for each in (log_schema, postgres_vault)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [True, True]
    server = serve()
    log_schema.check(server)
    assert Vault(PostgresVault(server), MASTER).subjects("default") == []


def test_a_vault_that_is_not_there_is_named_with_what_to_run(serve):
    with pytest.raises(BackendUnusable, match="beliefledger init"):
        PostgresVault(serve())


def test_a_vault_that_a_newer_one_made_is_left_alone(vault, serve, root, tables):
    root.execute(f"COMMENT ON SCHEMA {tables} IS 'beliefledger vault, version 9'")
    for attempt in (PostgresVault, postgres_vault.init):
        with pytest.raises(OlderProgram, match="has version 9"):
            attempt(serve())


# Rights


def test_without_a_tenant_nothing_is_shown_and_nothing_can_be_written(vault, root, tables, app):
    register(vault, "ana", "ben")
    vault.destroy(register(vault, "ben")[0], 1)
    vault.principal("dora")
    for setting in (None, "other"):
        with root.transaction(force_rollback=True):
            root.execute(f"SET LOCAL ROLE {app}")
            if setting:
                root.execute("SELECT set_config('beliefledger.tenant', %s, true)", (setting,))
            for table in ("meta", "keys", "tombstones", "principals"):
                assert root.execute(f"SELECT * FROM {tables}.{table}").fetchall() == []
            assert root.execute(f"DELETE FROM {tables}.keys").rowcount == 0
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
                root.execute(
                    f"INSERT INTO {tables}.keys VALUES ('x', 'default', 'k', 'l', 'w', 's')"
                )


def test_a_vault_of_one_tenant_is_not_asked_about_another(vault):
    for attempt in (
        lambda: vault.register("other", ["ana"]),
        lambda: vault.find("other", "ana"),
        lambda: vault.was_erased("other", "ana"),
        lambda: vault.subjects("other"),
    ):
        with pytest.raises(CallerMistake, match="opened for the tenant 'default'"):
            attempt()


def test_one_tenant_s_copy_comes_in_beside_another_tenant(vault, serve, postgres_url, tmp_path):
    [ana] = register(vault, "ana")
    original = Vault(tmp_path / "keys.db", MASTER)
    [ben] = original.register("second", ["ben"])
    beside = Vault(PostgresVault(serve(f"{postgres_url}&tenant=second")), MASTER)
    beside.restore(original.dump())
    assert beside.find("second", "ben") == ben
    assert [each[0] for each in beside.dump().keys] == [ben]
    assert register(vault, "ana") == [ana]
    with pytest.raises(CallerMistake, match="tenant"):
        vault.restore(original.dump())
    original.close()


def test_a_login_that_is_only_the_app_s_can_do_all_of_it(vault, root, postgres_url, app, serve):
    login = f"{app}_login"
    root.execute(f"CREATE ROLE {login} LOGIN IN ROLE {app}")
    server = serve(postgres_url.replace("postgres:@", f"{login}@"))
    assert server.ask_plain("SELECT current_user") == [(login,)]
    assert postgres_vault.init(server) is False
    theirs = Vault(PostgresVault(server), MASTER)
    [ref] = register(theirs, "ana")
    assert register(vault, "ana") == [ref]
    assert theirs.destroy(ref, 1)
    assert theirs.is_erased(ref)
    theirs.close()


# Durability


def test_a_commit_is_durable_whatever_the_server_prefers(vault, root, app):
    seen = []
    write = vault._database.write

    def asked(work):
        def look(transaction):
            seen.append(transaction.rows("SHOW synchronous_commit") == [("on",)])
            seen.append(transaction.rows("SHOW transaction_isolation") == [("read committed",)])
            return work(transaction)

        return write(look)

    vault._database.write = asked
    [(database,)] = root.execute("SELECT current_database()").fetchall()
    try:
        root.execute(f"ALTER DATABASE {database} SET synchronous_commit = off")
        root.execute(
            f"ALTER DATABASE {database} SET default_transaction_isolation = 'repeatable read'"
        )
        cut_all(root)
        assert register(vault, "ana")
    finally:
        root.execute(f"ALTER DATABASE {database} RESET ALL")
    assert set(seen) == {True}


# Lost connections


def cut_all(root):
    root.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND application_name = 'beliefledger'"
    )


def test_connections_that_were_ended_are_made_again(vault, root):
    [ref] = register(vault, "ana")
    cut_all(root)
    assert vault.subjects("default") == [ref]
    cut_all(root)
    [ben] = register(vault, "ben")
    assert vault.real_id(ben) == "ben"
    cut_all(root)
    assert vault.destroy(ref, 1)
    cut_all(root)
    vault.refresh()
    assert vault.keys(ref) is None


def test_a_write_whose_connection_ends_inside_is_done_again(vault, root, monkeypatch):
    make, cuts = vault._look_or_make, [1, 1]

    def cut_after(transaction, *given, **more):
        ref = make(transaction, *given, **more)
        if cuts:
            cuts.pop()
            cut_all(root)
        return ref

    monkeypatch.setattr(vault, "_look_or_make", cut_after)
    [ref] = register(vault, "ana")
    assert not cuts
    assert vault.subjects("default") == [ref]


class Cutter:
    """Stands before the server. A commit that is to be cut still reaches the server; its answer
    reaches nobody, since the connection ends."""

    def __init__(self, directory: Path, server: str) -> None:
        self.commits_to_cut = 0
        self._server = server
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(directory / ".s.PGSQL.5432"))
        self._listener.listen()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._pairs.append((client, server))
                threading.Thread(target=self._upward, args=(client, server), daemon=True).start()

    def _upward(self, client: socket.socket, server: socket.socket) -> None:
        downward = threading.Thread(target=self._downward, args=(server, client), daemon=True)
        downward.start()
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                if self.commits_to_cut and b"COMMIT" in data:
                    self.commits_to_cut -= 1
                    client.shutdown(socket.SHUT_RDWR)  # the answer reaches nobody
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)
        downward.join()
        client.close()
        server.close()

    def _downward(self, server: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)
            client.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        for each in (self._listener, *(end for pair in self._pairs for end in pair)):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@pytest.fixture
def cutter(postgres_url, tmp_path_factory) -> Iterator[Cutter]:
    where = conninfo_to_dict(PostgresURL.parse(postgres_url).conninfo)["host"]
    cutting = Cutter(tmp_path_factory.mktemp("cut"), f"{where}/.s.PGSQL.5432")
    yield cutting
    cutting.close()


@pytest.fixture
def cut_vault(vault, cutter, serve, postgres_url) -> Vault:
    """The same vault, reached through the cutter."""
    where = str(conninfo_to_dict(PostgresURL.parse(postgres_url).conninfo)["host"])
    there = str(Path(cutter._listener.getsockname()).parent)
    return Vault(PostgresVault(serve(postgres_url.replace(where, there))), MASTER)


def test_a_lost_commit_reply_is_looked_up(vault, cut_vault, cutter):
    for number in (1, 2):
        cutter.commits_to_cut = number
        [ref] = register(cut_vault, f"person {number}")
        assert cutter.commits_to_cut == 0
        assert vault.find("default", f"person {number}") == ref
    assert len(vault.subjects("default")) == 2

    cutter.commits_to_cut = 1
    dora, fresh = cut_vault.principal("dora")
    assert fresh, "made just now, though the first answer was lost"
    assert vault.principal("dora") == (dora, False)

    cutter.commits_to_cut = 1
    assert cut_vault.destroy(ref, 1)
    assert vault.is_erased(ref)


def test_a_commit_that_is_never_answered_is_unavailable_and_done_once(vault, cut_vault, cutter):
    cutter.commits_to_cut = postgres_vault._WRITE_TRIES
    with pytest.raises(BackendUnavailable):
        register(cut_vault, "ana")
    cutter.commits_to_cut = 0
    [ref] = register(cut_vault, "ana")
    assert vault.subjects("default") == [ref]


# What a destroyed key leaves behind


@pytest.fixture
def holding(root) -> Callable[[Iterable[bytes]], list[str]]:
    """Tells which of these are in a file of the server that was written since."""
    [(directory,)] = root.execute("SHOW data_directory").fetchall()

    def files() -> list[Path]:
        root.execute("CHECKPOINT")
        every = Path(directory).rglob("*")
        return [path for path in every if path.is_file() and "pg_wal" not in path.parts]

    before = times(files())
    return lambda blobs: found_in(changed_since(files(), before), list(blobs))


def test_no_byte_of_a_destroyed_key_stays_in_the_server_s_files(holding, vault, root, tables):
    refs = register(vault, *(" ".join([f"person {number}"] * number) for number in range(1, 201)))
    blobs = {each[0]: each[4:] for each in vault.dump().keys}
    root.execute(f"ANALYZE {tables}.keys")
    assert holding(blobs[refs[150]]), "or else the search finds nothing"
    gone = refs[::20]
    for ref in gone:
        assert vault.destroy(ref, 1)
    assert holding([blob for ref in gone for blob in blobs[ref]]) == []
    assert all(vault.keys(ref) for ref in refs if ref not in gone)


def test_what_an_older_transaction_still_sees_is_told_and_made_good(
    holding, vault, serve, postgres, tables
):
    [ref, _] = register(vault, "ana", "ben")
    blobs = vault.dump().keys[[each[0] for each in vault.dump().keys].index(ref)][4:]
    vault._database._patience = 0.3
    with psycopg.connect(postgres) as backup:
        backup.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        backup.execute("SELECT 1")  # its snapshot has the key
        with pytest.raises(BackendUnavailable, match="The key is destroyed, but"):
            vault.destroy(ref, 1)
        assert vault.is_erased(ref)
        assert vault.keys(ref) is None
        assert holding(blobs)
        backup.execute(f"SELECT * FROM {tables}.keys")  # and now it holds the table, too
        with pytest.raises(BackendUnavailable, match="The key is destroyed, but"):
            vault.destroy(ref, 1)
    assert vault.destroy(ref, 1) == ""
    assert holding(blobs) == []


# Refreshing


def test_nothing_is_asked_while_the_log_s_count_stands(vault, serve, postgres_url):
    [ref] = register(vault, "ana")
    other = Vault(PostgresVault(serve(postgres_url)), MASTER)
    asked = []
    ask = vault._database._server.ask
    vault._database._server.ask = lambda *given: asked.append(given) or ask(*given)
    vault.refresh(1)
    key = vault.keys(ref)
    asked.clear()
    vault.refresh(1)
    assert vault.keys(ref) is key
    vault.refresh(2)
    assert asked == []
    again = vault.keys(ref)
    assert again is not key
    register(other, "ben")
    vault.refresh()
    assert vault.keys(ref) is again, "somebody new changes nothing that is remembered"
    other.destroy(ref, 1)
    vault.refresh()
    assert vault.keys(ref) is None
