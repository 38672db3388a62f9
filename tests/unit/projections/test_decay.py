"""The two profiles of ageing: figures worked out by hand, their bounds, and one formula for all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefledger.ledger.times import DAY
from beliefledger.projections.decay import (
    BOOST,
    MOST_BOOST,
    OTHER_HALF_LIFE,
    Profile,
    days_since,
    decay,
    freshness,
)

days = st.floats(0, 100_000, allow_nan=False)
shown = st.integers(0, 10_000)
lives = st.floats(1, 4_000)


@pytest.mark.parametrize(
    ("after", "life", "accesses", "left"),
    [
        (0, 90, 0, 1.0),
        (90, 90, 0, 0.5),
        (180, 90, 0, 0.25),
        (90, 90, 1, 0.6),
        (90, 90, 3, 0.864),
        (90, 90, 4, 1.0),
        (270, 90, 6, 0.373248),
        (270, 90, 7, 0.375),
        (270, 90, 5_000, 0.375),
        (30, 365, 0, 0.944622),
        (1_000_000, 30, 0, 0.0),
    ],
)
def test_freshness(after, life, accesses, left):
    """Half after a half-life; each access 1.2 times as much, up to 3 times; never above 1."""
    assert freshness(after, life, accesses) == pytest.approx(left, abs=1e-6)


@pytest.mark.parametrize(
    ("after", "accesses", "rate", "cap", "left"),
    [
        (0, 0, 0.02, 10, 1.0),
        (50, 0, 0.02, 10, math.exp(-1)),
        (50, 1, 0.02, 10, math.exp(-1) + (1 - math.exp(-1)) * math.log(2) / math.log(11)),
        (50, 10, 0.02, 10, 1.0),
        (50, 500, 0.02, 10, 1.0),
        (50, 0, 0.04, 10, math.exp(-2)),
        (50, 1, 0.02, 1, 1.0),
        (100_000, 3, 0.02, 15, 0.5),
    ],
)
def test_decay(after, accesses, rate, cap, left):
    assert decay(after, accesses, rate=rate, cap=cap) == pytest.approx(left, abs=1e-9)


@given(days, days, lives, shown, shown)
def test_less_is_left_with_time_and_more_with_each_access(one, other, life, few, many):
    (early, late), (few, many) = sorted((one, other)), sorted((few, many))
    for profile in (Profile("freshness", half_lives={"fact": life}), Profile("decay")):
        old_and_rare = profile.score("fact", late, few)
        assert 0 <= old_and_rare <= profile.score("fact", early, few) <= 1
        assert old_and_rare <= profile.score("fact", late, many) + 1e-12


@given(st.lists(st.tuples(days, lives, shown), min_size=1, max_size=20))
def test_many_at_once_are_each_by_itself(rows):
    after, life, accesses = (np.array(column) for column in zip(*rows, strict=True))
    for name in ("freshness", "decay"):
        each = [
            Profile(name, half_lives={"fact": its}).score("fact", gone, often)
            for gone, its, often in rows
        ]
        assert np.allclose(Profile(name).scores(life, after, accesses), each, rtol=0, atol=1e-12)


def test_several_at_once_are_given_back_what_each_access_gives():
    accesses, after = np.array([0, 1, 4, 5, 9]), np.full(5, 50.0)
    many = Profile("decay", cap=5).scores(np.ones(5), after, accesses)
    raw = math.exp(-1)
    given_back = [0, math.log(2) / math.log(6), math.log(5) / math.log(6), 1, 1]
    assert many == pytest.approx([raw + (1 - raw) * each for each in given_back])


def test_a_type_that_nobody_knows_ages_like_a_fact():
    assert Profile().score("gone", OTHER_HALF_LIFE, 0) == 0.5


def test_what_is_yet_to_come_is_whole():
    assert days_since(10 * DAY, 3 * DAY) == 0
    assert days_since(3 * DAY, 10 * DAY) == 7


def test_without_settings_it_is_freshness_and_the_defaults_of_decay():
    assert Profile() == Profile("freshness", rate=0.02, cap=10, half_lives={})
    assert (OTHER_HALF_LIFE, MOST_BOOST, BOOST) == (180.0, 3.0, 1.2)
    assert Profile(half_lives={"note": 10}).score("note", 10, 0) == 0.5
    assert Profile("decay").score("note", 50, 10) == 1.0
    assert Profile("decay").score("note", 50, 9) == pytest.approx(
        math.exp(-1) + (1 - math.exp(-1)) * math.log(10) / math.log(11)
    )


def test_days_are_parts_of_days_too():
    assert days_since(0, DAY + DAY // 4) == 1.25
    assert days_since(5, 5) == 0
    assert days_since(5, 6) == 1 / DAY
