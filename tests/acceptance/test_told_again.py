"""What is told again with another day, date or hour takes the place of what was told first."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("before", "again", "left"),
    [
        ("trash day is monday", "trash day is thursday", "monday"),
        ("trash day is monday", "trash day will be thursday from next week", "monday"),
        ("thesis due june 15", "thesis is due july 1", "june 15"),
        ("standup is at 9:30", "standup is at 10:15", "9:30"),
        ("my exam is on the 3rd", "my exam is on the 9th", "3rd"),
        ("Tom's birthday is June 3", "Tom's birthday is June 8", "June 3"),
    ],
)
def test_the_same_of_another_time_takes_its_place(somebody, before, again, left):
    told = [each.text for each in somebody.believed_after(before, again, besides=())]
    assert told
    assert not any(left in each for each in told)


@pytest.mark.parametrize(
    ("before", "again"),
    [
        ("i swim on mondays", "i swim on thursdays"),
        ("band practice thursdays", "band practice fridays"),
        ("the kids are with me on mondays", "the kids are with me on tuesdays"),
        ("my exam is on the 3rd", "my second exam is on the 9th"),
        ("my birthday is june 3", "my sister's birthday is june 8"),
        ("my flight is on monday", "my flight home is on friday"),
    ],
)
def test_what_may_have_several_times_keeps_them(somebody, before, again):
    told = [each.text for each in somebody.believed_after(before, besides=())]
    after = [each.text for each in somebody.believed_after(again, besides=())]
    assert set(told) < set(after)
