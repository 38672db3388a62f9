"""Of a turn that says several things, what is outdated is marked, by what took its place."""

from __future__ import annotations

import datetime as dt

import pytest

from beliefledger import open_memory


def day(number):
    return dt.datetime(2026, 3, number, 9, tzinfo=dt.UTC)


@pytest.fixture
def memory(place):
    with open_memory(place, consent="contract") as memory:
        yield memory


@pytest.fixture
def moved(memory):
    """Somebody who moved, and has a dog."""
    memory.remember("ana", "I live in Lisbon. My dog is called Rex.", said_at=day(1))
    memory.remember("ana", "I moved to Porto.", said_at=day(2))
    return memory


@pytest.mark.parametrize("asked", ["Lisbon", "dog Rex"])
def test_a_search_marks_the_outdated_words_of_a_turn(moved, asked):
    [turn] = [each for each in moved.search("ana", asked).results if each.episode]
    assert turn.text == "I live in Lisbon (no longer so since 2026-03-02). My dog is called Rex."
    assert turn.standing.state == "current"
    [part] = turn.standing.parts
    assert (part.words, part.since) == ("I live in Lisbon", day(2))
    porto = next(each for each in moved.beliefs("ana") if each.value == "Porto")
    assert part.superseded_by == porto.memory_id


def test_what_is_outdated_as_a_whole_is_not_marked_within(memory):
    memory.remember("ana", "I live in Lisbon.", said_at=day(1))
    memory.remember("ana", "I moved to Porto.", said_at=day(2))
    [old] = [each for each in memory.search("ana", "Lisbon").results if "Lisbon" in each.text]
    assert (old.standing.state, old.standing.parts) == ("outdated", ())
    assert "no longer so" not in old.text


def test_each_outdated_part_names_what_took_its_place(memory):
    memory.remember("ana", "I live in Lisbon and I use unittest.", said_at=day(1))
    memory.remember("ana", "I moved to Porto.", said_at=day(2))
    memory.remember("ana", "I switched from unittest to pytest.", said_at=day(4))
    held = {each.value: each.memory_id for each in memory.beliefs("ana")}
    [turn] = [each for each in memory.search("ana", "Lisbon").results if "Lisbon" in each.text]
    assert turn.standing.state == "outdated"
    assert {each.words: (each.superseded_by, each.since) for each in turn.standing.parts} == {
        "I live in Lisbon": (held["Porto"], day(2)),
        "I use unittest": (held["pytest"], day(4)),
    }
    [past] = [each for each in memory.context("ana", "Lisbon").lines if each.section == "past"]
    assert past.text == (
        "I live in Lisbon (no longer so since 2026-03-02) and"
        " I use unittest (no longer so since 2026-03-04)."
    )


def test_a_conflict_tells_how_often_each_value_was_said(memory):
    for number, time in enumerate(["morning", "afternoon"] * 2 + ["morning"], 1):
        memory.remember("ana", f"I prefer {time} meetings.", said_at=day(number))
    [conflict] = memory.conflicts.list()
    told = {each.value.split()[0]: each.mentions for each in conflict.choices}
    assert told == {"morning": 3, "afternoon": 2}
