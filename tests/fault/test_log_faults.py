"""Processes that die, race and find their disk full; files that were damaged or lost."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import programs
import pytest
from eventsourcing.persistence import InterfaceError

from beliefledger.ledger import canonical, envelope
from beliefledger.ledger.codec import New, Sealed
from beliefledger.ledger.encryption import clear
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.errors import (
    AppendUncertain,
    BackendUnavailable,
    BackendUnusable,
    KeyMissing,
    LedgerError,
    LogCorrupted,
    MustStop,
)
from beliefledger.ledger.events.subject import ErasureRequested, SubjectErased
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.sqlite import SQLiteEventStore
from beliefledger.ledger.vault import Vault
from beliefledger.ledger.verify import verify

OPEN = """
import os, signal, sys
from pathlib import Path
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import LedgerError, VersionConflict
from beliefledger.ledger.events.turn import TurnParked, TurnRecorded
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.sqlite import SQLiteEventStore
from beliefledger.ledger.times import system_clock
from beliefledger.ledger.vault import Vault

path = Path(sys.argv[1])

def open_log():
    vault = Vault(path / "keys.db", MasterKey(bytes(range(32))))
    return Log(SQLiteEventStore(path / "log.db"), vault, clock=system_clock)

def tell(*words):
    print(*words, flush=True)

def told():
    return sys.stdin.readline().strip()

def said(words):
    return TurnRecorded(
        role="user",
        channel="conversation",
        secrets=0,
        session_tag="",
        said_at_stated=False,
        content=words,
    )

log = open_log()
"""


@contextlib.contextmanager
def process(path: Path, code: str) -> Iterator[subprocess.Popen]:
    """Another process with the log of `path` open, which runs `code`."""
    started = programs.Program(
        [sys.executable, "-c", OPEN + code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with started:
        try:
            yield started
        finally:
            started.kill()


def hear(started):
    return started.stdout.readline().split()


def tell(started, words=""):
    started.stdin.write(words + "\n")
    started.stdin.flush()


def open_system(path):
    """As the other processes open it, by the wall clock."""
    from beliefledger.ledger.times import system_clock

    vault = Vault(path / "keys.db", MasterKey(bytes(range(32))))
    return Log(SQLiteEventStore(path / "log.db"), vault, clock=system_clock)


def said(words):
    return TurnRecorded(
        role="user",
        channel="conversation",
        secrets=0,
        session_tag="",
        said_at_stated=False,
        content=words,
    )


# Killed


@pytest.mark.parametrize("acknowledged", [1, 7, 40])
def test_nothing_acknowledged_is_lost_when_a_writer_is_killed(tmp_path, acknowledged):
    code = """
ref = log.register(["ana"])["ana"]
for n in range(10_000):
    stream = new_id()
    at = log.append([New(said(f"{n}"), new_id(), stream, ref) for _ in range(3)], {stream: 0})
    tell(n, at.last)
"""
    with process(tmp_path, code) as writer:
        for _ in range(acknowledged):
            last, position = map(int, hear(writer))
        writer.send_signal(signal.SIGKILL)
        for line in writer.stdout:  # acknowledged before it died, if whole
            if line.endswith("\n"):
                last, position = map(int, line.split())
        writer.wait()
    log = open_system(tmp_path)
    words = [each.event.content for each in log.read(1)]
    assert log.head().position >= position
    assert words[: 3 * (last + 1)] == [str(n) for n in range(last + 1) for _ in range(3)]
    assert len(words) % 3 == 0, "a batch is in the log as a whole or not at all"
    assert verify(log).ok
    log.register(["ben"])
    log.close()


STEPS = {
    "after the request": ("vault", "destroy", "before"),
    "while the key goes": ("vault._database", "writing", "inside"),
    "after the key went": ("vault", "destroy", "after"),
    "after the bodies went": ("_store", "delete_bodies", "after"),
    "before the WAL is emptied": ("_store._database", "truncate_wal", "before"),
}


@pytest.mark.parametrize("step", STEPS)
def test_an_erasure_killed_at_any_step_is_completed_by_whoever_opens_next(tmp_path, step):
    part, name, when = STEPS[step]
    code = f"""
