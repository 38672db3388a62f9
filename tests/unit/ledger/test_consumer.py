"""Consumers with a name: delivering, acknowledging, taking over."""

from __future__ import annotations

import gc
import threading
import time

import pytest

from beliefledger.ledger.codec import New
from beliefledger.ledger.consumer import Consumer
from beliefledger.ledger.errors import BackendUnavailable, CallerMistake, LeaseLost
from beliefledger.ledger.events.subject import SubjectRegistered
from beliefledger.ledger.events.turn import TurnParked
from beliefledger.ledger.log import new_id
from beliefledger.ledger.sqlite.cursors import SQLiteCursors
from beliefledger.ledger.store import Cursor, OwnConsumer, lag

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


def append(log, count=1, stream="s"):
    version = log.version(stream)
    events = [New(TurnParked(attempts=1), new_id(), stream, None) for _ in range(count)]
    log.append(events, {stream: version})


def positions(events):
    return [each.position for each in events]


def take(events, count):
    return [next(events).position for _ in range(count)]


class Listening(threading.Thread):
    """Iterates over a consumer in a thread of its own, acknowledging each event."""

    def __init__(self, events):
        super().__init__()
        self.events = events
        self.heard = []
        self.one = threading.Semaphore(0)
        self.start()

    def run(self):
        for event in self.events:
            self.events.ack(event)
            self.heard.append(event.position)
            self.one.release()

    def wait_for(self, count):
        for _ in range(count):
            assert self.one.acquire(timeout=30)


# Delivering


def test_it_delivers_from_the_beginning_and_ends_at_the_head_when_it_does_not_follow(log, consumer):
    append(log, 3)
    events = consumer(follow=False)
    assert positions(events) == [1, 2, 3]
    append(log)
    assert positions(events) == [4]


def test_it_delivers_what_is_appended_later(log, open_log, consumer):
    append(log, 2)
    listening = Listening(consumer())
    listening.wait_for(2)
    append(log)
    append(open_log(), 2)
    listening.wait_for(3)
    listening.events.close()
    listening.join(30)
    assert listening.heard == [1, 2, 3, 4, 5]


def test_what_was_acknowledged_is_not_delivered_again_and_the_rest_is(log, consumer):
    append(log, 4)
    with consumer() as first:
        delivered = [next(first) for _ in range(3)]
        first.ack(delivered[1])
        assert first.position == 2
    with consumer() as second:
        assert take(second, 2) == [3, 4]
        assert second.epoch == 2


def test_a_crash_loses_no_event(log, open_log, consumer, clock):
    append(log, 3)
    crashed = consumer()
    take(crashed, 3)
    crashed.ack(1)
    clock.ahead(LEASE + 1)
    assert take(consumer(on=open_log()), 2) == [2, 3]


def test_filters_pick_what_is_delivered(log, consumer):
    refs = log.register(["ana", "ben"])
    append(log, 2)
    with consumer("types", types=[SubjectRegistered.NAME], follow=False) as events:
        assert positions(events) == [1, 2]
    with consumer("people", subjects=lambda: [refs["ben"]], follow=False) as events:
        assert positions(events) == [2]
    with consumer("nothing", types=[], follow=False) as events:
        assert positions(events) == []


def test_consumers_of_different_names_do_not_touch_each_other(log, consumer):
    append(log, 3)
    billing, shipping = consumer("billing"), consumer("shipping")
    assert take(billing, 2) == take(shipping, 2) == [1, 2]
    billing.ack(2)
    assert (billing.position, shipping.position) == (2, 0)


# Acknowledging


def test_an_acknowledgement_is_durable_takes_an_event_or_a_position_and_never_goes_back(
    log, open_log, consumer
):
    append(log, 3)
    events = consumer()
    first, second, third = (next(events) for _ in range(3))
    events.ack(second)
    assert consumer(on=open_log()).position == 2
    events.ack(first)
    assert events.position == 2
    events.ack(third.position)
    assert consumer(on=open_log()).position == 3


@pytest.mark.parametrize("position", ["3", 2.0, True, None])
def test_only_positions_can_be_acknowledged(log, consumer, position):
    append(log, 3)
    events = consumer()
    take(events, 3)
    with pytest.raises(CallerMistake, match="an event or its position"):
        events.ack(position)


