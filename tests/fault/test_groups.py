"""What becomes of each of those who append together, and of an append that meets an erasure."""

from __future__ import annotations

import os
import threading

import pytest

from beliefledger.ledger import canonical, envelope
from beliefledger.ledger.codec import New
from beliefledger.ledger.encryption import clear
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.errors import (
    BackendUnavailable,
    CallerMistake,
    LedgerError,
    NotPermitted,
)
from beliefledger.ledger.events.subject import ErasureRequested
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.log import new_id
from beliefledger.ledger.postgres.server import is_postgres
from beliefledger.ledger.store import Appended, Sealed
from beliefledger.ledger.times import system_clock
from beliefledger.ledger.vault import SYSTEM


def sealed(stream: str, version: int = 1) -> Sealed:
    body = clear(b"words")
    address = Address(new_id(), "turn.parked.v1", stream, version, "default", None)
    head, tail = envelope.split(
        address,
        actor="system",
        causation=None,
        correlation=None,
        body_digest=canonical.digest(body),
        facts={},
    )
    return Sealed(address, head, tail, body)


def said(words: str) -> TurnRecorded:
    return TurnRecorded(
        role="user",
        channel="conversation",
        secrets=0,
        session_tag="",
        said_at_stated=False,
        content=words,
    )


def together(store, batches, clocks=None):
    """Append each batch in a thread of its own, all in one group: one in front of them is held up
    in its own commit until all have come."""
    told: dict[str, object] = {}
    gathered = threading.Event()
    held = threading.Event()

    def hold(step):
        if step in {"send", "commit"} and not held.is_set():
            held.set()
            assert gathered.wait(30)

    store.step = hold

    def append(name, batch, clock):
        try:
            told[name] = store.append(batch, {name: 0}, clock)
        except Exception as problem:  # noqa: BLE001  looked at by the test
            told[name] = problem

    leader = threading.Thread(target=append, args=("first", [sealed("first")], system_clock))
    leader.start()
    assert held.wait(30)
    threads = []
    for name, batch in batches.items():
        clock = (clocks or {}).get(name, system_clock)
        threads.append(threading.Thread(target=append, args=(name, batch, clock)))
        threads[-1].start()
    while len(store._appender.commits._waiting) < len(batches):
        pass
    gathered.set()
    for thread in (leader, *threads):
        thread.join(60)
    assert isinstance(told.pop("first"), Appended)
    return told


@pytest.fixture
def log(place, log_at):
    opened = log_at(place, system_clock)
    yield opened
    opened.close()


@pytest.fixture
def store(log):
    return log._store


def broken():
    raise RuntimeError("no time")


@pytest.mark.parametrize("which", ["a value", "a clock"])
def test_one_that_cannot_be_sent_is_told_so_alone(store, which):
    batches = {name: [sealed(name)] for name in "abc"}
    clocks = {}
    if which == "a clock":
        clocks["b"] = broken
    else:
        bad = sealed("b")
        batches["b"] = [
            Sealed(bad.address._replace(subject_ref="\ud800"), bad.head, bad.tail, bad.body)
        ]
    told = together(store, batches, clocks)
    assert isinstance(told["a"], Appended)
    assert isinstance(told["c"], Appended)
    assert isinstance(told["b"], Exception)
    assert store.versions(["a", "b", "c"]) == {"a": 1, "b": 0, "c": 1}


@pytest.mark.parametrize("which", [("a",), ("a", "b"), ("b",), ("c",), ("a", "b", "c")])
def test_who_is_refused_leaves_nothing_and_keeps_nobody_out(store, which):
    batches = {name: [sealed(name, 2 if name in which else 1)] for name in "abc"}
    told = together(store, batches)
    written = [name for name in "abc" if name not in which]
    assert [name for name in "abc" if isinstance(told[name], Appended)] == written
    assert all(isinstance(told[name], LedgerError) for name in which)
    rows = store.read(0, 10)
    assert [row.position for row in rows] == list(range(1, len(written) + 2))
    assert {told[name].first for name in written} == {row.position for row in rows[1:]}
    assert store.head().position == len(rows)


