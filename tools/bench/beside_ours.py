"""A ledger, the library it stands on, and plain tables, asked one thing at a time by `beside`.

`python -m beliefledger.tools.bench.beside_ours NAME PLACE`: as `beside_rival`, of what our own
Python has.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from eventsourcing.application import Application
from eventsourcing.dispatch import singledispatchmethod
from eventsourcing.domain import Aggregate, event
from eventsourcing.persistence import Tracking
from eventsourcing.postgres import PostgresDatastore, PostgresTrackingRecorder
from eventsourcing.projection import Projection, ProjectionRunner
from eventsourcing.sqlite import SQLiteApplicationRecorder
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier
from sqlalchemy import create_engine

from beliefledger.curation.storing import MemoryInput
from beliefledger.ledger.postgres.server import PostgresURL
from beliefledger.opener import open_memory
from beliefledger.projections.embedding import Words
from beliefledger.tools.bench.beside_rival import LISTED, PERSON, Contestant, K, serve
from beliefledger.tools.bench.searching import model_of

_BY = "bench"
_SPEAKER = "speaker"
"""Whose turns are decided later, and are none of the memories that are searched."""
_WORD = re.compile(r"\w+")
_CHECKPOINT = "PRAGMA wal_checkpoint(TRUNCATE)"
"""Empties SQLite's write-ahead log, so that what is kept can be seen from the sizes of files."""
_WAIT = 60.0
"""Seconds until a projection must have what was just saved."""


class Ours(Contestant):
    """A ledger by its defaults, comparing with the model that is installed, or with none."""

    def __init__(self, place: str, model: str | None = None) -> None:
        if model is None:
            self._memory = open_memory(place, consent="consent")
        else:
            with model_of(model):
                self._memory = open_memory(place, consent="consent")
        memory, self._numbers = self._memory, count()
        self.calls = {
            "store": self._store,
            "store, record_turn": lambda text: self._silent(memory.record_turn(_SPEAKER, text)),
            "store, remember": lambda text: self._silent(memory.remember(PERSON, text)),
            "list": lambda _: len(memory.beliefs(LISTED)),
            "search": lambda query: len(memory.search(PERSON, query, K).results),
            "delete, revoke": lambda each: memory.revoke(each, by=_BY),
            "delete, erase": lambda each: memory.erase(PERSON, memory=each, by=_BY),
        }

    def _store(self, text: str) -> str | None:
        said = f"said.{next(self._numbers)}"
        return self._memory.store(PERSON, text, attribute=said, text=text).memory_id

    def _silent(self, _: object) -> None:
        """Leaves no memory to delete."""

    def fill(self, person: str, texts: Sequence[str]) -> None:
        self._memory.store_many(
            MemoryInput(person, text, f"part.{next(self._numbers)}", text=text) for text in texts
        )
        self._memory.vectors.build(person)

    def settle(self) -> None:
        self._memory.process()

    def told(self) -> str:
        model = self._memory.vectors.status().model
        return f"log and vault: synchronous=FULL, or as the server is set; texts by {model}"


class RawSQLite(Contestant):
    """One table and its full-text index, each write in a transaction that waits for the disk."""

    def __init__(self, place: str) -> None:
        engine = create_engine(f"sqlite:///{place}/raw.db")
        self._raw = engine.raw_connection()
        driver: Any = self._raw.driver_connection
        driver.isolation_level = None
        for statement in (
            "PRAGMA journal_mode=WAL",
            "PRAGMA synchronous=FULL",
            "CREATE TABLE memory (id INTEGER PRIMARY KEY, person TEXT, text TEXT)",
            "CREATE INDEX of_person ON memory (person)",
            "CREATE VIRTUAL TABLE words USING fts5(text, content='memory', content_rowid='id')",
            "CREATE TRIGGER added AFTER INSERT ON memory BEGIN"
            " INSERT INTO words (rowid, text) VALUES (new.id, new.text); END",
            "CREATE TRIGGER gone AFTER DELETE ON memory BEGIN"
            " INSERT INTO words (words, rowid, text) VALUES ('delete', old.id, old.text); END",
        ):
            driver.execute(statement).fetchall()
        self._insert = "INSERT INTO memory (person, text) VALUES (?, ?)"
        self._driver = driver
        listed = "SELECT id, text FROM memory WHERE person = ?"
        found = (
            "SELECT memory.id, memory.text FROM words JOIN memory ON memory.id = words.rowid"
            " WHERE words MATCH ? AND person = ? ORDER BY words.rank LIMIT ?"
        )
        self.calls = {
            "store": lambda text: driver.execute(self._insert, (PERSON, text)).lastrowid,
            "list": lambda _: len(driver.execute(listed, (LISTED,)).fetchall()),
            "search": lambda query: len(
                driver.execute(found, (" OR ".join(_WORD.findall(query)), PERSON, K)).fetchall()
            ),
            "delete": lambda each: driver.execute("DELETE FROM memory WHERE id = ?", (each,)),
        }

    def fill(self, person: str, texts: Sequence[str]) -> None:
        self._driver.execute("BEGIN")
        self._driver.executemany(self._insert, [(person, text) for text in texts])
        self._driver.execute("COMMIT")

    def settle(self) -> None:
        self._driver.execute(_CHECKPOINT).fetchall()

    def told(self) -> str:
        return "journal_mode=WAL, synchronous=FULL"


