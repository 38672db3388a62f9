"""Consumers: what comes between reading, delivering and acknowledging an event."""

from __future__ import annotations

import os
import socket
import threading
import time
from types import SimpleNamespace

import pytest

from beliefledger.ledger import consumer as consuming
from beliefledger.ledger.codec import New
from beliefledger.ledger.consumer import Consumer
from beliefledger.ledger.errors import BackendUnavailable, CallerMistake, LeaseLost, SecretGiven
from beliefledger.ledger.events.subject import SubjectRegistered
from beliefledger.ledger.events.turn import TurnParked
from beliefledger.ledger.log import new_id
from beliefledger.ledger.sqlite.cursors import SQLiteCursors

LEASE = 30.0


@pytest.fixture
def consumer(log, clock):
    """Makes consumers of the test's log, whose leases run by the test's clock."""
    made = []

    def make(name="billing", *, on=None, **how):
        on = on or log
        cursors = SQLiteCursors(on._store._transaction, on._store._fetch, clock)
        made.append(Consumer(on, cursors, name, **{"lease_seconds": LEASE, **how}))
        return made[-1]

    yield make
    for each in made:
        each.close()


def append(log, count=1):
    version = log.version("s")
    events = [New(TurnParked(attempts=1), new_id(), "s", None) for _ in range(count)]
    log.append(events, {"s": version})


def before(monkeypatch, on, name, does):
    """Have something done before each call of a method; gives the method as it was."""
    method = getattr(on, name)

    def called(*words, **more):
        does()
        return method(*words, **more)

    monkeypatch.setattr(on, name, called)
    return method


def taken_over(log, consumer, clock, paused):
    """Another takes the cursor while the first does not look, and the first comes to know of it."""
    clock.ahead(LEASE + 1)
    other = consumer()
    assert other._step() is not None
    paused._lease._renew()
    return other


# Taken over


def test_an_idle_follower_that_was_taken_over_is_told(log, consumer, clock):
    append(log)
    paused = consumer()
    paused.ack(next(paused))
    append(log)
    other = taken_over(log, consumer, clock, paused)
    assert (other.epoch, other.position) == (2, 1)
    looked = []
    log_wait = log.wait
    log.wait = lambda *words: looked.append(1) or log_wait(*words)
    with pytest.raises(LeaseLost, match="Epoch 1 of consumer billing is over"):
        next(paused)
    assert looked == []
    assert paused.epoch == 0


def test_one_that_is_taken_over_while_it_reads_delivers_nothing(log, consumer, clock, monkeypatch):
    append(log, 2)
    paused = consumer()
    paused.ack(next(paused))
    paused._reading = None
    others = []

    def meanwhile():
        if not others:
            others.append(None)
            others[0] = taken_over(log, consumer, clock, paused)

    before(monkeypatch, log, "pages_to", meanwhile)
    with pytest.raises(LeaseLost):
        next(paused)
    with pytest.raises(LeaseLost, match="Consumer billing does not hold its cursor"):
        paused.ack(2)
    assert others[0].position == paused.position == 1
    others[0].ack(2)
    others[0].close()
    append(log)
    assert next(paused).position == 3  # the second was acknowledged by the other
    paused.ack(3)
    assert (paused.epoch, paused.position) == (3, 3)


def test_one_that_claims_again_begins_after_the_cursor_also_at_the_head(log, consumer, clock):
    append(log, 2)
    paused = consumer(follow=False)
    assert [each.position for each in paused] == [1, 2]
    other = taken_over(log, consumer, clock, paused)
    other.close()
    with pytest.raises(LeaseLost):
        next(paused)
    assert [each.position for each in paused] == [1, 2]


@pytest.mark.parametrize("was", ["never", "taken over"])
def test_one_that_does_not_follow_waits_for_its_turn(log, consumer, clock, was):
    """It ends at the head, and not because somebody else has the cursor."""
    append(log, 2)
    waiting = consumer(follow=False, lease_seconds=LEASE)
    if was == "taken over":
        assert len(list(waiting)) == 2
        other = taken_over(log, consumer, clock, waiting)
        with pytest.raises(LeaseLost):
            next(waiting)
    else:
        other = consumer()
        next(other)
    other.ack(1)
    heard = []
    listening = threading.Thread(target=lambda: heard.extend(waiting))
    listening.start()
    time.sleep(0.05)
    assert listening.is_alive()
    other.close()
    listening.join(30)
    assert [each.position for each in heard] == [2]


