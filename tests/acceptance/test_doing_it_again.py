"""What was given up and is done again is given up no more."""

from __future__ import annotations

import pytest

AGAIN = [
    ("I quit coffee", "im drinking coffee again"),
    ("i quit coffee, too much anxiety. matcha it is", "drinking coffee again."),
    ("i quit coffee", "im back on coffee"),
    ("i quit football", "i play football again"),
    ("i gave up chess", "playing chess again since march"),
    ("I quit sugar.", "back on sugar, it lasted a week"),
    ("i quit instagram", "im on instagram again"),
    ("I quit TikTok", "back on tiktok now lol"),
]
STILL = [
    ("i quit coffee", "my wife is drinking coffee again"),
    ("i quit football", "football is on again tonight"),
    ("i quit coffee", "im drinking tea again"),
    ("i quit coffee", "im never drinking coffee again"),
    ("i quit coffee", "i want to drink coffee again"),
    ("i quit football", "if i play football again my knee goes"),
    ("i quit coffee", "back on coffee if the exams go on like that"),
]


@pytest.mark.parametrize(("first", "then"), AGAIN)
def test_what_is_done_again_is_given_up_no_more(somebody, first, then):
    somebody.remember(first)
    somebody.remember(then)
    there = [each.text for each in somebody.beliefs()]
    assert not any(each.startswith(("User quit", "User gave up")) for each in there)


@pytest.mark.parametrize(("first", "then"), STILL)
def test_what_others_do_or_may_be_leaves_it_given_up(somebody, first, then):
    somebody.remember(first)
    somebody.remember(then)
    assert any(each.text.startswith("User quit") for each in somebody.beliefs())