def test_looking_why_one_was_refused_hides_nothing_from_the_others(store, place, monkeypatch):
    store.append([sealed("b")], {"b": 0}, system_clock)

    def away(*_):
        raise BackendUnavailable("x")

    monkeypatch.setattr(store._appender, "_appended_before", away)
    told = together(store, {name: [sealed(name)] for name in "abc"})
    assert isinstance(told["b"], BackendUnavailable)
    if is_postgres(place):  # committed before it is looked at
        assert isinstance(told["a"], Appended)
        assert isinstance(told["c"], Appended)
        assert store.versions(["a", "b", "c"]) == {"a": 1, "b": 1, "c": 1}
    else:  # looked at in the transaction, which is undone
        assert isinstance(told["a"], BackendUnavailable)
        assert isinstance(told["c"], BackendUnavailable)
        assert store.versions(["a", "b", "c"]) == {"a": 0, "b": 1, "c": 0}


def test_when_the_leader_is_interrupted_another_leads(store, monkeypatch):
    commits = store._appender.commits
    lead = commits._lead

    def interrupted():
        monkeypatch.setattr(commits, "_lead", lead)
        raise KeyboardInterrupt

    monkeypatch.setattr(commits, "_lead", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.append([sealed("a")], {"a": 0}, system_clock)
    done = []
    thread = threading.Thread(
        target=lambda: done.append(store.append([sealed("b")], {"b": 0}, system_clock)),
        daemon=True,
    )
    thread.start()
    thread.join(30)
    assert [appended.first for appended in done] == [store.head().position]
    assert store.versions(["a"]) == {"a": 0}


def test_a_child_that_was_forked_while_a_thread_commits_is_told_at_once(store):
    held, go = threading.Event(), threading.Event()

    def slow():
        held.set()
        assert go.wait(30)
        return system_clock()

    thread = threading.Thread(target=lambda: store.append([sealed("a")], {"a": 0}, slow))
    thread.start()
    assert held.wait(30)
    child = os.fork()
    if not child:
        code = 1
        try:
            store.append([sealed("b")], {"b": 0}, system_clock)
        except CallerMistake:
            code = 0
        finally:
            os._exit(code)
    go.set()
    thread.join(30)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def append_late(log, ana, monkeypatch, meanwhile):
    """Append about Ana; between sealing and appending something happens."""
    append, stream = log._store.append, new_id()

    def late(*arguments):
        monkeypatch.setattr(log._store, "append", append)
        meanwhile()
        return append(*arguments)

    monkeypatch.setattr(log._store, "append", late)
    with pytest.raises(NotPermitted):
        log.append([New(said("late words"), new_id(), stream, ana)], {stream: 0})
    assert log.version(stream) == 0


def test_what_was_sealed_before_an_erasure_is_not_written_after_it(place, log_at, monkeypatch):
    log, other = log_at(place, system_clock), log_at(place, system_clock)
    ana = log.register(["ana"])["ana"]
    append_late(log, ana, monkeypatch, lambda: other.erase(ana, actor=SYSTEM, legal_basis="x"))
    log.close()
    other.close()


def test_what_was_sealed_while_an_erasure_runs_is_not_written_behind_it(place, log_at, monkeypatch):
    log, other = log_at(place, system_clock), log_at(place, system_clock)
    ana = log.register(["ana"])["ana"]
    requested = ErasureRequested(reach="subject", legal_basis="x")
    other.append([New(requested, new_id(), ana, ana)], {ana: other.version(ana)})

    def meanwhile():
        other.vault.destroy(ana, system_clock())
        other._store.delete_bodies(ana)

    append_late(log, ana, monkeypatch, meanwhile)
    log.close()
    other.close()
