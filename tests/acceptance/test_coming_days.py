"""A note that is bound to coming days is over once they are."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hearing import FIRST

BOUND = [
    ("i dont work this saturday cos nans 70th", 6),
    ("my sister visits next weekend", 6),
    ("back in the office next week", 1),
    ("we leave for Spain in two weeks", 14),
]
LASTING = [
    "ugh school starts tmrw.",
    "our new flatmate Joss moves in this weekend",
    "my brother moves to Oslo next week",
    "rent goes up to 950 in two weeks",
    "the dog gets a new vet next week, Dr Moss in Hove",
    "no meat until friday",
    "my sister plays the harp",
    "I've kept bees for 12 years",
]


@pytest.mark.parametrize(("said", "days"), BOUND)
def test_a_note_of_coming_days_is_planned_for_them(somebody, said, days):
    somebody.remember(said)
    (there,) = somebody.beliefs()
    assert there.type == "note"
    assert there.valid_from == FIRST
    assert there.event_from <= FIRST + timedelta(days=days) < there.event_to


@pytest.mark.parametrize("said", LASTING)
def test_what_lasts_is_bound_to_no_day(somebody, said):
    somebody.remember(said)
    notes = [each for each in somebody.beliefs() if each.type == "note"]
    assert [each.event_from for each in notes] == [None] * len(notes)


def test_it_is_told_as_past_once_they_are_over(somebody):
    somebody.remember("i dont work tomorrow cos nans 70th")
    (line,) = somebody.memory.context(somebody.who, "do I work on nans 70th?").lines
    assert (line.section, line.planned) == ("past", True)
