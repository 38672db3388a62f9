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
