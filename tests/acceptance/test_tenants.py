"""Tenants whose ledgers are at several places: the table, and moving one while it is used."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing

import httpx2
import programs
import psycopg
import pytest
import yaml
from command_line import CliRunner
from own_postgres import OwnPostgres

from beliefledger import open_memory
from beliefledger.ledger import ledger_copy
from beliefledger.ledger.errors import CallerMistake, LedgerMoved, NotPermitted
from beliefledger.operations.copy import copy
from beliefledger.operations.tenant_move import give_up, move, show
from beliefledger.proofs import notary
from beliefledger.tenants import TenantRoute, TenantTable
from beliefledger.tools.cli import app


@pytest.fixture(params=["sqlite", "postgres"])
def places(request, tmp_path):
    """Where a ledger is, and where it goes: two directories, two databases, or two servers."""
    if request.param == "sqlite":
        yield str(tmp_path / "old"), str(tmp_path / "new")
    elif request.param == "postgres":
        yield two_databases(request, tmp_path)
    else:
        here = request.getfixturevalue("postgres_place")
        with closing(OwnPostgres()) as another:
            yield here, f"{another.url}&schema=moved"


def two_databases(request, tmp_path):
    patch = request.getfixturevalue("monkeypatch")
    here = request.getfixturevalue("postgres_place")
    admin = request.getfixturevalue("postgres")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS tenants_elsewhere WITH (FORCE)")
        connection.execute("CREATE DATABASE tenants_elsewhere")
    patch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))
    return here, here.replace("/postgres?", "/tenants_elsewhere?")


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


@pytest.mark.parametrize("places", ["sqlite", "postgres", "two servers"], indirect=True)
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


def test_a_head_that_is_signed_while_it_is_paused_comes_along(places, table, monkeypatch):
    """Whoever has the old place open signs what was written last, once it is copied."""
    old, new = places
    tell(old)
    monkeypatch.setattr(notary, "EVERY", 1_000.0)
    bring_tree = ledger_copy.bring_tree
    with open_memory(old) as still_open:

        def step(what):
            if what.startswith("pausing"):
                still_open.record_turn("ana", "I play the cello.")

        def bring(*given):
            brought = bring_tree(*given)
            still_open._notary.sign()
            return brought

        monkeypatch.setattr(ledger_copy, "bring_tree", bring)
        moved = move(table, "acme", new, by="lea", step=step)
        assert moved.signed == moved.events
    told(new)


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


def started(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "beliefledger", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_a_server_and_a_worker_go_along_and_a_client_loses_nothing(request, tmp_path, monkeypatch):
    old, new = two_databases(request, tmp_path)
    monkeypatch.setenv("BELIEFLEDGER_SERVER_CALLS_PER_MINUTE", "100000")
    with open_memory(old, consent="consent") as memory:
        for number in range(40):
            memory.record_turn("bob", f"Turn {number} before.")
        token = memory.tokens.create("bot", subjects=None, consent="consent", by="lea").token
    file = tmp_path / "tenants.yaml"
    file.write_text(f"tenants: {{acme: {json.dumps(old)}}}\n")
    route = ["--tenants", str(file), "--tenant", "acme"]
    server = started(*route, "serve", "--port", "0", "--no-worker", "--no-schedule")
    worker = started(*route, "worker", "--no-schedule", "--lease-seconds", "1")
    with server, worker:
        try:
            root = server.stderr.readline().split()[-1].removesuffix("/mcp")
            # It logs each call, and would stop once the pipe is full.
            threading.Thread(target=server.stderr.read).start()
            sent, refused, done, moving = [], [], threading.Event(), threading.Event()
            broken = []

            def write():
                headers = {"Authorization": f"Bearer {token}"}
                with httpx2.Client(base_url=root, headers=headers, timeout=30) as client:
                    while not done.is_set():
                        text = f"Turn {len(sent)} of many."
                        while True:
                            answer = client.post(
                                "/v1/turns",
                                json={"subject": "ana", "content": text},
                                headers={"Idempotency-Key": text},
                            )
                            if answer.status_code != 503:
                                break
                            refused.append(answer.headers["retry-after"])
                            time.sleep(0.02)
                        if not answer.is_success:
                            broken.append(answer.text)
                            return
                        sent.append(text)
                        if len(sent) == 20:
                            moving.set()

            writer = threading.Thread(target=write)
            writer.start()
            assert moving.wait(60), broken
            words = ["tenant", "move", "acme", "--to", new, "--by", "lea", "--json"]
            moved = CliRunner().invoke(app, ["--tenants", str(file), *words])
            assert moved.exit_code == 0, moved.stderr
            now = len(sent)
            while len(sent) < now + 20 and writer.is_alive():
                time.sleep(0.01)
            done.set()
            writer.join(60)
            assert not broken
            assert refused  # the fence was met, and told as something to be tried again
            with open_memory(new, create=False) as memory:
                events = memory.subscribe(types=["turn.recorded.*"], follow=False)
                said = [each.event.content for each in events]
                assert [text for text in said if "of many" in text] == sent
                ends = time.monotonic() + 60
                while memory.status().pending_turns and time.monotonic() < ends:
                    time.sleep(0.05)
                assert not memory.status().pending_turns  # the worker went on there
        finally:
            for each in (server, worker):
                each.terminate()
        told = worker.communicate(timeout=60)[1]
        assert "has moved: going on at the new place" in told
        server.wait(60)
    document = json.loads(moved.stdout)
    assert document["meanwhile"] > 0
    assert document["pause_seconds"] > 0


@pytest.mark.parametrize("places", ["sqlite"], indirect=True)
def test_a_move_can_be_given_up_until_the_table_is_switched(places, table):
    old, new = places
    tell(old)
    with pytest.raises(NotPermitted, match="nothing to give up"):
        give_up(table, "acme", by="lea")

    def stop(step):
        if step.startswith("switching"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move(table, "acme", new, by="lea", step=stop)
    with open_memory(old) as memory, pytest.raises(LedgerMoved):
        memory.record_turn("ana", "Anybody there?")
    assert "Nothing is written here any more" in show(table, "acme").state
    with pytest.raises(NotPermitted, match="go on with that"):
        move(table, "acme", f"{new}er", by="lea")
    with pytest.raises(NotPermitted, match="Copy it from there"):
        copy(old, f"{new}est")
    given_up = CliRunner().invoke(
        app, ["--tenants", str(table.file), "tenant", "move", "acme", "--abort", "--by", "lea"]
    )
    assert "takes events again" in " ".join(given_up.stdout.split()), given_up.stderr
    with open_memory(old, create=False) as memory:
        memory.record_turn("ana", "Anybody there?")
        [event] = memory.subscribe(types=["tenant.move_given_up.v1"], follow=False)
        assert memory.actor_name(event.actor) == "lea"
    with pytest.raises(NotPermitted, match="give the move up"):
        copy(old, new)  # it would be completed, and written to
    assert move(table, "acme", new, by="lea").events > event.position


WRONG = {
    "": "names no tenants",
    "tenants: [acme]": "write a line for each tenant",
    "tenants: {acme: {server: https://a.example}}": "write `ledger: postgresql",
    "tenants: {acme: {ledger: a, password: hush}}": "a tenant has: ledger, server",
    "tenants: {acme: a, globex: ./a}": "acme and globex have one ledger",
    "tenants:\n  acme: a\n  acme: b": "line 3 is no YAML: acme stands in it twice",
    "tenants: {acme: 'postgresql://me:hush@[db/x'}": "tenants.acme.ledger",
    "tenants: {acme: {ledger: a, server: 'https://me:hush@a.example'}}": "give an address",
    "tenants: {'../acme': a}": "name a tenant with letters",
    "tenants: {acme: a": "is no YAML",
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_a_wrong_table_is_told_of_without_what_is_secret(text, tmp_path):
    file = tmp_path / "tenants.yaml"
    file.write_text(text)
    result = CliRunner().invoke(app, ["--tenants", str(file), "tenant", "list"])
    assert result.exit_code in {2, 3}
    assert WRONG[text] in result.stderr
    assert "hush" not in result.stderr


def test_the_table_says_where_commands_go_and_shows_no_password(tmp_path):
    tell(str(tmp_path / "here"))
    file = tmp_path / "tenants.yaml"
    url = "postgresql://me:hush@nowhere.invalid/db"
    file.write_text(f"tenants:\n  acme: here\n  globex: &g\n    ledger: {url}\n")
    route = TenantRoute(TenantTable(file), "acme")
    listed = CliRunner().invoke(app, ["--tenants", str(file), "tenant", "list"])
    assert "hush" not in listed.stdout
    assert "postgresql://nowhere.invalid/db" in listed.stdout
    both = ["--tenants", str(file), "--tenant", "acme"]
    beliefs = CliRunner().invoke(app, [*both, "beliefs", "--subject", "ana"])
    assert "Porto" in beliefs.stdout
    shown = CliRunner().invoke(app, ["--tenants", str(file), "tenant", "show", "acme"])
    assert "It takes events." in shown.stdout
    for words, why in (
        ([*both, "--ledger", "x", "status"], "give one of them"),
        (["--tenants", str(file), "--tenant", "hooli", "status"], "there are: acme, globex"),
        (["--tenant", "acme", "status"], "Name the table of tenants"),
        (["--tenants", str(file), "tenant", "move", "acme", "--by", "lea"], "--to DIR|URL"),
    ):
        assert why in CliRunner().invoke(app, words).stderr
    assert route.moved() is None
    TenantTable(file).switch("acme", "there")
    assert route.moved() == str(tmp_path / "there")
    assert yaml.safe_load(file.read_text())["tenants"]["globex"] == {"ledger": url}
