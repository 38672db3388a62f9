"""Behind pgbouncer, the real one, which hands out connections by the transaction."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import kept
import psycopg
import pytest
from clusters import free_port
from command_line import CliRunner
from psycopg.conninfo import conninfo_to_dict
from stores import MASTER
from told import told

from beliefledger import open_memory
from beliefledger.ledger.errors import LedgerError
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres.server import PostgresURL, Server
from beliefledger.tools.cli import app

UNPACKED = Path(__file__).parents[2] / "build" / "system" / "debian"
"""Where `make test-system` unpacks Debian's package."""
INI = """
[databases]
* = host={sockets} port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
unix_socket_dir =
auth_type = trust
auth_file = {directory}/users
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
logfile = {directory}/pgbouncer.log
"""


def answers(port):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def pooler(cluster):
    """The port of a pooler before the server of all tests."""
    program = shutil.which("pgbouncer") or str(UNPACKED / "usr" / "sbin" / "pgbouncer")
    # Not in pytest's directory: it shuts out all other users, and so the pooler, when run by root.
    directory = Path(tempfile.mkdtemp(prefix="pooler-"))
    said, own_port = conninfo_to_dict(cluster.uri), free_port()
    (directory / "users").write_text(f'"{said["user"]}" ""\n')
    (directory / "pgbouncer.ini").write_text(
        INI.format(
            sockets=said["host"],
            port=said.get("port", 5432),
            own_port=own_port,
            directory=directory,
        )
    )
    user = ()
    if os.getuid() == 0:  # it does not run as root
        owner = Path(str(said["host"])).owner()  # who may use the server's socket
        user = ("-u", owner)
        shutil.chown(directory, owner)
    libraries = ":".join(str(each.parent) for each in UNPACKED.rglob("lib*.so.*"))
    running = subprocess.Popen(
        [program, *user, "-q", str(directory / "pgbouncer.ini")],
        env={**os.environ, "LD_LIBRARY_PATH": libraries},
    )
    ends = time.monotonic() + 20
    while not answers(own_port):
        assert running.poll() is None, "the pooler ended: its output says why"
        assert time.monotonic() < ends, "the pooler does not answer"
        time.sleep(0.02)
    yield own_port
    running.terminate()
    running.wait(10)
    shutil.rmtree(directory)


@pytest.fixture
def places(cluster, pooler, monkeypatch, tmp_path):
    """The URLs of one ledger that is not made yet: by the pooler, and of the server itself."""
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", MASTER.key.hex())
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))
    direct = cluster.new()
    url = PostgresURL.parse(direct)
    user = conninfo_to_dict(url.conninfo)["user"]
    return f"postgresql://{user}@127.0.0.1:{pooler}/postgres?schema={url.schema}", direct


def listening(direct):
    """`listen=` for the server's own address."""
    said = conninfo_to_dict(PostgresURL.parse(direct).conninfo)
    return f"{said['host']}:{said.get('port', 5432)}".replace("/", "%2F")


def used(memory, person):
    """Everything that somebody does of a day."""
    memory.consent.grant(person, "consent")
    said = "I live in Lisbon|I like jazz|I work at Initech|My cat is called Tom|I have 3 books"
    for sentence in (*said.split("|"), "I moved to Prague", "I have 4 books"):
        memory.remember(person, f"{sentence}.")
    [belief] = [each for each in memory.beliefs(person) if "Prague" in each.text]
    assert memory.search(person, "Where do I live?").results[0].text == belief.text
    assert memory.explain(belief.memory_id)
    memory.operations.rebuild()
    assert memory.proofs.verify().ok
    memory.erase(person, by="dpo")
    assert memory.beliefs(person) == []


@pytest.mark.parametrize("made", ["by the pooler", "directly"])
def test_a_ledger_is_made_and_used_through_either(places, made):
    through, direct = places
    open_memory(through if made == "by the pooler" else direct).close()

    with open_memory(through, create=False) as memory:
        used(memory, "ana")
    with open_memory(direct, create=False) as memory:
        used(memory, "ben")


