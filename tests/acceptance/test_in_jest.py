"""Jests, rumours and what becomes of products are nothing to believe of somebody."""

from __future__ import annotations

import pytest

NOTHING = [
    "my official title at home is chief dishwasher, salary paid in hugs lol",
    "i'm CEO of doing the laundry in this house",
    "I've been promoted to chief nappy changer",
    "my kids have promoted me to head of snacks",
    "i work full time as my daughter's taxi",
    "i graduated from the university of youtube",
    "rumour is the canteen gets a new cook from january",
    "rumor has it our boss is leaving in march",
    "word is we all get a raise in april",
    "i hear the library closes in june",
    "supposedly the gym on our street is getting a pool",
    "python 2 was switched off in january 2020",
    "windows 10 support ended in october 2025",
    "google reader was shut down in 2013",
]
MEANT = [
    ("I'm head of tea production at Twinings", "Twinings"),
    ("i'm head of the dish washing team at Ikea", "Ikea"),
    ("I'm the director of a laundry in Leeds", "director of a laundry"),
    ("I study at the university of life sciences in Oslo", "life sciences"),
    ("I'm a taxi driver", "taxi driver"),
    ("the gym on our street was shut down in march", "shut down"),
]


@pytest.mark.parametrize("said", NOTHING)
def test_nothing_is_believed(somebody, said):
    somebody.keeps_nothing_of(said)


@pytest.mark.parametrize(("said", "words"), MEANT)
def test_what_is_meant_is_believed(somebody, said, words):
    somebody.keeps(said, words)
