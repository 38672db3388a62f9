"""Sayings, drafts, and repairs within a sentence: what the rules make of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from beliefledger.gate.rules import drafts, inline_repairs
from beliefledger.gate.rules.extractor import RuleExtractor
from beliefledger.ledger.candidate import SpeechAct

SAID_AT = 1_760_000_000_000_000


def turn(text, role="user", name="t"):
    return SimpleNamespace(turn_id=name, role=role, content=text, said_at=SAID_AT)


def claims(text, *earlier):
    found = RuleExtractor().extract(turn(text), earlier)
    return [each.claim for each in found if each.act is not SpeechAct.QUOTED]


@pytest.mark.parametrize(
    "said",
    [
        "i've got a lot on my plate",
        "i have bigger fish to fry",
        "I've got cold feet",
        "we wear many hats",
        "i'd sell a kidney for a nap",
    ],
)
def test_nothing_is_kept_of_a_saying(said):
    assert claims(said) == []


def test_what_stands_beside_a_saying_is_kept():
    assert "User works at Lidl" in claims("I've got a lot on my plate, I work at Lidl")


@pytest.mark.parametrize(
    "said",
    [
        "dating profile for a friend. i'm 41, two kids",
        "translate: I live in Madrid",
        "fix the grammar: me and my brother works in a garage",
        "cover letter pls, start w I live in Leeds",
        "example sentence with since, like i live here since may",
        "for the sake of the example my name is Bob",
    ],
)
def test_a_draft_is_nobody_s_statement(said):
    assert drafts.begins(said) is not None
    assert claims(said) == []


@pytest.mark.parametrize(
    "said", ["make that 6:55", "I need a card for my sister's birthday", "I write texts for Bosch"]
)
def test_what_only_resembles_a_draft_is_none(said):
    assert drafts.begins(said) is None


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("my sister lives in Bonn, no wait, Köln", "User's sister lives in Köln"),
        ("i have 3 cats, i mean 4", "User has 4 cats"),
        ("the meeting is on monday no sorry tuesday", "User: the meeting is on tuesday"),
    ],
)
def test_a_sentence_puts_itself_right(said, right):
    assert right in claims(said)


@pytest.mark.parametrize(
    "said",
    ["I live in Bonn, sorry for the late reply", "When I say the boss I mean Sarah", "no problem"],
)
def test_what_only_sounds_like_a_repair_is_none(said):
    assert inline_repairs.inline(said) is None or "Bonn" in claims(said)[0]


def test_the_assistant_s_guess_is_put_right():
    guess = turn("You live in Aarhus, right?", "assistant", "g")

    assert claims("no, Aalborg", guess) == ["User lives in Aalborg"]
    assert claims("no, not really", guess) == []


@pytest.mark.parametrize(
    ("said", "attributes"),
    [
        ("i was born in 1990", {"identity.birth-year"}),
        ("I was born on 5 May 1990", {"identity.birthday"}),
        ("I was born in Leeds in 1990", {"identity.birthplace", "identity.birth-year"}),
        ("born in 1990 in Leeds", {"identity.birthplace", "identity.birth-year"}),
        ("my boss is Greta but everyone says Gigi", {"relation.reports-to"}),
        ("I'm at Siemens since 2017", {"work.employer"}),
        ("my car is a Corsa", {"vehicle.car"}),
    ],
)
def test_a_value_stands_in_its_own_slot(said, attributes):
    assert {each.attribute for each in RuleExtractor().extract(turn(said))} == attributes