class RawPostgres(Contestant):
    """One table and its full-text index, by psycopg's defaults, each write committed."""

    def __init__(self, place: str) -> None:
        url = PostgresURL.parse(place)
        schema = Identifier(url.schema)
        connection = psycopg.connect(url.conninfo, autocommit=True)
        connection.execute(SQL("CREATE SCHEMA {}").format(schema))
        connection.execute(
            SQL(
                "CREATE TABLE {}.memory (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                " person text, text text, words tsvector GENERATED ALWAYS AS"
                " (to_tsvector('simple', text)) STORED)"
            ).format(schema)
        )
        for index in ("(person)", "USING gin (words)"):
            connection.execute(SQL("CREATE INDEX ON {}.memory {}").format(schema, SQL(index)))
        self._connection = connection
        self._insert = SQL("INSERT INTO {}.memory (person, text) VALUES (%s, %s)").format(schema)
        returning = self._insert + SQL(" RETURNING id")
        listed = SQL("SELECT id, text FROM {}.memory WHERE person = %s").format(schema)
        found = SQL(
            "SELECT id, text FROM {}.memory, to_tsquery('simple', %s) AS asked"
            " WHERE words @@ asked AND person = %s ORDER BY ts_rank(words, asked) DESC LIMIT %s"
        ).format(schema)
        gone = SQL("DELETE FROM {}.memory WHERE id = %s").format(schema)
        execute = connection.execute
        self.calls = {
            "store": lambda text: execute(returning, (PERSON, text)).fetchone()[0],  # type: ignore[index]
            "list": lambda _: len(execute(listed, (LISTED,)).fetchall()),
            "search": lambda query: len(
                execute(found, (" | ".join(_WORD.findall(query)), PERSON, K)).fetchall()
            ),
            "delete": lambda each: execute(gone, (each,)),
        }

    def fill(self, person: str, texts: Sequence[str]) -> None:
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(self._insert, [(person, text) for text in texts])

    def told(self) -> str:
        return _of_server(self._connection)


def _of_server(connection: psycopg.Connection[Any]) -> str:
    names = ("fsync", "synchronous_commit")
    rows = [
        connection.execute(SQL("SHOW {}").format(Identifier(name))).fetchone() for name in names
    ]
    return ", ".join(f"{name}={row[0]}" for name, row in zip(names, rows, strict=True) if row)


class Said(Aggregate):
    """One memory as an aggregate of the library's."""

    @event("Stored")
    def __init__(self, person: str, text: str) -> None:
        self.person, self.text, self.gone = person, text, False

    @event("Deleted")
    def delete(self) -> None:
        self.gone = True


class Memories(Application[UUID]):
    """The library's application over such aggregates."""

    def store(self, person: str, text: str) -> tuple[UUID, int]:
        """The memory, and the number of its notification."""
        said = Said(person=person, text=text)
        return said.id, self.save(said)[-1].notification.id

    def delete(self, memory: UUID) -> None:
        said: Said = self.repository.get(memory)
        said.delete()
        self.save(said)


class ListView(PostgresTrackingRecorder):
    """A table of what is there now, which the projection feeds."""

    def __init__(self, datastore: PostgresDatastore, **given: Any) -> None:
        super().__init__(datastore, **given)
        self._table = SQL("{}.listed").format(Identifier(datastore.schema))
        self.sql_create_statements.append(
            SQL(
                "CREATE TABLE IF NOT EXISTS {} (id uuid PRIMARY KEY, person text, text text)"
            ).format(self._table)
        )
        self.sql_create_statements.append(
            SQL("CREATE INDEX IF NOT EXISTS of_person ON {} (person)").format(self._table)
        )

    def add(self, said: Said.Stored, tracking: Tracking) -> None:  # type: ignore[name-defined]
        row = (said.originator_id, said.person, said.text)
        self._change(SQL("INSERT INTO {} VALUES (%s, %s, %s)"), row, tracking)

    def remove(self, said: Aggregate.Event, tracking: Tracking) -> None:
        self._change(SQL("DELETE FROM {} WHERE id = %s"), (said.originator_id,), tracking)

    def _change(self, statement: SQL, row: tuple[Any, ...], tracking: Tracking) -> None:
        with self.datastore.transaction(commit=True) as cursor:
            self._insert_tracking(cursor, tracking)
            cursor.execute(statement.format(self._table), row)

    def listed(self, person: str) -> int:
        asked = SQL("SELECT id, text FROM {} WHERE person = %s").format(self._table)
        with self.datastore.transaction(commit=False) as cursor:
            cursor.execute(asked, (person,))
            return len(cursor.fetchall())


