"""eventsourcing's own recorder suites, run against our SQLite store.

`optional_test_insert_subscribe` is not among what pytest collects, and our store leaves it out like
the library's own SQLite recorder: following is the log's business.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path
from uuid import uuid4

import pytest
from eventsourcing.persistence import IntegrityError, StoredEvent
from eventsourcing.tests.persistence import (
    AggregateRecorderTestCase,
    ApplicationRecorderTestCase,
    NonInterleavingNotificationIDsBaseCase,
)

from beliefledger.ledger.sqlite import SQLiteEventStore


class OnOurStore:
    """Makes a store in a directory of its own, and closes it."""

    store = SQLiteEventStore

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name) / "log.db"
        printed = contextlib.redirect_stdout(io.StringIO())  # the suites print their rates
        printed.__enter__()
        self.addCleanup(printed.__exit__, None, None, None)

    def create_recorder(self):
        store = self.store(self.path)
        self.addCleanup(store.close)
        return store


class AggregateStore(SQLiteEventStore):
    """As an aggregate recorder, which tells no positions."""

    def insert_events(self, stored_events, **_):
        super().insert_events(stored_events)


class TestAggregateRecorder(OnOurStore, AggregateRecorderTestCase):
    store = AggregateStore


class TestApplicationRecorder(OnOurStore, ApplicationRecorderTestCase):
    def test_performance(self):
        """Inserts one by one and asserts nothing; the aggregate suite runs the same."""


class TestNonInterleaving(OnOurStore, NonInterleavingNotificationIDsBaseCase):
    pass


def test_an_event_twice_or_out_of_order_is_the_library_s_integrity_error(tmp_path):
    store = SQLiteEventStore(tmp_path / "log.db")
    stream = uuid4()
    first = StoredEvent(stream, 0, "topic", b"state")
    assert list(store.insert_events([first])) == [1]
    for again in (first, StoredEvent(stream, 5, "topic", b"state")):
        with pytest.raises(IntegrityError):
            store.insert_events([again])
    assert store.max_notification_id() == 1
    store.close()
