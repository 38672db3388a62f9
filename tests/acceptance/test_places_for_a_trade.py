"""A place to work in is no home."""

from __future__ import annotations

import pytest

FOR_A_TRADE = [
    "i found a studio in Delft for my pottery",
    "we signed for a place in Delft for the shop",
    "we got a place in Delft for the shop",
    "i rented a studio in Delft to paint in",
    "I got a room in Delft for my massage practice",
    "we found a house in Delft for the band",
]
TO_LIVE_IN = [
    "i found a place in Delft",
    "we signed for a flat in Delft",
    "signed for a studio in Delft, moving in on friday",
    "i found a studio in Delft",
    "found a place in Delft",
]


def _homes(somebody):
    return [each.text for each in somebody.beliefs() if each.attribute == "home.location"]


@pytest.mark.parametrize("said", FOR_A_TRADE)
def test_a_place_for_a_trade_is_no_home(somebody, said):
    somebody.remember("i live in Rotterdam")
    somebody.remember(said)
    assert _homes(somebody) == ["User lives in Rotterdam"]


@pytest.mark.parametrize("said", TO_LIVE_IN)
def test_a_place_to_live_in_is_a_home(somebody, said):
    somebody.remember("i live in Rotterdam")
    somebody.remember(said)
    homes = _homes(somebody)
    assert homes
    assert "User lives in Rotterdam" not in homes
