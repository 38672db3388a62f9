"""Questions to a ledger that records each call: what a view does not fold is passed over."""

from __future__ import annotations

import pytest

from beliefledger import open_memory
from beliefledger.access.calls import Call
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.folds import PASSED_OVER


@pytest.fixture
def memory(place):
    with open_memory(place, consent="consent") as opened:
        yield opened


def calls(memory, count):
    token = memory.tokens.create("bot", by="lea", subjects=None).token
    who = memory.tokens.principal(token)
    for _ in range(count):
        memory.tokens.record_call(Call(who, "http", "beliefs", "{}", "ok", 1_000))


def written(memory):
    """How far the view is in its own tables."""
    projector = memory._core.projector
    with projector.reading() as connection:
        return projector.states(connection)[BeliefsView.name].position


def texts(memory):
    return [each.text for each in memory.beliefs("ana")]


def test_calls_move_no_view_that_does_not_fold_them(memory):
    memory.remember("ana", "I live in Lisbon.")
    assert texts(memory) == ["User lives in Lisbon"]
    at = written(memory)
    calls(memory, 5)
    assert texts(memory) == ["User lives in Lisbon"]
    assert written(memory) == at
    memory.remember("ana", "I moved to Porto.")
    assert texts(memory) == ["User moved to Porto"]
    assert written(memory) > at
    calls(memory, PASSED_OVER + 1)
    at = memory._log.head().position
    texts(memory)
    assert written(memory) == at, "nobody is left to look through many"
    assert {each.lag for each in memory.status().views} == {0}


def test_what_another_process_wrote_is_folded(memory, place):
    memory.remember("ana", "I live in Lisbon.")
    texts(memory)
    calls(memory, 2)
    with open_memory(place) as other:
        assert texts(other) == ["User lives in Lisbon"]
        other.remember("ana", "I moved to Porto.")
        calls(memory, 2)
        assert texts(memory) == ["User moved to Porto"]
        calls(other, 1)
        other.erase("ana", by="lea")
        calls(memory, 1)
        assert texts(memory) == []


def test_words_that_are_asked_for_again_are_those_that_may_be_told_by_then(memory):
    """The standing of whom was asked about last is kept, and brought up to date."""

    def words(each):
        return memory.recalls.words([each], 2**40)[each].text

    _, [decision] = memory.remember("ana", "I live in Lisbon.")
    assert words(decision.memory_id) == "User lives in Lisbon"
    _, [other] = memory.remember("ana", "I use pytest.")
    assert words(other.memory_id) == "User uses pytest"
    memory.revoke(decision.memory_id, by="lea")
    assert words(decision.memory_id) is None
    memory.consent.withdraw("ana", by="lea")
    assert words(other.memory_id) is None
    _, [ben] = memory.remember("ben", "I live in Faro.")
    assert words(ben.memory_id) == "User lives in Faro"
    memory.erase("ben", memory=ben.memory_id, by="lea")
    assert words(ben.memory_id) is None
