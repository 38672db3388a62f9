"""What every Log does: appending, reading, following and forgetting, on SQLite and on Postgres."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from pathlib import Path

import psycopg
import pytest

from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import (
    BackendUnavailable,
    CallerMistake,
    LogCorrupted,
    NotPermitted,
)
from beliefledger.ledger.events.subject import ErasureRequested, SubjectErased, SubjectRegistered
from beliefledger.ledger.events.turn import TurnParked, TurnRecorded
from beliefledger.ledger.log import new_id
from beliefledger.ledger.postgres.server import PostgresURL, is_postgres
from beliefledger.ledger.streams import ops_stream
from beliefledger.ledger.vault import SYSTEM
from beliefledger.ledger.verify import verify


@pytest.fixture
def open_log(place, clock, log_at):
    """Opens the log of the test's place, again and again; closes all of them at the end."""
    opened = []

    def open_():
        opened.append(log_at(place, clock))
        return opened[-1]

    yield open_
    for log in opened:
        log.close()


@pytest.fixture
def change(place):
    """Changes what is stored behind the log's back, as somebody who may do anything."""

    def on_sqlite(statement):
        plain = sqlite3.connect(Path(place) / "log.db", isolation_level=None)
        for [trigger] in plain.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            plain.execute(f"DROP TRIGGER {trigger}")
        plain.execute(statement)
        plain.close()

    def on_postgres(statement):
        url = PostgresURL.parse(place)
        with psycopg.connect(url.conninfo) as connection:
            connection.execute("SET session_replication_role = replica")  # no triggers
            connection.execute(f"SET search_path = {url.schema}")
            connection.execute(statement)

    def change_(sqlite, postgres=None):
        on_postgres(postgres or sqlite) if is_postgres(place) else on_sqlite(sqlite)

    return change_


def said(words="I ski.", **fields):
    return TurnRecorded(
        role="user",
        channel="conversation",
        secrets=0,
        session_tag="",
        said_at_stated=False,
        content=words,
        **fields,
    )


def parked(stream="s", attempts=1):
    return New(TurnParked(attempts=attempts), new_id(), stream, None)


def turn(log, ref, words="I ski.", stream=None):
    stream = stream or new_id()
    return log.append([New(said(words), new_id(), stream, ref)], {stream: 0})


def subject(log, name="ana"):
    return log.register([name])[name]


# Appending and reading


def test_events_come_back_in_order_decoded(log, clock):
    ref = subject(log)
    turn(log, ref, "I ski.")
    turn(log, ref, "I sail.")
    recorded = list(log.read())
    assert [each.position for each in recorded] == [1, 2, 3]
    assert recorded[0].event == SubjectRegistered()
    assert [each.event.content for each in recorded[1:]] == ["I ski.", "I sail."]
    assert {each.recorded_at for each in recorded} == {clock.now}
    assert {each.subject_ref for each in recorded} == {ref}


def test_the_events_of_a_stream_get_the_versions_after_what_is_expected(log):
    log.append([parked("s", 1), parked("t", 9), parked("s", 2)], {"s": 0, "t": 0})
    log.append([parked("s", 3)], {"s": 2})
    assert [(each.version, each.facts["attempts"]) for each in log.read_stream("s")] == [
        (1, 1),
        (2, 2),
        (3, 3),
    ]
    assert log.versions(["s", "t", "u"]) == {"s": 3, "t": 1, "u": 0}


def test_a_stream_that_is_written_has_to_be_expected(log):
    with pytest.raises(KeyError):
        log.append([parked("s")], {})
    assert log.head().position == 0


def test_pages_are_as_long_as_asked_and_end_where_asked(log):
    log.append([parked(attempts=n) for n in range(10)], {"s": 0})
    assert [len(page) for page in log.pages(size=4)] == [4, 4, 2]
    assert [each.position for each in log.read(3, 6)] == [4, 5, 6]
    assert list(log.read(10)) == []


def test_an_event_is_found_by_id_and_by_position(log):
    new = parked()
    log.append([new, parked()], {"s": 0})
    assert log.find(new.event_id).position == 1
    assert log.find("0" * 32) is None
    assert set(log.read_at([2, 1, 2, 77])) == {1, 2}


def test_a_missing_position_is_named_before_any_filter(log, change):
    log.append([parked(attempts=n) for n in range(5)], {"s": 0})
    change("DELETE FROM history WHERE position = 3")
    with pytest.raises(LogCorrupted, match="Position 3 is missing"):
        list(log.read())
    with (
        pytest.raises(LogCorrupted, match="Position 3 is missing"),
        log.subscribe(types=["consent.granted.v2"], follow=False) as events,
    ):
        list(events)
    assert (verify(log).position, verify(log).problem) == (3, "this position is missing")