ref = log.register(["ana", "ben"])["ana"]
for n in range(5):
    stream = new_id()
    log.append([New(said("I ski."), new_id(), stream, ref)], {{stream: 0}})
from operator import attrgetter
part = attrgetter({part!r})(log)
original = getattr(part, {name!r})

def die():
    tell(ref)
    os.kill(os.getpid(), signal.SIGKILL)

if {when!r} == "inside":
    from contextlib import contextmanager

    @contextmanager
    def dying():
        with original() as db:
            yield db
            die()
else:
    def dying(*given, **options):
        if {when!r} == "before":
            die()
        original(*given, **options)
        die()
setattr(part, {name!r}, dying)
log.erase(ref, actor="system", legal_basis="x")
"""
    with process(tmp_path, code) as dying:
        [ref] = hear(dying)
        dying.wait()
    log = open_system(tmp_path)
    assert [each.type for each in log.read_stream(ref)][1:] == [
        ErasureRequested.NAME,
        SubjectErased.NAME,
    ]
    assert log.keys(ref) is None
    assert [row.body for row in log.raw() if ref.encode() in row.envelope] == [None] * 8
    assert verify(log).ok
    assert log.register(["ben"])
    log.close()


# Several processes


def test_of_two_processes_with_one_expectation_one_conflicts(tmp_path):
    code = """
tell("ready")
for n in range(25):
    told()
    try:
        log.append([New(TurnParked(attempts=n), new_id(), "s", None)], {"s": n})
        tell("first")
    except VersionConflict as conflict:
        tell(conflict.stream, conflict.expected, conflict.actual)
"""
    with process(tmp_path, code) as one, process(tmp_path, code) as two:
        assert hear(one) == hear(two) == ["ready"]
        for n in range(25):
            tell(one)
            tell(two)
            assert sorted([hear(one), hear(two)]) == [["first"], ["s", str(n), str(n + 1)]]
    log = open_system(tmp_path)
    assert [each.version for each in log.read_stream("s")] == list(range(1, 26))
    log.close()


def test_a_follower_sees_every_position_once_and_in_order_under_concurrent_writers(tmp_path):
    writers, batches, size = 3, 60, 15
    code = f"""
name = told()
for n in range({batches}):
    log.append(
        [New(TurnParked(attempts={size} * n + m), new_id(), name, None) for m in range({size})],
        {{name: {size} * n}},
    )
tell("done")
"""
    total = writers * batches * size
    log = open_system(tmp_path)
    seen = []
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(process(tmp_path, code)) for _ in range(writers)]
        with log.subscribe() as events:
            for number, each in enumerate(running):
                tell(each, f"stream {number}")
            seen.extend(next(events) for _ in range(total))
        assert [hear(each) for each in running] == [["done"]] * writers
    assert [each.position for each in seen] == list(range(1, total + 1))
    for number in range(writers):
        own = [each for each in seen if each.stream == f"stream {number}"]
        assert [each.version for each in own] == list(range(1, batches * size + 1))
        assert [each.facts["attempts"] for each in own] == list(range(batches * size))
    assert log.head().position == total
    assert verify(log).ok
    log.close()


def test_an_erasure_reaches_a_process_that_had_the_key_in_hand(tmp_path):
    code = """
ref = log.register(["ana"])["ana"]
stream = new_id()
log.append([New(said("I ski."), new_id(), stream, ref)], {stream: 0})
tell(ref, stream, log.read_stream(stream)[0].event.content)
told()
tell(log.read_stream(stream)[0].event)
for attempt in (
    lambda: log.append([New(said("I sail."), new_id(), "s", ref)], {"s": 0}),
    lambda: log.subject("ana"),
    lambda: log.register(["ana"]),
):
    try:
        attempt()
    except LedgerError as problem:
        tell(type(problem).__name__)
