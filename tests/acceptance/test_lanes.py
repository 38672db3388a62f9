"""What a process knows of who waits, and of what was said before, holds only as far as it has read:
others write to the same ledger."""

from __future__ import annotations

import pytest
from echoes import echo

from beliefledger import NotPermitted, open_memory
from beliefledger.ledger.errors import ExtractionUnavailable


class Listener:
    """Believes what is said, tells what it was shown of the turns before, and fails when told."""

    name = "listener"

    def __init__(self):
        self.heard = []
        self.down = False

    def extract(self, turn, earlier=()):
        if self.down:
            raise ExtractionUnavailable("The service did not answer.")
        self.heard.append((turn.content, [each.content for each in earlier]))
        return echo(turn.content)


@pytest.fixture
def two(place):
    """Two that have the same ledger open, as two processes do, and what they hear."""
    ours, theirs = Listener(), Listener()
    with (
        open_memory(place, extractor=ours, consent="consent") as memory,
        open_memory(place, extractor=theirs) as other,
    ):
        for words in ("one", "two"):
            memory.remember("ana", words, session="s")
        yield memory, ours, other, theirs


def test_a_turn_that_another_process_recorded_is_decided_first(two):
    memory, ours, other, _ = two
    other.record_turn("ana", "three", session="s")
    receipt, decisions = memory.remember("ana", "four", session="s")
    assert not receipt.pending
    assert [each.outcome for each in decisions] == ["admit"]
    assert ours.heard[-2:] == [
        ("three", ["one", "two"]),
        ("four", ["one", "two", "three"]),
    ]
    assert [each.value for each in memory.beliefs("ana")] == ["one", "two", "three", "four"]
    assert memory.status().pending_turns == 0


def test_what_was_remembered_elsewhere_is_known_in_the_session(two):
    memory, ours, other, theirs = two
    other.remember("ana", "three", session="s")
    other.remember("ana", "aside", session="t")
    other.remember("ben", "hello", session="s")
    assert theirs.heard == [("three", ["one", "two"]), ("aside", []), ("hello", [])]
    memory.remember("ana", "four", session="s")
    assert ours.heard[-1] == ("four", ["one", "two", "three"])
    memory.remember("ana", "five", session="t")
    assert ours.heard[-1] == ("five", ["aside"])
    memory.remember("ben", "again", session="s")
    assert ours.heard[-1] == ("again", ["hello"])


def test_a_session_has_its_last_turns_however_they_were_recorded(two):
    memory, ours, _, _ = two
    for number in range(5):
        memory.remember("ana", f"more {number}", session="s")
    memory.record_turn("ana", "I see.", role="assistant", session="s")
    memory.remember("ana", "done", session="s")
    assert ours.heard[-1] == ("done", ["more 2", "more 3", "more 4", "I see."])
    memory.remember("ana", "really", session="s")
    assert ours.heard[-1] == ("really", ["more 3", "more 4", "I see.", "done"])


def test_a_turn_that_failed_holds_up_those_after_it(two):
    memory, ours, _, _ = two
    ours.down = True
    receipt, decisions = memory.remember("ana", "three", session="s")
    assert receipt.pending
    assert not decisions
    ours.down = False
    receipt, decisions = memory.remember("ana", "four", session="s")
    assert not receipt.pending
    assert len(decisions) == 1
    assert [words for words, _ in ours.heard[-2:]] == ["three", "four"]


def test_a_turn_that_is_taken_up_again_goes_first(two):
    memory, ours, other, _ = two
    ours.down = True
    for _ in range(5):
        memory.remember("ana", "three", session="s", idempotency_key="3")
    assert [each.reason for each in memory.operations.extraction.parked()] == ["tries"]
    ours.down = False
    memory.remember("ana", "four", session="s")
    other.operations.extraction.retry(subject="ana", by="lee")
    memory.remember("ana", "five", session="s")
    assert [words for words, _ in ours.heard[-3:]] == ["four", "three", "five"]


def test_what_another_process_erased_is_shown_to_nobody(two):
    memory, ours, other, _ = two
    [_, second] = memory.beliefs("ana")
    memory.remember("ana", "and", session="s")  # it knows what was said before
    other.erasure.erase("ana", turn=second.evidence[0].turn_id, by="lee")
    memory.remember("ana", "three", session="s")
    assert ours.heard[-1] == ("three", ["one", "and"])
    other.erasure.erase("ana", by="lee")
    with pytest.raises(NotPermitted):
        memory.remember("ana", "four", session="s")


def test_the_view_of_turns_does_not_fall_far_behind(place, monkeypatch):
    monkeypatch.setattr("beliefledger.gate.new_turns.MOST_UNVIEWED", 20)
    with open_memory(place, extractor=Listener(), consent="consent") as memory:
        for number in range(30):
            memory.remember("ana", f"word {number}")
            behind = memory.status().position - memory._gate.queue.viewed
            assert behind <= 20 + 5
        assert memory._gate.queue.count() == 0