class Listing(Projection[ListView]):
    name = "listing"

    @singledispatchmethod
    def process_event(self, domain_event: Any, tracking: Tracking) -> None:
        self.view.insert_tracking(tracking)

    @process_event.register
    def _(self, domain_event: Said.Stored, tracking: Tracking) -> None:  # type: ignore[name-defined]
        self.view.add(domain_event, tracking)

    @process_event.register
    def _(self, domain_event: Said.Deleted, tracking: Tracking) -> None:  # type: ignore[name-defined]
        self.view.remove(domain_event, tracking)


class Library(Contestant):
    """The library's application alone, in a SQLite file: its runner cannot follow one there."""

    def __init__(self, place: str) -> None:
        self._app = Memories(
            {
                "PERSISTENCE_MODULE": "eventsourcing.sqlite",
                "SQLITE_DBNAME": f"{place}/library.db",
            }
        )
        self.calls = {
            "store": lambda text: self._app.store(PERSON, text)[0],
            "delete": self._app.delete,
        }

    def fill(self, person: str, texts: Sequence[str]) -> None:
        for some in _parts(texts):
            self._app.save(*(Said(person=person, text=text) for text in some))

    def settle(self) -> None:
        recorder = self._app.recorder
        assert isinstance(recorder, SQLiteApplicationRecorder)
        with recorder.datastore.get_connection(commit=True) as connection:
            cursor = connection.cursor()
            cursor.execute(_CHECKPOINT)
            cursor.fetchall()

    def told(self) -> str:
        return "journal_mode=WAL, synchronous as SQLite has it: FULL"


class ProjectedLibrary(Contestant):
    """The library's application on a Postgres, and its ProjectionRunner behind it."""

    def __init__(self, place: str) -> None:
        url = PostgresURL.parse(place)
        self._conninfo = url.conninfo
        with psycopg.connect(url.conninfo, autocommit=True) as connection:
            connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(url.schema)))
        parts = conninfo_to_dict(url.conninfo)
        names = ("dbname", "host", "port", "user", "password")
        environment = {f"POSTGRES_{name.upper()}": str(parts.get(name) or "") for name in names}
        runner = ProjectionRunner(
            application_class=Memories,
            projection_class=Listing,
            view_class=ListView,
            env=environment
            | {
                "PERSISTENCE_MODULE": "eventsourcing.postgres",
                "POSTGRES_SCHEMA": url.schema,
            },
        )
        self._runner, self._app = runner, runner.app
        self.calls = {
            "store": lambda text: self._app.store(PERSON, text)[0],
            "store, until its view has it": self._projected,
            "list": lambda _: runner.view.listed(LISTED),
            "delete": self._app.delete,
        }

    def _projected(self, text: str) -> UUID:
        number: int
        memory: UUID
        memory, number = self._app.store(PERSON, text)
        self._runner.wait(number, _WAIT)
        return memory

    def fill(self, person: str, texts: Sequence[str]) -> None:
        for some in _parts(texts):
            saved = self._app.save(*(Said(person=person, text=text) for text in some))
            self._runner.wait(saved[-1].notification.id, _WAIT)

    def settle(self) -> None:
        self._runner.wait(self._app.recorder.max_notification_id(), _WAIT)

    def told(self) -> str:
        with psycopg.connect(self._conninfo) as connection:
            return _of_server(connection)


def _parts(texts: Sequence[str], together: int = 500) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), together):
        yield texts[start : start + together]


_KNOWN: dict[str, Callable[[str], Contestant]] = {
    "ours": Ours,
    "ours, no model": lambda place: Ours(place, Words.name),
    "raw-sqlite": RawSQLite,
    "raw-postgres": RawPostgres,
    "library": Library,
    "projected library": ProjectedLibrary,
}


def main() -> None:
    name, place = sys.argv[1:]
    if "://" not in place:
        Path(place).mkdir(parents=True, exist_ok=True)
    contestant = _KNOWN[name](place)
    serve(contestant)
    sys.stderr.flush()
    os._exit(0)  # a runner that follows is not worth waiting for


if __name__ == "__main__":
    main()
