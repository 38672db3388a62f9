"""The queue of turns that wait: its batches, lanes and limits, over a port that is a list."""

from __future__ import annotations

import threading

import pytest
from echoes import echo

from beliefledger.gate import queue
from beliefledger.gate.extractor import Extraction
from beliefledger.gate.gate import Gate
from beliefledger.gate.intake import TurnInput
from beliefledger.gate.rulebook import Rulebook
from beliefledger.gate.stewardship import Steward
from beliefledger.gate.turns import Pending
from beliefledger.ledger.errors import ExtractionUnavailable, NotPermitted, VersionConflict
from beliefledger.ledger.events.turn import (
    ExtractionCompleted,
    ExtractionFailed,
    TurnParked,
    TurnRetried,
)

DONE = {ExtractionCompleted.NAME, TurnParked.NAME}
STATES = DONE | {ExtractionFailed.NAME, TurnRetried.NAME}


class Turns:
    """The port, read from the streams of the turns that were recorded here."""

    def __init__(self, log):
        self.log = log
        self.receipts = []
        self.asked = []

    def all(self):
        for receipt in self.receipts:
            events = self.log.read_stream(receipt.turn_id)
            states = [each for each in events if each.type in STATES]
            last = states[-1] if states else None
            if last is not None and last.type in DONE:
                continue
            tries = last.facts["attempt"] if last and last.type == ExtractionFailed.NAME else 0
            yield Pending(
                receipt.turn_id, receipt.position, events[-1].version, receipt.subject_ref, tries
            )

    def waiting(self, limit, after=0, subject_ref=None):
        self.asked.append((limit, after))
        found = [
            each
            for each in self.all()
            if each.position > after and subject_ref in {None, each.subject_ref}
        ]
        return found[:limit]

    def count(self):
        return len(list(self.all()))

    def earlier(self, turn, limit):
        return ()

    def believed(self, subject_ref):
        return ()


class Echo:
    """Notices what is said; cannot look at turns whose words are in `down`."""

    name = "echo"

    def __init__(self, concurrency=1):
        self.concurrency = concurrency
        self.down = set()
        self.looked = []
        self.lock = threading.Lock()

    def extract(self, turn, earlier=()):
        with self.lock:
            self.looked.append(turn.content)
        return self.found(turn.content)

    def found(self, words):
        if words in self.down:
            raise ExtractionUnavailable(f"No answer about {words}.")
        return echo(words)


class Fixture:
    def __init__(self, log, clock, extractor):
        self.log, self.extractor, self.turns = log, extractor, Turns(log)
        rulebook = Rulebook(log)
        rulebook.ensure(None)
        self.gate = Gate(log, rulebook, extractor, clock, self.turns)
        self.queue = self.gate.queue

    def say(self, subject, *words):
        self.log.register([subject])
        Steward(self.gate).grant(self.log.subject(subject), "consent")
        turns = [TurnInput(subject=subject, content=each) for each in words]
        self.turns.receipts += self.gate.record(turns)

    def outcomes(self, number):
        stream = self.turns.receipts[number].turn_id
        return [each.type.rpartition(".")[0] for each in self.log.read_stream(stream)][1:]


@pytest.fixture
def quick(log, clock):
    return Fixture(log, clock, Echo())


@pytest.fixture
def slow(log, clock):
    return Fixture(log, clock, Echo(concurrency=2))


def test_turns_are_taken_in_batches_and_progress_is_told_after_each(quick, monkeypatch):
    monkeypatch.setattr(queue, "BATCH", 2)
    quick.say("ana", "one", "two", "three", "four", "five")
    told = []
    done = quick.queue.process(progress=lambda *each: told.append(each))
    assert (done.turns, done.failed, len(done.decisions)) == (5, 0, 5)
    assert quick.extractor.looked == ["one", "two", "three", "four", "five"]
    positions = [receipt.position for receipt in quick.turns.receipts]
    assert quick.turns.asked == [(2, 0), (2, positions[1]), (2, positions[3])]
    assert told == [(2, 5), (4, 5), (5, 5)]
    assert quick.queue.count() == 0


def test_no_more_than_the_limit_is_looked_at(quick, monkeypatch):
    monkeypatch.setattr(queue, "BATCH", 2)
    quick.say("ana", "one", "two", "three", "four")
    assert quick.queue.process(limit=3).turns == 3
    assert [limit for limit, _ in quick.turns.asked] == [2, 1]
    assert quick.queue.count() == 1
    assert quick.queue.process(limit=0).turns == 0
    assert quick.queue.process(limit=7).turns == 1


def test_one_subject_alone_may_be_processed(quick):
    quick.say("ana", "one")
    quick.say("ben", "two")
    assert quick.queue.process(quick.log.subject("ben")).turns == 1
    assert quick.extractor.looked == ["two"]


