"""Questions to a streaming standby, a real one: what it may answer, and when the primary has to."""

from __future__ import annotations

import itertools
import json
import logging
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx2
import programs
import psycopg
import pytest
from command_line import CliRunner
from own_postgres import OwnPostgres
from served import served
from standbys import SECONDS, Standby

from beliefledger import Details, open_memory
from beliefledger.ledger import replica as replicas
from beliefledger.ledger.errors import BehindWitness, InvalidQuery, SplitView, UnknownMemory
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.tools.cli import app
from beliefledger.tools.server.api import health

numbers = itertools.count(1)


@pytest.fixture(scope="module")
def primary():
    server = OwnPostgres()
    yield server
    server.close()


@pytest.fixture(scope="module")
def standby(primary):
    server = Standby(primary)
    yield server
    server.close()


@pytest.fixture
def own_standby(primary):
    """One that may be promoted."""
    server = Standby(primary)
    yield server
    server.close()


@pytest.fixture
def url(primary, ledger_keys):
    """A ledger on the primary: for whoever writes."""
    return f"{primary.url}&schema=replicated_{next(numbers)}"


@pytest.fixture
def reading(url, standby):
    """The same, with questions to the standby that may lack what is less than an hour old."""
    return f"{url}&read={standby.address}&read_lag=3600"


@pytest.fixture(autouse=True)
def promptly(monkeypatch):
    """A standby that failed is not left alone."""
    monkeypatch.setattr(replicas, "_AFTER_FAILURE", 0.0)
    monkeypatch.setattr(replicas, "_WHILE_BEHIND", 0.0)


@contextmanager
def paused(standby):
    standby.pause()
    try:
        yield
    finally:
        standby.go_on()


def texts(memory, person="ana", **asked):
    return [each.text for each in memory.beliefs(person, **asked)]


def by_replica(memory, ask):
    """What is answered, and whether the replica did."""
    replica = memory._log.replica
    before = replica.answered
    answer = ask()
    return answer, replica.answered == before + 1


def settled(memory, standby):
    """Folds all views, and lets the standby have them."""
    memory._core.projector.catch_up()
    standby.catch_up()


def moved(url):
    """A ledger with somebody in it who has moved."""
    with open_memory(url) as writer:
        writer.consent.grant("ana", "consent")
        writer.remember("ana", "I live in Lisbon.")
        writer.remember("ana", "I moved to Porto.")
        writer.remember("ana", "I have a cat called Tom.")


def test_the_replica_answers_as_the_primary_does(url, reading, standby):
    moved(url)
    with open_memory(url) as plain, open_memory(reading) as memory:
        settled(memory, standby)
        [home] = [each for each in memory.beliefs("ana") if "Porto" in each.text]
        asked = (
            lambda of: of.beliefs("ana"),
            lambda of: of.beliefs(limit=1),
            lambda of: of.beliefs("ana", as_of=of.status().position),
            lambda of: of.beliefs("ana", as_of=home.recorded_from),
            lambda of: of.history(home.memory_id),
            lambda of: of.decisions("ana"),
            lambda of: of.decision(of.decisions("ana")[0].decision_id),
            lambda of: of.explain(home.memory_id),
            lambda of: of.related("ana"),
            lambda of: of.events("ana"),
            lambda of: of.typed("ana"),
        )
        for number, ask in enumerate(asked):
            replica, before = memory._log.replica, memory._log.replica.passed_on
            assert ask(memory) == ask(plain), number
            assert replica.passed_on == before, number
        assert memory.status().warnings == plain.status().warnings
        assert replica.answered > len(asked)


def test_views_and_words_are_not_read_on_the_primary(url, reading, standby):
    """Nobody could: the tables are locked there."""
    moved(url)
    with open_memory(reading) as memory:
        settled(memory, standby)
        found = texts(memory)
        schema = memory.place.schema
        with paused(standby), psycopg.connect(url.partition("&schema")[0]) as other:
            for [table] in other.execute(
                "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace"
                " IN (SELECT oid FROM pg_namespace WHERE nspname = %s OR nspname LIKE %s)"
                " AND (relname = 'bodies' OR relname LIKE 'belief%%')",
                (schema, f"{schema}_views%"),
            ).fetchall():
                other.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            assert by_replica(memory, lambda: texts(memory)) == (found, True)