def test_a_head_past_the_last_event_is_corruption(log, change):
    log.append([parked()], {"s": 0})
    change("UPDATE head SET position = 3")
    with pytest.raises(LogCorrupted, match="Position 2 is missing"):
        list(log.read())
    assert verify(log).problem == "the log ends here, but its head is at 3"


# Conflicts


def test_a_conflict_is_decided_again_from_what_is_there_now(log):
    seen = []

    def attempt():
        version = log.version("s")
        seen.append(version)
        if len(seen) == 1:
            log.append([parked()], {"s": version})  # somebody else is first
        return log.append([parked()], {"s": version})

    assert log.decide_again(attempt).first == 2
    assert seen == [0, 1]


# Subjects and principals


def test_registering_writes_one_event_and_again_none(log):
    refs = log.register(["ana", "ben", "ana"])
    assert list(refs) == ["ana", "ben"]
    assert log.register(["ana"]) == {"ana": refs["ana"]}
    assert [each.event for each in log.read()] == [SubjectRegistered()] * 2
    assert log.subject("ana") == refs["ana"]
    assert log.subject("nobody") is None


def test_a_registration_that_a_crash_cut_in_two_is_completed(log):
    [ref] = log.vault.register("default", ["ana"])  # the key is made, the event is not written
    assert log.register(["ana"]) == {"ana": ref}
    assert [each.subject_ref for each in log.read()] == [ref]


def test_two_processes_registering_somebody_agree(open_log):
    one, two = open_log(), open_log()
    assert one.register(["ana"]) == two.register(["ana"])
    assert one.head().position == 1


def test_a_principal_is_recorded_once_by_reference(log):
    ref = log.principal("dora")
    assert log.principal("dora") == ref
    assert log.principal(SYSTEM) == SYSTEM
    [event] = log.read_stream(ops_stream("default"))
    assert event.event.principal == event.actor == ref


# Forgetting


def test_an_erased_subject_s_events_read_as_tombstones_and_others_as_ever(log):
    ana, ben = subject(log, "ana"), subject(log, "ben")
    turn(log, ana, "I ski.")
    turn(log, ben, "I sail.")
    assert log.erase(ana, actor=SYSTEM, legal_basis="request") == 1
    by_type = [(each.type, each.subject_ref, each.event is None) for each in log.read()]
    assert by_type[2:] == [
        ("turn.recorded.v2", ana, True),
        ("turn.recorded.v2", ben, False),
        (ErasureRequested.NAME, ana, False),
        (SubjectErased.NAME, ana, False),
    ]
    assert log.keys(ana) is None
    with pytest.raises(NotPermitted):
        turn(log, ana)
    result = verify(log)
    assert (result.ok, result.destroyed) == (True, 1)


def test_erasing_twice_records_and_deletes_once(log):
    ana = subject(log)
    turn(log, ana)
    assert log.erase(ana, actor=SYSTEM, legal_basis="x") == 1
    head = log.head()
    assert log.erase(ana, actor=SYSTEM, legal_basis="x") == 0
    assert log.head() == head


def test_only_a_named_actor_registers_the_erased_anew(log):
    ana = subject(log)
    log.erase(ana, actor=SYSTEM, legal_basis="x")
    with pytest.raises(NotPermitted):
        log.register(["ana"])
    with pytest.raises(NotPermitted, match="named actor"):
        log.register(["ana"], anew=True)
    dora = log.principal("dora")
    anew = log.register(["ana"], actor=dora, anew=True)["ana"]
    assert anew != ana
    assert log.register(["ana"]) == {"ana": anew}
    registered = log.read_stream(anew)[0]
    assert (registered.event, registered.actor) == (SubjectRegistered(anew=True), dora)


@pytest.mark.parametrize("step", ["requested", "key destroyed", "bodies deleted"])
def test_an_erasure_that_stopped_anywhere_is_completed_when_the_log_is_opened(log, open_log, step):
    ana, ben = subject(log, "ana"), subject(log, "ben")
    turn(log, ana)
    turn(log, ben, "I sail.")
    request = ErasureRequested(reach="subject", legal_basis="x")
    log.append([New(request, new_id(), ana, ana)], {ana: 1})
    if step != "requested":
        log.vault.destroy(ana, 1)
    if step == "bodies deleted":
        log._store.delete_bodies(ana)
    again = open_log()
    assert [each.type for each in again.read_stream(ana)][-1] == SubjectErased.NAME
    assert again.keys(ana) is None
    assert all(row.body is None for row in again.raw() if ana.encode() in row.envelope)
    assert again.read_at([4])[4].event == said("I sail.")
    assert verify(again).ok
    assert len(list(open_log().read_stream(ana))) == 3