@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_failing_turn_holds_its_lane_over_all_batches(log, clock, monkeypatch, concurrency):
    made = Fixture(log, clock, Echo(concurrency))
    monkeypatch.setattr(queue, "BATCH", 2)
    monkeypatch.setattr(queue, "SLOW_ROUND", 2)
    made.extractor.down = {"one"}
    made.say("ana", "one", "two", "three")
    made.say("ben", "four")
    done = made.queue.process()
    assert (done.turns, done.failed) == (1, 1)
    assert (done.problem or "").startswith("No answer about one.")
    assert sorted(made.extractor.looked) == ["four", "one"]
    made.extractor.down = set()
    done = made.queue.process()
    assert (done.turns, done.failed) == (3, 0)
    assert made.extractor.looked[-3:] == ["one", "two", "three"]
    assert made.outcomes(0) == ["extraction.failed", "extraction.completed", *DECIDED]


DECIDED = ["candidate.proposed", "gate.decided"]


def test_what_keeps_failing_is_parked_and_waits_again_when_somebody_says_so(quick):
    quick.extractor.down = {"one"}
    quick.say("ana", "one", "two")
    tries = quick.gate.rulebook.current().policy.extraction_tries
    parked = [quick.queue.process().parked for _ in range(tries)]
    assert parked == [0] * (tries - 1) + [1]
    assert quick.queue.process().turns == 1  # the lane goes on
    turn = quick.turns.receipts[0].turn_id
    quick.extractor.down = set()
    assert (quick.queue.retry([turn, turn]), quick.queue.retry([turn])) == (1, 0)
    assert quick.queue.process().turns == 1
    assert quick.outcomes(0)[-4:] == ["turn.retried", "extraction.completed", *DECIDED]


def test_a_slow_extractor_is_left_alone_when_it_answers_nobody(slow, monkeypatch):
    monkeypatch.setattr(queue, "SLOW_ROUND", 8)
    names = [f"person {number}" for number in range(12)]
    for name in names:
        slow.say(name, name)
    slow.extractor.down = set(names)
    told = []
    done = slow.queue.process(progress=lambda *each: told.append(each))
    assert done.broken_off
    assert 4 <= done.failed <= 8  # twice as many as are asked at once, and those on their way
    assert len(told) == 1
    assert slow.queue.count() == 12


def test_what_a_slow_extractor_found_is_decided_a_few_at_a_time(slow, monkeypatch):
    monkeypatch.setattr(queue, "SLOW_BATCH", 2)
    appended, commit = [], slow.gate.commit
    monkeypatch.setattr(
        slow.gate, "commit", lambda draft: (appended.append(len(draft.decided)), commit(draft))[1]
    )
    slow.say("ana", "one", "two", "three", "four", "five")
    appended.clear()
    assert slow.queue.process().turns == 5
    assert appended == [2, 2, 1]


def test_an_error_that_is_of_no_turn_is_raised_once_the_rest_is_decided(slow, monkeypatch):
    slow.say("ana", "one", "two")

    def refuse(words):
        if words == "two":
            raise NotPermitted("The key was refused.")
        return []

    monkeypatch.setattr(slow.extractor, "found", refuse)
    with pytest.raises(NotPermitted, match="refused"):
        slow.queue.process()
    assert (slow.outcomes(0), slow.outcomes(1)) == (["extraction.completed"], [])


@pytest.mark.parametrize(("concurrency", "looked"), [(1, 2), (2, 1)])
def test_after_a_conflict_a_slow_extractor_alone_is_not_asked_again(
    log, clock, monkeypatch, concurrency, looked
):
    made = Fixture(log, clock, Echo(concurrency))
    made.say("ana", "one")
    commit, conflicts = made.gate.commit, []

    def after_another(draft):
        if not conflicts:
            conflicts.append(1)
            raise VersionConflict("a stream", 1, 2)
        return commit(draft)

    monkeypatch.setattr(made.gate, "commit", after_another)
    assert made.queue.process().turns == 1
    assert made.extractor.looked == ["one"] * looked


def test_together_a_lane_that_is_left_waiting_is_not_overtaken(quick):
    quick.say("ana", "one", "two", "three")
    quick.say("ben", "four", "five")
    shown = []

    def look(waiting):
        shown.append([each.position for each in waiting])
        return {
            each.turn_id: Extraction()
            for each in waiting
            if each.turn_id != quick.turns.receipts[1].turn_id  # nobody answered
        }

    done = quick.queue.process_together(look, size=2)
    at = [receipt.position for receipt in quick.turns.receipts]
    assert shown == [[at[0], at[1]], [at[3]], [at[4]]]
    assert (done.turns, quick.queue.count()) == (3, 2)


def test_together_failures_count_to_the_limit_and_are_tried_again_later(quick):
    quick.say("ana", "one", "two")
    quick.say("ben", "three")

    def look(waiting):
        return {each.turn_id: ExtractionUnavailable("no") for each in waiting}

    done = quick.queue.process_together(look, limit=2, size=2)
    assert (done.turns, done.failed) == (0, 2)
    assert [limit for limit, _ in quick.turns.asked] == [2, 1]
    assert quick.outcomes(0) == quick.outcomes(2) == ["extraction.failed"]
    assert quick.outcomes(1) == []


def test_together_without_a_size_all_are_shown_once(quick):
    quick.say("ana", "one", "two")
    rounds = []

    def look(waiting):
        rounds.append(len(waiting))
        quick.say("ben", "later")
        return {each.turn_id: Extraction(skipped="nothing") for each in waiting}

    assert quick.queue.process_together(look).turns == 2
    assert rounds == [2]
    assert quick.queue.count() == 1
