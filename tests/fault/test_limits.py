"""A disk that is full, a directory that may only be read, files that somebody locked: each is told
as what it is, nothing is half done, and it goes on when there is room."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import sqlite3
import tempfile
import threading
from pathlib import Path

import psycopg
import pytest
from ledgers import ids_of, open_log, open_store, sealed
from own_postgres import OwnPostgres

from beliefledger import open_memory
from beliefledger.ledger.encryption import clear
from beliefledger.ledger.errors import AppendUncertain, BackendUnavailable, BackendUnusable
from beliefledger.ledger.store import Sealed
from beliefledger.ledger.times import system_clock
from beliefledger.ledger.verify import verify

NOBODY = 65_534


@contextlib.contextmanager
def files_no_larger_than(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def no_room(path):
    """The file at this path cannot grow by as much as a page, nor can another that is larger."""
    return files_no_larger_than(path.stat().st_size + 100)


def with_body(event, body):
    return Sealed(event.address, event.head, event.tail, clear(body))


# A full disk


def test_a_full_vault_registers_nobody_and_later_everybody(tmp_path):
    log = open_log(str(tmp_path), tmp_path)
    log.register(["ana"])
    head = log.head()
    many = [f"person {n}" for n in range(500)]
    with (
        no_room(tmp_path / "keys.db"),
        pytest.raises(BackendUnavailable, match=r"keys\.db.*(full|disk I/O)"),
    ):
        log.register(many)
    assert log.head() == head
    assert log.subject("ana")
    assert log.subject(many[0]) is None
    assert len(set(log.register(many).values())) == 500
    assert verify(log).ok
    log.close()


def test_full_views_say_so_and_the_log_has_what_it_was_told(tmp_path):
    with open_memory(tmp_path) as memory:
        memory.consent.grant("ana", "consent")
        before = memory.status(digests=False).position
        for n in range(300):
            memory.record_turn("ana", f"I live in Porto, for the {n}th time.")
        with (
            no_room(tmp_path / "views" / "views.db-wal"),
            pytest.raises(BackendUnavailable, match=r"views did not answer.*(full|I/O)"),
        ):
            memory.status()
        assert memory._log.head().position == before + 300
        assert memory.status().pending_turns == 300
        memory.process()
        assert [belief.value for belief in memory.beliefs("ana")] == ["Porto"]
        assert all(view.same for view in memory.operations.rebuild(verify=True))


def test_a_rebuild_that_finds_the_disk_full_leaves_the_views_as_they_were(tmp_path):
    with open_memory(tmp_path) as memory:
        memory.consent.grant("ana", "consent")
        for n in range(300):
            memory.record_turn("ana", f"I live in Porto, for the {n}th time.")
        before = memory.status(digests=True)
        with no_room(tmp_path / "views" / "views.db-wal"), pytest.raises(BackendUnavailable):
            memory.operations.rebuild()
        assert memory.status(digests=True).views == before.views
        assert all(view.same for view in memory.operations.rebuild(verify=True))


def test_an_erasure_that_finds_the_disk_full_is_completed_when_there_is_room(tmp_path):
    log = open_log(str(tmp_path), tmp_path)
    [ref] = log.register(["ana"]).values()
    with no_room(tmp_path / "log.db-wal"), pytest.raises((BackendUnavailable, AppendUncertain)):
        log.erase(ref, actor="system", legal_basis="x")
    log.erase(ref, actor="system", legal_basis="x")
    assert log.keys(ref) is None
    assert verify(log).ok
    log.close()


def test_a_consumer_that_cannot_note_how_far_it_is_goes_on_when_there_is_room(tmp_path):
    store = open_store(str(tmp_path))
    store.append(sealed("s", 1, 3), {"s": 0}, system_clock)
    epoch = store.cursors.claim("billing", "me", 60).epoch
    with no_room(tmp_path / "log.db-wal"):
        for attempt in (
            lambda: store.cursors.acknowledge("billing", epoch, 2),
            lambda: store.cursors.renew("billing", epoch, 60),
        ):
            with pytest.raises((BackendUnavailable, AppendUncertain)):
                attempt()
    [cursor] = store.cursors.all()
    assert (cursor.position, cursor.epoch) == (0, epoch)
    assert store.cursors.acknowledge("billing", epoch, 2)
    assert store.cursors.all()[0].position == 2
    store.close()


@pytest.fixture
def own():
    server = OwnPostgres()
    yield server
    server.close()


def test_a_postgres_whose_files_cannot_grow_refuses_and_goes_on_when_they_can(own):
    before = open_store(own.url)
    before.append(sealed("s", 1), {"s": 0}, system_clock)
    before.close()
    big = [with_body(each, os.urandom(1 << 20)) for each in sealed("s", 2, 30)]
    own.stop("fast")
    with files_no_larger_than(16 << 20):  # a segment of the WAL; the tables need more
        own.start()
    store = open_store(own.url)
    with pytest.raises(BackendUnavailable, match=r"could not (write|extend).*too large"):
        store.append(big, {"s": 1}, system_clock)
    assert store.head().position == 1
    assert store.versions(["s"]) == {"s": 1}
    own.stop("fast")
    own.start()
    assert store.append(big, {"s": 1}, system_clock).last == 31
    assert store.append(big, {"s": 1}, system_clock).already
    assert store.damage() is None
    store.close()


# A directory that may only be read


@contextlib.contextmanager
def read_only(directory):
    """Nobody may write there, not even we: root would be let through."""
    modes = {each: each.stat().st_mode for each in [directory, *directory.rglob("*")]}
    for each in modes:
        each.chmod(0o555 if each.is_dir() else 0o444)
    os.seteuid(NOBODY if os.geteuid() == 0 else os.geteuid())
    try:
        yield
    finally:
        os.seteuid(os.getuid())
        for each, mode in modes.items():
            each.chmod(mode)


@pytest.fixture
def visible():
    """A directory that every user can look into."""
    made = Path(tempfile.mkdtemp(prefix="ledger-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def test_in_a_read_only_directory_nothing_is_opened_for_writing_nor_made(visible):
    names = set(visible.iterdir())
    with read_only(visible), pytest.raises(BackendUnusable, match=str(visible)):
        open_store(str(visible))
    assert set(visible.iterdir()) == names == set()
    store = open_store(str(visible))
    batch = sealed("s", 1, 2)
    store.append(batch, {"s": 0}, system_clock)
    store.close()
    with read_only(visible), pytest.raises(BackendUnusable, match=str(visible)):
        open_store(str(visible))
    store = open_store(str(visible))
    assert store.find(ids_of(batch)[0])
    assert store.append(sealed("s", 3), {"s": 2}, system_clock).first == 3
    assert store.damage() is None
    store.close()


def test_a_ledger_in_a_read_only_directory_says_so(visible):
    ledger = visible / "ledger"
    with open_memory(ledger) as memory:
        memory.consent.grant("ana", "consent")
    open_memory(ledger).close()  # what Python loads for it, root alone may be able to read
    with read_only(ledger), pytest.raises(BackendUnusable, match="right to read and write"):
        open_memory(ledger)
    with open_memory(ledger) as memory:
        memory.record_turn("ana", "I live in Porto.")
        assert memory.proofs.verify().ok


# Locked


def test_a_locked_vault_and_locked_views_are_unavailable(tmp_path):
    with open_memory(tmp_path) as memory:
        memory.consent.grant("ana", "consent")
        memory.status()
        memory.record_turn("ana", "I live in Porto.")
        with memory._core.projector.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA busy_timeout=1")
        memory._log.vault._database._db.execute("PRAGMA busy_timeout=1")
        for name, attempt in (
            ("views/views.db", memory.status),
            ("keys.db", lambda: memory.record_turn("ben", "I live in Faro.")),
        ):
            other = sqlite3.connect(tmp_path / name, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(BackendUnavailable, match="locked"):
                attempt()
            other.execute("ROLLBACK")
            other.close()
            attempt()
        assert memory.proofs.verify().ok


def test_tables_that_somebody_locked_hold_up_writers_alone(postgres_url):
    """On Postgres a lock is waited for; whoever reads does not notice."""
    store = open_store(postgres_url)
    store.append(sealed("s", 1), {"s": 0}, system_clock)
    with psycopg.connect(store.server.url.conninfo) as other:
        other.execute(f"LOCK TABLE {store._schema}.history IN EXCLUSIVE MODE")
        told = []
        writer = threading.Thread(
            target=lambda: told.append(store.append(sealed("s", 2), {"s": 1}, system_clock))
        )
        writer.start()
        assert len(store.read(0, 10)) == 1
        assert not told
    writer.join(60)
    assert told[0].first == 2
    store.close()
