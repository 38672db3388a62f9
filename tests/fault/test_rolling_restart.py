"""Two servers over one Postgres, replaced one after the other over a migration that the former
program cannot do without, while clients go on."""

from __future__ import annotations

import sys
import threading
import time
from itertools import count
from pathlib import Path

import httpx2
import psycopg
import pytest
from programs import run
from served import ServerProcess
from stores import MASTER

from beliefledger import open_memory
from beliefledger.ledger.postgres.server import PostgresURL

NEWER = str(Path(__file__).with_name("newer_program.py"))
PEOPLE = ("ana", "ben")
SOME = 8
"""So many turns of each client are acknowledged between two steps."""


class Client(threading.Thread):
    """Records turns and asks for them, at one server or the other; goes to the other one for what
    the first does not take now."""

    def __init__(self, subject, token, servers):
        super().__init__()
        self.subject, self.servers = subject, servers
        self.acknowledged = []
        self.wrong = []
        self.retried = 0
        self.done = threading.Event()
        headers = {"Authorization": f"Bearer {token}"}
        self._http = [httpx2.Client(base_url=at, headers=headers, timeout=60) for at in servers]

    def run(self):
        try:
            for number in count(1):
                if self.done.is_set():
                    return
                said = {"subject": self.subject, "content": f"I live in City{number}."}
                key = {"Idempotency-Key": f"{self.subject} {number}"}
                answer = self.asked(number, 201, "POST", "/v1/turns", json=said, headers=key)
                turn = answer.json()["turn_id"]
                self.asked(number + 1, 200, "GET", f"/v1/turns/{turn}/job")
                self.acknowledged.append(turn)
        except Exception as problem:  # noqa: BLE001  # told to the test, which waits for more
            self.wrong.append(problem)
        finally:
            for each in self._http:
                each.close()

    def asked(self, at, status, method, path, **given):
        ends = time.monotonic() + 60
        while time.monotonic() < ends:
            try:
                answer = self._http[at % 2].request(method, path, **given)
            except httpx2.TransportError:  # refused, or closed before it answered
                pass
            else:
                if answer.status_code != 503:
                    assert answer.status_code == status, (path, answer.status_code, answer.text)
                    return answer
            self.retried += 1
            at += 1
            time.sleep(0.02)
        raise AssertionError(f"{path} was taken by nobody in a minute")


def wait_for_more(clients):
    wanted = [len(each.acknowledged) + SOME for each in clients]
    ends = time.monotonic() + 90
    while any(len(each.acknowledged) < most for each, most in zip(clients, wanted, strict=True)):
        assert not any(each.wrong for each in clients), [each.wrong for each in clients]
        assert time.monotonic() < ends, [len(each.acknowledged) for each in clients]
        time.sleep(0.02)


def rows(place, question):
    url = PostgresURL.parse(place)
    with psycopg.connect(url.conninfo) as connection:
        return connection.execute(question.format(url.schema)).fetchall()


@pytest.fixture
def place(cluster, monkeypatch, tmp_path):
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", MASTER.key.hex())
    monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))
    monkeypatch.setenv("BELIEFLEDGER_SERVER_LEASE_SECONDS", "1")
    monkeypatch.setenv("BELIEFLEDGER_SERVER_CALLS_PER_MINUTE", "1000000")
    return cluster.new()


def test_over_a_migration_nothing_is_lost_and_nothing_is_done_twice(place):
    with open_memory(place) as memory:
        made = memory.tokens.create("bot", subjects=PEOPLE, consent="consent", by="lea")
    older = ["-m", "beliefledger", "--ledger", place]
    newer = [NEWER, "--ledger", place]
    servers, clients = [], []
    try:
        servers += [ServerProcess(older, {}) for _ in range(2)]
        first, second = servers
        clients += [Client(each, made.token, [at.root for at in servers]) for each in PEOPLE]
        for each in clients:
            each.start()
        wait_for_more(clients)
        first.end()
        wait_for_more(clients)  # at the second one alone
        done = run([sys.executable, *newer, "ops", "upgrade"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        is_told(second, made.token)
        servers.append(ServerProcess(newer, {}, first.port))
        wait_for_more(clients)
        second.end()
        servers.append(ServerProcess(newer, {}, second.port))
        wait_for_more(clients)
        for each in clients:
            each.done.set()
            each.join(60)
        turns = [turn for each in clients for turn in each.acknowledged]
        wait_decided(place, len(turns))
    finally:
        for each in clients:
            each.done.set()
        for each in servers:
            each.end()
    assert [each.wrong for each in clients] == [[], []]
    assert all(each.retried for each in clients)
    recorded = rows(place, "SELECT stream FROM {}.history WHERE type LIKE 'turn.recorded.%'")
    assert sorted(stream for (stream,) in recorded) == sorted(turns)  # each once
    read = rows(place, "SELECT stream FROM {}.history WHERE type LIKE 'extraction.completed.%'")
    assert sorted(stream for (stream,) in read) == sorted(turns)


def is_told(server, token):
    """A server from before the migration answers what a client tries elsewhere, and its log says
    what to do."""
    asked = {"Authorization": f"Bearer {token}"}
    answer = httpx2.get(f"{server.root}/v1/beliefs?subject=ana", headers=asked, timeout=30)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    ends = time.monotonic() + 20
    while httpx2.get(f"{server.root}/readyz").status_code != 503:  # it looks once a second
        assert time.monotonic() < ends
        time.sleep(0.05)
    assert httpx2.get(f"{server.root}/healthz").status_code == 200
    log = "".join(server.lines)
    assert "a newer one has written to it" in log
    assert "beliefledger init" not in log


def wait_decided(place, turns):
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        read = rows(
            place, "SELECT count(*) FROM {}.history WHERE type LIKE 'extraction.completed.%'"
        )
        if read[0][0] >= turns:
            return
        time.sleep(0.1)
    kinds = rows(place, "SELECT type, count(*) FROM {}.history GROUP BY 1")
    raise AssertionError(f"not everything was decided in a minute: {kinds}")