def test_what_was_not_delivered_cannot_be_acknowledged(log, consumer):
    append(log, 3)
    events = consumer()
    with pytest.raises(CallerMistake, match="has not delivered"):
        events.ack(1)
    take(events, 2)
    with pytest.raises(CallerMistake, match="Position 3"):
        events.ack(3)
    assert events.position == 0


def test_position_epoch_and_lag_are_known_before_and_after_it_runs(log, consumer):
    append(log, 3)
    events = consumer()
    assert (events.position, events.epoch, events.lag) == (0, 0, 3)
    events.ack(next(events))
    assert (events.position, events.epoch, events.lag) == (1, 1, 2)
    events.close()
    assert (events.position, events.epoch, events.lag) == (1, 0, 2)


# Moving over what is not wanted


def test_once_all_is_acknowledged_the_cursor_moves_to_the_head_over_what_was_left_out(
    log, consumer
):
    log.register(["ana"])
    append(log, 5)
    with consumer(types=[SubjectRegistered.NAME], follow=False) as events:
        events.ack(next(events))
        assert events.lag == 5
        assert positions(events) == []
        assert events.lag == 0
    with consumer(follow=False) as events:
        assert positions(events) == []


def test_it_does_not_move_over_what_was_delivered_and_not_acknowledged(log, consumer):
    log.register(["ana", "ben"])
    append(log, 5)
    with consumer(types=[SubjectRegistered.NAME], follow=False) as events:
        [ana, ben] = events
        events.ack(ana)
        assert positions(events) == []
        assert events.position == 1
        events.ack(ben)
        assert positions(events) == []
        assert events.position == 7


def test_a_follower_that_is_idle_catches_up_with_the_head(log, open_log, consumer):
    log.register(["ana"])
    events = consumer(types=[SubjectRegistered.NAME])
    listening = Listening(events)
    listening.wait_for(1)
    append(log, 5)
    while events.lag:
        assert listening.is_alive()
        time.sleep(0.01)
    events.close()
    listening.join(30)
    assert consumer(on=open_log()).position == 6
    assert listening.heard == [1]


# One at a time


def test_of_several_one_delivers_and_another_takes_over_at_once_when_it_is_closed(
    log, open_log, consumer
):
    append(log, 2)
    first = consumer()
    first.ack(next(first))
    second = consumer(on=open_log())
    waiting = Listening(second)
    assert take(first, 1) == [2]
    assert waiting.heard == []
    first.close()
    waiting.wait_for(1)
    second.close()
    waiting.join(30)
    assert waiting.heard == [2]
    assert second.position == 2


def test_of_many_threads_that_begin_at_once_one_delivers_each_event_once(log, consumer):
    append(log, 20)
    running = [Listening(consumer()) for _ in range(5)]
    # Each is closed in turn, and what is left goes to another.
    total = 20
    for number in range(5):
        while sum(len(each.heard) for each in running) < total:
            assert any(each.is_alive() for each in running)
            time.sleep(0.01)
        [holder] = [each for each in running if each.events.epoch]
        holder.events.close()
        holder.join(30)
        if number < 4:
            append(log, 5)
            total += 5
    assert sorted(position for each in running for position in each.heard) == list(range(1, 41))
    assert consumer().position == 40


def test_who_was_taken_over_is_told_moves_nothing_and_may_claim_again(
    log, open_log, consumer, clock
):
    append(log, 4)
    paused, other = consumer(), consumer(on=open_log())
    event = next(paused)
    clock.ahead(LEASE + 1)
    other.ack(next(other))
    assert take(other, 1) == [2]
    for _ in range(2):
        with pytest.raises(LeaseLost, match="Epoch 1 of consumer billing is over"):
            paused.ack(event)
    with pytest.raises(LeaseLost, match="claim it again"):
        next(paused)
    assert paused.epoch == 0
    with pytest.raises(LeaseLost):
        paused.ack(event)
    assert paused.position == other.position == 1
    other.close()
    assert take(paused, 1) == [2]
    assert paused.epoch == 3
    paused.ack(2)
    assert other.position == 2


def test_a_lease_is_renewed_for_as_long_as_the_consumer_lives(log, open_log, consumer, clock):
    append(log)
    first = consumer(lease_seconds=0.1)
    take(first, 1)
    [cursor] = first._cursors.all()
    clock.ahead(60)
    while not first._cursors.all()[0].held:  # until the thread has renewed it
        time.sleep(0.01)
    assert first._cursors.claim("billing", "another", 1) is None
    assert first._cursors.all() == [cursor]


