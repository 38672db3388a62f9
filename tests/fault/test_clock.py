"""A wall clock that is set while a ledger in a directory is open, or between two processes."""

from __future__ import annotations

import time

import pytest
from ledgers import open_store, sealed

from beliefledger import open_memory
from beliefledger.ledger import steady
from beliefledger.ledger.errors import ClockJumped, ClockWentBack
from beliefledger.ledger.times import DAY, SECOND, system_clock
from beliefledger.opening.build import Log


@pytest.fixture
def wall(monkeypatch):
    """Sets the wall clock of this process, by so many seconds in all; the steady one goes on."""
    true, jumped = time.time_ns, [0]
    monkeypatch.setattr(time, "time_ns", lambda: true() + int(jumped[0] * 1_000_000_000))

    def set_(seconds):
        jumped[0] = seconds

    return set_


@pytest.mark.parametrize("seconds", [301, 86_400, -301, -86_400])
def test_a_clock_that_jumps_while_the_ledger_is_open_is_refused_before_it_is_recorded(
    tmp_path, wall, seconds
):
    with open_memory(tmp_path) as memory:
        memory.consent.grant("ana", "consent")
        head = memory._log.head()
        wall(seconds)
        way = "forward" if seconds > 0 else "back"
        said = rf"set {way} by {abs(seconds) - 1}|set {way} by {abs(seconds)}"
        with pytest.raises(ClockJumped, match=said):
            memory.record_turn("ana", "I live in Porto.")
        with pytest.raises(ClockJumped, match="open the ledger again"):
            memory.consent.grant("ana", "consent", categories=["health"])
        assert memory._log.head() == head
        wall(0)
        memory.record_turn("ana", "I live in Porto.")
        assert memory._log.head().recorded_at - head.recorded_at < 300 * SECOND
        assert memory.proofs.verify().ok


@pytest.mark.parametrize("seconds", [299, 1, -1, -59])
def test_a_clock_that_is_corrected_by_less_goes_on(tmp_path, wall, seconds):
    store = open_store(str(tmp_path))
    store.append(sealed("s", 1), {"s": 0}, system_clock)
    wall(seconds)
    assert store.append(sealed("s", 2), {"s": 1}, system_clock).first == 2
    store.close()


def test_many_small_jumps_are_one_large_one(tmp_path, wall):
    store = open_store(str(tmp_path))
    for version in range(1, 4):
        wall(120 * (version - 1))
        store.append(sealed("s", version), {"s": version - 1}, system_clock)
    wall(360)
    with pytest.raises(ClockJumped):
        store.append(sealed("s", 4), {"s": 3}, system_clock)
    store.close()


def test_a_clock_behind_the_last_event_is_still_told_as_that(tmp_path, wall):
    store = open_store(str(tmp_path))
    wall(200)
    store.append(sealed("s", 1), {"s": 0}, system_clock)
    wall(100)
    with pytest.raises(ClockWentBack):
        store.append(sealed("s", 2), {"s": 1}, system_clock)
    store.close()


def test_an_injected_clock_may_jump(tmp_path, clock, wall):
    with open_memory(tmp_path, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        clock.ahead(10 * 366 * 86_400)
        wall(86_400)
        memory.record_turn("ana", "I live in Porto.")
        assert memory.status().warnings == ()
    with open_memory(tmp_path, clock=clock) as memory:
        assert memory.status().warnings == ()


def test_a_clock_that_was_set_between_two_processes_is_told_until_something_is_recorded(
    tmp_path, wall
):
    with open_memory(tmp_path) as memory:
        memory.consent.grant("ana", "consent")
        assert memory.status().warnings == ()
    wall(3_600)
    for _ in range(2):  # whoever only looks leaves it for the next
        with open_memory(tmp_path) as memory:
            [told] = memory.status().warnings
            assert "set forward by 3" in told
            assert "see that it is right before anything is recorded" in told
    with open_memory(tmp_path) as memory:
        memory.consent.grant("ben", "consent")
    with open_memory(tmp_path) as memory:
        assert memory.status().warnings == ()
    wall(3_600 - 400)
    with open_memory(tmp_path) as memory:
        back, behind = memory.status().warnings
        assert "set back by" in back
        assert "behind the last event: nothing can be recorded" in behind


def test_after_a_restart_of_the_machine_only_a_long_time_is_told(tmp_path, wall, monkeypatch):
    with open_memory(tmp_path) as memory:
        memory.consent.grant("ana", "consent")
    monkeypatch.setattr(steady, "boot", lambda: "another run of the machine")
    wall(30 * 86_400)
    with open_memory(tmp_path) as memory:
        assert memory.status().warnings == ()
    wall(steady.LONG // SECOND + DAY // SECOND)
    with open_memory(tmp_path) as memory:
        [told] = memory.status().warnings
        assert "recorded 367 days ago by this clock" in told
        assert "see that it is right" in told


def test_it_is_told_which_run_of_the_machine_this_is():
    assert steady.boot() == steady.boot() != ""
    assert abs(steady.ahead() - steady.ahead()) < SECOND


def test_the_log_itself_refuses_it_too(tmp_path, wall, vault):
    store = open_store(str(tmp_path))
    log = Log(store, vault, clock=system_clock)
    wall(86_400)
    with pytest.raises(ClockJumped):
        log.register(["ana"])
    store.close()
