"""What a turn tells that is not of its speaker, though it reads so: the world's news, games and
stories, what was pasted, what is only half remembered."""

from __future__ import annotations

import pytest

UNSURE = [
    "I half remember being good at chess in school but it may have been draughts",
    "I could have sworn I used to like olives, not sure now",
    "my gran was from Donegal or it could have been Derry",
    "We are seeing if possible some day to take parents for Europe tour, only thinking for now",
    "We are looking if some day we can show parents the Kerala backwaters, only an idea for now",
    "I am between two stools",
    "Boss is giving me the run around like anything",
    "yes I'm a professional tea drinker, thirty years in the trade, no pension",
    "certified overthinker since 1991",
]
"""Half remembered, thought of, or a manner of speaking."""

MEANT = [
    ("I vaguely remember my grandad, he was a tailor in Lodz", "tailor"),
    ("I'm a professional tea taster in Kolkata, thirty years in the trade", "tea taster"),
    ("I'm a licensed sleep coach in Leeds", "sleep coach"),
    ("I work at Siemens but it may be sold soon", "Siemens"),
    ("We moved to Hull in May, not sure which school yet", "Hull"),
    ("I live in Graz, not sure for how long", "Graz"),
    ("We are seeing if the flat in Graz is free because we move there in May", "Graz"),
]
"""What a person tells of themselves and those around them, in the same words."""


@pytest.mark.parametrize("said", [*UNSURE])
def test_nothing_is_believed(somebody, said):
    somebody.remember(said)
    assert [each.text for each in somebody.beliefs()] == []


@pytest.mark.parametrize(("said", "words"), MEANT)
def test_what_is_meant_is_believed(somebody, said, words):
    somebody.remember(said)
    assert any(words in each.text for each in somebody.beliefs())
