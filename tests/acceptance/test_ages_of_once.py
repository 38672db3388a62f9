"""An age that only says when something happened is not how old somebody is."""

from __future__ import annotations

import pytest

ONCE = [
    "I don't drive any more, I gave the car to my grandson when I turned 30",
    "I stopped smoking when I turned 30.",
    "we got married when i turned 25",
    "I moved here the year I turned 30",
    "my dad bought me a car when I turned 18.",
    "When I turned 30 I quit my job.",
    "I went grey right after I turned 30",
    "the day i turned 18 i moved out",
    "ive been tired ever since i turned 30",
    "as i turned 30, we had a kid",
    "My knee went the moment I turned 30.",
    "started going grey as soon as i turned 30",
    "i got my licence the week after i turned 17",
]
NOW = [
    "i turned 35",
    "i turned 35 when we were in Spain",
    "and when i turned 35 last week we had cake",
    "i just turned 35 and moved to Leeds",
    "I turned 35 today, feeling old",
    "turned 35 yesterday",
]


def _ages(somebody):
    return [each.value for each in somebody.beliefs() if each.attribute == "identity.age"]


@pytest.mark.parametrize("said", ONCE)
def test_when_somebody_turned_so_old_changes_no_age(somebody, said):
    somebody.remember("I'm 34")
    somebody.remember(said)
    assert _ages(somebody) == ["34"]


@pytest.mark.parametrize("said", NOW)
def test_who_turned_so_old_now_is(somebody, said):
    somebody.remember("I'm 34")
    somebody.remember(said)
    assert len(_ages(somebody)) == 1
    assert "35" in _ages(somebody)[0]