def test_a_consumer_that_nobody_has_any_more_lets_its_lease_run_out(log, clock):
    append(log)
    cursors = SQLiteCursors(log._store._transaction, log._store._fetch, clock)
    dropped = Consumer(log, cursors, "billing", lease_seconds=0.1)
    take(dropped, 1)
    [thread] = [each for each in threading.enumerate() if each.name == "lease of billing"]
    del dropped
    gc.collect()
    thread.join(30)
    assert not thread.is_alive()


# Ending


def test_closing_ends_an_iteration_that_waits_for_events_or_for_its_turn(log, open_log, consumer):
    append(log)
    holding, waiting = consumer(), consumer(on=open_log())
    threads = [Listening(holding)]
    threads[0].wait_for(1)
    threads.append(Listening(waiting))
    for each in (waiting, holding):
        each.close()
        each.close()
    for each in threads:
        each.join(30)
        assert not each.is_alive()
    with pytest.raises(StopIteration):
        next(holding)
    with pytest.raises(CallerMistake, match="was closed"):
        holding.ack(1)


def test_closing_the_log_ends_it_with_an_error_that_says_so(log, consumer, open_log):
    own = open_log()
    events = consumer(on=own)
    said = []

    def follow():
        try:
            list(events)
        except CallerMistake as problem:
            said.append(str(problem))

    follower = threading.Thread(target=follow)
    follower.start()
    while not events.epoch:
        time.sleep(0.01)
    own.close()
    follower.join(30)
    assert "was closed" in said[0]
    with pytest.raises(CallerMistake, match="was closed"):
        events.lag  # noqa: B018
    events._lease = None  # it can no longer be released


# A database out of reach


def test_while_the_log_does_not_answer_it_tries_again_and_goes_on_where_it_was(
    log, consumer, monkeypatch
):
    append(log, 3)
    events = consumer(follow=False)
    assert positions(events) == [1, 2, 3]
    append(log, 2)
    read, left, troubles = log._store.read, [3], []

    def unavailable(*words, **more):
        if left[0]:
            left[0] -= 1
            troubles.append(events.trouble)
            raise BackendUnavailable("The disk is gone.")
        return read(*words, **more)

    monkeypatch.setattr(log._store, "read", unavailable)
    assert positions(events) == [4, 5]
    assert troubles[0] is None
    assert all("The disk is gone." in str(each) for each in troubles[1:])
    assert events.trouble is None


def test_closing_ends_an_iteration_whose_database_does_not_answer(log, consumer, monkeypatch):
    append(log)
    events = consumer()
    asked = threading.Semaphore(0)

    def unavailable(*_):
        asked.release()
        raise BackendUnavailable

    monkeypatch.setattr(events._cursors, "claim", unavailable)
    listening = Listening(events)
    for _ in range(3):
        assert asked.acquire(timeout=30)
    assert isinstance(events.trouble, BackendUnavailable)
    events.close()
    listening.join(30)
    assert not listening.is_alive()
    assert listening.heard == []


# Mistakes


@pytest.mark.parametrize("name", ["", "a" * 101, "bill ing", "a/b", "bíll", "a\n", None, 5])
def test_a_bad_name_is_refused(consumer, name):
    with pytest.raises(CallerMistake, match="cannot name a consumer: use 1 to 100 letters"):
        consumer(name)


@pytest.mark.parametrize("name", ["a", "A" * 100, "billing.v2_eu-1"])
def test_a_good_name_is_taken(consumer, name):
    assert consumer(name).name == name


@pytest.mark.parametrize("seconds", [0, -1, 0.05, 90_000, float("nan"), float("inf"), "10", True])
def test_a_bad_lease_is_refused(consumer, seconds):
    with pytest.raises(CallerMistake, match=r"A lease is 0\.1 to 86400 seconds"):
        consumer(lease_seconds=seconds)


def test_one_type_is_not_taken_for_many(consumer):
    with pytest.raises(CallerMistake, match=r"write \['subject\.registered\.v1'\]"):
        consumer(types=SubjectRegistered.NAME)


def test_a_consumer_that_only_holds_a_lease_is_behind_by_nothing():
    def cursor(name):
        return Cursor(name, position=24, epoch=1, holder="this", held=True)

    assert lag(cursor("billing"), head=115) == 91
    assert lag(cursor(OwnConsumer.EXTRACTOR), head=20) == 0
    assert lag(cursor(OwnConsumer.SCHEDULER), head=115) == 0