def test_an_answer_may_lack_what_is_newer_than_the_bound(url, reading, standby):
    moved(url)
    with open_memory(reading) as memory, open_memory(url) as writer:
        settled(memory, standby)
        with paused(standby):
            writer.remember("ana", "I like jazz.")
            found, there = by_replica(memory, lambda: texts(memory))
            assert there
            assert not any("jazz" in each for each in found), "as of a while ago"
        settled(memory, standby)
        found, there = by_replica(memory, lambda: texts(memory))
        assert there
        assert any("jazz" in each for each in found)


def test_what_is_older_than_the_bound_is_asked_of_the_primary(url, standby, caplog):
    moved(url)
    with (
        open_memory(f"{url}&read={standby.address}&read_lag=0.01") as memory,
        open_memory(url) as writer,
    ):
        settled(memory, standby)
        with paused(standby):
            writer.remember("ana", "I like jazz.")
            writer.beliefs("ana")  # folds it
            time.sleep(0.02)
            for _ in range(3):
                found, there = by_replica(memory, lambda: texts(memory))
                assert not there
                assert any("jazz" in each for each in found)
            [told] = [each for each in caplog.records if "behind" in each.message]
            assert told.levelno == logging.WARNING
            assert memory._log.replica.trouble == told.message
        settled(memory, standby)
        assert by_replica(memory, lambda: texts(memory))[1]
        assert memory._log.replica.trouble is None


def test_of_no_lag_an_answer_has_everything(url, standby):
    moved(url)
    with (
        open_memory(f"{url}&read={standby.address}&read_lag=0") as memory,
        open_memory(url) as writer,
    ):
        settled(memory, standby)
        assert by_replica(memory, lambda: texts(memory))[1]
        with paused(standby):
            writer.remember("ana", "I like jazz.")
            found, there = by_replica(memory, lambda: texts(memory))
            assert not there
            assert any("jazz" in each for each in found)


def test_whoever_wrote_reads_it(reading, standby):
    with open_memory(reading) as memory:
        for person in map(str, range(10)):
            memory.consent.grant(person, "consent")
            memory.remember(person, "I live in Lisbon.")
            assert texts(memory, person), person
        memory.consent.grant("ana", "consent")
        memory.remember("ana", "I have 3 books.")
        assert texts(memory)
        standby.catch_up()
        assert by_replica(memory, lambda: texts(memory))[1]
        with paused(standby):
            memory.remember("ana", "I have 20 books.")
            assert any("20" in each for each in texts(memory))  # folds it on the primary
            found, there = by_replica(memory, lambda: texts(memory))
            assert not there, "it is folded and was waited for"
            assert any("20" in each for each in found)
        standby.catch_up()
        found, there = by_replica(memory, lambda: texts(memory))
        assert there
        assert any("20" in each for each in found)


def test_it_is_waited_for_a_little(reading, standby, monkeypatch):
    monkeypatch.setattr("beliefledger.projections.replica_views.PATIENCE", SECONDS)
    waits, wait = threading.Event(), replicas.Replica.wait

    def told(*given):
        waits.set()
        wait(*given)

    monkeypatch.setattr(replicas.Replica, "wait", told)
    with open_memory(reading) as memory, ThreadPoolExecutor(1) as pool:
        memory.consent.grant("ana", "consent")
        settled(memory, standby)
        with paused(standby):
            memory.remember("ana", "I have 3 books.")
            memory._core.projector.catch_up()
            asked = pool.submit(by_replica, memory, lambda: texts(memory))
            assert waits.wait(SECONDS)
            assert not asked.done()
        found, there = asked.result(SECONDS)
        assert there
        assert any("3" in each for each in found)


def test_what_nobody_has_folded_is_not_waited_for(url, standby, monkeypatch):
    with (
        open_memory(f"{url}&read={standby.address}&read_lag=0") as memory,
        open_memory(url) as writer,
    ):
        writer.consent.grant("ana", "consent")
        settled(memory, standby)
        writer.remember("ana", "I have 3 books.")
        standby.catch_up()
        monkeypatch.setattr(replicas.Replica, "wait", lambda *_: pytest.fail("it waits"))
        found, there = by_replica(memory, lambda: texts(memory))
        assert not there
        assert any("3" in each for each in found)


