"""Plain facts as they are told in chat: things by their brand, who joined a firm, who says what."""

from __future__ import annotations

import pytest

TOLD = [
    ("my car is a ford focus", "vehicle.car", "a ford focus"),
    ("my phone is literally dying its an iphone 11 battery is at 71%", "device.phone", "iphone 11"),
    ("I have seven hens and they are laying very well.", "has.hen", "seven hens"),
    ("i use cursor but the bills are getting silly", "uses.cursor", "cursor"),
    ("I run 4 times a week: tues, thurs, sat, sun", "habit.run", "run 4 times a week"),
    ("my flatmate amy says i should wear the blue suit, what do you think",
     "relation.flatmate.name", "amy"),
    ("my wife tammy says im gone too much", "relation.spouse.name", "tammy"),
    ("my partner gav thinks we should open mondays", "relation.partner.name", "gav"),
    ("my girlfriend is kim", "relation.partner.name", "kim"),
    ("my boss is kim", "relation.reports-to", "kim"),
    ("joined acme last week as a data engineer", "work.employer", "acme"),
    ("joined acme last week as a data engineer", "work.role", "data engineer"),
    ("joined Bosch as a test engineer", "work.role", "test engineer"),
]  # fmt: skip
NOT_TOLD = [
    "my car is a lemon",
    "my phone is dead its a nightmare",
    "I have a dragon and it breathes fire",
    "i have two brain cells and they are fighting",
    "i have two jobs: parenting and regretting parenting",
    "my toddler says he is a dragon",
    "in the game my car is a ford focus",
    "my partner in crime is here",
]
NO_EMPLOYER = [
    "I joined SAP user group",
    "joined the choir as a tenor",
    "joined parkrun as a volunteer",
    "joined the user group as a speaker",
    "joined puregym yesterday",
]
NEW_PHONE = [
    ("got my new phone today, a pixel 9", "pixel 9"),
    ("got a new phone its a samsung s24 refurbished from back market", "samsung s24"),
]


@pytest.mark.parametrize(("said", "attribute", "value"), TOLD)
def test_a_plain_fact_is_kept_in_its_slot(somebody, said, attribute, value):
    somebody.remember(said)
    there = {each.attribute: each.value for each in somebody.beliefs()}
    assert value in there[attribute]


@pytest.mark.parametrize("said", NOT_TOLD)
def test_what_is_no_fact_is_not_kept(somebody, said):
    somebody.remember(said)
    assert [each.text for each in somebody.beliefs() if each.type != "note"] == []


@pytest.mark.parametrize("said", NO_EMPLOYER)
def test_who_joins_a_group_works_where_they_did(somebody, said):
    somebody.remember("i work at dell")
    somebody.remember(said)
    employers = [each.value for each in somebody.beliefs() if each.attribute == "work.employer"]
    assert employers == ["dell"]


@pytest.mark.parametrize(("said", "now"), NEW_PHONE)
def test_a_new_phone_takes_the_place_of_the_old_one(somebody, said, now):
    somebody.remember("my phone is a pixel 6")
    somebody.remember(said)
    phones = [each.value for each in somebody.beliefs() if each.attribute == "device.phone"]
    assert len(phones) == 1
    assert now in phones[0]


@pytest.mark.parametrize("said", ["got a new phone, it's so nice", "got a new phone, a bit pricey"])
def test_what_a_new_phone_is_like_is_no_phone(somebody, said):
    somebody.remember("my phone is a pixel 6")
    somebody.remember(said)
    values = [each.value for each in somebody.beliefs() if each.attribute == "device.phone"]
    assert values in (["a pixel 6"], ["pixel 6"], [])
