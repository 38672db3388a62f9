"""The scorer of pairs: which sentences may overtake a belief, and which never do."""

from __future__ import annotations

import pytest

from beliefledger.gate import successions
from beliefledger.gate.successions import Said, Told, may_overtake, score, threshold

GYM = Told("fact", "has.membership", "User has a membership at PureGym", "membership at PureGym")
CAR = Told("fact", "has.vauxhall-corsa", "User has a vauxhall corsa", "vauxhall corsa")


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (GYM, "let my puregym membership lapse, i run outside"),
        (CAR, "sold the corsa last week"),
        (CAR, "the corsa is sold"),
    ],
)
def test_what_is_said_to_be_over_is(told, sentence):
    said = Said(sentence)
    assert may_overtake(said)
    assert said.may_be_of(told)
    assert score(said, told) >= threshold("threshold")


@pytest.mark.parametrize(
    "sentence",
    [
        "might sell the corsa",
        "i also got a polo",
        "he said the corsa is sold",
        "sold the corsa haha jk",
        "still have the corsa",
        "did you sell the corsa?",
    ],
)
def test_what_is_supposed_reported_joked_or_beside_overtakes_nothing(sentence):
    assert not may_overtake(Said(sentence))


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
    assert successions.goes_to(sentence) == name