def test_what_no_view_folds_is_not_waited_for(reading, standby):
    """As what every call through a door writes."""
    with open_memory(reading) as memory:
        memory.consent.grant("ana", "consent")
        memory.remember("ana", "I have 3 books.")
        settled(memory, standby)
        with paused(standby):
            memory.search("ana", "books")
            memory._core.recorder.flush()
            assert memory.status().position > 0
            assert by_replica(memory, lambda: texts(memory))[1]


@pytest.mark.parametrize("what", ["everything", "one memory"])
def test_what_was_erased_is_not_read_from_a_replica_that_has_it(url, reading, standby, what):
    """The erasure is done by another process than the one that asks, whose keys are in memory."""
    moved(url)
    with open_memory(reading) as memory, open_memory(url) as eraser:
        settled(memory, standby)
        found, there = by_replica(memory, lambda: memory.beliefs("ana"))
        assert there
        [cat] = [each for each in found if "Tom" in each.text]
        with paused(standby):
            ref = memory._log.subject("ana")
            bodies = f"SELECT count(*) > 0 FROM {memory.place.schema}.bodies"
            if what == "everything":
                eraser.erase("ana", by="dpo")
            else:
                eraser.erase("ana", memory=cat.memory_id, by="dpo")
            for _ in range(2):
                assert not any("Tom" in each for each in texts(memory))
                found, there = by_replica(memory, lambda: texts(memory, None))
                assert not there
                assert not any("Tom" in each for each in found)
            with pytest.raises(UnknownMemory):
                memory.explain(cat.memory_id)
            assert "Tom" not in str(memory.decisions())
            assert standby.ask(bodies) == [(True,)], "they are there"
            rows = memory._log.replica.ask(lambda: memory._queries.standing(ref))
            assert cat.memory_id not in {row.memory_id for row in rows}
        settled(memory, standby)
        found, there = by_replica(memory, lambda: texts(memory, None))
        assert there
        assert not any("Tom" in each for each in found)


def test_an_erasure_while_a_question_is_asked_is_not_read_past(url, reading, standby):
    """Between the views and the words, which are deleted on the primary meanwhile."""
    moved(url)
    with open_memory(reading) as memory, open_memory(url) as eraser:
        settled(memory, standby)
        [cat] = [each for each in memory.beliefs("ana") if "Tom" in each.text]

        def ask():
            with memory._queries.view(BeliefsView.name):
                eraser.erase("ana", memory=cat.memory_id, by="dpo")
            memory._log.head()  # as every further question to the views asks it
            return memory._log.read_at([cat.recorded_from_position])

        standby.pause()
        try:
            replica = memory._log.replica
            before = replica.passed_on
            # Asked again of the primary, it erases again: which is on record already.
            [event] = replica.ask(ask).values()
            assert replica.passed_on == before + 1
            assert event.event is None or "Tom" not in str(event.event)
        finally:
            standby.go_on()


def test_a_question_about_a_later_position_is_asked_of_the_primary(url, reading, standby):
    moved(url)
    with open_memory(reading) as memory, open_memory(url) as writer:
        settled(memory, standby)
        early = memory.status().position
        with paused(standby):
            writer.remember("ana", "I like jazz.")
            position = writer.status().position
            found, there = by_replica(memory, lambda: texts(memory, as_of=position))
            assert not there
            assert any("jazz" in each for each in found)
            assert by_replica(memory, lambda: texts(memory, as_of=early))[1]
            [belief] = [each for each in writer.beliefs("ana") if "jazz" in each.text]
            assert memory.history(belief.memory_id)[-1].text == belief.text, "told by another"
            now = belief.recorded_from
            assert any("jazz" in each for each in texts(memory, as_of=now))
            with pytest.raises(InvalidQuery, match="not in the log"):
                texts(memory, as_of=position + 1_000)


