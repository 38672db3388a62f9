"""Each step of a write × {failed and not persisted, persisted but the reply lost} × crash."""

from __future__ import annotations

import sqlite3
import threading
import time

import psycopg
import pytest
from ledgers import ids_of, open_store, sealed

from beliefledger.ledger import canonical
from beliefledger.ledger.errors import AppendUncertain, BackendUnavailable, VersionConflict
from beliefledger.ledger.log import new_id
from beliefledger.ledger.postgres.server import is_postgres
from beliefledger.ledger.store import Appended
from beliefledger.ledger.times import system_clock

NOT_YET = {"sqlite": ["begun", "head moved", "inserted", "commit"], "postgres": ["send"]}
STEPS = [
    (backend, step, persisted)
    for backend, steps in NOT_YET.items()
    for step, persisted in [*((step, False) for step in steps), ("committed", True)]
]
each_step = pytest.mark.parametrize(
    ("place", "step", "persisted"), STEPS, indirect=["place"], ids=str
)


def broken(place):
    """As the driver says that the disk, or the connection, is gone."""
    if is_postgres(place):
        return psycopg.OperationalError("server closed the connection unexpectedly")
    problem = sqlite3.OperationalError("disk I/O error")
    problem.sqlite_errorcode = sqlite3.SQLITE_IOERR
    return problem


def fail_at(store, place, step, times=1):
    """Let the store fail at this step, so many times."""
    left = iter(range(times))

    def fails(at):
        if at == step and next(left, None) is not None:
            raise broken(place)

    store.step = fails


def content(store):
    """Everything that is in the log, checked for what a log may never be."""
    rows = store.read(0, 10_000)
    assert [row.position for row in rows] == list(range(1, len(rows) + 1))
    assert store.head().position == len(rows)
    said = [canonical.decode(row.envelope) for row in rows]
    versions = {}
    for each in said:
        versions[each["stream"]] = versions.get(each["stream"], 0) + 1
        assert each["version"] == versions[each["stream"]]
    ids = [each["event_id"] for each in said]
    assert len(set(ids)) == len(ids)
    assert store.damage() is None
    return ids


@pytest.fixture
def opened(place):
    """Opens the store of the place, again and again."""
    stores = []

    def open_(**how):
        stores.append(open_store(place, **how))
        return stores[-1]

    yield open_
    for store in stores:
        store.close()


@pytest.fixture
def store(opened):
    made = opened()
    made.append(sealed("s", 1), {"s": 0}, system_clock)
    return made


def append(store, batch):
    return store.append(batch, {"s": 1}, system_clock)


@each_step
def test_an_append_that_fails_at_a_step_is_told_as_what_it_is(place, store, step, persisted):
    [before] = content(store)
    batch = sealed("s", 2, 3)
    fail_at(store, place, step)
    if is_postgres(place):  # looked up by its ids, and offered again if it is not there
        appended = append(store, batch)
        assert (appended.first, appended.last, appended.already) == (2, 4, False)
        persisted = True
    else:
        with pytest.raises(AppendUncertain if persisted else BackendUnavailable):
            append(store, batch)
    assert content(store) == [before, *(ids_of(batch) if persisted else [])]
    again = append(store, batch)
    assert (again.first, again.last, again.already) == (2, 4, persisted)
    assert append(store, batch).already
    assert content(store) == [before, *ids_of(batch)]


@each_step
def test_a_process_that_dies_at_a_step_leaves_all_or_nothing(
    place, store, step, persisted, processes
):
    [before] = content(store)
    ids = [new_id() for _ in range(3)]
    said, _ = (dying := processes("dying.py", place, step, *ids)).communicate(timeout=60)
    assert (said, dying.returncode) == ("", 9)
    assert content(store) == [before, *(ids if persisted else [])]
    again = append(store, sealed("s", 2, 3, ids))
    assert (again.first, again.last, again.already) == (2, 4, persisted)
    assert content(store) == [before, *ids]


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
@pytest.mark.parametrize("step", ["send", "committed"])
def test_what_cannot_be_settled_in_time_is_uncertain(place, store, opened, step):
    hasty = opened(settle_seconds=0.2)
    batch = sealed("s", 2, 2)
    hasty.step = lambda at: fail_now(place) if at == step else None
    if step == "send":
        with pytest.raises(AppendUncertain, match=ids_of(batch)[0]):
            append(hasty, batch)
        assert len(content(store)) == 1
    else:  # it is found, whatever the reply was
        assert append(hasty, batch) == Appended(2, 3, store.head().recorded_at)
    assert append(store, batch).already == (step == "committed")


