"""What stands behind "until" or "before" is not so yet."""

from __future__ import annotations

import pytest

NOT_YET = [
    ("so no bowling for me til im back on days", "on days"),
    ("no football until im back on days", "on days"),
    ("cant come to class til i'm on the early shift.", "early"),
    ("no gym before im back on lates", "on lates"),
    ("i'll join once i'm back on days", "on days"),
    ("no choir till im on earlies again", "on earlies"),
    ("only three weeks til im on days!!", "on days"),
    ("counting down the days til i'm at Tesco", "at Tesco"),
]
NOW = [
    ("i'm back on days now, so bowling it is", "days"),
    ("im on nights so no bowling", "nights"),
    ("can't sleep, i'm on nights", "nights"),
    ("i work nights until march", "nights"),
]


@pytest.mark.parametrize(("said", "not_so"), NOT_YET)
def test_what_is_waited_for_is_not_so(somebody, said, not_so):
    somebody.remember("i work nights")
    somebody.remember(said)
    there = {each.attribute: each for each in somebody.beliefs()}
    assert there["work.hours"].value == "nights"
    assert not any(each.type != "note" and not_so in each.text for each in somebody.beliefs())


@pytest.mark.parametrize(("said", "value"), NOW)
def test_what_is_so_is_believed(somebody, said, value):
    somebody.remember(said)
    there = {each.attribute: each for each in somebody.beliefs()}
    assert there["work.hours"].value == value