def test_who_may_see_what_is_never_late(url, reading, standby):
    with open_memory(url) as writer:
        writer.consent.grant("ana", "consent", scope="team")
        shared = Details(visibility_scope="team")
        writer.store("ana", "Lisbon", attribute="home", confidence=0.9, details=shared)
        for person in ("ana", "ben"):
            writer.teams.add("red", person, by="lea")
    with open_memory(reading) as memory, open_memory(url) as writer:
        settled(memory, standby)
        before, there = by_replica(memory, lambda: texts(memory, reader="ben"))
        assert there
        assert len(before) == 1
        with paused(standby):
            writer.teams.remove("red", "ben", by="lea")
            after, there = by_replica(memory, lambda: texts(memory, reader="ben"))
            assert there
            assert after == []


def test_each_tenant_sees_their_own(url, standby):
    for tenant, city in (("one", "Lisbon"), ("two", "Porto")):
        with open_memory(f"{url}&tenant={tenant}") as memory:
            memory.consent.grant("ana", "consent")
            memory.remember("ana", f"I live in {city}.")
    standby.catch_up()
    for tenant, city in (("one", "Lisbon"), ("two", "Porto")):
        reading = f"{url}&tenant={tenant}&read={standby.address}&read_lag=3600"
        with open_memory(reading) as memory:
            settled(memory, standby)
            [found], there = by_replica(memory, lambda: texts(memory, None))
            assert there
            assert city in found
            everywhere = range(1, memory.status().position + 1)
            theirs = [row.position for row in memory._log.store.read_at(everywhere)]
            assert 0 < len(theirs) < len(everywhere)
            _, rows = memory._log.replica.source.rows_at(everywhere)
            assert [row.position for row in rows] == theirs


def test_without_the_replica_the_primary_answers_and_says_so_once(url, reading, standby, caplog):
    moved(url)
    caplog.set_level(logging.INFO, "beliefledger")
    with open_memory(reading) as memory:
        settled(memory, standby)
        here, there = by_replica(memory, lambda: texts(memory))
        assert there
        standby.stop()
        try:
            for _ in range(3):
                assert by_replica(memory, lambda: texts(memory)) == (here, False)
            [told] = [each for each in caplog.records if "does not answer" in each.message]
            [warning] = [each for each in memory.status().warnings if "replica" in each]
            assert warning == told.message
            assert "secret" not in warning
            with open_memory(reading) as another:  # opened while it is down
                assert texts(another) == here
        finally:
            standby.start()
        assert not [each for each in memory.status().warnings if "replica" in each]
        assert by_replica(memory, lambda: texts(memory)) == (here, True)
        assert [each for each in caplog.records if "answers questions again" in each.message]


def test_a_server_tells_how_its_replica_is(url, standby, monkeypatch):
    monkeypatch.setattr(health, "KEPT_SECONDS", 0.0)
    moved(url)
    with (
        open_memory(f"{url}&read={standby.address}&read_lag=1") as memory,
        served(memory, worker=False) as server,
    ):
        settled(memory, standby)

        def told():
            answer = httpx2.get(f"{server.root}/readyz")
            assert (answer.status_code, answer.json()["stopped"]) == (200, []), answer.text
            return answer.json()["checks"]["replica"]

        assert told() == {
            "ok": True, "reachable": True, "lag": 0, "lag_seconds": 0.0, "bound_seconds": 1.0,
        }  # fmt: skip
        assert memory.status().replica.within
        with paused(standby):
            memory.remember("ana", "I live in Faro.")
            now = told()
            assert now["reachable"] is True
            assert now["lag"] > 0
            assert 0 < now["lag_seconds"] < SECONDS
            until(lambda: told()["lag_seconds"] > 1.0)
            assert told()["ok"] is False
            [warning] = [each for each in memory.status().warnings if "replica" in each]
            assert "more than 1 seconds behind" in warning
        settled(memory, standby)
        assert told()["ok"] is True
        assert not [each for each in memory.status().warnings if "replica" in each]
        standby.stop()
        try:
            assert told() == {
                "ok": False, "reachable": False, "lag": None, "lag_seconds": None,
                "bound_seconds": 1.0,
            }  # fmt: skip
        finally:
            standby.start()
        assert told()["ok"] is True