tell(log.keys(ref))
"""
    with process(tmp_path, code) as other:
        ref, stream, *words = hear(other)
        assert words == ["I", "ski."]
        log = open_system(tmp_path)
        log.erase(ref, actor="system", legal_basis="x")
        tell(other)
        assert hear(other) == ["None"]
        assert [hear(other) for _ in range(3)] == [["NotPermitted"]] * 3
        assert hear(other) == ["None"]
    assert log.versions([stream, "s"]) == {stream: 1, "s": 0}
    log.close()


def test_a_writer_who_sealed_before_an_erasure_conflicts_with_its_request(open_log, monkeypatch):
    one, two = open_log(), open_log()
    ref = one.register(["ana"])["ana"]
    append = one._store.append

    def late(*given):
        monkeypatch.setattr(one._store, "append", append)
        two.erase(ref, actor="system", legal_basis="x")
        return append(*given)

    monkeypatch.setattr(one._store, "append", late)
    with pytest.raises(LedgerError, match="is at version 3, not 1"):
        one.append([New(said("I ski."), new_id(), "s", ref)], {"s": 0, ref: 1})
    assert all(row.body is None for row in one.raw())


def test_a_stopped_process_that_holds_the_lock_file_lets_go_when_it_dies(tmp_path):
    code = """
with log._store._database.queue.turn():
    tell("mine")
    told()
