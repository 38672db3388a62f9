"""The same three appends in the same order, on our store and on the library's recorders: two of its
modes let a later position be seen first, so that a follower passes over the earlier one for good.

What commits is held up by a trigger, so that nothing depends on luck.
"""

from __future__ import annotations

import contextlib
import threading
import time
from uuid import uuid4

import psycopg
import pytest
from eventsourcing.dcb.api import DCBEvent
from eventsourcing.dcb.postgres_tt import PostgresDCBRecorderTT
from eventsourcing.persistence import StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore
from ledgers import open_store
from psycopg.conninfo import conninfo_to_dict
from storm import faults

from beliefledger.ledger.postgres.server import PostgresURL

LOCK = 20_260_301
SLOW = b"slow"


class Recorder:
    """One of the library's application recorders; ours is one too."""

    column = "state"

    def __init__(self, recorder, table):
        self.recorder = recorder
        self.table = table

    def append(self, state):
        [position] = self.recorder.insert_events([StoredEvent(uuid4(), 1, "topic", state)])
        return position

    def after(self, position):
        found = self.recorder.select_notifications(position, 100, inclusive_of_start=False)
        return [each.id for each in found]


class OurRecorder(Recorder):
    column = "envelope"


class DCBRecorder(Recorder):
    column = "data"

    def append(self, state):
        return self.recorder.append([DCBEvent("type", state, ["tag"])])

    def after(self, position):
        return [each.position for each in self.recorder.read(after=position)]


@contextlib.contextmanager
def library(url, **how):
    said = conninfo_to_dict(PostgresURL.parse(url).conninfo)
    datastore = PostgresDatastore(
        said["dbname"], said["host"], "5432", said["user"], "", pool_size=3, **how
    )
    try:
        yield datastore
    finally:
        datastore.close()


@contextlib.contextmanager
def application_recorder(url, **how):
    name = PostgresURL.parse(url).schema  # new for each test, which a schema of theirs need not be
    with library(url, **how) as datastore:
        recorder = PostgresApplicationRecorder(datastore, events_table_name=name)
        recorder.create_table()
        yield Recorder(recorder, f"{datastore.schema}.{name}")


@contextlib.contextmanager
def dcb_recorder(url):
    with library(url) as datastore:
        recorder = PostgresDCBRecorderTT(datastore)
        recorder.create_table()
        yield DCBRecorder(recorder, f"{datastore.schema}.{recorder.events_table_name}")


@contextlib.contextmanager
def our_recorder(url):
    store = open_store(url)
    try:
        yield OurRecorder(store, f"{PostgresURL.parse(url).schema}.history")
    finally:
        store.close()


@contextlib.contextmanager
def commits_held_up(url, recorder):
    """While this lasts, what appends `SLOW` does everything and waits before it commits."""
    with psycopg.connect(PostgresURL.parse(url).conninfo, autocommit=True) as connection:
        schema, _, _ = recorder.table.partition(".")
        connection.execute(
            f"CREATE OR REPLACE FUNCTION {schema}.wait_here() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN PERFORM pg_advisory_xact_lock({LOCK}); RETURN NULL; END $$;"
            f"CREATE CONSTRAINT TRIGGER wait_here AFTER INSERT ON {recorder.table}"
            " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
            f" WHEN (NEW.{recorder.column} = '{SLOW.decode()}')"
            f" EXECUTE FUNCTION {schema}.wait_here()"
        )
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            yield


class Appending:
    """An append in a thread of its own, under way until it waits for a lock or is done."""

    def __init__(self, url, recorder, state):
        self.position = None
        self._conninfo = PostgresURL.parse(url).conninfo
        waiting = self._waiting()
        self._thread = threading.Thread(target=self._run, args=(recorder, state), daemon=True)
        self._thread.start()
        until = time.monotonic() + 30
        while self._thread.is_alive() and self._waiting() == waiting:
            assert time.monotonic() < until
            time.sleep(0.01)

    def _run(self, recorder, state):
        self.position = recorder.append(state)

    def _waiting(self):
        with psycopg.connect(self._conninfo, autocommit=True) as connection:
            [(count,)] = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0"
            )
            return count

    @property
    def done(self):
        return self.position is not None

    def end(self):
        self._thread.join(30)
        assert self.done
        return self.position


def interleave(url, recorder):
    """Two appends of which the later begins and, if it can, commits while the earlier is about to;
    a follower looks whenever it can. Returns what is wrong with what it was told, and whether the
    later append had to wait."""
    delivered = []

    def look():
        delivered.extend(recorder.after(delivered[-1] if delivered else 0))

    committed = [recorder.append(b"first")]
    look()
    with commits_held_up(url, recorder):
        earlier = Appending(url, recorder, SLOW)
        assert not earlier.done
        later = Appending(url, recorder, b"fast")
        waited = not later.done
        look()
    committed += [earlier.end(), later.end()]
    look()
    return faults(delivered, committed), waited


def test_on_our_store_the_later_append_waits_and_nothing_is_passed_over(postgres_url):
    with our_recorder(postgres_url) as recorder:
        assert interleave(postgres_url, recorder) == ([], True)


def test_the_library_s_default_mode_waits_too(postgres_url):
    with application_recorder(postgres_url) as recorder:
        assert interleave(postgres_url, recorder) == ([], True)


@pytest.mark.parametrize(
    "opened",
    [lambda url: application_recorder(url, enable_db_functions=True), dcb_recorder],
    ids=["enable_db_functions", "DCB without a condition"],
)
def test_the_library_s_modes_without_a_lock_fail_the_same_check(postgres_url, opened):
    with opened(postgres_url) as recorder:
        assert interleave(postgres_url, recorder) == (["never delivered: [2]"], False)
