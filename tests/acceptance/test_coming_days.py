"""A note that is bound to coming days is over once they are."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hearing import FIRST

BOUND = [
    ("ugh school starts tmrw.", 1),
    ("i dont work this saturday cos nans 70th", 6),
    ("my sister visits next weekend", 6),
    ("back in the office next week", 1),
    ("we leave for Spain in two weeks", 14),
]
LASTING = ["no meat until friday", "my sister plays the harp", "I've kept bees for 12 years"]


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
    assert [each.event_from for each in somebody.beliefs()] == [None]


def test_it_is_told_as_past_once_they_are_over(somebody):
    somebody.remember("ugh school starts tmrw.")
    (line,) = somebody.memory.context(somebody.who, "when does school start?").lines
    assert (line.section, line.planned) == ("past", True)
