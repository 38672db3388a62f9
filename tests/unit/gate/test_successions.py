"""The scorer of pairs: which sentences may overtake a belief, and which never do."""

from __future__ import annotations

import pytest

from beliefledger.gate import successions
from beliefledger.gate.overtaken import goes_to
from beliefledger.gate.rules import successions as rules_successions
from beliefledger.gate.successions import Said, Told, may_overtake, score, threshold

GYM = Told("fact", "has.membership", "User has a membership at PureGym", "membership at PureGym")
CAR = Told("fact", "has.vauxhall-corsa", "User has a vauxhall corsa", "vauxhall corsa")
NOTES = Told("note", "note.said", "all my notes are in Evernote", "all my notes are in Evernote")
CROSSFIT = Told("fact", "habit.crossfit", "User does crossfit", "do crossfit")


def _score(said, told):
    [rank] = successions.ranks(said, [told])
    return score(said, told, rank)


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (GYM, "let my puregym membership lapse, i run outside"),
        (CAR, "sold the corsa last week"),
        (CAR, "the corsa is sold"),
        (CAR, "sold the corsa, hope the new owner is nice to it"),
        (NOTES, "dumped evernote, its Obsidian for everything"),
        (CROSSFIT, "my knees said no, so no more crossfit"),
    ],
)
def test_what_is_said_to_be_over_is(told, sentence):
    said = Said(sentence)
    assert may_overtake(sentence)
    assert said.may_be_of(told)
    assert _score(said, told) >= threshold("over")


@pytest.mark.parametrize(
    "sentence",
    [
        "might sell the corsa",
        "if we sold the corsa, we could cycle",
        "they made me an offer for the corsa but i said no",
        "they made me an offer but i declined, no more of that please if you can",
        "i also got a polo",
        "he said the corsa is sold",
        "still have the corsa",
        "did you sell the corsa?",
    ],
)
def test_what_is_supposed_reported_joked_or_beside_overtakes_nothing(sentence):
    assert not may_overtake(sentence) or _score(Said(sentence), CAR) < threshold("over")


def test_another_name_of_a_kind_is_a_rival():
    for sentence, rival in (
        ("everything lives in Obsidian now", True),
        ("evernote is slow", False),
    ):
        said = Said(sentence)
        [rank] = successions.ranks(said, [NOTES])
        assert ("rival" in successions.features(said, NOTES, rank)) == rival


def test_a_change_is_told_without_a_reason_of_a_special_category():
    text = "mum got rid of her cats, allergies"
    [found] = rules_successions.findings(text, 0, len(text))
    assert found.claim == "mum got rid of her cats"


def test_what_shares_neither_word_nor_topic_is_not_asked_about():
    assert not Said("we moved the sofa").may_be_of(GYM)


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("switched to Globex last month", "Globex"),
        ("jumped ship to Acme Corp", "Acme Corp"),
        ("switched to nights", None),
        ("thinking of Globex", None),
    ],
)
def test_where_somebody_goes_is_a_name(sentence, name):
    assert goes_to(sentence) == name
