"""Appends to a Postgres whose request or reply is really lost, or whose backend is ended."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from pathlib import Path

import psycopg
import pytest
from ledgers import ids_of, open_store, sealed
from proxy import Proxy
from psycopg.conninfo import conninfo_to_dict

from beliefledger.ledger import canonical
from beliefledger.ledger.errors import AppendUncertain, BackendUnavailable, VersionConflict
from beliefledger.ledger.postgres.server import PostgresURL
from beliefledger.ledger.times import system_clock


@pytest.fixture
def direct(postgres_url):
    store = open_store(postgres_url)
    yield store
    store.close()


@pytest.fixture
def proxy(postgres_url):
    said = conninfo_to_dict(PostgresURL.parse(postgres_url).conninfo)
    with tempfile.TemporaryDirectory() as directory:  # a socket's path must be short
        between = Proxy(Path(directory), Path(said["host"]))
        between.url = postgres_url.replace(said["host"], directory)
        yield between
        between.close()


@pytest.fixture
def store(proxy, direct):
    """Opened through the proxy, with connections that have appended before."""
    opened = open_store(proxy.url, settle_seconds=20)
    for stream in "s", "t":
        opened.append(sealed(stream, 1), {stream: 0}, system_clock)
    yield opened
    opened.close()


@pytest.fixture
def admin(postgres_url):
    """Not to be asked inside a transaction, which would always see the same activity."""
    with psycopg.connect(PostgresURL.parse(postgres_url).conninfo, autocommit=True) as connection:
        yield connection


def ids(store):
    rows = store.read(0, 10_000)
    assert [row.position for row in rows] == list(range(1, len(rows) + 1))
    assert store.head().position == len(rows)
    return [canonical.decode(row.envelope)["event_id"] for row in rows]


@contextlib.contextmanager
def head_locked(store):
    """Nobody else can append while this lasts."""
    with psycopg.connect(store.server.url.conninfo) as connection:
        connection.execute(f"SELECT FROM {store._schema}.head FOR UPDATE")
        yield


class Appending:
    """An append in a thread of its own."""

    def __init__(self, store, batch, expect):
        self.told = None
        self._given = store, batch, expect
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        store, batch, expect = self._given
        try:
            self.told = store.append(batch, expect, system_clock)
        except (AppendUncertain, BackendUnavailable, VersionConflict) as problem:
            self.told = problem

    def end(self):
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self.told


def until(true):
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def waiting(admin, store):
    """The backends that wait for the head's lock, in appends of this ledger."""
    return [
        pid
        for (pid,) in admin.execute(
            "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE %s",
            (f"%{store._schema}.append(%",),
        )
    ]


@pytest.mark.parametrize("cuts", [["request"], ["reply"], ["request", "reply"], ["reply"] * 3])
@pytest.mark.parametrize("size", [1, 150])
def test_an_append_over_a_connection_that_is_cut_is_there_once(store, direct, proxy, cuts, size):
    before = ids(direct)
    batch = sealed("s", 2, size)
    for what in cuts:
        proxy.cut(what)
    appended = store.append(batch, {"s": 1}, system_clock)
    assert proxy.done[0] == cuts[0]
    proxy.cuts.clear()  # what was found to be there did not have to be sent again
    assert (appended.first, appended.last, appended.already) == (3, 2 + size, False)
    assert ids(direct) == [*before, *ids_of(batch)]
    again = store.append(batch, {"s": 1}, system_clock)
    assert (again.first, again.last, again.already) == (3, 2 + size, True)


def test_a_refusal_whose_reply_is_lost_is_a_refusal(store, direct, proxy):
    before = ids(direct)
    proxy.cut("reply")
    with pytest.raises(VersionConflict):
        store.append(sealed("s", 9), {"s": 8}, system_clock)
    assert proxy.done == ["reply"]
    assert ids(direct) == before


def test_while_the_first_attempt_is_still_under_way_the_second_waits_for_it(
    store, direct, proxy, admin
):
    batch = sealed("s", 2, 3)
    with head_locked(direct):
        proxy.cut("wait")
        appending = Appending(store, batch, {"s": 1})
        until(lambda: len(waiting(admin, direct)) == 2)  # both attempts, of the very same events
        assert proxy.done == ["wait"]
    appended = appending.end()
    assert (appended.first, appended.last, appended.already) == (3, 5, False)
    until(lambda: not waiting(admin, direct))
    assert ids(direct)[2:] == ids_of(batch)
    assert store.append(batch, {"s": 1}, system_clock).already


def test_threads_whose_group_s_reply_is_lost_are_each_told_the_truth(store, direct, proxy, admin):
    batches = {f"a{n}": sealed(f"a{n}", 1, n) for n in range(1, 6)}
    with head_locked(direct):
        front = Appending(store, sealed("s", 2), {"s": 1})
        until(lambda: len(waiting(admin, direct)) == 1)
        running = {name: Appending(store, batch, {name: 0}) for name, batch in batches.items()}
        late = Appending(store, sealed("t", 9), {"t": 8})
        until(lambda: len(store._appender.commits._waiting) == 6)
        proxy.cut("reply")
    assert front.end().first == 3
    told = {name: each.end() for name, each in running.items()}
    assert isinstance(late.end(), VersionConflict)
    assert proxy.done == ["reply"]
    there = ids(direct)
    for name, batch in batches.items():
        assert not told[name].already
        assert there[told[name].first - 1 : told[name].last] == ids_of(batch)
    assert len(there) == 3 + 15


@pytest.mark.parametrize("end", ["pg_terminate_backend", "pg_cancel_backend"])
def test_a_backend_that_is_ended_in_the_middle_of_an_append(store, direct, admin, end):
    batch = sealed("s", 2, 3)
    with head_locked(direct):
        appending = Appending(store, batch, {"s": 1})
        until(lambda: waiting(admin, direct))
        [pid] = waiting(admin, direct)
        admin.execute(f"SELECT {end}(%s)", (pid,))
        until(lambda: pid not in waiting(admin, direct))
    told = appending.end()
    if end == "pg_terminate_backend":  # offered again over another connection
        assert (told.first, told.already) == (3, False)
        assert ids(direct)[2:] == ids_of(batch)
    else:  # somebody wanted it not to happen
        assert isinstance(told, BackendUnavailable)
        assert len(ids(direct)) == 2
        assert not store.append(batch, {"s": 1}, system_clock).already


def test_a_server_that_stays_away_leaves_an_append_uncertain_and_it_can_be_found(
    proxy, direct, postgres_url
):
    store = open_store(proxy.url, settle_seconds=0.5)
    store.append(sealed("s", 1), {"s": 0}, system_clock)
    store.server.pool.timeout = 0.3
    batch = sealed("s", 2)
    proxy.cut("gone")
    told = Appending(store, batch, {"s": 1}).end()
    assert isinstance(told, AppendUncertain)
    assert ids_of(batch)[0] in str(told)
    assert ids(direct)[1:] == ids_of(batch)
    assert direct.append(batch, {"s": 1}, system_clock).already
    store.close()
