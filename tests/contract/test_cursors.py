"""What every keeper of consumers' cursors guarantees, also between processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

import programs
import pytest

from beliefledger.ledger.errors import CallerMistake, NotPermitted
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres.cursors import PostgresCursors
from beliefledger.ledger.postgres.server import PostgresURL, Server
from beliefledger.ledger.sqlite import SQLiteEventStore
from beliefledger.ledger.sqlite.cursors import SQLiteCursors
from beliefledger.ledger.store import Cursor, Cursors, OwnConsumer
from beliefledger.ledger.times import SECOND, system_clock

LEASE = 30.0

OPEN = """
import sys, time

def open_cursors(kind, place):
    if kind == "sqlite":
        from beliefledger.ledger.sqlite import SQLiteEventStore
        from beliefledger.ledger.sqlite.cursors import SQLiteCursors
        store = SQLiteEventStore(place)
        return SQLiteCursors(store._transaction, store._fetch)
    from beliefledger.ledger.postgres import schema
    from beliefledger.ledger.postgres.cursors import PostgresCursors
    from beliefledger.ledger.postgres.server import PostgresURL, Server
    server = Server(PostgresURL.parse(place))
    schema.check(server)
    return PostgresCursors(server)

cursors = open_cursors(*sys.argv[1:3])
"""


@dataclass
class Place:
    """Where the cursors of a test are kept."""

    kind: str
    where: str
    connect: Callable[[], Cursors]
    """Opens them again, as another process would."""
    pass_time: Callable[[float], None]
    """Lets so many seconds pass."""

    def process(self, code: str, *words: object) -> subprocess.Popen[str]:
        told = [str(word) for word in words]
        return programs.Program(
            [sys.executable, "-c", OPEN + code, self.kind, self.where, *told],
            stdout=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def sqlite(tmp_path) -> Iterator[Place]:
    ahead = 0
    opened = []

    def connect() -> Cursors:
        opened.append(SQLiteEventStore(tmp_path / "log.db"))
        return SQLiteCursors(
            opened[-1]._transaction, opened[-1]._fetch, lambda: system_clock() + ahead
        )

    def pass_time(seconds: float) -> None:
        nonlocal ahead
        ahead += int(seconds * SECOND)

    yield Place("sqlite", str(tmp_path / "log.db"), connect, pass_time)
    for store in opened:
        store.close()


@pytest.fixture
def on_postgres(postgres_url) -> Iterator[Place]:
    opened = [Server(PostgresURL.parse(postgres_url))]
    schema.init(opened[0])

    def connect() -> Cursors:
        opened.append(Server(PostgresURL.parse(postgres_url)))
        schema.check(opened[-1])
        return PostgresCursors(opened[-1])

    def pass_time(seconds: float) -> None:
        opened[0].ask_plain(
            f"UPDATE {opened[0].url.schema}.consumers"
            " SET held_until = held_until - make_interval(secs => %s) RETURNING 1",
            (float(seconds),),
        )

    yield Place("postgres", postgres_url, connect, pass_time)
    for server in opened:
        server.close()


@pytest.fixture
def on_postgres_log(postgres_url, log_at, clock):
    opened = log_at(postgres_url, clock)
    yield opened
    opened.close()


@pytest.fixture(params=["sqlite", "on_postgres"])
def place(request) -> Place:
    return request.getfixturevalue(request.param)


@pytest.fixture
def cursors(place) -> Cursors:
    return place.connect()


# One at a time


def test_a_new_cursor_begins_at_nothing(cursors):
    assert cursors.all() == []
    assert cursors.claim("billing", "a", LEASE) == Cursor("billing", 0, 1, "a", held=True)
    assert cursors.all() == [Cursor("billing", 0, 1, "a", held=True)]


def test_nobody_else_can_claim_it_while_the_lease_runs(place, cursors):
    cursors.claim("billing", "a", LEASE)
    assert place.connect().claim("billing", "b", LEASE) is None
    assert cursors.claim("shipping", "b", LEASE).epoch == 1


@pytest.mark.parametrize("own", OwnConsumer)
def test_the_ledgers_own_cursors_are_claimed_by_itself_alone(cursors, own):
    with pytest.raises(CallerMistake, match=f"'{own}' is a consumer of the ledger's own"):
        cursors.claim(str(own), "somebody", LEASE)
    assert cursors.all() == []
    assert cursors.claim(own, "the ledger", LEASE).name == own


def test_a_holder_that_missed_the_answer_finds_its_claim_again(cursors):
    first = cursors.claim("billing", "a", LEASE)
    again = cursors.claim("billing", "a", LEASE)
    assert again.epoch > first.epoch
    assert not cursors.acknowledge("billing", first.epoch, 1)
    assert cursors.acknowledge("billing", again.epoch, 1)


def test_when_the_lease_is_over_another_takes_over_where_it_was(place, cursors):
    first = cursors.claim("billing", "a", LEASE)
    cursors.acknowledge("billing", first.epoch, 7)
    place.pass_time(LEASE + 1)
    assert not cursors.all()[0].held
    second = cursors.claim("billing", "b", LEASE)
    assert second == Cursor("billing", 7, first.epoch + 1, "b", held=True)


def test_who_was_taken_over_can_change_nothing_any_more(place, cursors):
    first = cursors.claim("billing", "a", LEASE)
    place.pass_time(LEASE + 1)
    second = cursors.claim("billing", "b", LEASE)
    assert not cursors.acknowledge("billing", first.epoch, 9)
    assert not cursors.renew("billing", first.epoch, LEASE)
    cursors.release("billing", first.epoch)
    assert cursors.all() == [second]


def test_a_lease_that_ran_out_stays_in_force_until_somebody_claims_it(place, cursors):
    mine = cursors.claim("billing", "a", LEASE)
    place.pass_time(LEASE + 1)
    assert cursors.acknowledge("billing", mine.epoch, 3)
    assert cursors.renew("billing", mine.epoch, LEASE)
    assert cursors.claim("billing", "b", LEASE) is None


def test_renewing_holds_it_for_so_long_from_now(place, cursors):
    mine = cursors.claim("billing", "a", LEASE)
    place.pass_time(LEASE - 10)
    assert cursors.renew("billing", mine.epoch, LEASE)
    place.pass_time(LEASE - 10)
    assert cursors.claim("billing", "b", LEASE) is None
    place.pass_time(11)
    assert cursors.claim("billing", "b", LEASE).epoch == mine.epoch + 1


def test_releasing_lets_another_in_at_once_and_ends_the_epoch(cursors):
    mine = cursors.claim("billing", "a", LEASE)
    cursors.acknowledge("billing", mine.epoch, 3)
    cursors.release("billing", mine.epoch)
    cursors.release("billing", mine.epoch)
    assert cursors.all() == [Cursor("billing", 3, mine.epoch, "", held=False)]
    assert not cursors.renew("billing", mine.epoch, LEASE)
    assert not cursors.acknowledge("billing", mine.epoch, 4)
    assert cursors.claim("billing", "b", LEASE) == Cursor(
        "billing", 3, mine.epoch + 1, "b", held=True
    )


# Moving


def test_a_cursor_moves_forward_for_good_and_never_back(place, cursors):
    mine = cursors.claim("billing", "a", LEASE)
    for position, then in [(5, 5), (3, 5), (5, 5), (2**40, 2**40)]:
        assert cursors.acknowledge("billing", mine.epoch, position)
        assert place.connect().all()[0].position == then


def test_what_nobody_claimed_cannot_be_moved(cursors):
    assert not cursors.acknowledge("billing", 1, 5)
    assert not cursors.renew("billing", 1, LEASE)
    cursors.release("billing", 1)
    assert cursors.all() == []


def test_all_are_listed_by_name(cursors):
    for name in ("b", "a.2", "Z", "a"):
        cursors.claim(name, "me", LEASE)
    assert [each.name for each in cursors.all()] == ["Z", "a", "a.2", "b"]


def test_a_cursor_that_nobody_holds_can_be_set_also_back(place, cursors):
    cursors.restore("billing", 8)
    assert cursors.all() == [Cursor("billing", 8, 0, "", held=False)]
    mine = cursors.claim("billing", "a", LEASE)
    assert (mine.position, mine.epoch) == (8, 1)
    with pytest.raises(NotPermitted, match="stop it"):
        cursors.restore("billing", 2)
    place.pass_time(LEASE + 1)
    cursors.restore("billing", 2)
    assert not cursors.acknowledge("billing", mine.epoch, 9)
    assert cursors.claim("billing", "b", LEASE) == Cursor("billing", 2, 2, "b", held=True)


def test_it_is_known_how_far_the_log_was_when_a_cursor_began(log, on_postgres_log):
    for each in (log, on_postgres_log):
        each.cursors.claim("first", "a", LEASE)
        each.register(["ana"])
        head = each.head().position
        assert each.cursors.claim("second", "a", LEASE).since == head > 0
        each.register(["bruno"])
        assert each.cursors.claim("second", "a", LEASE).since == head
        assert [cursor.since for cursor in each.cursors.all()] == [0, head]
        each.cursors.restore("third", 1, since=2)
        assert each.cursors.all()[-1] == Cursor("third", 1, 0, "", held=False, since=2)
        # One from before this was kept counts as there from the beginning.
        each.cursors.restore("fourth", 1)
        assert {cursor.name: cursor.since for cursor in each.cursors.all()}["fourth"] == 0


def test_a_directory_from_before_that_was_kept_is_brought_up_to_date(tmp_path):
    store = SQLiteEventStore(tmp_path / "log.db")
    store.cursors.claim("billing", "a", LEASE)
    store.close()
    with closing(sqlite3.connect(tmp_path / "log.db")) as connection:
        connection.execute("ALTER TABLE consumers DROP COLUMN since")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    store = SQLiteEventStore(tmp_path / "log.db")
    assert [(each.name, each.since) for each in store.cursors.all()] == [("billing", 0)]
    assert store.cursors.claim("billing", "a", LEASE).epoch == 2
    store.close()


# Races


def test_of_threads_that_claim_at_once_one_gets_it(place):
    each_its_own = [place.connect() for _ in range(4)]
    gate = threading.Barrier(8)
    got = []

    def claim(number: int) -> None:
        gate.wait()
        got.append(each_its_own[number % 4].claim("billing", f"thread {number}", LEASE))

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [won] = [each for each in got if each is not None]
    assert won.epoch == 1
    assert len(got) == 8
    assert each_its_own[0].all() == [won]


def test_processes_hold_it_one_after_the_other_and_lose_no_move(place, cursors):
    code = """