def test_the_next_takes_over_soon_after_the_holder_ends_however_long_leases_are(log, consumer):
    append(log, 2)
    holding, waiting = (consumer(lease_seconds=86_400) for _ in range(2))
    holding.ack(next(holding))
    assert waiting._step() is None
    heard = threading.Event()
    listening = threading.Thread(target=lambda: next(waiting) and heard.set(), daemon=True)
    listening.start()
    holding.close()
    assert heard.wait(20)
    listening.join(30)


# Closed meanwhile


def test_one_that_is_closed_while_it_claims_gives_the_cursor_back(log, consumer, monkeypatch):
    append(log)
    closing, other = consumer(), consumer()
    claim = closing._cursors.claim

    def claimed(*words):
        cursor = claim(*words)
        closing.close()
        return cursor

    monkeypatch.setattr(closing._cursors, "claim", claimed)
    with pytest.raises(StopIteration):
        next(closing)
    assert closing.epoch == 0
    assert [each.held for each in other._cursors.all()] == [False]
    assert next(other).position == 1


@pytest.mark.parametrize("follow", [True, False])
def test_one_that_is_closed_while_it_reads_ends_and_moves_nothing(
    log, consumer, monkeypatch, follow
):
    log.register(["ana"])
    append(log, 5)
    closing = consumer(follow=follow, types=[TurnParked.NAME])
    before(monkeypatch, log._store, "read", closing.close)
    assert list(closing) == []
    with pytest.raises(CallerMistake, match="was closed: make another one"):
        closing.ack(1)
    assert closing.position == 0


def test_closing_while_it_acknowledges_is_told_as_that(log, consumer, monkeypatch):
    append(log)
    events = consumer()
    event = next(events)
    before(monkeypatch, events._cursors, "acknowledge", events.close)
    with pytest.raises(CallerMistake, match="was closed: make another one"):
        events.ack(event)


def test_closing_does_not_need_the_database(log, consumer, monkeypatch):
    append(log)
    events = consumer()
    next(events)
    [thread] = [each for each in threading.enumerate() if each.name == "lease of billing"]

    def unavailable(*_):
        raise BackendUnavailable

    with monkeypatch.context() as gone:
        gone.setattr(events._cursors, "release", unavailable)
        events.close()
    thread.join(30)
    assert not thread.is_alive()
    with pytest.raises(StopIteration):
        next(events)


# Out of reach


def test_an_acknowledgement_is_tried_again_until_the_database_answers(log, consumer, monkeypatch):
    append(log, 2)
    events = consumer()
    event = next(events)
    troubles, left = [], [3]

    def unavailable():
        troubles.append(str(events.trouble))
        if left[0]:
            left[0] -= 1
            raise BackendUnavailable("The disk is gone.")

    before(monkeypatch, events._cursors, "acknowledge", unavailable)
    events.ack(event)
    assert troubles[0] == "None"
    assert ["The disk is gone." in each for each in troubles[1:]] == [True] * 3
    assert events.trouble is None
    assert consumer().position == 1


def test_an_acknowledgement_that_cannot_be_written_ends_with_closing(log, consumer, monkeypatch):
    append(log)
    events = consumer()
    event = next(events)
    tried = []

    def unavailable():
        tried.append(1)
        if len(tried) == 2:
            events.close()
        raise BackendUnavailable("The disk is gone.")

    before(monkeypatch, events._cursors, "acknowledge", unavailable)
    with pytest.raises(BackendUnavailable, match="The disk is gone"):
        events.ack(event)
    assert len(tried) == 2


def test_an_event_that_was_read_when_the_database_went_is_delivered_once(
    log, consumer, monkeypatch
):
    append(log, 2)
    events = consumer(follow=False)
    checks = []
    assert next(events).position == 1
    lease = events._lease

    def check():
        checks.append(1)
        if len(checks) in {2, 4}:  # after the event was read, and again
            raise BackendUnavailable("The disk is gone.")

    monkeypatch.setattr(lease, "check", check)
    assert [each.position for each in events] == [2]
    assert len(checks) > 4
    assert events.trouble is None


def test_who_holds_the_cursor_knows_its_position_without_asking(log, consumer, monkeypatch):
    append(log, 2)
    events = consumer()
    assert events.position == 0
    events.ack(next(events))

    def unavailable():
        raise BackendUnavailable

    monkeypatch.setattr(events._cursors, "all", unavailable)
    assert events.position == 1


# The cursor


def test_before_it_runs_its_position_is_that_of_its_own_cursor(log, consumer):
    append(log, 2)
    with consumer("archive") as other:
        other.ack(next(other))
    events = consumer("billing")
    assert (events.position, events.lag) == (0, 2)
    assert (consumer("archive").position, consumer("archive").lag) == (1, 1)


