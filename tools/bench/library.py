"""The same view fed by eventsourcing's own recorder and mapper, to compare with.

The library stores each event in its own table and hands it back decoded, 500 at a time; each 500
are folded by our view and committed with its rows in one transaction. It decrypts nothing and
checks no envelope: what it is spared counts in its favour.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from eventsourcing.domain import DomainEvent
from eventsourcing.persistence import DatetimeAsISO, JSONTranscoder, Mapper
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore
from eventsourcing.utils import register_topic
from sqlalchemy import Engine

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events import BY_NAME
from beliefledger.ledger.log import Log
from beliefledger.ledger.times import from_datetime, to_datetime
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.view import Tagger, View
from beliefledger.projections.view_databases import sqlite_engine

_TRANSACTION = 500
_TENANT = "default"


@dataclass(frozen=True)
class Happened(DomainEvent):
    """One of our events as a domain event of the library. Each type has a class of its own."""

    number: int
    name: str
    event_id: str
    subject_ref: str | None
    actor: str
    facts: dict[str, Any]
    body: dict[str, Any] | None


def _class_of(name: str) -> type[Happened]:
    """An event class of the library's for one type of ours, as an application of it would have."""
    made = type(BY_NAME[name].__name__, (Happened,), {"__module__": __name__})
    register_topic(f"{__name__}:{made.__qualname__}", made)
    return made


_CLASSES = {name: _class_of(name) for name in BY_NAME}


class Library:
    """A copy of a log in the library's own table."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        self._directory = directory
        transcoder = JSONTranscoder()
        transcoder.register(DatetimeAsISO())
        self._mapper: Mapper[UUID] = Mapper(transcoder)
        self._datastore = SQLiteDatastore(str(directory / "library.db"))
        self._recorder = SQLiteApplicationRecorder(self._datastore)
        self._recorder.create_table()

    def copy(self, log: Log) -> int:
        """Copy every event; returns how many there are."""
        copied = 0
        for page in log.pages():
            self._recorder.insert_events(
                [self._mapper.to_stored_event(_told(each)) for each in page]
            )
            copied += len(page)
        return copied

    def feed(self, tagger: Tagger, name: str) -> int:
        """Fold every event into a new table of the view; returns how many there were."""
        engine = sqlite_engine(self._directory / f"{name}.db")
        view = BeliefsView(tagger)
        with engine.execution_options(writing=True).begin() as connection:
            for table in view.tables(1):
                table.create(connection)
        view.start(1, empty=True)
        position = 0
        while folded := self._feed_some(engine, view, position):
            position += folded
        engine.dispose()
        return position

    def _feed_some(self, engine: Engine, view: View, after: int) -> int:
        page = self._recorder.select_notifications(after + 1, _TRANSACTION)
        with engine.execution_options(writing=True).begin() as connection:
            for notification in page:
                happened = self._mapper.to_domain_event(notification)
                assert isinstance(happened, Happened)
                view.apply(_as_ours(happened), connection)
            view.flush(connection)
        return len(page)

    def close(self) -> None:
        self._datastore.close()


def _told(recorded: Recorded) -> Happened:
    facts, body = (recorded.facts, None) if recorded.event is None else recorded.event.split()
    return _CLASSES[recorded.type](
        originator_id=UUID(recorded.stream),
        originator_version=recorded.version,
        timestamp=to_datetime(recorded.recorded_at),
        number=recorded.position,
        name=recorded.type,
        event_id=recorded.event_id,
        subject_ref=recorded.subject_ref,
        actor=recorded.actor,
        facts=facts,
        body=body,
    )


def _as_ours(happened: Happened) -> Recorded:
    """As the view wants it: the model is made only of an event that the view folds."""
    wanted = happened.name.startswith(("memory.", "memories.", "belief.", "conflict."))
    return Recorded(
        happened.number,
        happened.name,
        happened.originator_id.hex,
        happened.originator_version,
        happened.event_id,
        _TENANT,
        happened.subject_ref,
        happened.actor,
        from_datetime(happened.timestamp),
        None,
        None,
        happened.facts,
        BY_NAME[happened.name].model_validate(happened.facts | (happened.body or {}))
        if wanted
        else None,
    )