for n in range(10):
    while (mine := cursors.claim("billing", sys.argv[3], 60)) is None:
        time.sleep(0.002)
    # Whoever else held it at the same time would move it to the same position.
    assert cursors.acknowledge("billing", mine.epoch, mine.position + 1)
    cursors.release("billing", mine.epoch)
"""
    running = [place.process(code, f"process {number}") for number in range(3)]
    for each in running:
        with each:
            assert each.wait() == 0
    assert cursors.all() == [Cursor("billing", 30, 30, "", held=False)]


def test_after_kill_9_of_the_holder_another_takes_over(place, cursors):
    code = """
mine = cursors.claim("billing", "killed", 3)
cursors.acknowledge("billing", mine.epoch, 4)
print("held", flush=True)
while True:
    time.sleep(0.1)
    cursors.renew("billing", mine.epoch, 3)
"""
    with place.process(code) as holder:
        assert holder.stdout.readline() == "held\n"
        assert cursors.claim("billing", "next", LEASE) is None
        holder.kill()
    waited = threading.Event()
    while (mine := cursors.claim("billing", "next", LEASE)) is None:
        waited.wait(0.02)
    assert mine == Cursor("billing", 4, 2, "next", held=True)


# On Postgres


def test_tenants_do_not_see_each_others_cursors(on_postgres):
    connected = []
    for tenant in ("one", "two"):
        server = Server(PostgresURL.parse(f"{on_postgres.where}&tenant={tenant}"))
        schema.init(server)
        schema.check(server)
        connected.append((server, PostgresCursors(server)))
    (_, one), (_, two) = connected
    mine = one.claim("billing", "a", LEASE)
    assert two.claim("billing", "b", LEASE).epoch == 1
    assert one.acknowledge("billing", mine.epoch, 5)
    assert [each.position for each in two.all()] == [0]
    assert [each.position for each in one.all()] == [5]
    for server, _ in connected:
        server.close()


def test_backends_that_the_server_ends_are_replaced(on_postgres):
    cursors = on_postgres.connect()
    other = Server(PostgresURL.parse(on_postgres.where))

    def end_all():
        ended = other.ask_plain(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'beliefledger' AND pid <> pg_backend_pid()"
        )
        assert ended

    mine = cursors.claim("billing", "a", LEASE)
    end_all()
    assert cursors.acknowledge("billing", mine.epoch, 5)
    end_all()
    assert cursors.renew("billing", mine.epoch, LEASE)
    end_all()
    again = cursors.claim("billing", "a", LEASE)
    assert (again.position, again.epoch) == (5, mine.epoch + 1)
    end_all()
    assert cursors.all() == [again]
    other.close()


def test_a_cursor_that_is_set_back_ends_the_lease_on_it(cursors):
    held = cursors.claim("billing", "mine", 60)
    assert cursors.acknowledge("billing", held.epoch, 9)
    assert cursors.rewind("billing", 4)
    assert not cursors.renew("billing", held.epoch, 60)
    assert not cursors.acknowledge("billing", held.epoch, 10)
    again = cursors.claim("billing", "another", 60)
    assert (again.position, again.holder) == (4, "another")
    assert again.epoch > held.epoch
    assert not cursors.rewind("nobody", 4)
