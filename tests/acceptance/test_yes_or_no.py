"""A plain answer to the assistant's yes-or-no question about the user says what was asked."""

from __future__ import annotations

from typing import Any

import pytest

ANSWERED = [
    ("Do you like olives?", "yes", "User likes olives"),
    ("Nice! Do you like olives?", "Yes!", "User likes olives"),
    ("Do you have children?", "Yes, two", "User has two children"),
    ("Do you have any children?", "yes, 3", "User has 3 children"),
    ("Do you have kids?", "Yes I do, two", "User has two kids"),
    ("Do you have kids?", "yes, 2 boys", "User has 2 boys"),
    ("Do you have children?", "no", "User has no children"),
    ("Have you got any siblings?", "no", "User has no siblings"),
    ("Do you have a dog?", "yes, Rex", "User has a dog called Rex"),
    ("Do you have a cat?", "yes, called Luna", "User has a cat called Luna"),
    ("Do you have any pets?", "yes, a cat", "User has a cat"),
    ("Do you live in Berlin?", "yes", "User lives in Berlin"),
    ("Do you live in Berlin?", "no", "User does not live in Berlin"),
    ("Do you live alone?", "yep", "User lives alone"),
    ("Do you drive?", "no", "User does not drive"),
    ("Do you drink coffee?", "yeah", "User drinks coffee"),
    ("Do you speak Spanish?", "no", "User does not speak Spanish"),
    ("Do you like your job?", "yes", "User likes their job"),
    ("Do you work from home?", "yes", "User works from home"),
    ("Are you married?", "yep", "User is married"),
    ("Are you retired?", "Yes, I am.", "User is retired"),
    ("Are you a nurse?", "yes", "User is a nurse"),
    ("Are you from Leeds?", "no", "User is not from Leeds"),
]
NOT_PLAIN = [
    ("Do you like olives or capers?", "yes"),
    ("Do you like this plan?", "yes"),
    ("Do you like it?", "yes"),
    ("Do you want me to continue?", "yes"),
    ("Do you need a recipe?", "yes"),
    ("Do you have any questions?", "yes"),
    ("Do you have a minute?", "yes"),
    ("Do you have a receipt?", "yes"),
    ("Do you use the new version?", "yes"),
    ("Do you live near here?", "yes"),
    ("Are you sure?", "yes"),
    ("Are you a robot?", "yes"),
    ("Are you looking for a hotel in Rome?", "yes"),
    ("Would you like some help?", "yes please"),
    ("Do you have children? What about pets?", "yes"),
    ("Does your sister have children?", "yes, two"),
    ("Let's play a game. You are a wizard. Do you own a dog?", "yes"),
    ("Do you have children?", "maybe"),
    ("Do you like olives?", "yesterday I ate some"),
]


def _after(somebody: Any, asked: str, answer: str) -> list[str]:
    somebody.is_asked(asked)
    return [each.text for each in somebody.believed_after(answer)]


@pytest.mark.parametrize(("asked", "answer", "claim"), ANSWERED)
def test_a_plain_answer_says_what_was_asked(somebody, asked, answer, claim):
    assert _after(somebody, asked, answer) == [claim]


@pytest.mark.parametrize(("asked", "answer"), NOT_PLAIN)
def test_an_answer_to_another_question_says_nothing(somebody, asked, answer):
    assert _after(somebody, asked, answer) == []


def test_what_was_answered_is_decided_again_as_it_was(somebody):
    _after(somebody, "Do you have children?", "Yes, two")
    assert somebody.memory.audit.replay_all().different == 0
