"""Processes that decide turns: any number of them, and each turn is asked for once."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import Counter

import pytest
from messages_api import asked_by_claude, by_city, now
from programs import Program

from beliefledger import TurnInput, open_memory
from beliefledger.ledger.errors import BackendUnusable
from beliefledger.operations.processing import TURNS
from beliefledger.tools.server.background import Background

PEOPLE, HOURS = 5, 6


@pytest.fixture
def api(monkeypatch):
    with asked_by_claude(monkeypatch) as served:
        yield served


def holder(memory):
    """The process that decides turns, if one does."""
    told = memory.status(digests=False).consumers
    held = [each.holder for each in told if each.name == "extractor" and each.holder]
    return int(held[0].split("/")[1]) if held else None


def wait_until(it_is_so, processes):
    ends = time.monotonic() + 60
    while not it_is_so():
        assert any(each.poll() is None for each in processes), "all processes ended"
        assert time.monotonic() < ends, "it was not so within a minute"
        time.sleep(0.02)


def test_each_turn_is_asked_for_once_also_when_who_asks_is_killed(place, api, monkeypatch):
    """A server and a worker, as processes. Which of them decides is killed in the middle of asking:
    what it had asked for and not decided yet is asked for once more, and nothing else is."""
    monkeypatch.setenv("BELIEFLEDGER_SERVER_LEASE_SECONDS", "1")
    dead, asked_before = threading.Event(), 2 * TURNS

    def held_up(body):
        if len(api.asked) > asked_before:
            dead.wait()
        return by_city(body)

    api.always = held_up
    command = [sys.executable, "-m", "beliefledger", "--ledger", place]
    turns = [(f"person {at}", f"I live in City{at}of{hour}.")
             for hour in range(HOURS) for at in range(PEOPLE)]  # fmt: skip
    processes = []
    with open_memory(place) as memory:
        try:
            for words in (["serve", "--port", "0"], ["worker"]):
                more = [*words, "--no-schedule"]
                processes.append(Program([*command, *more], stdout=-1, stderr=-1))
            for at in range(PEOPLE):
                memory.consent.grant(f"person {at}", "consent")
            memory.record_turns(TurnInput(*each) for each in turns)
            wait_until(lambda: len(api.asked) > asked_before, processes)
            [killed] = [each for each in processes if each.pid == holder(memory)]
            killed.kill()
            killed.wait()
            dead.set()
            rest = [each for each in processes if each is not killed]
            wait_until(lambda: memory.status(digests=False).pending_turns == 0, rest)
            assert holder(memory) in {each.pid for each in rest}
            for each in rest:
                each.send_signal(signal.SIGTERM)
            assert {each.wait(20) for each in rest} <= {0, -signal.SIGTERM}
        finally:
            dead.set()
            for each in processes:
                each.kill()
                each.communicate()
        completed = memory.subscribe(types=["extraction.completed.v1"], follow=False)
        assert len(list(completed)) == len(memory.decisions()) == len(turns)
        assert memory.proofs.verify().ok
    times = Counter(now(each) for each in api.asked)
    assert set(times) == {text for _, text in turns}
    assert max(times.values()) <= 2
    assert sum(each > 1 for each in times.values()) <= TURNS


def test_what_ends_by_itself_is_told_and_ends_the_worker(tmp_path, monkeypatch):
    with open_memory(tmp_path) as memory:
        with Background(memory, schedule=True) as running:
            problem = BackendUnusable("the disk is full")

            def fail(_limit):
                raise problem

            running._runs["worker"]._process = fail
            with pytest.raises(BackendUnusable):
                running.wait()
            assert running.stopped == {"worker": problem}