def test_the_cursor_says_who_holds_it_and_no_two_are_called_the_same(log, consumer):
    append(log)
    first, second = consumer("billing"), consumer("shipping")
    for each in (first, second):
        next(each)
        [cursor] = [one for one in each._cursors.all() if one.name == each.name]
        assert cursor.holder == each.holder
        host, process, own = each.holder.rsplit("/", 2)
        assert (host, process) == (socket.gethostname(), str(os.getpid()))
        assert len(own) == 16
    assert first.holder != second.holder


def test_a_position_from_before_may_be_acknowledged_again_and_changes_nothing(log, consumer):
    append(log, 3)
    with consumer() as first:
        for _ in range(3):
            event = next(first)
        first.ack(event)
    append(log)
    second = consumer()
    assert next(second).position == 4
    for position in (0, 1, 3):
        second.ack(position)
        assert second.position == 3
    second.ack(4)
    assert second.position == 4


def test_a_new_holder_may_acknowledge_only_what_is_behind_the_cursor_before_it_delivers(
    log, consumer
):
    append(log, 3)
    with consumer() as first:
        first.ack([next(first) for _ in range(2)][-1])
    second = consumer()
    with pytest.raises(CallerMistake, match="Position 2 cannot be acknowledged"):
        second.ack(2)
    second._lease = second._claim()
    second.ack(2)
    with pytest.raises(CallerMistake, match="Position 3 cannot be acknowledged"):
        second.ack(3)


def test_a_follower_does_not_write_for_each_event_that_it_passes_over(log, consumer, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(consuming, "time", SimpleNamespace(monotonic=lambda: now[0]))
    log.register(["ana"])
    events = consumer(types=[SubjectRegistered.NAME])
    events.ack(next(events))
    moved = []
    before(monkeypatch, events._cursors, "acknowledge", lambda: moved.append(1))
    assert events._step() is None
    for _ in range(5):
        append(log)
        assert events._step() is None
    assert moved == []
    now[0] += 1
    append(log)
    assert events._step() is None
    assert len(moved) == 1
    assert events.lag == 0
    append(log)
    assert events._step() is None
    assert (len(moved), events.lag) == (1, 1)
    now[0] += consuming.LOOK_SECONDS
    assert events._step() is None  # nothing came for a moment
    assert len(moved) == 2
    assert events.lag == 0


def test_what_was_lost_can_be_read_again_after_a_refusal(log, consumer):
    """After an error in the iteration the same consumer goes on."""
    append(log, 2)
    events = consumer(follow=False)
    assert [each.position for each in events] == [1, 2]
    assert [each.position for each in events] == []
    append(log)
    assert [each.position for each in events] == [3]
    events.ack(3)
    assert events.lag == 0


# Mistakes


@pytest.mark.parametrize("name", ["projector", "scheduler"])
def test_a_name_of_the_ledger_s_own_is_refused(consumer, name):
    with pytest.raises(CallerMistake, match="is a consumer of the ledger's own"):
        consumer(name)


def test_a_name_that_is_a_secret_is_refused(consumer):
    with pytest.raises(SecretGiven, match=r"^The consumer's name: this looks like"):
        consumer("ghp" + "_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b")


@pytest.mark.parametrize("seconds", [0.1, 1, 86_400, 86_400.0])
def test_a_good_lease_is_taken(consumer, seconds):
    assert consumer(lease_seconds=seconds)._seconds == seconds


@pytest.mark.parametrize("seconds", [0.0999, 86_400.1, None, False, -10.0])
def test_a_lease_that_is_too_short_or_too_long_is_refused(consumer, seconds):
    with pytest.raises(CallerMistake, match=r"A lease is 0\.1 to 86400 seconds"):
        consumer(lease_seconds=seconds)


def test_without_a_word_it_follows_and_holds_for_ten_seconds(log, clock):
    append(log)
    cursors = SQLiteCursors(log._store._transaction, log._store._fetch, clock)
    with Consumer(log, cursors, "billing") as events:
        assert next(events).position == 1
        events._lease.abandon()  # the clock of the test moves alone
        clock.ahead(9)
        assert cursors.all()[0].held
        clock.ahead(2)
        assert not cursors.all()[0].held
        follower = threading.Thread(target=list, args=(events,))
        follower.start()
        time.sleep(0.05)
        assert follower.is_alive()
        events.close()
        follower.join(30)
        assert not follower.is_alive()