def fail_now(place):
    raise broken(place)


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
def test_a_repetition_whose_reply_is_lost_too_is_found(place, store):
    """The request fails, is offered again and commits, and that reply is lost as well."""
    batch = sealed("s", 2, 3)
    failing = iter(["send", "committed"])
    expected = next(failing)

    def fails(at):
        nonlocal expected
        if at == expected:
            expected = next(failing, None)
            raise broken(place)

    store.step = fails
    appended = append(store, batch)
    assert expected is None
    assert (appended.first, appended.last, appended.already) == (2, 4, False)
    assert content(store)[1:] == ids_of(batch)


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
def test_whoever_was_first_while_a_reply_was_lost_is_not_overtaken(place, store, opened):
    """The request did not arrive, and somebody else wrote to the stream before it came again."""
    other = opened()
    batch = sealed("s", 2, 2)

    def first(at):
        store.step = lambda _: None
        append(other, sealed("s", 2))
        raise broken(place)

    store.step = first
    with pytest.raises(VersionConflict) as conflict:
        append(store, batch)
    assert (conflict.value.stream, conflict.value.expected, conflict.value.actual) == ("s", 1, 2)
    assert len(content(store)) == 2


# Several threads in one group


class Group:
    """Appends of several threads that are certain to be committed together: one in front of them is
    held up in the middle of its own commit until all have come."""

    def __init__(self, store, place):
        self.store = store
        self.told = {}
        # Where a commit begins, and where the one in front is held up.
        self._begins, self._holds = ("send", "send") if is_postgres(place) else ("begun", "commit")
        self._threads = []
        self._held, self._go = threading.Event(), threading.Event()

    def _append(self, name, batch, expect):
        try:
            self.told[name] = self.store.append(batch, expect, system_clock)
        except (AppendUncertain, BackendUnavailable, VersionConflict) as problem:
            self.told[name] = problem

    def _start(self, *given):
        self._threads.append(threading.Thread(target=self._append, args=given, daemon=True))
        self._threads[-1].start()

    def run(self, requests, then=lambda _: None):
        """Append all of the requests as one group; `then` is the store's step meanwhile."""

        def hold(at):
            if at == self._holds and not self._held.is_set():
                self._held.set()
                assert self._go.wait(30)
            elif at == self._begins and self._held.is_set():
                self.store.step = then
                then(at)

        self.store.step = hold
        self._start("in front", sealed("in front", 1), {"in front": 0})
        assert self._held.wait(30)
        for number, (name, batch, expect) in enumerate(requests, 1):
            self._start(name, batch, expect)
            until = time.monotonic() + 30
            while len(self.store._appender.commits._waiting) < number:
                assert time.monotonic() < until
                time.sleep(0.001)
        self._go.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()
        self.store.step = lambda _: None
        assert isinstance(self.told.pop("in front"), Appended)
        return self.told


@each_step
def test_each_thread_of_a_group_that_fails_is_told_the_truth(place, store, step, persisted):
    batches = {f"t{n}": sealed(f"t{n}", 1, 1 + n) for n in range(5)}
    requests = [(name, batch, {name: 0}) for name, batch in batches.items()]
    requests.insert(2, ("conflicts", sealed("s", 8), {"s": 7}))
    requests.append(("again", batches["t3"], {"t3": 0}))
    once = iter([broken(place)])

    def fails(at):
        if at == step and (problem := next(once, None)):
            raise problem

    told = Group(store, place).run(requests, fails)
    assert next(once, None) is None
    ids = content(store)
    if is_postgres(place):  # each was looked up, or offered again by itself
        for name, batch in batches.items():
            at = told[name]
            assert ids[at.first - 1 : at.last] == ids_of(batch)
        assert isinstance(told["conflicts"], VersionConflict)
        assert told["again"].first == told["t3"].first
    elif persisted:  # nobody knows, and nobody is told that it is there or that it is not
        assert {type(said) for said in told.values()} == {AppendUncertain}
        assert len(ids) == 2 + 1 + 2 + 3 + 4 + 5
    else:
        assert {type(said) for said in told.values()} == {BackendUnavailable}
        assert len(ids) == 2
    for name, batch in batches.items():
        assert store.append(batch, {name: 0}, system_clock).already == (ids_of(batch)[0] in ids)
    assert len(content(store)) == 2 + 1 + 2 + 3 + 4 + 5


def test_threads_of_a_group_get_what_each_would_get_alone(place, store):
    batch = sealed("a", 1, 2)
    told = Group(store, place).run(
        [
            ("a", batch, {"a": 0}),
            ("the same", batch, {"a": 0}),
            ("too late", sealed("a", 1), {"a": 0}),
            ("goes on", sealed("a", 3), {"a": 2}),
            ("alone", sealed("b", 1), {"b": 0, "s": 1}),
        ],
    )
    assert [told["a"].already, told["the same"].already] == [False, True]
    assert told["a"].first == told["the same"].first
    assert isinstance(told["too late"], VersionConflict)
    assert [told[name].first - told["a"].first for name in ("goes on", "alone")] == [2, 3]
    assert len(content(store)) == 6
