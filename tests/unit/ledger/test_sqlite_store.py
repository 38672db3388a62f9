"""What the SQLite store alone does: forks, clocks, copies that are not done, writes that fail."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from uuid import uuid4

import pytest
from eventsourcing.persistence import StoredEvent

from beliefledger.ledger import canonical, envelope, steady
from beliefledger.ledger.encryption import clear
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.errors import (
    AppendUncertain,
    BackendUnavailable,
    CallerMistake,
    ClockWentBack,
    CopyUnfinished,
    LogCorrupted,
    VersionConflict,
)
from beliefledger.ledger.sqlite import SQLiteEventStore
from beliefledger.ledger.store import Head, Sealed
from beliefledger.ledger.times import SECOND, system_clock


@pytest.fixture
def store(tmp_path):
    opened = SQLiteEventStore(tmp_path / "log.db")
    yield opened
    opened.close()


def event(version=1, stream="s", body=b"words") -> Sealed:
    address = Address(uuid4().hex, "turn.parked.v1", stream, version, "default", "a" * 32)
    blob = None if body is None else clear(body)
    head, tail = envelope.split(
        address,
        actor="system",
        causation=None,
        correlation=None,
        body_digest=None if blob is None else canonical.digest(blob),
        facts={},
    )
    return Sealed(address, head, tail, blob)


def marks(store):
    return store._fetch("SELECT boot, ahead FROM clock_mark", ())


# Clocks


def test_how_the_clocks_stand_is_noted_once_by_who_records_by_them(store, clock, monkeypatch):
    stands = [7]
    monkeypatch.setattr(steady, "ahead", lambda: stands[0])
    monkeypatch.setattr(store._appender._steadiness, "_ahead", 0)
    clock.now = system_clock()
    store.append([event()], {"s": 0}, clock)
    assert marks(store) == []  # the clock of a test says nothing of the machine's
    with pytest.raises(VersionConflict):  # and what is refused records nothing
        store.append([event(9)], {"s": 8}, system_clock)
    assert marks(store) == []
    store.append([event(2)], {"s": 1}, system_clock)
    assert marks(store) == [(steady.boot(), 7)]
    stands[0] = 8
    store.append([event(3)], {"s": 2}, system_clock)
    assert marks(store) == [(steady.boot(), 7)]


def test_a_clock_that_was_set_since_is_told_by_the_next_process(store, tmp_path, monkeypatch):
    assert store.clock_warnings() == []
    store.append([event()], {"s": 0}, system_clock)
    assert store.clock_warnings() == []
    store.close()
    true = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: true() + 1_000 * 10**9)
    with closing(SQLiteEventStore(tmp_path / "log.db")) as again:
        [told] = again.clock_warnings()
        assert "set forward by" in told
    monkeypatch.setattr(time, "time_ns", lambda: true() - 1_000 * 10**9)
    with closing(SQLiteEventStore(tmp_path / "log.db")) as again:
        jumped, behind = again.clock_warnings()
        assert "set back by" in jumped
        assert "behind the last event" in behind


def test_a_clock_behind_is_told_by_how_much(store, clock):
    store.append([event()], {"s": 0}, clock)
    clock.now -= 75 * SECOND
    with pytest.raises(ClockWentBack, match="The clock is 75 seconds behind the last event"):
        store.append([event(2)], {"s": 1}, clock)


# A copy that is not done


def test_a_copy_that_is_not_done_is_only_read(store, clock, tmp_path):
    assert store.unfinished() is None
    store.append([event()], {"s": 0}, clock)
    store.cursors.claim("billing", "a", 30)
    store.note_unfinished("first")
    store.note_unfinished("resume it")
    assert store.unfinished() == "resume it"
    with closing(SQLiteEventStore(tmp_path / "log.db")) as again:
        assert again.unfinished() == "resume it"
    store.only_read("The copy is not done.")
    head = store.head()
    for write in (
        lambda: store.append([event(2)], {"s": 1}, clock),
        lambda: store.delete_bodies("a" * 32),
        lambda: store.delete_bodies_of([]),
        lambda: store.load(store.read(0, 1)),
        lambda: store.note_unfinished(None),
        lambda: store.cursors.claim("billing", "a", 30),
        lambda: store.cursors.acknowledge("billing", 1, 1),
    ):
        with pytest.raises(CopyUnfinished, match="The copy is not done"):
            write()
    assert store.head() == head
    assert [each.name for each in store.cursors.all()] == ["billing"]
    with closing(SQLiteEventStore(tmp_path / "log.db")) as again:
        again.note_unfinished(None)
        assert again.unfinished() is None


# Forks


def test_in_a_child_of_who_opened_it_every_use_is_refused(store, clock, monkeypatch):
    store.append([event()], {"s": 0}, clock)
    own = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: own + 1)
    for use in (
        store.head,
        lambda: store.append([event(2)], {"s": 1}, clock),
        lambda: store.delete_bodies("a" * 32),
        store.flush_wal,
        store.damage,
    ):
        with pytest.raises(CallerMistake, match="opened before a fork: open it in the child"):
            use()
    store.close()  # nothing to close there
    monkeypatch.undo()
    assert store.head().position == 1
    assert store.append([event(2)], {"s": 1}, clock).first == 2


# Writes that fail


class Stop(Exception):
    """Raised by a test in the middle of a write."""


@pytest.mark.parametrize("at", ["begun", "head moved", "inserted", "commit"])
def test_a_write_that_fails_at_any_step_leaves_nothing(store, clock, at):
    store.append([event()], {"s": 0}, clock)
    before = store.head()
    seen = []

    def step(name):
        seen.append(name)
        if name == at:
            raise Stop

    store.step = step
    with pytest.raises(Stop):
        store.append([event(2)], {"s": 1}, clock)
    store.step = lambda _: None
    order = ["begun", "head moved", "inserted", "commit"]
    assert seen[: order.index(at) + 1] == order[: order.index(at) + 1]
    assert store.head() == before
    assert len(store.read(0, 10)) == 1
    assert store.append([event(2)], {"s": 1}, clock).first == 2


def failing(code):
    problem = sqlite3.OperationalError("gone")
    problem.sqlite_errorcode = code

    def step(name):
        if name == "commit":
            return
        if name == "committed":
            raise problem

    return step


def test_a_commit_of_which_nobody_knows_is_told_as_that(store, clock):
    store.step = failing(sqlite3.SQLITE_BUSY)
    with pytest.raises(AppendUncertain, match=r"Committing to .*log\.db failed: gone\."):
        store.append([event()], {"s": 0}, clock)
    store.step = lambda _: None
    assert store.head().position == 1  # this one went through


@pytest.mark.parametrize("code", [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL])
@pytest.mark.parametrize("still_open", [True, False])
def test_a_commit_that_is_refused_while_the_transaction_lasts_may_be_tried_again(
    store, code, still_open
):
    class Cursor:
        class connection:  # noqa: N801  as sqlite3 calls it
            in_transaction = still_open

        def execute(self, _):
            problem = sqlite3.OperationalError("gone")
            problem.sqlite_errorcode = code
            raise problem

    with pytest.raises(sqlite3.OperationalError if still_open else AppendUncertain):
        store._database.commit(Cursor())


def test_another_fault_of_a_commit_is_uncertain_also_while_the_transaction_lasts(store):
    class Cursor:
        class connection:  # noqa: N801
            in_transaction = True

        def execute(self, _):
            problem = sqlite3.OperationalError("gone")
            problem.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise problem

    with pytest.raises(AppendUncertain):
        store._database.commit(Cursor())


def test_who_is_refused_in_a_group_leaves_the_others_alone(store, clock):
    store.append([event()], {"s": 0}, clock)
    with pytest.raises(VersionConflict):
        store.append([event(2), event(3)], {"s": 0}, clock)
    assert store.head() == Head(1, clock.now, 0)
    assert store.append([event(2)], {"s": 1}, clock).first == 2


def test_while_a_reader_does_not_let_go_deleted_bodies_are_told_to_be_in_the_wal(
    store, tmp_path, monkeypatch
):
    store.append([event()], {"s": 0}, system_clock)
    with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM history").fetchall()
        with store._database.connection(writing=True) as connection:
            connection.execute("PRAGMA busy_timeout = 10")
        store.append([event(2)], {"s": 1}, system_clock)
        with pytest.raises(BackendUnavailable, match="deleted bodies may still lie in its WAL"):
            store.flush_wal()
        reader.execute("COMMIT")
    store.flush_wal()
    assert (tmp_path / "log.db-wal").stat().st_size == 0


# Damage


@pytest.fixture
def damaged(store, clock, tmp_path):
    """A store of four events, and a way to change its file without its triggers."""
    store.append([event(n) for n in range(1, 5)], {"s": 0}, clock)

    def change(statement):
        with closing(sqlite3.connect(tmp_path / "log.db")) as connection:
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall():
                connection.execute(f"DROP TRIGGER {name}")
            connection.execute(statement)
            connection.commit()

    return change


def test_an_event_that_is_missing_is_named(store, damaged):
    damaged("DELETE FROM history WHERE position = 2")
    with pytest.raises(LogCorrupted, match="position 2 is missing"):
        store.leaf_hashes(0, 4)
    assert store.first_missing(0, 4) == 2
    assert store.first_missing(2, 4) is None
    with pytest.raises(LogCorrupted, match="position 2 is missing"):
        store.position_at(0)


def test_what_is_filed_elsewhere_or_has_no_event_is_named(store, damaged):
    assert store.damage() is None
    damaged("UPDATE history SET stream = 'x' WHERE position = 3")
    at, said = store.damage()
    assert (at, "filed under something else" in said) == (3, True)
    damaged("UPDATE history SET stream = 's' WHERE position = 3")
    damaged("INSERT INTO bodies VALUES (9, x'00')")
    assert store.damage() == (9, "there is a body and no event")
    with store._database.connection(writing=False) as connection:
        assert tuple(connection.execute("PRAGMA cache_size").fetchone()) == (-2_000,)


# Opening and closing


def test_what_was_taken_away_of_its_schema_is_there_again_when_it_is_opened(store, tmp_path):
    found = store.found
    assert found == 0
    store.close()
    with closing(sqlite3.connect(tmp_path / "log.db")) as connection:
        connection.execute("DROP TRIGGER history_refuses_update")
        connection.commit()
    with closing(SQLiteEventStore(tmp_path / "log.db")) as again:
        assert again.found > 0
        assert again._fetch("SELECT 1 FROM sqlite_master WHERE name = 'history_refuses_update'", ())
    for path in tmp_path.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_store_in_memory_has_no_files(tmp_path, monkeypatch, clock):
    monkeypatch.chdir(tmp_path)
    with closing(SQLiteEventStore(":memory:")) as store:
        assert store.append([event()], {"s": 0}, clock).first == 1
        assert store.head().position == 1
    assert list(tmp_path.iterdir()) == []


# The library's port


def test_the_library_s_events_are_picked_by_version_position_and_topic(store):
    def stored(version, topic):
        return StoredEvent("a", version, topic, b"{}")

    store.convert_originator_id = str
    got = store.insert_events([stored(0, "x"), stored(1, "y"), stored(2, "x")])
    assert got == [1, 2, 3]

    def versions(**how):
        return [each.originator_version for each in store.select_events("a", **how)]

    assert versions() == [0, 1, 2]
    assert versions(gt=0) == [1, 2]
    assert versions(lte=1) == [0, 1]
    assert versions(desc=True, limit=2) == [2, 1]
    assert versions(limit=0) == []

    def ids(*words, **how):
        return [each.id for each in store.select_notifications(*words, **how)]

    assert ids(None, 10) == ids(0, 10) == ids(1, 10) == [1, 2, 3]
    assert ids(1, 10, inclusive_of_start=False) == [2, 3]
    assert ids(1, 10, 2) == [1, 2]
    assert ids(1, 10, topics=["x"]) == [1, 3]
    assert ids(1, 1, topics=["x", "y"]) == [1]
    assert len({store.event_id_at(position) for position in got}) == 3
