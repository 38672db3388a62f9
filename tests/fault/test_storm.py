"""Many writers at once, and followers that must miss nothing."""

from __future__ import annotations

import contextlib
import json

import psycopg
from ledgers import open_store
from psycopg.conninfo import make_conninfo
from storm import faults

from beliefledger.ledger.postgres.server import PostgresURL, is_postgres

WRITERS = 8
EVENTS = {"postgres": 80_000, "sqlite": 40_000}


@contextlib.contextmanager
def idle_sessions(place):
    """Sessions that began a transaction and do nothing more: one that has looked, one that will
    write, and one that will write in another database of the server."""
    if not is_postgres(place):
        yield
        return
    here = PostgresURL.parse(place).conninfo
    there = make_conninfo(here, dbname="elsewhere")
    with psycopg.connect(here, autocommit=True) as made:
        made.execute("CREATE DATABASE elsewhere")
    try:
        with (
            psycopg.connect(here) as reader,
            psycopg.connect(here) as writer,
            psycopg.connect(there) as stranger,
        ):
            reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            reader.execute("SELECT count(*) FROM pg_class")
            for each in (writer, stranger):
                each.execute("SELECT pg_current_xact_id()")
            yield
            states = {each.info.transaction_status for each in (reader, writer, stranger)}
            assert states == {psycopg.pq.TransactionStatus.INTRANS}
    finally:
        with psycopg.connect(here, autocommit=True) as dropping:
            dropping.execute("DROP DATABASE elsewhere")


def lines(path):
    for line in path.read_text().splitlines():
        *position, event_id, stream, version = line.rsplit(" ", 3)
        yield int(position[0]), event_id, stream, int(version)


def test_followers_get_every_position_once_and_in_order(place, tmp_path, processes):
    each = EVENTS["postgres" if is_postgres(place) else "sqlite"] // WRITERS
    total = each * WRITERS
    open_store(place).close()
    writers = [f"writer-{n}" for n in range(WRITERS)]
    followers = ["follow", "read"]
    running = [processes("storm.py", "write", place, tmp_path, name, each) for name in writers]
    running += [processes("storm.py", name, place, tmp_path, name, total) for name in followers]
    with idle_sessions(place):
        for process in running:
            process.stdin.write("\n")
            process.stdin.flush()
        said = []
        for process in running:  # a follower would wait for what a writer did not write
            said.append(process.communicate(timeout=200)[0])
            assert process.returncode == 0
    acknowledged = [line for name in writers for line in lines(tmp_path / name)]
    assert len({event_id for _, event_id, _, _ in acknowledged}) == total
    for name in followers:
        delivered = list(lines(tmp_path / name))
        assert faults([line[0] for line in delivered], [line[0] for line in acknowledged]) == []
        assert delivered == sorted(acknowledged)
        versions = {}
        for _, _, stream, version in delivered:
            versions[stream] = versions.get(stream, 0) + 1
            assert version == versions[stream]
    counts = [json.loads(each) for each in said[:WRITERS]]
    assert all(each["refused"] == 3 * each["rolled back"] > 0 for each in counts)
    assert sum(each["conflicts"] for each in counts) > 0
    store = open_store(place)
    assert store.head().position == total
    assert store.damage() is None
    store.close()
