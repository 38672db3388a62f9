"""An upgrade that is killed anywhere, and several at once."""

from __future__ import annotations

import multiprocessing
import random
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

import kept
import psycopg
import pytest
import upgrading
from told import told

from beliefledger import open_memory
from beliefledger.ledger.postgres.server import PostgresURL, is_postgres

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "upgrading",
        "beliefledger",
        "beliefledger.opening.postgres",
        "sqlalchemy.dialects.postgresql.psycopg",
    ]
)
NOW = 1_781_946_000_000_000  # 2026-06-20T09:00:00Z
AT_ONCE = 3
KILLS = 12


@pytest.fixture(params=["directory", "postgres"])
def fresh(request, tmp_path, monkeypatch):
    """Gives the kept ledger anew each time, and the environment that opens it."""
    numbers = count(1)

    def bring():
        where = tmp_path / str(next(numbers))
        if request.param == "directory":
            return kept.in_directory(where), {}
        environment = {
            "BELIEFLEDGER_MASTER_KEY_FILE": str(where / "master.key"),
            "BELIEFLEDGER_SIGNING_KEY_FILE": str(where / "signing.key"),
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return kept.on_server(where, request.getfixturevalue("postgres")), environment

    return bring


def started(ledger, environment, last=None, name="statements"):
    file = ledger.files / name
    process = FORKS.Process(
        target=upgrading.upgrade, args=(ledger.place, str(file), last, environment)
    )
    process.start()
    return process, file


def ended(process, file):
    process.join(120)
    assert process.exitcode is not None, "it does not end"
    complaints = file.with_suffix(".stderr")
    assert process.exitcode in {0, -9}, complaints.read_text()
    return process.exitcode == 0


def shape(place):
    """The tables of log and vault, and their versions."""
    if is_postgres(place):
        with psycopg.connect(PostgresURL.parse(place).conninfo) as connection:
            return connection.execute(
                "SELECT 'column', table_schema, table_name, column_name, data_type"
                " FROM information_schema.columns WHERE table_schema IN ('kept', 'kept_vault')"
                " UNION ALL SELECT 'function', n.nspname, p.proname, md5(p.prosrc), ''"
                " FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace"
                " WHERE n.nspname IN ('kept', 'kept_vault')"
                " UNION ALL SELECT 'version', nspname, obj_description(oid, 'pg_namespace'), '', ''"
                " FROM pg_namespace WHERE nspname IN ('kept', 'kept_vault') ORDER BY 1, 2, 3, 4"
            ).fetchall()
    found = []
    for file in ("log.db", "keys.db"):
        with closing(sqlite3.connect(Path(place) / file)) as db:
            found.append(db.execute("PRAGMA user_version").fetchone())
            found += db.execute(
                "SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2"
            ).fetchall()
    return found


def test_killed_anywhere_an_upgrade_is_completed_by_the_next(fresh):
    whole, environment = fresh()
    process, file = started(whole, environment)
    assert ended(process, file)
    statements = file.read_text().splitlines()
    assert statements[-1] == "done"
    goal = shape(whole.place)
    chance = random.Random(1)
    points = range(1, len(statements))
    chosen = sorted(chance.sample(points, min(KILLS, len(points))))
    for number in chosen:
        ledger, environment = fresh()
        process, file = started(ledger, environment, last=number)
        assert not ended(process, file), f"it was to die before statement {number}"
        process, file = started(ledger, environment, name="again")
        assert ended(process, file)
        assert shape(ledger.place) == goal, statements[number - 1]
        if number in {chosen[0], chosen[len(chosen) // 2], chosen[-1]}:
            sound(ledger)


def sound(ledger):
    """It opens, and tells what it told before."""
    with open_memory(ledger.place, clock=lambda: NOW, create=False) as memory:
        now = told(memory)
    for name in ("beliefs", "decisions", "replayed", "views", "erasures"):
        assert now[name] == ledger.told[name], name
    assert now["verified"]["ok"], now["verified"]


def test_several_upgrade_at_once(fresh):
    alone, environment = fresh()
    assert ended(*started(alone, environment))
    ledger, environment = fresh()
    running = [started(ledger, environment, name=f"statements{n}") for n in range(AT_ONCE)]
    for process, file in running:
        assert ended(process, file)
    assert shape(ledger.place) == shape(alone.place)
    sound(ledger)