def test_two_processes_finishing_one_erasure_record_it_once(open_log, monkeypatch):
    one, two = open_log(), open_log()
    ana = subject(one)
    turn(one, ana)
    delete = one._store.delete_bodies

    def held_up(subject_ref):
        two.eraser.resume(finish=True)  # the other process is opened here, and finds it unfinished
        return delete(subject_ref)

    monkeypatch.setattr(one._store, "delete_bodies", held_up)
    one.erase(ana, actor=SYSTEM, legal_basis="x")
    assert [each.type for each in one.read_stream(ana)] == [
        SubjectRegistered.NAME,
        ErasureRequested.NAME,
        SubjectErased.NAME,
    ]


def test_a_crash_between_the_first_key_and_the_first_event_is_no_loss(log, open_log):
    log.vault.register("default", ["ana"])
    log.close()
    again = open_log()
    again.register(["ana"])
    assert again.head().position == 1


# Following


def test_a_subscription_catches_up_and_ends_when_it_does_not_follow(log):
    log.append([parked(attempts=n) for n in range(3)], {"s": 0})
    with log.subscribe(follow=False) as events:
        assert [each.position for each in events] == [1, 2, 3]
        assert events.position == 3
        assert list(events) == []


def test_filters_pick_and_the_position_moves_over_what_they_leave_out(log):
    ana, ben = subject(log, "ana"), subject(log, "ben")
    turn(log, ana)
    turn(log, ben)
    log.append([parked()], {"s": 0})
    with log.subscribe(types=[TurnRecorded.NAME], follow=False) as events:
        assert [each.position for each in events] == [3, 4]
        assert events.position == 5
    with log.subscribe(subjects=lambda: [ben], follow=False) as events:
        assert [each.position for each in events] == [2, 4]
    with log.subscribe(types=[TurnRecorded.NAME], subjects=lambda: [ana], follow=False) as events:
        assert [each.position for each in events] == [3]
    with log.subscribe(types=[], follow=False) as events:
        assert list(events) == []
        assert events.position == 5


def test_a_reader_restarts_from_its_position_without_missing_or_repeating(log):
    log.append([parked("s" if n % 3 else "t", n) for n in range(30)], {"s": 0, "t": 0})
    seen, position = [], 0
    while position < 30:
        with log.subscribe(position, follow=False) as events:
            seen += [next(events).position for _ in range(min(7, 30 - position))]
            position = events.position
    assert seen == list(range(1, 31))


def test_a_subscription_from_before_the_beginning_begins_at_the_beginning(log):
    log.append([parked()], {"s": 0})
    with log.subscribe(-5, follow=False) as events:
        assert [each.position for each in events] == [1]


@pytest.mark.parametrize("writer", ["this process", "another one"])
def test_a_follower_gets_what_is_appended_later(log, open_log, writer):
    writing = log if writer == "this process" else open_log()
    seen = []
    with log.subscribe() as events:
        follower = threading.Thread(target=lambda: seen.extend(next(events) for _ in range(5)))
        follower.start()
        for version in range(5):
            writing.append([parked(attempts=version)], {"s": version})
        follower.join(30)
        assert [each.facts["attempts"] for each in seen] == [0, 1, 2, 3, 4]


def test_closing_from_another_thread_ends_a_follower_that_waits(log):
    log.append([parked()], {"s": 0})
    events = log.subscribe()
    caught_up = threading.Event()
    seen = []

    def follow():
        for each in events:
            seen.append(each.position)
            caught_up.set()

    follower = threading.Thread(target=follow)
    follower.start()
    caught_up.wait()
    events.close()
    follower.join(30)
    assert not follower.is_alive()
    assert seen == [1]
    with pytest.raises(StopIteration):
        next(events)


def test_closing_the_log_ends_a_follower_with_an_error_that_says_so(log):
    events = log.subscribe()
    said_ = []

    def follow():
        try:
            list(events)
        except CallerMistake as problem:
            said_.append(str(problem))

    follower = threading.Thread(target=follow)
    follower.start()
    log.close()
    follower.join(30)
    assert not follower.is_alive()
    assert "was closed" in said_[0]


def test_a_follower_outlasts_a_passing_error_and_goes_on_where_it_was(log, monkeypatch):
    log.append([parked(attempts=n) for n in range(3)], {"s": 0})
    events = log.subscribe(1)
    head, failures = log.head, iter(range(2))

    def unavailable():
        if next(failures, None) is None:
            return head()
        raise BackendUnavailable("x")

    monkeypatch.setattr(log, "head", unavailable)
    assert [next(events).position for _ in range(2)] == [2, 3]
    assert next(failures, None) is None
    assert events.trouble is None
    events.close()


