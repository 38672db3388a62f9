"""What a durable turn costs on Postgres, beside a plain INSERT and the library's recorder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from statistics import median
from uuid import uuid4

from eventsourcing.persistence import StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier

from beliefledger.ledger.postgres.server import PostgresURL
from beliefledger.ledger.store import Row
from beliefledger.opener import open_memory
from beliefledger.tools.bench import child
from beliefledger.tools.bench.commits import COMMIT_BOUND
from beliefledger.tools.bench.conversations import statements
from beliefledger.tools.bench.measure import Measured, Run, Target, in_pairs

_OF_PLAIN = "record_turn on Postgres, of the rate of a plain INSERT and commit"
_OF_LIBRARY = "record_turn on Postgres, of the rate of the library's recorder"


def postgres_turn(run: Run) -> Iterator[Measured]:
    """`record_turn` beside one row of as many bytes, and beside one event of the library's."""
    plain, library = Target("≥", 0.5), Target("≥", 2)
    if run.postgres.missing:
        for name, target in ((_OF_PLAIN, plain), (_OF_LIBRARY, library)):
            yield Measured(name, "×", target=target, note=run.postgres.missing)
        return
    of_plain, of_library = [], []
    inserted, recorded, theirs = [], [], []
    with ExitStack() as closing:
        memory = closing.enter_context(open_memory(run.postgres.place("turn")))
        memory.consent.grant(child.SUBJECT, "consent")
        times = run.sizes.paired_commits
        warm = [memory.record_turn(child.SUBJECT, said) for said in statements(20, seed=2)]
        row = next(iter(memory._log.raw(warm[-1].position - 1)))
        insert, insert_theirs = _plain(run, closing, row), _library(run, closing, row)
        for number in run.rounds("turns beside plain inserts and the library's"):
            said = iter(statements(2 * times, seed=10 + number))

            def record(said: Iterator[str] = said) -> None:
                memory.record_turn(child.SUBJECT, next(said))

            turn, raw = (median(each) * 1e6 for each in in_pairs(record, insert, times))
            of_plain.append(raw / turn)
            inserted.append(raw)
            recorded.append(turn)
            turn, its = (median(each) * 1e6 for each in in_pairs(record, insert_theirs, times))
            of_library.append(its / turn)
            theirs.append(its)
    durable = median(inserted) >= COMMIT_BOUND * 1e6
    note = None if durable else "not asserted: a plain INSERT takes less than 100 µs here"
    yield Measured(_OF_PLAIN, "×", of_plain, plain, asserted=durable, note=note)
    yield Measured(
        _OF_LIBRARY,
        "×",
        of_library,
        library,
        asserted=durable,
        note=note or "PostgresApplicationRecorder as it comes, with LOCK TABLE",
    )
    for name, taken in (
        ("plain INSERT and commit on Postgres", inserted),
        ("record_turn on Postgres", recorded),
        ("one event by the library's recorder on Postgres", theirs),
    ):
        yield Measured(name, "µs", taken, note="median of a round")


def _plain(run: Run, closing: ExitStack, row: Row) -> Callable[[], None]:
    """What inserts and commits one row of the event's bytes, by psycopg's defaults."""
    schema = Identifier(PostgresURL.parse(run.postgres.place("plain")).schema)
    connection = closing.enter_context(run.postgres.connect())
    connection.execute(SQL("CREATE SCHEMA {}").format(schema))
    connection.execute(
        SQL(
            "CREATE TABLE {}.plain (position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
            " envelope bytea, body bytea)"
        ).format(schema)
    )
    statement = SQL("INSERT INTO {}.plain (envelope, body) VALUES (%s, %s)").format(schema)

    def insert() -> None:
        connection.execute(statement, (row.envelope, row.body))

    for _ in range(20):
        insert()
    return insert


def _library(run: Run, closing: ExitStack, row: Row) -> Callable[[], None]:
    """What appends one event of the same bytes with the library's recorder, as it comes."""
    url = PostgresURL.parse(run.postgres.place("library"))
    with run.postgres.connect() as connection:
        connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(url.schema)))
    parts = conninfo_to_dict(url.conninfo)
    dbname, host, port, user, password = (
        str(parts.get(name) or "") for name in ("dbname", "host", "port", "user", "password")
    )
    datastore = PostgresDatastore(dbname, host, port, user, password, schema=url.schema)
    closing.callback(datastore.close)
    recorder = PostgresApplicationRecorder(datastore)
    recorder.create_table()
    state = row.envelope + (row.body or b"")

    def insert() -> None:
        recorder.insert_events([StoredEvent(uuid4(), 1, row.type, state)])

    for _ in range(20):
        insert()
    return insert
