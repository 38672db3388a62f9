"""One fact, one key: every wording that leads to each key, and what leads to none."""

from __future__ import annotations

import pytest

from beliefledger.gate.keys import KEYS, canonical, implied, under_its_key, wordings
from beliefledger.gate.slots import canonical_attribute
from tests.unit.gate.test_rules import extract


@pytest.mark.parametrize("key", KEYS, ids=[key.name for key in KEYS])
def test_every_wording_leads_to_its_key(key):
    type_ = "relation" if key.relation else "fact"
    for attribute in wordings(key):
        assert canonical(attribute, type_) == key.name, attribute
        assert canonical(attribute.upper().replace("-", " "), type_) == key.name, attribute


def test_no_wording_leads_to_two_keys():
    seen = {}
    for key in KEYS:
        for attribute in map(canonical_attribute, wordings(key)):
            assert seen.setdefault((attribute, key.relation), key.name) == key.name


def test_what_the_table_does_not_know_stays():
    assert canonical("thing.lighthouse") == "thing.lighthouse"
    assert canonical("likes.jazz", "preference") == "likes.jazz"
    assert canonical("relation.boss") == "relation.boss"  # of a fact: no relation


# Nouns and verbs of one slot, as people say them.
WORDINGS = {
    "work.employer": ["I work at Initech.", "My employer is Initech.", "I work for Initech."],
    "home.location": ["I live in Porto.", "My city is Porto.", "I moved to Porto."],
    "device.phone": ["My phone is a Pixel 6.", "I have a Pixel 6.", "I use a Pixel 6."],
    "vehicle.car": ["My car is a Mazda 3.", "I drive a Mazda 3."],
    "tool.editor": ["My editor is Helix.", "I use Helix."],
    "finance.bank": ["My bank is Monzo.", "I bank with Monzo."],
    "fitness.gym": ["My gym is PureGym.", "I work out at PureGym."],
    "relation.reports-to": ["My boss is Dana.", "I report to Dana.", "My manager is Dana."],
    "relation.spouse.name": ["My wife is Dana.", "My husband is Dana.", "I'm married to Dana."],
    "tool.email_client": ["My email client is Outlook.", "I switched to Outlook for email."],
    "travel.seat": ["I love window seats when I fly.", "I prefer window seats on flights."],
    "has.shirt": ["I have five shirts.", "I have 12 shirts."],
}


@pytest.mark.parametrize("key", WORDINGS)
def test_nouns_and_verbs_of_a_slot_lead_to_one_key(key):
    for words in WORDINGS[key]:
        found = [under_its_key(each) for each in extract(words)]
        assert key in {each.attribute for each in found}, (words, found)


def test_a_circumstance_that_the_slot_implies_is_none():
    assert implied("travel.seat", "on flights")
    assert not implied("travel.seat", "at night")
    (found,) = map(under_its_key, extract("I prefer window seats on flights."))
    assert found.context is None


def test_a_title_is_part_of_the_name():
    (found,) = extract("My dentist is Dr. Patel.")
    assert (found.attribute, found.value) == ("care.dentist", "Dr. Patel")


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("relation.gf.name", "relation.partner.name"),
        ("relation.hubby.name", "relation.spouse.name"),
        ("relation.mum.name", "relation.mother.name"),
        ("relation.dad.birthday", "relation.father.birthday"),
        ("relation.best-mate.kim", "relation.best-friend.kim"),
        ("relation.nan.name", "relation.nan.name"),  # beside a gran there may be one
        ("relation.sister.name", "relation.sister.name"),
    ],
)
def test_a_relative_has_one_key_whatever_they_are_called(said, key):
    assert canonical(said, "relation") == key


def test_what_is_told_of_a_relative_has_that_key_too():
    assert canonical("relation.bro.fix") == "relation.brother.fix"
