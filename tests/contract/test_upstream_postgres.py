"""eventsourcing's own recorder suites, run against our Postgres store."""

from __future__ import annotations

import contextlib
import io
from uuid import uuid4

import pytest
from eventsourcing.persistence import IntegrityError, StoredEvent
from eventsourcing.tests.persistence import (
    AggregateRecorderTestCase,
    ApplicationRecorderTestCase,
    NonInterleavingNotificationIDsBaseCase,
)

from beliefledger import open_memory
from beliefledger.ledger.errors import CallerMistake
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres.server import PostgresURL, Server
from beliefledger.ledger.postgres.store import PostgresEventStore


def opened(kind, url):
    server = Server(PostgresURL.parse(url))
    schema.init(server)
    schema.check(server)
    return kind(server)


class OnOurStore:
    """Makes a store in a schema of its own, and closes it."""

    store = PostgresEventStore

    @pytest.fixture(autouse=True)
    def _place(self, postgres_url):
        self.url = postgres_url

    def setUp(self):
        super().setUp()
        printed = contextlib.redirect_stdout(io.StringIO())  # the suites print their rates
        printed.__enter__()
        self.addCleanup(printed.__exit__, None, None, None)

    def create_recorder(self):
        store = opened(self.store, self.url)
        self.addCleanup(store.close)
        return store


class AggregateStore(PostgresEventStore):
    """As an aggregate recorder, which tells no positions."""

    def insert_events(self, stored_events, **_):
        super().insert_events(stored_events)


class TestAggregateRecorder(OnOurStore, AggregateRecorderTestCase):
    store = AggregateStore


class TestApplicationRecorder(OnOurStore, ApplicationRecorderTestCase):
    def test_performance(self):
        """Inserts one by one and asserts nothing; the aggregate suite runs the same."""

    def test_insert_subscribe(self):
        """The library's subscription, over our recorder and its notifications."""
        self.optional_test_insert_subscribe()


class TestNonInterleaving(OnOurStore, NonInterleavingNotificationIDsBaseCase):
    pass


def test_an_event_twice_or_out_of_order_is_the_library_s_integrity_error(postgres_url):
    store = opened(PostgresEventStore, postgres_url)
    stream = uuid4()
    first = StoredEvent(stream, 0, "topic", b"state")
    assert list(store.insert_events([first])) == [1]
    for again in (first, StoredEvent(stream, 5, "topic", b"state")):
        with pytest.raises(IntegrityError):
            store.insert_events([again])
    assert store.max_notification_id() == 1
    store.close()


@pytest.mark.parametrize("said", ["y", "Yes", "1", "true", "on", " t "])
def test_the_library_s_mode_without_a_lock_is_refused_at_start(postgres_url, monkeypatch, said):
    monkeypatch.setenv("POSTGRES_ENABLE_DB_FUNCTIONS", said)
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", "ab" * 32)
    with pytest.raises(CallerMistake, match="lose events that commit out of order"):
        open_memory(postgres_url)
    monkeypatch.setenv("POSTGRES_ENABLE_DB_FUNCTIONS", "n")
    open_memory(postgres_url).close()
