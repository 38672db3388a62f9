"""Tenants whose ledgers are at several places: the table, and moving one while it is used."""

from __future__ import annotations

import stat
import subprocess
import sys

import programs
import psycopg
import pytest

from beliefledger import open_memory
from beliefledger.ledger.errors import CallerMistake, LedgerMoved, NotPermitted
from beliefledger.operations.copy import copy
from beliefledger.operations.tenant_move import move
from beliefledger.tenants import TenantTable

KILLED = 9


@pytest.fixture(params=["sqlite", "postgres"])
def places(request, tmp_path):
    """Where a ledger is, and where it goes: two directories, or two databases."""
    if request.param == "sqlite":
        return str(tmp_path / "old"), str(tmp_path / "new")
    return two_databases(request, tmp_path)


def two_databases(request, tmp_path):
    patch = request.getfixturevalue("monkeypatch")
    here = request.getfixturevalue("postgres_place")
    admin = request.getfixturevalue("postgres")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS elsewhere WITH (FORCE)")
        connection.execute("CREATE DATABASE elsewhere")
    patch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))
    return here, here.replace("/postgres?", "/elsewhere?")


@pytest.fixture
def table(places, tmp_path):
    file = tmp_path / "tenants.yaml"
    file.write_text(f"# whose is what\ntenants:\n  acme:  # the first\n    ledger: {places[0]}\n")
    file.chmod(0o640)
    return TenantTable(file)


def tell(place):
    with open_memory(place, consent="consent") as memory:
        for name in ("ana", "bob", "cy"):
            memory.remember(name, f"My name is {name.title()}. I live in Lisbon.")
        memory.remember("ana", "I moved to Porto.")
        memory.erase("cy", by="lea")
        memory.proofs.checkpoint()
        with memory.consumer("mailer", follow=False) as events:
            events.ack(next(events))


def told(place):
    with open_memory(place, create=False) as memory:
        assert memory.proofs.verify().ok
        return (
            [event.event_id for event in memory.subscribe(follow=False)],
            [belief.text for belief in memory.beliefs()],
            {each.name: each.position for each in memory.status().consumers},
        )


def test_a_tenant_is_moved_and_the_old_place_takes_nothing(places, table, tmp_path):
    old, new = places
    tell(old)
    before = told(old)
    with open_memory(old) as still_open:
        moved = move(table, "acme", new, by="lea")
        assert moved.events == len(before[0])
        assert moved.pause_seconds > 0
        with pytest.raises(LedgerMoved, match="moves, or has moved, to"):
            still_open.record_turn("ana", "I play the cello.")
        with pytest.raises(LedgerMoved), still_open.consumer("mailer", follow=False) as events:
            events.ack(next(events))
        assert still_open.beliefs("ana")  # what was there can still be read
    events, beliefs, consumers = told(new)
    assert (events[:-1], beliefs, consumers) == before
    with open_memory(table.ledger("acme"), create=False) as memory:
        [event] = memory.subscribe(types=["tenant.moved.v1"], follow=False)
        assert memory.actor_name(event.actor) == "lea"
        assert event.facts["root"] == moved.root
        assert event.facts["events"] == moved.events
        memory.record_turn("ana", "I play the cello.")
    text = table.file.read_text()
    assert text.startswith("# whose is what\ntenants:\n  acme:  # the first\n    ledger: ")
    assert stat.S_IMODE(table.file.stat().st_mode) == 0o640
    with open_memory(old, create=False) as there:
        assert any("has moved, to" in each for each in there.status().warnings)
    with pytest.raises(NotPermitted, match="Copy it from there"):
        copy(old, str(tmp_path / "another"))
    with pytest.raises(NotPermitted, match="Name a place where there is no ledger"):
        move(table, "acme", old, by="lea")  # it may not come back to what is out of date
    with pytest.raises(CallerMistake, match="already"):
        move(table, "acme", new, by="lea")


MOVE_AND_DIE = """
import itertools, os, sys
import beliefledger.opening.postgres
from beliefledger.ledger import ledger_copy
from beliefledger.ledger.postgres.store import PostgresEventStore
from beliefledger.ledger.sqlite.store import SQLiteEventStore
from beliefledger.operations import tenant_move
from beliefledger.tenants import TenantTable

ledger_copy.PAGE = 15
file, new, old = sys.argv[1:]
steps = 0
for steps in range(1, 200):
    child = os.fork()
    if not child:
        counted = itertools.count(1)
        def step(*_):
            if next(counted) == steps:
                os._exit(9)
        def dying(what):
            def does(*given):
                step()
                answer = what(*given)
                step()
                return answer
            return does
        for store in (SQLiteEventStore, PostgresEventStore):
            for name in ("put_up_fence", "note_unfinished"):
                setattr(store, name, dying(getattr(store, name)))
        TenantTable.switch = dying(TenantTable.switch)
        tenant_move._record = dying(tenant_move._record)
        try:
            tenant_move.move(TenantTable(file), "acme", new, by="lea", progress=step, step=step)
            os._exit(0)
        except BaseException as problem:
            print(type(problem).__name__, problem, file=sys.stderr)
            os._exit(1)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if ended != 9:
        break
    # Whoever comes now: never both take a turn, and what is taken is not lost.
    taken = []
    for place in {old, TenantTable(file).ledger("acme")}:
        from beliefledger import open_memory
        from beliefledger.ledger.errors import LedgerError
        inner = os.fork()
        if not inner:
            try:
                with open_memory(place, create=False) as memory:
                    memory.record_turn("ana", f"Turn {steps} at all.")
            except LedgerError as problem:
                os._exit(3)
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) == 0:
            taken.append(place)
    assert len(taken) <= 1, taken
    if taken:
        print(steps)
sys.exit(ended)
"""


def test_killed_at_any_step_it_goes_on_and_never_do_two_places_take_turns(places, table):
    old, new = places
    tell(old)
    done = programs.run(
        [sys.executable, "-c", MOVE_AND_DIE, str(table.file), new, old],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    taken = [int(line) for line in done.stdout.split()]
    assert len(taken) > 5
    with open_memory(table.ledger("acme"), create=False) as memory:
        assert memory.proofs.verify().ok
        events = list(memory.subscribe(types=["turn.*", "tenant.*"], follow=False))
    assert [each.type for each in events].count("tenant.moved.v1") == 1
    said = [getattr(each.event, "content", "") for each in events]
    assert [text for text in said if text.startswith("Turn ")] == [
        f"Turn {step} at all." for step in taken
    ]
