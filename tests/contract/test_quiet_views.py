"""Questions fold nothing where the log has nothing for their views, and miss nothing by it."""

from __future__ import annotations

import pytest

from beliefledger import open_memory
from beliefledger.access.calls import Call
from beliefledger.projections import quiet
from beliefledger.projections.beliefs import BeliefsView


@pytest.fixture
def memory(place):
    with open_memory(place) as memory:
        yield memory


def call(memory, principal):
    memory.tokens.record_call(Call(principal, "mcp", "search", "{}", "ok", 1))


def principal_of(memory):
    return memory.tokens.principal(memory.tokens.create("bot", by="lea").token)


def position(memory):
    projector = memory._core.projector
    with projector.reading() as connection:
        return projector.states(connection)[BeliefsView.name].position


def test_calls_of_a_server_do_not_make_a_question_fold(memory):
    memory.remember("ana", "I live in Lisbon.", consent="consent")
    who = principal_of(memory)
    [before] = memory.beliefs("ana")
    at = position(memory)
    for _ in range(3):
        call(memory, who)
        assert memory.beliefs("ana") == [before]
    assert position(memory) == at
    assert memory.tokens.calls()[0].calls == 3  # whose view does fold them
    memory.remember("ana", "I have a dog called Rex.")
    assert len(memory.beliefs("ana")) > 1
    call(memory, who)
    memory.remember("ana", "I moved to Porto.")
    assert {"Porto"} <= {each.value for each in memory.beliefs("ana")}
    assert all(each.lag == 0 for each in memory.status().views)
    assert all(each.same for each in memory.operations.rebuild(verify=True))


def test_what_another_process_wrote_is_not_passed_over(place):
    with open_memory(place) as here, open_memory(place) as there:
        here.remember("ana", "I live in Lisbon.", consent="consent")
        who = principal_of(here)
        assert len(here.beliefs("ana")) == 1
        for _ in range(3):
            call(there, who)
            call(here, who)
            assert len(here.beliefs("ana")) == 1
        there.remember("ana", "I have a dog called Rex.")
        call(here, who)
        assert [*here.beliefs("ana")] == [*there.beliefs("ana")]
        here.erase("ana", by="lea")
        assert there.beliefs("ana") == here.beliefs("ana") == []


def test_a_view_that_is_far_behind_is_folded_all_the_same(memory, monkeypatch):
    monkeypatch.setattr(quiet, "MOST_BEHIND", 5)
    memory.remember("ana", "I live in Lisbon.", consent="consent")
    who = principal_of(memory)
    assert len(memory.beliefs("ana")) == 1
    at = position(memory)
    for _ in range(6):
        call(memory, who)
    assert len(memory.beliefs("ana")) == 1
    assert position(memory) > at


def test_a_search_tells_how_often_a_memory_was_shown_and_what_is_left(memory):
    memory.remember("ana", "I live in Lisbon.", consent="consent")
    for shown in range(3):
        [found] = memory.search("ana", "Lisbon", 1).results
        assert (found.accesses, found.left) == (shown, 1.0)
        memory._core.recorder.flush()
    turns = [each for each in memory.search("ana", "Lisbon").results if each.kind == "episode"]
    assert all((each.accesses, each.left) == (None, None) for each in turns)