def test_a_reader_that_does_not_follow_is_told_and_can_go_on(log, monkeypatch):
    log.append([parked(attempts=n) for n in range(3)], {"s": 0})
    events = log.subscribe(1, follow=False)
    head = log.head

    def unavailable():
        raise BackendUnavailable("x")

    monkeypatch.setattr(log, "head", unavailable)
    with pytest.raises(BackendUnavailable):
        next(events)
    monkeypatch.setattr(log, "head", head)
    assert [each.position for each in events] == [2, 3]


def test_a_follower_passes_the_tombstones_of_an_erasure(log):
    ana = subject(log)
    turn(log, ana)
    with log.subscribe(follow=False) as events:
        log.erase(ana, actor=SYSTEM, legal_basis="x")
        assert [each.event is None for each in events] == [False, True, False, False]


# Threads and forks


def test_threads_that_record_at_once_share_one_log(log):
    refs = log.register([f"p{n}" for n in range(4)])

    def talk(name):
        for n in range(8):
            turn(log, refs[name], f"{name} says {n}")

    threads = [threading.Thread(target=talk, args=(name,)) for name in refs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = {each.event.content for each in log.read(4)}
    assert words == {f"{name} says {n}" for name in refs for n in range(8)}
    assert verify(log).ok


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_child_of_a_fork_is_told_to_open_the_log_itself(log):
    subject(log)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        told = b""
        for use in (log.head, lambda: log.register(["ben"]), lambda: log.subject("ana")):
            try:
                use()
            except CallerMistake as problem:
                told += b"1" if "before a fork" in str(problem) else b"?"
        log.close()
        os.write(write, told)
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    assert os.read(read, 10) == b"111"
    os.close(read)
    assert log.register(["ben"])
    assert verify(log).ok


# Verification


@pytest.mark.parametrize(
    ("statements", "position", "problem"),
    [
        (
            (
                "UPDATE history SET envelope = x'7b' WHERE position = 2",
                r"UPDATE history SET envelope = '\x7b' WHERE position = 2",
            ),
            2,
            "not JSON",
        ),
        (
            (
                "UPDATE history SET envelope = replace(envelope, ':', ': ') WHERE position = 2",
                "UPDATE history SET envelope = convert_to(replace(convert_from(envelope, 'UTF8'),"
                " ':', ': '), 'UTF8') WHERE position = 2",
            ),
            2,
            "not in canonical form",
        ),
        (("UPDATE history SET subject_ref = 'x' WHERE position = 2",), 2, "filed under"),
        (
            ("UPDATE history SET recorded_at = recorded_at + 1 WHERE position = 3",),
            3,
            "filed under",
        ),
        (("UPDATE history SET type = 'x' WHERE position = 1",), 1, "filed under"),
        (("UPDATE history SET stream = 'x' WHERE position = 3",), 3, "filed under"),
        (
            (
                "UPDATE bodies SET body = zeroblob(40) WHERE position = 2",
                r"UPDATE bodies SET body = '\x0000' WHERE position = 2",
            ),
            2,
            "not the one",
        ),
        (("DELETE FROM bodies WHERE position = 2",), 2, "missing and no erasure"),
        (
            (
                "INSERT INTO bodies VALUES (1, x'00')",
                r"INSERT INTO bodies VALUES (1, 'default', '\x00')",
            ),
            1,
            "not the one",
        ),
        (
            (
                "INSERT INTO bodies VALUES (77, x'00')",
                r"INSERT INTO bodies VALUES (77, 'default', '\x00')",
            ),
            77,
            "a body and no event",
        ),
    ],
)
def test_verify_names_the_first_thing_that_is_wrong(log, change, statements, position, problem):
    ana = subject(log)
    turn(log, ana)
    turn(log, ana)
    assert verify(log).ok
    change(*statements)
    result = verify(log)
    assert not result.ok
    assert result.position == position
    assert problem in result.problem


def test_verify_notices_a_time_that_goes_back(log, change):
    log.append([parked()], {"s": 0})
    log.append([parked()], {"s": 1})
    change(
        "UPDATE history SET recorded_at = 5, envelope ="
        " CAST(replace(envelope, recorded_at, 5) AS BLOB) WHERE position = 2",
        "UPDATE history SET recorded_at = 5, envelope = convert_to(replace("
        "convert_from(envelope, 'UTF8'), recorded_at::text, '5'), 'UTF8') WHERE position = 2",
    )
    assert "recorded before" in verify(log).problem


def test_verify_tells_how_far_it_is(log):
    log.append([parked()], {"s": 0})
    told = []
    verify(log, lambda done, of: told.append((done, of)))
    assert told == [(1, 1)]
