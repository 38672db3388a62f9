"""Every connection to a Postgres ended, and the server stopped, crashed and started again: whoever
follows goes on by himself."""

from __future__ import annotations

import os
import signal
import threading
import time

import psycopg
import pytest
from own_postgres import OwnPostgres

from beliefledger import open_memory
from beliefledger.ledger.errors import AppendUncertain, Retryable

TURNS = 20
POOL_TRIES = 0.5
"""Seconds; by default many more."""


@pytest.fixture(scope="module")
def own():
    server = OwnPostgres()
    yield server
    server.close()


def backends(own):
    with psycopg.connect(own.url, autocommit=True) as connection:
        return connection.execute(
            "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchall()


def end_every_connection(own):
    for _ in range(5):  # those that come back, too
        ended = backends(own)
        time.sleep(0.05)
    assert ended


def kill_a_connection(own):
    with psycopg.connect(own.url, autocommit=True) as connection:
        [pid] = connection.execute(
            "SELECT min(pid) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchone()
    os.kill(pid, signal.SIGKILL)  # upon which the server ends all others and recovers


def restart(own):
    own.stop("fast")
    own.start()


def crash(own):
    own.stop("immediate")
    own.start()


def kill(own):
    own.kill()
    own.start()


def insist(action, *given, **named):
    until = time.monotonic() + 90
    while True:
        try:
            return action(*given, **named)
        except (Retryable, AppendUncertain):
            assert time.monotonic() < until
            time.sleep(0.02)


def stay_away(own):
    """For longer than the pool of connections tries by itself to make new ones."""
    own.stop("fast")
    time.sleep(3 * POOL_TRIES)
    own.start()


class Followers:
    """A subscription, a consumer and a projector, each in a thread, of one ledger."""

    def __init__(self, memory):
        self.memory = memory
        self.subscription = memory.subscribe()
        self.consumer = memory._log.consumer("outages", lease_seconds=1)
        self.subscribed, self.consumed = [], []
        self.folded = 0
        self._ending = threading.Event()
        self.threads = [
            threading.Thread(target=each, daemon=True)
            for each in (self._subscribe, self._consume, self._project)
        ]
        for thread in self.threads:
            thread.start()

    def _consume(self):
        for event in self.consumer:
            self.consumed.append(event.position)
            self.consumer.ack(event)

    def _subscribe(self):
        for event in self.subscription:
            self.subscribed.append(event.position)

    def _project(self):
        """As whoever asks: each question lets the views catch up first."""
        while not self._ending.is_set():
            self.folded = min(view.position for view in insist(self._views))
            time.sleep(0.01)

    def _views(self):
        return self.memory.status(digests=False).views

    def reach(self, position):
        until = time.monotonic() + 90
        while not (
            self.subscribed[-1:] == self.consumed[-1:] == [position] and self.folded == position
        ):
            assert all(thread.is_alive() for thread in self.threads)
            assert time.monotonic() < until, (self.subscribed, self.consumed, self.folded)
            time.sleep(0.01)

    def end(self):
        self._ending.set()
        self.subscription.close()
        self.consumer.close()
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive()


STRIKES = [end_every_connection, kill_a_connection, restart, crash, kill, stay_away]


@pytest.mark.parametrize("strike", STRIKES)
def test_whoever_follows_goes_on_by_himself(own, monkeypatch, strike):
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", bytes(range(32)).hex())
    with open_memory(f"{own.url}&schema={strike.__name__}") as memory:
        if strike is stay_away:
            pool = memory._log._store.server.pool
            pool.reconnect_timeout, pool.timeout = POOL_TRIES, 2 * POOL_TRIES
        followers = Followers(memory)

        def record(part):
            for n in range(TURNS):
                insist(memory.record_turn, "ana", "I ski.", idempotency_key=f"{part} {n}")
            return memory._log.head().position

        followers.reach(record("before"))
        strike(own)
        head = record("after")
        followers.reach(head)
        followers.end()
        assert followers.subscribed == list(range(1, head + 1))
        # A consumer's word that an event is done may be lost with its lease: then it comes again.
        assert sorted(set(followers.consumed)) == list(range(1, head + 1))
        insist(memory.process)
        assert memory.status().turns == {"extracted": 2 * TURNS}
        assert memory.proofs.verify().ok
        assert all(view.same for view in memory.operations.rebuild(verify=True))
