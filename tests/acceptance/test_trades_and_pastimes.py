"""Who leaves an employer is of the same trade still, and so is who takes up a pastime."""

from __future__ import annotations

import pytest

OF_A_TRADE = [
    ("im a sparky, work for a firm called Brightwire", "handed my notice in at brightwire!!"),
    ("I'm a nurse at St Mary's.", "I handed in my notice at St Mary's."),
    ("im a baker at Greggs", "got sacked from greggs"),
    ("im a nurse at Guys", "handed my notice in at guys, im going to st thomas"),
    ("I'm a developer at Acme", "I got laid off"),
    ("I'm a developer at Acme", "I left Acme"),
    ("I'm a nurse at Guys", "resigned today"),
    ("I'm a carpenter at Acme", "I'm out of work"),
    ("I'm a welder at Acme", "they let me go"),
]
OVER = [
    ("I'm a nurse", "I retired"),
    ("I'm a nurse at Guys", "I retired last week"),
    ("I'm a nurse at Guys", "I'm retired now"),
    ("I'm a nurse at Guys", "I stopped nursing"),
    ("I'm a nurse at Guys", "im not a nurse anymore"),
    ("I'm a nurse", "I no longer work"),
    ("I'm a barista at Costa", "I got fired"),
    ("I work as a waiter", "I quit my job"),
    ("I'm a team lead at Acme", "I got laid off"),
    ("I'm a manager at Aldi", "resigned today"),
    ("I'm a nurse", "I'm a baker now"),
    ("I'm a nurse", "i work as a diver now"),
]
PASTIMES = [
    "I'm a marathoner",
    "im a cyclist now",
    "im a qualified diver now!",
    "I'm a climber now",
    "I'm a keen hiker and climber",
    "im a gamer now",
]


def _held(somebody, attribute):
    return [each.text for each in somebody.beliefs() if each.attribute == attribute]


@pytest.mark.parametrize(("before", "said"), OF_A_TRADE)
def test_who_leaves_an_employer_is_of_a_trade_still(somebody, before, said):
    somebody.remember(before)
    trade = _held(somebody, "work.role")
    assert trade
    assert _held(somebody, "work.employer")
    somebody.remember(said)
    assert _held(somebody, "work.role") == trade
    assert _held(somebody, "work.employer") == []


@pytest.mark.parametrize(("before", "said"), OVER)
def test_what_somebody_does_no_more_is_over(somebody, before, said):
    somebody.remember(before)
    held = _held(somebody, "work.role")
    assert held
    somebody.remember(said)
    assert not set(held) & set(_held(somebody, "work.role"))


@pytest.mark.parametrize("said", PASTIMES)
def test_a_pastime_takes_the_place_of_no_job(somebody, said):
    somebody.remember("I work as a teller at Absa in Rosebank")
    held = _held(somebody, "work.role")
    somebody.remember(said)
    assert _held(somebody, "work.role") == held