"""
    log = open_system(tmp_path)
    with process(tmp_path, code) as other:
        assert hear(other) == ["mine"]
        writer = threading.Thread(target=log.register, args=(["ana"],))
        writer.start()
        other.kill()
        writer.join(30)
        assert not writer.is_alive()
    assert log.head().position == 1
    log.close()


# A disk that is full, locked or not there

_events = iter(range(1, 10**6))


def event(stream, version, body):
    address = Address(f"{next(_events):032x}", "x.y.v1", stream, version, "default", None)
    blob = clear(body)
    head, tail = envelope.split(
        address,
        actor="x",
        causation=None,
        correlation=None,
        body_digest=canonical.digest(blob),
        facts={},
    )
    return Sealed(address, head, tail, blob)


@contextlib.contextmanager
def files_no_larger_than(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("bytes_", [3_000, 100_000, 12_000_000])
def test_a_full_disk_is_told_and_the_log_goes_on_when_there_is_room(tmp_path, clock, bytes_):
    store = SQLiteEventStore(tmp_path / "log.db")
    store.append([event("s", 1, b"before")], {"s": 0}, clock)
    head = store.head()
    big = event("s", 2, random.Random(1).randbytes(bytes_))
    with (
        files_no_larger_than((tmp_path / "log.db-wal").stat().st_size + 100),
        pytest.raises((BackendUnavailable, AppendUncertain)),
    ):
        store.append([big], {"s": 1}, clock)
    assert store.head() == head
    assert store.find(big.address.event_id) is None
    assert store.append([big], {"s": 1}, clock).first == 2
    assert store.read(1, 1)[0].body == big.body
    assert store.damage() is None
    store.close()
    again = SQLiteEventStore(tmp_path / "log.db")
    assert again.head().position == 2
    assert again.damage() is None
    again.close()


class FailingCommit:
    """A cursor whose COMMIT fails, before or after it took effect."""

    def __init__(self, cursor, code, *, done):
        self._cursor, self._code, self._done = cursor, code, done

    def __getattr__(self, name):
        return getattr(self._cursor, name)

    def execute(self, statement, *values):
        if statement != "COMMIT":
            return self._cursor.execute(statement, *values)
        if self._done:
            self._cursor.execute("COMMIT")
        problem = sqlite3.OperationalError("disk I/O error")
        problem.sqlite_errorcode = self._code
        raise problem


@pytest.mark.parametrize("done", [False, True])
def test_a_commit_that_failed_is_uncertain_and_its_repetition_is_not(
    tmp_path, clock, monkeypatch, done
):
    store = SQLiteEventStore(tmp_path / "log.db")
    batch = [event("s", 1, b"a"), event("t", 1, b"b")]
    commit = store._database.commit

    def fails(cursor):
        commit(FailingCommit(cursor, sqlite3.SQLITE_IOERR_FSYNC, done=done))

    monkeypatch.setattr(store._database, "commit", fails)
    with pytest.raises(AppendUncertain):
        store.append(batch, {"s": 0, "t": 0}, clock)
    monkeypatch.setattr(store._database, "commit", commit)
    assert (store.find(batch[0].address.event_id) is not None) == done
    again = store.append(batch, {"s": 0, "t": 0}, clock)
    assert (again.already, again.first, again.last) == (done, 1, 2)
    store.close()


def test_a_commit_that_found_the_disk_full_wrote_nothing_for_certain(tmp_path, clock, monkeypatch):
    store = SQLiteEventStore(tmp_path / "log.db")
    commit = store._database.commit

    def full(cursor):
        problem = sqlite3.OperationalError("database or disk is full")
        problem.sqlite_errorcode = sqlite3.SQLITE_FULL

        class Full(FailingCommit):
            def execute(self, statement, *values):
                raise problem

        commit(Full(cursor, 0, done=False))

    monkeypatch.setattr(store._database, "commit", full)
    with pytest.raises(BackendUnavailable, match="full"):
        store.append([event("s", 1, b"a")], {"s": 0}, clock)
    monkeypatch.setattr(store._database, "commit", commit)
    assert store.append([event("s", 1, b"a")], {"s": 0}, clock).first == 1
    store.close()


def test_a_database_that_somebody_locked_is_unavailable(tmp_path, clock):
    store = SQLiteEventStore(tmp_path / "log.db")
    with store._database.connection(writing=True) as connection:
        connection.execute("PRAGMA busy_timeout=1")
    other = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BackendUnavailable, match="locked"):
        store.append([event("s", 1, b"a")], {"s": 0}, clock)
    with pytest.raises(BackendUnavailable, match="locked"):
        store.delete_bodies("a" * 32)
    assert store.head().position == 0
    other.execute("ROLLBACK")
    other.close()
    assert store.append([event("s", 1, b"a")], {"s": 0}, clock).first == 1
    store.close()


def test_a_place_that_cannot_hold_a_log_is_told_with_what_to_do_and_leaves_nothing_open(tmp_path):
    (tmp_path / "a file").write_text("")
    (tmp_path / "log.db").mkdir()
    for path in (
        tmp_path / "nowhere" / "log.db",
        tmp_path / "a file" / "log.db",
        tmp_path / "log.db",
        Path("/proc/1/log.db"),
    ):
        before = open_files()
        with pytest.raises(BackendUnusable, match=f"{path}.*What to do: "):
            SQLiteEventStore(path)
        assert open_files() == before


def open_files():
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_a_connection_that_could_not_be_made_once_can_be_made_later(tmp_path, clock, monkeypatch):
    store = SQLiteEventStore(tmp_path / "log.db")
    pool = store.datastore.pool
    with store._database.connection(writing=False):  # so the writer needs another one

        def too_many_open_files():
            problem = sqlite3.OperationalError("unable to open database file")
            problem.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
            raise InterfaceError(problem)

        monkeypatch.setattr(pool, "_create_connection", too_many_open_files)
        with pytest.raises(BackendUnavailable, match="unable to open"):
            store.append([event("s", 1, b"a")], {"s": 0}, clock)
        monkeypatch.undo()
        assert store.append([event("s", 1, b"a")], {"s": 0}, clock).first == 1
    store.close()


def test_a_log_that_became_read_only_can_be_read_and_says_what_to_do_to_writers(tmp_path, clock):
    store = SQLiteEventStore(tmp_path / "log.db")
    store.append([event("s", 1, b"a")], {"s": 0}, clock)
    with store._database.connection(writing=True) as connection:
        connection.execute("PRAGMA query_only=ON")
    with pytest.raises(BackendUnusable, match="readonly"):
        store.append([event("s", 2, b"b")], {"s": 1}, clock)
    assert store.head().position == 1
    store.close()


# Damaged and lost files


@pytest.fixture
def whole(open_log, tmp_path) -> Path:
    """A closed log of 40 turns, its WAL folded in."""
    log = open_log()
    refs = log.register(["ana", "ben"])
    for n in range(40):
        stream = new_id()
        ref = refs["ana" if n % 2 else "ben"]
        log.append([New(said(f"turn {n} " * 20), new_id(), stream, ref)], {stream: 0})
    log.close()
    return tmp_path


def find_and_flip(path: Path, marker: bytes, offset: int) -> None:
    data = bytearray(path.read_bytes())
    at = data.index(marker)
    data[at + offset] ^= 1
    path.write_bytes(data)


def test_a_bit_flipped_in_an_envelope_is_found(whole, open_log):
    plain = sqlite3.connect(whole / "log.db")
    [[marker]] = plain.execute("SELECT event_id FROM history WHERE position = 20").fetchall()
    plain.close()
    find_and_flip(whole / "log.db", b'"event_id":"' + marker.encode(), 14)
    log = open_log()
    result = verify(log)
    assert result.position == 20
    with pytest.raises(LogCorrupted, match="position 20"):
        list(log.read())


def test_a_bit_flipped_in_a_body_is_found(whole, open_log):
    plain = sqlite3.connect(whole / "log.db")
    [[blob]] = plain.execute("SELECT body FROM bodies WHERE position = 20").fetchall()
    plain.close()
    find_and_flip(whole / "log.db", blob, len(blob) // 2)
    log = open_log()
    assert verify(log).position == 20
    with pytest.raises(LogCorrupted, match="position 20"):
        list(log.read())
    assert [each.position for each in log.read(20)] == list(range(21, 43))


def test_a_bit_flipped_in_a_key_is_found_and_others_are_read(whole, open_log):
    plain = sqlite3.connect(whole / "keys.db")
    [[ref, blob]] = plain.execute("SELECT subject_ref, wrapped FROM keys LIMIT 1").fetchall()
    plain.close()
    find_and_flip(whole / "keys.db", blob, 30)
    log = open_log()
    assert not verify(log).ok
    with pytest.raises(LogCorrupted, match=f"key of subject {ref}"):
        list(log.read())
    [other] = set(log.vault.subjects("default")) - {ref}
    assert log.keys(other)


@pytest.mark.parametrize("seed", range(25))
def test_any_flipped_bit_is_either_harmless_or_told_as_our_own_error(whole, open_log, seed):
    chance = random.Random(seed)
    path = whole / chance.choice(["log.db", "log.db", "keys.db"])
    data = bytearray(path.read_bytes())
    at = chance.randrange(len(data))
    data[at] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    with contextlib.suppress(LedgerError):
        log = open_log()
        result = verify(log)
        with contextlib.suppress(LedgerError):
            turns = [each.event.content for each in log.read(2)]
            if result.ok:
                assert turns == [f"turn {n} " * 20 for n in range(40)]


@pytest.mark.parametrize("kept", [0, 1, 100, 4096, 5000, 20_000, -4096, -1])
def test_a_truncated_log_is_not_taken_for_a_whole_one(whole, open_log, kept):
    size = (whole / "log.db").stat().st_size
    os.truncate(whole / "log.db", kept if kept >= 0 else size + kept)
    with contextlib.suppress(MustStop, BackendUnavailable):  # it may not even be opened
        assert not verify(open_log()).ok


def test_a_deleted_vault_stops_everything(whole, open_log):
    (whole / "keys.db").unlink()
    with pytest.raises(KeyMissing):
        open_log()


def test_a_log_left_with_its_wal_by_a_crash_is_read_whole(tmp_path):
    code = """
ref = log.register(["ana"])["ana"]
for n in range(20):
    stream = new_id()
    log.append([New(said(f"{n}"), new_id(), stream, ref)], {stream: 0})
tell("written")
os.kill(os.getpid(), signal.SIGKILL)
"""
    with process(tmp_path, code) as writer:
        assert hear(writer) == ["written"]
        writer.wait()
    assert (tmp_path / "log.db-wal").stat().st_size
    log = open_system(tmp_path)
    assert [each.event.content for each in log.read(1)] == [str(n) for n in range(20)]
    log.close()
