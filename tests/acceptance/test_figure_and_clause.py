"""Of several figures of a sentence each is of its own clause."""

from __future__ import annotations

import pytest

CHANGED = [
    (
        "i usually get to bed about 9am",
        "up at 5.45 now so bed by 10",
        {"day.bedtime": "10", "day.waking": "5.45"},
    ),
    ("I go to bed at 11", "im up at 6 now, in bed by 10", {"day.bedtime": "10", "day.waking": "6"}),
    (
        "I get up at 7. I go to bed at 11",
        "I get up at 6 now and go to bed at 10",
        {"day.bedtime": "10", "day.waking": "6"},
    ),
    ("I go to bed at 11", "in bed by 10 now, up at 6", {"day.bedtime": "10"}),
    ("I go to bed at 11", "bed by 10 now", {"day.bedtime": "10"}),
    ("I get up at 7", "getting up at 6 now", {"day.waking": "6"}),
]
STAYS = [
    ("I go to bed at 11", "up at 6 tomorrow so bed by 10", "goes to bed at 11"),
    ("I go to bed at 11", "up at 5 today so bed by 9 tonight", "goes to bed at 11"),
    ("I go to bed at 11", "my husband is up at 6 now and in bed by 10", "goes to bed at 11"),
    (
        "I swim on mondays and play chess on fridays",
        "swimming is on tuesdays now, chess still fridays",
        "chess on fridays",
    ),
]
BOTH = [
    (
        "I swim on mondays and play chess on fridays",
        "swimming is on tuesdays now, chess still fridays",
        "swims on tuesdays",
    ),
    ("I have 3 cats and 2 dogs", "now 4 cats and 2 dogs", "4 cats"),
    ("my rent is 900", "rent is 950 now, up from 900", "950"),
    ("my lesson is at 4pm", "school ends at 3pm now so the lesson is at 5pm", "lesson is at 5pm"),
]


@pytest.mark.parametrize(("first", "then", "values"), CHANGED)
def test_rising_and_going_to_bed_are_told_apart(somebody, first, then, values):
    somebody.remember(first)
    somebody.remember(then)
    there = {each.attribute: each.value for each in somebody.beliefs()}
    assert {each: there.get(each) for each in values} == values


@pytest.mark.parametrize(("first", "then", "believed"), [*STAYS, *BOTH])
def test_a_figure_is_of_its_clause(somebody, first, then, believed):
    somebody.remember(first)
    somebody.remember(then)
    assert believed in " · ".join(each.text for each in somebody.beliefs())
