"""The database itself refuses to rewrite history, whoever opens it."""

from __future__ import annotations

import sqlite3

import pytest

from beliefledger.ledger.codec import New
from beliefledger.ledger.events.turn import TurnParked
from beliefledger.ledger.log import new_id

COLUMNS = "position, stream, version, type, event_id, tenant, subject_ref, recorded_at, envelope"


@pytest.fixture
def plain(log, tmp_path):
    """Three events of stream s, one of t with a body beside it, and a plain connection to them."""
    log.append(
        [
            *(New(TurnParked(attempts=n), f"{n:032x}", "s", None) for n in (1, 2, 3)),
            New(TurnParked(attempts=9), new_id(), "t", None),
        ],
        {"s": 0, "t": 0},
    )
    connection = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    connection.execute("INSERT INTO bodies VALUES (4, x'00')")
    yield connection
    connection.close()


def content(connection):
    return [
        connection.execute(f"SELECT * FROM {table}").fetchall()
        for table in ("head", "history", "bodies")
    ]


def refused(connection, statement, values=()):
    before = content(connection)
    with pytest.raises(sqlite3.IntegrityError) as said:
        connection.execute(statement, values)
    assert content(connection) == before
    return str(said.value)


def event(position=5, stream="s", version=4, event_id="f" * 32):
    return position, stream, version, "turn.parked.v1", event_id, "default", None, 0, b"{}"


INSERT = f"INSERT INTO history ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE history SET envelope = x'00' WHERE position = 1",
        "UPDATE history SET position = 99 WHERE position = 4",
        "UPDATE OR REPLACE history SET position = 1 WHERE position = 2",
        "UPDATE OR IGNORE history SET type = 'x'",
        "DELETE FROM history WHERE position = 4",
        "DELETE FROM history",
        "WITH some AS (SELECT 1) DELETE FROM history WHERE position IN some",
    ],
)
def test_history_refuses_update_and_delete(plain, statement):
    assert refused(plain, statement) == "history is append-only"


@pytest.mark.parametrize(
    "changed",
    [
        event(position=1),
        event(position=4, stream="t", version=1),
        event(position=1, stream="s", version=1, event_id=f"{1:032x}"),
        event(position=5, version=3),
        event(position=5, event_id=f"{1:032x}"),
        event(position=5, stream="t", version=1),
    ],
)
@pytest.mark.parametrize("verb", ["INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE"])
def test_history_refuses_to_be_replaced(plain, changed, verb):
    refused(plain, INSERT.replace("INSERT", verb), changed)


@pytest.mark.parametrize("position", [0, -1, 3, 6, 99, None])
def test_a_position_must_be_the_next_one(plain, position):
    assert refused(plain, INSERT, event(position=position)) == "position is not the next one"


@pytest.mark.parametrize("version", [-1, 0, 1, 3, 5, None])
def test_a_version_must_be_the_next_one_of_its_stream(plain, version):
    refused(plain, INSERT, event(version=version))


@pytest.mark.parametrize("version", [-1, 2, 7, None])
def test_a_stream_begins_at_its_beginning(plain, version):
    refused(plain, INSERT, event(stream="new", version=version))


def test_an_event_id_comes_once(plain):
    assert refused(plain, INSERT, event(event_id=f"{2:032x}")) == "event id exists"


def test_what_does_come_next_is_let_in(plain):
    plain.execute(INSERT, event())
    plain.execute(INSERT, event(position=6, version=5, event_id="d" * 32))
    assert plain.execute("SELECT count(*) FROM history").fetchone() == (6,)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE head SET position = 3",
        "UPDATE head SET position = 0, recorded_at = 0",
        "UPDATE head SET recorded_at = recorded_at - 1",
        "UPDATE head SET position = 9, recorded_at = 0",
        "DELETE FROM head",
        "INSERT OR REPLACE INTO head VALUES (1, 0, 0, 0)",
        "REPLACE INTO head VALUES (1, 99, 0, 0)",
        "INSERT OR IGNORE INTO head VALUES (1, 0, 0, 0)",
        "INSERT INTO head VALUES (2, 0, 0, 0)",
        "UPDATE head SET id = 2",
    ],
)
def test_the_head_does_not_go_back_and_there_is_one(plain, statement):
    refused(plain, statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE bodies SET body = x'01'",
        "UPDATE bodies SET position = 3",
        "INSERT OR REPLACE INTO bodies VALUES (4, x'01')",
        "INSERT INTO bodies VALUES (4, x'01')",
    ],
)
def test_a_body_is_written_once(plain, statement):
    assert refused(plain, statement) == "a body is written once"


def test_a_body_can_be_deleted(plain):
    plain.execute("DELETE FROM bodies WHERE position = 4")
    assert plain.execute("SELECT count(*) FROM bodies").fetchone() == (0,)


def test_the_triggers_are_there_again_when_somebody_dropped_them(plain, open_log):
    plain.execute("DROP TRIGGER history_refuses_delete")
    open_log()
    assert refused(plain, "DELETE FROM history") == "history is append-only"