def test_a_ledger_of_the_version_before_is_upgraded_through_it(
    cluster, pooler, tmp_path, monkeypatch
):
    """Its steps take locks and change roles, each in a transaction that is lent a connection."""
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", str(tmp_path / "master.key"))
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))
    ledger = kept.on_server(tmp_path, cluster.uri)
    url = PostgresURL.parse(ledger.place)
    said = conninfo_to_dict(url.conninfo)
    through = f"postgresql://{said['user']}@127.0.0.1:{pooler}/{said['dbname']}?schema={url.schema}"
    refused = CliRunner().invoke(app, ["--ledger", through, "status"])
    assert (refused.exit_code, "beliefledger ops upgrade" in refused.stderr) == (3, True)
    for steps in (schema.VERSION - 5, 0):  # and once more: then there is nothing to do
        done = CliRunner().invoke(app, ["--ledger", through, "ops", "upgrade", "--json"])
        assert done.exit_code == 0, done.stderr
        log = json.loads(done.stdout)["log"]
        assert (len(log["steps"]), log["after"]) == (steps, schema.VERSION)
    with open_memory(through, clock=lambda: kept.NOW, create=False) as memory:
        now = json.loads(json.dumps(told(memory)))
        for name in ("beliefs", "histories", "decisions", "erasures", "holds"):
            assert now[name] == ledger.told[name], name
        assert memory.process().turns == 1  # what waited
        assert memory.proofs.verify(decisions=True).ok


def test_that_a_pooler_is_there_is_found_out(places):
    through, direct = places
    for url, pooled in ((through, True), (direct, False)):
        server = Server(PostgresURL.parse(url))
        assert server.pooled is None
        with server.connect() as connection:
            assert connection.prepare_threshold == (None if pooled else 5)
        assert (server.pooled, server.is_notified) == (pooled, not pooled)
        server.close()


def test_statements_that_are_prepared_all_the_same_fail_and_say_so(places):
    """So finding out is what it stands on; newer poolers do know prepared statements."""
    through, _ = places

    def many():
        with open_memory(f"{through}&prepare=yes") as memory:
            used(memory, "ana")

    with pytest.raises(LedgerError):
        many()


def test_followers_are_told_at_once_at_the_address_to_listen_at(places):
    through, direct = places
    with open_memory(f"{through}&listen={listening(direct)}") as memory:
        seen = []

        def follow():
            for event in memory.subscribe(follow=True):
                seen.append(event.type)
                if event.type == TurnRecorded.NAME:
                    return

        following = threading.Thread(target=follow)
        following.start()
        waker = memory._log.store._waker
        while not waker._listening:
            time.sleep(0.01)
        before = waker.woken
        with open_memory(through) as another:
            another.record_turn("ana", "I live in Lisbon.")
        following.join(30)
        assert seen[-1] == TurnRecorded.NAME
        while waker.woken == before:
            time.sleep(0.01)  # what another records counts it up only by a notification


def test_followers_look_by_themselves_without_one(places):
    through, _ = places
    with open_memory(through) as memory:
        following = memory.subscribe(follow=True)
        memory.record_turn("ana", "I live in Lisbon.")
        assert next(event for event in following if event.type == TurnRecorded.NAME)
        assert memory._log.store._waker._listening is False


def test_many_writers_share_few_connections(places, pooler):
    through, direct = places
    with open_memory(through) as memory:
        problems = []

        def write(person):
            try:
                for number in range(3):
                    memory.remember(person, f"I have {number + 3} books.")
            except LedgerError as problem:
                problems.append(problem)

        for number in range(8):
            memory.consent.grant(f"person {number}", "consent")
        writers = [threading.Thread(target=write, args=(f"person {n}",)) for n in range(8)]
        for each in writers:
            each.start()
        for each in writers:
            each.join(120)
        assert problems == []
        texts = [memory.beliefs(f"person {number}")[0].text for number in range(8)]
        assert all("5" in each for each in texts), texts
        assert memory.proofs.verify().ok
    with psycopg.connect(direct.partition("&schema")[0]) as connection:
        [(clients,)] = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE usename = current_user"
            " AND application_name = 'beliefledger' AND datname = current_database()"
        ).fetchall()
    assert clients <= 4
