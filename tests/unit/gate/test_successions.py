"""The scorer of pairs: which sentences may overtake a belief, and which never do."""

from __future__ import annotations

import numpy as np
import pytest

from beliefledger.gate import successions
from beliefledger.gate.keys import canonical
from beliefledger.gate.overtaken import is_kin
from beliefledger.gate.pairs import Said, Told, linked_best, ranks
from beliefledger.gate.rules import successions as rules_successions
from beliefledger.gate.successions import is_over, may_overtake, stands, threshold
from beliefledger.gate.switches import goes_to
from beliefledger.networks.pairs import PairNetwork

GYM = Told("fact", "has.membership", "User has a membership at PureGym", "membership at PureGym")
CAR = Told("fact", "has.vauxhall-corsa", "User has a vauxhall corsa", "vauxhall corsa")
NOTES = Told("note", "note.said", "all my notes are in Evernote", "all my notes are in Evernote")
CROSSFIT = Told("fact", "habit.crossfit", "User does crossfit", "do crossfit")


def _is_over(said, told):
    [rank] = ranks(said, [told])
    return is_over(said, told, rank, threshold("over"))


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
    assert _is_over(said, told)


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
    assert not may_overtake(sentence) or not _is_over(Said(sentence), CAR)


@pytest.mark.parametrize("sentence", ["the corsa needs washing", "I washed the corsa today"])
def test_what_is_only_mentioned_surely_stands(sentence):
    said = Said(sentence)
    [rank] = ranks(said, [CAR])
    assert stands(said, CAR, rank)
    assert not _is_over(said, CAR)


def test_what_the_regression_doubts_is_not_over_whatever_the_network_says(monkeypatch):
    """Only with both is it over: of short sentences the network alone knows too little."""
    sentence = "the corsa needs washing"
    monkeypatch.setattr(PairNetwork, "log_odds", lambda _, pairs: np.full(len(pairs), 100.0))
    assert not _is_over(Said(sentence), CAR)
    assert _is_over(Said("sold the corsa last week"), CAR)
    monkeypatch.setattr(PairNetwork, "log_odds", lambda _, pairs: np.full(len(pairs), -100.0))
    assert not _is_over(Said("sold the corsa last week"), CAR)


def test_another_name_of_a_kind_is_a_rival():
    for sentence, rival in (
        ("everything lives in Obsidian now", True),
        ("evernote is slow", False),
    ):
        said = Said(sentence)
        [rank] = ranks(said, [NOTES])
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


def test_of_many_beliefs_those_with_most_in_common_are_asked_about():
    said = Said("sold the corsa last week")
    others = [
        Told("fact", f"has.week-{number}", f"User has week {number} of a plan", f"week {number}")
        for number in range(20)
    ]
    there = [*others[:10], CAR, *others[10:]]
    assert linked_best(said, there, 21) == list(range(21))
    best = linked_best(said, there, 3)
    assert best == sorted(best)
    assert 10 in best  # the car
    assert {19, 20} < set(best)  # of equals the later ones


def test_a_rival_is_asked_about_before_what_only_shares_words():
    said = Said("moved all my notes to Obsidian")
    many = [
        Told("note", "note.said", f"my notes, part {n}", f"my notes, part {n}") for n in range(9)
    ]
    evernote = Told("fact", "uses.evernote", "User uses Evernote", "Evernote")
    assert 0 in linked_best(said, [evernote, *many], 2)


@pytest.mark.parametrize("title", "bestie best-mate mate bff gf hubby mum dad bro sis kid".split())
def test_a_relative_or_friend_is_kin_under_the_key_that_they_have(title):
    assert is_kin(canonical(f"relation.{title}.name", "relation"), "Kim")
