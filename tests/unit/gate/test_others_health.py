"""The health of others, told in passing, is noticed as a special category."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from beliefledger.gate.rules import RuleExtractor
from beliefledger.ledger.candidate import Candidate


class Said(NamedTuple):
    content: str
    turn_id: str = "now"
    role: str = "user"
    said_at: int = 1_700_000_000_000_000


def of_health(text: str) -> list[Candidate]:
    return [each for each in RuleExtractor().extract(Said(text)) if each.category == "health"]


@pytest.mark.parametrize(
    ("said", "entity", "claim"),
    [
        ("Stefan has nut allergy", "Stefan", "Stefan has nut allergy"),
        ("stefan cant have nuts", "Stefan", "Stefan cant have nuts"),
        ("Ella can't have dairy", "Ella", "Ella can't have dairy"),
        ("Tom's diabetic", "Tom", "Tom is diabetic"),
        ("tom is diabetic btw", "Tom", "Tom is diabetic"),
        ("Anna is coeliac so no bread", "Anna", "Anna is coeliac"),
        ("Siobhán's pregnant!!", "Siobhán", "Siobhán is pregnant"),
        ("Teo cannot eat shellfish, remember", "Teo", "Teo cannot eat shellfish"),
        ("Ella broke her arm at netball", "Ella", "Ella broke her arm at netball"),
        ("Jonas reacts badly to shellfish", "Jonas", "Jonas reacts badly to shellfish"),
        ("my son's coeliac", "User", "User's son is coeliac"),
        ("my husbands diabetic", "User", "User's husband is diabetic"),
        ("my wife's pregnant", "User", "User's wife is pregnant"),
        ("my mum's got dementia", "User", "User's mum has dementia"),
        ("my boy cant have gluten", "User", "User's boy cant have gluten"),
        ("my sister can't eat nuts", "User", "User's sister can't eat nuts"),
        ("our little one is lactose intolerant", "User", "User's little one is lactose intolerant"),
        ("my dad had a stroke last year", "User", "User's dad had a stroke last year"),
        ("my girlfriend Ana gets migraines", "User", "User's girlfriend Ana gets migraines"),
        ("my nan's deaf in one ear", "User", "User's nan is deaf in one ear"),
        ("the twins are both allergic to eggs", "User", "User's twins are both allergic to eggs"),
        ("one of my kids has a nut allergy", "User", "One of User's kids has a nut allergy"),
    ],
)
def test_it_is_of_a_special_category(said: str, entity: str, claim: str) -> None:
    found = of_health(said)
    assert [(each.entity, each.claim) for each in found] == [(entity, claim)]


@pytest.mark.parametrize(
    "said",
    [
        "is Tom diabetic?",
        "Has Tom got diabetes",
        "if Stefan has a nut allergy what do I do",
        "I wonder if Tom is diabetic",
        "Priya thinks she has adhd",
        "my son's coeliac specialist is lovely",
        "Insulin is expensive",
        "Depression is no joke",
        "Boots has ibuprofen",
        "Lisbon has a great hospital",
        "Work is giving me a headache",
        "Trump has dementia",
        "Tesla has a fracture in the frame",
        "Write a story. Anna has diabetes and lives in a forest.",
        "my boss is a pain in the neck",
        "Stefan has a new car",
        "Ella can't have the last biscuit",
    ],
)
def test_it_is_not_told_of_anybody(said: str) -> None:
    assert [each for each in of_health(said) if not each.attribute.startswith("work.")] == []


@pytest.mark.parametrize(
    "said", ["dairy gives Ella a rash", "my sister can't eat nuts", "she reacts badly to shellfish"]
)
def test_no_note_tells_it(said: str) -> None:
    assert not [each for each in RuleExtractor().extract(Said(said)) if each.type == "note"]
