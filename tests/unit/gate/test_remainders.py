"""What is left of several things when one of them is gone."""

from __future__ import annotations

import pytest

from beliefledger.gate.remainders import fewer, without

WITHOUT = (
    ("has", "two cats, Pixel and Toast", "toast", ["a cat, Pixel", "one cat, Pixel"]),
    ("has", "three dogs, Rex, Milo and Bo", "milo", ["two dogs, Rex and Bo", "dogs, Rex and Bo"]),
    ("has", "two rats called Pip and Mo", "pip", ["a rat called Mo", "one rat called Mo"]),
    ("has", "a dog called Rex and a cat called Mia", "rex", ["a cat called Mia"]),
    ("has", "a dog called Rex and a cat called Mia", "cat", ["a dog called Rex"]),
    ("owns", "a boat and a caravan", "caravan", ["a boat"]),
    ("plays", "the guitar, the piano and the drums", "guitar", ["the piano and the drums"]),
    ("goes to", "yoga and pilates every week", "pilates", ["yoga every week"]),
    ("has", "two cats, Pixel and Toast", "cats", []),
    ("has", "two cats, Pixel and Toast", "rex", []),
    ("has", "a boat", "boat", []),
)  # fmt: skip


@pytest.mark.parametrize(("verb", "value", "gone", "left"), WITHOUT)
def test_a_list_without_one_of_it(verb, value, gone, left):
    found = list(without(f"User {verb} {value}", value, [gone]))

    assert [each.value for each in found] == left
    assert [each.claim for each in found] == [f"User {verb} {each}" for each in left]


def test_a_second_employer_keeps_its_own_preposition():
    [left] = without("User works at Costa and at Lidl", "Costa and at Lidl", ["costa"])
    assert left == ("User works at Lidl", "Lidl")


def test_one_who_is_left_is_no_more_told_of_as_several():
    claim, value = "User's housemates are Tim and Kai", "Tim and Kai"
    assert list(without(claim, value, ["kai"])) == [("User's housemate is Tim", "Tim")]


def test_a_value_in_other_words_than_its_claim():
    claim, value = "User goes to yoga and pilates", "go to yoga and pilates"
    assert list(without(claim, value, ["pilates"])) == [("User goes to yoga", "go to yoga")]


LED = (
    ("User lives in a flat with Jess and Tom", "jess", "User lives in a flat with Tom"),
    ("User lives with my wife Ann and our dog, Rex", "rex", "User lives with my wife Ann"),
    ("User lives with my wife Ann and our dog, Rex", "ann", "User lives with our dog, Rex"),
    ("User lives with my mum and dad", "mum", "User lives with my dad"),
    ("User lives with my brother Tom and Jess", "tom", "User lives with Jess"),
    ("I live with a dog called Rex and a cat called Mia", "rex", "I live with a cat called Mia"),
    ("I smoke a pipe and drink beer", "pipe", "I drink beer"),
    ("I sell food and drink at the market", "food", None),
    ("I run on mon and wed evenings", "wednesdays", "I run on mon evenings"),
    ("I live here and work with Ana and Bob", "ana", "I live here and work with Bob"),
)  # fmt: skip


@pytest.mark.parametrize(("claim", "gone", "left"), LED)
def test_what_leads_up_to_a_list_stands(claim, gone, left):
    assert next((each.claim for each in without(claim, claim, [gone])), None) == left


FEWER = (
    ("two cats", 1, ["a cat", "one cat"]),
    ("3 cats", 1, ["2 cats", "cats"]),
    ("three old bikes", 2, ["an old bike", "one old bike"]),
    ("two cats, Pixel and Toast", 1, ["a cat, Pixel or Toast", "one cat, Pixel or Toast"]),
    ("three cats, Pixel, Toast and Bo", 1, []),
    ("two cats", 2, []),
    ("cats", 1, []),
)  # fmt: skip


@pytest.mark.parametrize(("value", "count", "left"), FEWER)
def test_a_smaller_number(value, count, left):
    assert [each.value for each in fewer(f"User has {value}", value, count)] == left