def until(holds):
    ends = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_what_is_no_replica_of_this_ledger_is_not_asked(url, primary, standby, cluster, caplog):
    moved(url)
    said = psycopg.conninfo.conninfo_to_dict(primary.url)
    other = psycopg.conninfo.conninfo_to_dict(cluster.uri)
    with psycopg.connect(primary.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE another")
    another = url.replace("/postgres?", "/another?")
    moved(another)
    standby.catch_up()
    for place, address, why in (
        (url, said["host"], "follows no primary"),
        (url, other["host"], "does not answer"),
        (another, standby.address, "has another history than the primary"),
    ):
        with open_memory(f"{place}&read={address}") as memory:
            found, there = by_replica(memory, lambda: texts(memory))
            assert not there
            assert any("Porto" in each for each in found)
            assert why in memory._log.replica.trouble


class Witness:
    """A witness in a process of its own."""

    def __init__(self, store):
        self.store = store
        command = [sys.executable, "-m", "beliefledger", "proof", "witness", "serve", "--json"]
        self.process = programs.Program(
            [*command, "--store", store, "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        told = json.loads(self.process.stdout.readline())
        self.url, self.key = told["url"], told["verifier_key"]

    def know(self, memory):
        key = memory.proofs.tree.verifiers()[-1].vkey
        words = ["proof", "witness", "add-log", key, "--store", str(self.store)]
        assert CliRunner().invoke(app, words).exit_code == 0

    def is_asked(self, monkeypatch):
        monkeypatch.setenv("BELIEFLEDGER_WITNESS", self.url)
        monkeypatch.setenv("BELIEFLEDGER_WITNESS_KEY", self.key)

    def end(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(SECONDS)
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture
def witness(tmp_path):
    running = Witness(tmp_path / "witness")
    yield running
    running.end()


def test_an_old_primary_that_comes_back_is_refused(
    url, primary, own_standby, witness, monkeypatch, tmp_path
):
    reading = f"{url}&read={own_standby.address}&read_lag=3600"

    def on(machine, place):
        """A key signs one ledger, and each machine has its own copy of it."""
        key = tmp_path / machine / f"{place.rpartition('=')[2]}.key"
        monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(key))
        return place.replace(primary.url, own_standby.url) if machine == "new" else place

    split = url.replace("replicated_", "split_")
    for machine in ("old", "new"):
        (tmp_path / machine).mkdir()
    for each in (url, split):
        moved(on("old", each))
        with open_memory(each) as memory:
            witness.know(memory)
    witness.is_asked(monkeypatch)
    for each in (url, split):
        with open_memory(on("old", each)) as memory:
            memory.proofs.checkpoint()
    for key in (tmp_path / "old").glob("*.key"):
        shutil.copy(key, tmp_path / "new")
    with open_memory(on("old", split)) as running:
        own_standby.catch_up()
        own_standby.promote()
        monkeypatch.setenv("BELIEFLEDGER_WITNESS", "")
        on("old", url)
        with open_memory(reading) as memory:  # who has not heard of it yet
            found, there = by_replica(memory, lambda: texts(memory))
            assert not there
            assert any("Porto" in each for each in found)
            assert "it was promoted" in memory._log.replica.trouble
        witness.is_asked(monkeypatch)
        for each in (url, split):
            with open_memory(on("new", each)) as memory:
                memory.remember("ana", "I like jazz.")
                memory.proofs.checkpoint()
        with pytest.raises(BehindWitness, match="cosigned"):
            open_memory(on("old", url))

        # A process that is running writes there, until the witness has been asked.
        def write_on():
            ends = time.monotonic() + SECONDS
            for number in itertools.count(3):
                running.remember("ana", f"I have {number} books.")
                assert time.monotonic() < ends

        with pytest.raises((BehindWitness, SplitView), match="The witness at"):
            write_on()
        assert any("Porto" in each for each in texts(running)), "it can be read"
        assert any("The witness at" in each for each in running.status().warnings)
    with pytest.raises(SplitView, match="another history"):
        open_memory(on("old", split))

    for each in (url, split):
        with open_memory(on("new", each)) as memory:
            assert any("jazz" in text for text in texts(memory))
            assert memory.proofs.verify().ok
