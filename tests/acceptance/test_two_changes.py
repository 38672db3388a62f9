"""Two things that change in one sentence: what one of them was says nothing of the other."""

from __future__ import annotations

import pytest

PROVIDERS = [
    (
        "im with vodafone for the phone, 40 euro a month which is robbery",
        "switched to giffgaff for the mobile, its 13 euro now. ha",
        ("vodafone",),
        ("giffgaff",),
    ),
    (
        "i'm with british gas, 120 a month",
        "switched to octopus, its 95 now",
        ("british gas",),
        ("octopus, its 95",),
    ),
    (
        "im with sky for broadband, 40 euro a month",
        "left sky for hyperoptic, its 25 euro now",
        ("with sky", "40 euro"),
        ("with hyperoptic for broadband", "25 euro"),
    ),
    (
        "i go to gymbox, 60 a month",
        "ditched gymbox for puregym, only 22 now",
        ("to gymbox", "60 a month"),
        ("go to puregym", "22 now"),
    ),
    (
        "my car insurance is with aviva, 600 a year",
        "switched to admiral, 450 now",
        ("aviva",),
        ("admiral",),
    ),
    (
        "our hosting is on heroku, 50 a month",
        "moved hosting to hetzner, 9 bucks now",
        ("heroku",),
        ("hetzner",),
    ),
    ("im with vodafone for my phone", "switched to ee for the phone", ("vodafone",), ("ee",)),
]
SAME_PROVIDER = [
    ("im with sky for broadband, 40 euro a month", "its 45 euro now", "sky for broadband, 45"),
    (
        "im with sky for broadband, 40 euro a month",
        "sky put it up to 45 euro now",
        "sky for broadband, 45",
    ),
    ("my gym costs 40 a month", "switched to puregym, its 25 now", "gym costs 25 a month"),
    ("i pay 12 a month for spotify", "its 14 a month now", "pays 14 a month for spotify"),
    ("i go to yoga at 7", "yoga moved to 8 now", "yoga at 8"),
]


@pytest.mark.parametrize(("before", "said", "over", "stands"), PROVIDERS)
def test_who_has_gone_elsewhere_pays_the_new_price_there(somebody, before, said, over, stands):
    beliefs = list(somebody.believed_after(before, said, besides=()))
    told = [each.text for each in beliefs if not each.attribute.startswith("event.end")]
    assert not [each for each in over if any(each in text for text in told)], told
    somebody.ends_with((), (), stands)


@pytest.mark.parametrize(("before", "said", "stands"), SAME_PROVIDER)
def test_who_has_not_pays_the_new_price_where_they_were(somebody, before, said, stands):
    somebody.ends_with((before, said), (), (stands,))


REASONS = [
    (
        (
            "standup is at 9:30 every day and i always forget.",
            "they pushed our standup to 10 because of the lisbon folks",
            "can you draft an email to the team that standup's back to 9:30 from monday",
        ),
        "lisbon",
        "standup to 9:30",
    ),
    (
        ("our standup is at 10 because of the lisbon folks", "standup is at 9:30 now"),
        "lisbon",
        "standup is at 9:30",
    ),
    (
        ("i go to the gym at 7 because of the kids", "gym is at 8 now"),
        "kids",
        "gym at 8",
    ),
]


@pytest.mark.parametrize(("turns", "over", "stands"), REASONS)
def test_a_new_figure_does_not_keep_the_reason_of_the_old(somebody, turns, over, stands):
    somebody.ends_with(turns, (over,), (stands,))


def test_a_reason_stays_with_its_own_figure(somebody):
    turns = ("our standup is at 10 because of the lisbon folks", "my rent is 900")
    somebody.ends_with(turns, (), ("10 because of the lisbon folks",))
