"""The recorder over a real log: recalls are gathered, appended in their order, and not lost."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from beliefledger.ledger.codec import New
from beliefledger.ledger.eraser import Wanted
from beliefledger.ledger.errors import AppendUncertain, BackendUnavailable, VersionConflict
from beliefledger.ledger.events.recall import MemoriesRecalled, SearchQuery
from beliefledger.ledger.log import new_id
from beliefledger.ledger.streams import recall_stream
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening import recorder as recording
from beliefledger.opening.recorder import Recorder


@pytest.fixture
def people(log):
    log.register(["ana", "ben"], actor=SYSTEM)
    return {name: log.subject(name) for name in ("ana", "ben")}


@pytest.fixture
def recorder(log, monkeypatch):
    monkeypatch.setattr(recording, "WAIT_SECONDS", 0.01)
    made = Recorder(log)
    yield made
    made.close()


def recall(subject_ref, query="tea"):
    event = MemoriesRecalled(
        purpose="test",
        session_tag=None,
        query_digest=query,
        ranker="default/1",
        memories=(),
        scores=(),
    )
    return New(event, new_id(), recall_stream(subject_ref), subject_ref, SYSTEM)


def recorded(log, subject_ref):
    return [each.facts["query_digest"] for each in log.read_stream(recall_stream(subject_ref))]


def until(true):
    limit = time.monotonic() + 20
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_recalls_are_appended_soon_in_their_order(log, people, recorder):
    for number in range(20):
        recorder.note(recall(people["ana"], str(number)))
        recorder.note(recall(people["ben"], str(-number)))
    until(lambda: len(recorded(log, people["ana"])) == 20 == len(recorded(log, people["ben"])))
    assert recorded(log, people["ana"]) == [str(each) for each in range(20)]
    assert recorded(log, people["ben"]) == [str(-each) for each in range(20)]


def test_what_waits_is_appended_in_batches(log, people, monkeypatch):
    monkeypatch.setattr(recording, "WAIT_SECONDS", 60)
    monkeypatch.setattr(recording, "BATCH", 4)
    appends = []
    append = log.append

    def counting(events, expect):
        appends.append(len(events))
        return append(events, expect)

    monkeypatch.setattr(log, "append", counting)
    recorder = Recorder(log)
    for number in range(10):
        recorder.note(recall(people["ana"], str(number)))
    recorder.flush()
    assert appends == [4, 4, 2]
    recorder.note(recall(people["ana"], "last"))
    recorder.close()  # it does not wait a minute
    assert recorded(log, people["ana"]) == [*map(str, range(10)), "last"]
    recorder.close()


def test_with_too_many_waiting_whoever_notes_appends(log, people, monkeypatch):
    monkeypatch.setattr(recording, "WAIT_SECONDS", 60)
    monkeypatch.setattr(recording, "MOST_WAITING", 5)
    recorder = Recorder(log)
    for number in range(4):
        recorder.note(recall(people["ana"], str(number)))
    assert recorded(log, people["ana"]) == []
    recorder.note(recall(people["ana"], "4"))
    assert recorded(log, people["ana"]) == ["0", "1", "2", "3", "4"]
    recorder.close()


@pytest.mark.parametrize(
    "trouble",
    [BackendUnavailable("gone"), VersionConflict("0" * 32, 1, 2)],
    ids=lambda each: type(each).__name__,
)
def test_trouble_is_told_and_loses_nothing(log, people, recorder, monkeypatch, trouble):
    append, down = log.append, [True]

    def failing(events, expect):
        if down:
            raise trouble
        return append(events, expect)

    monkeypatch.setattr(log, "append", failing)
    for number in range(3):
        recorder.note(recall(people["ana"], str(number)))
    until(lambda: recorder.trouble is not None)
    assert type(recorder.trouble) is type(trouble)
    with pytest.raises(type(trouble)):
        recorder.flush()
    recorder.note(recall(people["ben"], "also"))
    down.clear()
    until(lambda: recorder.trouble is None and recorded(log, people["ben"]) == ["also"])
    assert recorded(log, people["ana"]) == ["0", "1", "2"]


@pytest.mark.parametrize("reply", [AppendUncertain("commit"), BackendUnavailable("gone")])
def test_what_was_appended_though_the_reply_was_lost_is_there_once(log, people, monkeypatch, reply):
    monkeypatch.setattr(recording, "WAIT_SECONDS", 60)
    recorder = Recorder(log)
    append, lost = log.append, [True]

    def losing(events, expect):
        append(events, expect)
        if lost:
            lost.clear()
            raise reply

    monkeypatch.setattr(log, "append", losing)
    recorder.note(recall(people["ana"], "1"))
    with pytest.raises(type(reply)):
        recorder.flush()
    recorder.note(recall(people["ana"], "2"))
    recorder.close()
    assert recorded(log, people["ana"]) == ["1", "2"]


def test_recalls_of_whoever_was_erased_are_dropped_alone(log, people, monkeypatch):
    monkeypatch.setattr(recording, "WAIT_SECONDS", 60)
    recorder = Recorder(log)
    for name in ("ana", "ben", "ana", "ben"):
        recorder.note(recall(people[name], name))
    log.erase(people["ana"], actor=SYSTEM, legal_basis="request of the subject")
    recorder.close()
    assert recorded(log, people["ben"]) == ["ben", "ben"]
    assert recorded(log, people["ana"]) == []


def test_recalls_of_whom_another_process_erased_are_dropped(log, open_log, people, monkeypatch):
    monkeypatch.setattr(recording, "WAIT_SECONDS", 60)
    recorder = Recorder(log)
    recorder.note(recall(people["ana"]))
    recorder.note(recall(people["ben"], "ben"))
    open_log().erase(people["ana"], actor=SYSTEM, legal_basis="request of the subject")
    recorder.close()
    assert recorded(log, people["ben"]) == ["ben"]
    assert recorded(log, people["ana"]) == []


def test_many_threads_may_note_and_flush_at_once(log, people, recorder):
    def some(thread):
        for number in range(40):
            recorder.note(recall(people["ana"], f"{thread} {number}"))
            if number % 10 == thread % 10:
                recorder.flush()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(some, range(8)))
    recorder.close()
    found = recorded(log, people["ana"])
    assert sorted(found) == sorted(f"{thread} {n}" for thread in range(8) for n in range(40))
    for thread in range(8):
        mine = [each for each in found if each.startswith(f"{thread} ")]
        assert mine == [f"{thread} {number}" for number in range(40)]


def test_two_recorders_of_one_ledger_do_not_lose_each_others(log, open_log, people):
    both = [Recorder(log), Recorder(open_log())]

    def some(which):
        for number in range(30):
            both[which].note(recall(people["ana"], f"{which} {number}"))
            both[which].flush()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(some, range(2)))
    for each in both:
        each.close()
    assert len(set(recorded(log, people["ana"]))) == 60


FORGETFUL = """
import sys
from beliefledger import open_memory
memory = open_memory(sys.argv[1])
memory.consent.grant("ana", "consent")
memory.store("ana", "green tea", attribute="drink")
assert memory.search("ana", "tea").recall_id
print("found")
"""


def test_a_process_that_forgets_to_close_ends(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", FORGETFUL, str(tmp_path / "ledger")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "found\n")
    assert "Traceback" not in ended.stderr


# Erased meanwhile


def search(log, subject_ref, query):
    asked = SearchQuery(
        query=query, k=1, min_confidence=0, min_importance=0, recency_weight=0, diversity=0,
        include=(), profile="p",
    )  # fmt: skip
    one = recall(subject_ref, query)
    event = one.event.model_copy(update={"asked": asked, "position": log.head().position})
    return replace(one, event=event)


def asked(log, subject_ref):
    found = log.read_stream(recall_stream(subject_ref))
    return {each.facts["query_digest"]: each.event.asked is not None for each in found}


def erase_something(log, subject_ref):
    wanted = Wanted(subject_ref, "turn", positions=(1,))
    log.eraser.request(lambda: [wanted], actor=SYSTEM, legal_basis="request")


def test_what_was_asked_before_an_erasure_moved_is_recorded_without_its_words(log, people):
    recorder = Recorder(log)
    ana, ben = people["ana"], people["ben"]
    recorder._waiting += [search(log, ana, "before"), search(log, ben, "ben's")]
    erase_something(log, ana)
    recorder._waiting += [search(log, ana, "after")]
    recorder.flush()
    assert asked(log, ana) == {"before": False, "after": True}
    assert asked(log, ben) == {"ben's": True}


def test_an_erasure_that_is_requested_while_it_is_appended_is_noticed(log, people, monkeypatch):
    recorder = Recorder(log)
    recorder._waiting += [search(log, people["ana"], "before")]
    append = log.append

    def meanwhile(events, expect):
        monkeypatch.setattr(log, "append", append)
        erase_something(log, people["ana"])
        return append(events, expect)

    monkeypatch.setattr(log, "append", meanwhile)
    recorder.flush()
    assert asked(log, people["ana"]) == {"before": False}
