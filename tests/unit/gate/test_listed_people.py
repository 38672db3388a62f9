"""Family and pets that somebody lists by name."""

from __future__ import annotations

import pytest

from beliefledger.gate.rules.extractor import findings

LISTED = {
    "I have a daughter, Helen, in Bristol, and a son, Peter, in Perth": {
        ("relation.daughter.name", "Helen"),
        ("relation.son.name", "Peter"),
        ("home.location", "Bristol"),
        ("home.location", "Perth"),
    },
    "I've got a son named Leo and a daughter named Ivy": {
        ("relation.son.name", "Leo"),
        ("relation.daughter.name", "Ivy"),
    },
    "we have a son (Leo, 4) and a daughter (Ivy, 2)": {
        ("relation.son.name", "Leo"),
        ("relation.daughter.name", "Ivy"),
    },
    "i have a cat, Minnie, and a dog, Rex": {
        ("relation.cat.name", "Minnie"),
        ("relation.dog.name", "Rex"),
    },
    "I've got a sister Mia in Graz and a brother Jan in Wien": {
        ("relation.sister.name", "Mia"),
        ("relation.brother.name", "Jan"),
        ("home.location", "Graz"),
        ("home.location", "Wien"),
    },
}


@pytest.mark.parametrize("said", LISTED)
def test_each_has_a_slot_of_their_own(said):
    assert {(each.attribute, each.value) for each in findings(said, 0)} == LISTED[said]


@pytest.mark.parametrize(
    "said",
    ["i have a meeting, Tuesday, with Bob", "I have a car, Tesla, in red", "I have a plan, Max"],
)
def test_nobody_is_made_of_what_is_no_person(said):
    assert not any(each.attribute.startswith("relation.") for each in findings(said, 0))


def test_one_who_is_called_something_is_read_as_a_whole():
    [found] = findings("I have a brother called Tom", 0)
    assert found.claim == "User has a brother called Tom"


COUNTED = {
    "We have two kids, Lotte who is 9 and Arne who just turned 6.": {("Lotte", "9"), ("Arne", "6")},
    "We have three children: Ana, 12, Tom, 9 and little Eva, 2.": {
        ("Ana", "12"), ("Tom", "9"), ("Eva", "2"),
    },
    "my kids are Noor (9) and Sem (6)": {("Noor", "9"), ("Sem", "6")},
    "I've got two boys, Max (4) and Leo (7)": {("Max", "4"), ("Leo", "7")},
    "We have 2 kids, Noah 3 and Emma 5": {("Noah", "3"), ("Emma", "5")},
    "I have three sisters: Ann, Beth and Carol": {("Ann", ""), ("Beth", ""), ("Carol", "")},
    "my brothers are called Jan and Piet": {("Jan", ""), ("Piet", "")},
    "our daughters Mia and Zoe are at camp": {("Mia", ""), ("Zoe", "")},
}  # fmt: skip


@pytest.mark.parametrize("said", COUNTED)
def test_each_of_several_is_told_with_their_age(said):
    found = findings(said, 0)
    named = {each.value for each in found if each.attribute.startswith("relation.")}
    assert named == {name for name, _ in COUNTED[said]}
    aged = {
        (each.entity, each.value) for each in findings(said, 0) if each.attribute == "identity.age"
    }
    assert aged == {(name, age) for name, age in COUNTED[said] if age}


@pytest.mark.parametrize(
    "said",
    [
        "My kids are tired and cranky",
        "Our children go to Lincoln and Hope schools",
        "I have two kids, one is 4 and one is 6",
        "I have two kids and they love Peppa and Bluey",
        "I have three kids, Tom and Ben",
        "we have two boys, Monday and Tuesday are for them",
    ],
)
def test_where_nobody_is_listed_nobody_is_named(said):
    assert not any(
        each.attribute.startswith("relation.")
        and each.attribute.count(".") > 1
        and each.attribute != "relation.children.school"
        for each in findings(said, 0)
    )
