"""The present value of what changed comes first; through the front door, on both backends."""

from __future__ import annotations

import pytest

from beliefledger import open_memory
from beliefledger.search.search import SearchOptions
from beliefledger.tools.bench.stories import STORIES, written


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        yield memory


def say(memory, *turns):
    for day, words in turns:
        memory.record_turn("ana", words, said_at=f"{day}T12:00:00Z")
    memory.process()


def found(memory, query, **asked):
    answer = memory.search("ana", query, **{"valid_at": "2025-12-01", **asked})
    return [each.text for each in answer.results]


MOVED = (("2025-01-12", "I live in Lisbon."), ("2025-06-20", "I moved to Porto."))


@pytest.mark.parametrize(
    "question", ["where do I live?", "what city am I in?", "where am i based these days"]
)
def test_the_present_value_comes_first_whatever_the_words(memory, question):
    say(memory, *MOVED)
    assert found(memory, question)[:2] == ["User moved to Porto", "I live in Lisbon."]


def test_it_comes_first_among_turns_too(memory):
    say(memory, *MOVED)
    only = SearchOptions(include=["episodes"])
    assert found(memory, "where do I live?", options=only) == ["I moved to Porto.", MOVED[0][1]]


def test_at_an_earlier_time_the_value_of_then_comes_first(memory):
    say(memory, *MOVED)
    assert found(memory, "where do I live?", valid_at="2025-03-01")[0] == "User lives in Lisbon"


def test_a_question_about_the_past_brings_the_old_value_with_its_dates(memory):
    say(memory, *MOVED)
    best = memory.search("ana", "where did I live before?", valid_at="2025-12-01").results[0]
    assert best.text == "User lives in Lisbon"
    assert best.memory.valid_to.isoformat() == "2025-06-20T12:00:00+00:00"


def test_what_a_later_turn_takes_up_comes_after_it_and_says_so(memory):
    say(
        memory,
        ("2025-01-12", "My locker at the pool is number 17."),
        ("2025-06-20", "They moved me, my locker is number 52 now."),
    )
    answer = memory.search("ana", "which locker is mine?", valid_at="2025-12-01")
    texts = [each.text for each in answer.results]
    assert "52" in texts[0]
    old = next(each for each in answer.results if "17" in each.text)
    assert old.taken_up_by is not None


def test_two_memories_that_say_the_same_are_one_result(memory):
    say(memory, ("2025-01-12", "I work at Siemens as a data engineer."))
    held = [each.text for each in memory.beliefs("ana", valid_at="2025-12-01")]
    assert len(held) == 2
    assert found(memory, "where do I work?") == [held[0]]


def test_a_type_brings_words_for_its_questions(memory):
    memory.types.add(
        {
            "name": "berth",
            "attribute": "berth.{value}",
            "patterns": ["moor at {value}"],
            "asks": ["where boat"],
            "says": ["moor"],
        },
        by="system",
    )
    say(memory, ("2025-01-12", "I moor at Gosport."))
    assert "Gosport" in found(memory, "where is my boat?")[0]


def test_a_search_is_made_again_with_the_same_order(memory):
    say(memory, *MOVED)
    answer = memory.search("ana", "where do I live?", valid_at="2025-12-01")
    assert memory.audit.replay_recall(answer.recall_id).verdict == "same"


def test_the_stories_are_forty_of_each_half_and_ask_three_times():
    for half in ("tune", "test"):
        some = written(STORIES / f"{half}.yaml")
        assert len({story.name for story in some}) == len(some) == 40
        for story in some:
            assert len(story.now) == 3
            assert "current" in [story.told(words) for _, words in story.turns]
