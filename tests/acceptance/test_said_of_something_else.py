"""What is said of a day, of another's mother, of who is back or of another firm ends nothing."""

from __future__ import annotations

import pytest

STANDS = [
    ("theo started year 2 and he loves his teacher miss okafor", "miss okafor is back thank god"),
    ("my physio is Karin and she comes on mondays", "karin is back"),
    ("my cleaner Ola comes on tuesdays, she is great", "ola is back from poland"),
    ("my dog walker is Jo and she comes at noon", "jo is back"),
    (
        "kids are w their mum every other weekend and wednesdays",
        "mums cast is off, she does mondays again but not tuesdays",
    ),
    ("kids are w their mum every other weekend and wednesdays", "mum does mondays again"),
    ("i see my mum on wednesdays", "their mums cast is off, she does mondays again"),
    (
        "we open 8 to 4 tuesday to sunday, closed mondays",
        "mondays are dead, average 60 quid. stopping that",
    ),
    ("our shop is open monday to saturday, 9 to 6", "saturdays are dead"),
    ("i swim on mondays and thursdays at 7", "mondays are dead at work"),
    (
        "my daughter brandi started at texas tech.",
        "applied to that tulsa outfit, its called Melton? no wait, its called Hogan",
    ),
    ("my son works at Ford", "applied to a firm, its called Melton? no wait, its called Hogan"),
    (
        "my bro callum is going to newcastle uni in sept to do engineering, i get his room!!!!",
        "i do history drama triple science eng maths",
    ),
    (
        "we rent a house in Cork, 1250 a month",
        "the landlord tried to put the rent up to 1400 but we said no",
    ),
]
OVER = [
    ("i visit my mum on sundays", "mum is on tuesdays now"),
    ("my cleaner Ola is on leave", "ola is back"),
    ("my neighbour Tom is staying with his son", "tom is back"),
    ("i swim on mondays", "no more swimming on mondays"),
    ("we rent a house in Cork, 1250 a month", "the landlord put the rent up to 1400"),
    ("my phone is a Pixel", "the Pixel is history"),
]
CALLED = [
    ("my cat is called Milo", "no wait, its called Max", "User's cat is called Max"),
    ("my startup is called Melton", "no wait, it's called Hogan", "User's startup is called Hogan"),
    ("my boss is called Tom", "no wait, hes called Tim", "User's boss is called Tim"),
]


def _told(somebody):
    return {each.text for each in somebody.beliefs() if each.type != "event"}


@pytest.mark.parametrize(("before", "said"), STANDS)
def test_what_is_said_of_something_else_ends_nothing(somebody, before, said):
    somebody.remember(before)
    told = _told(somebody)
    assert told
    somebody.remember(said)
    assert told <= _told(somebody)


@pytest.mark.parametrize(("before", "said"), OVER)
def test_what_is_said_of_it_ends_it(somebody, before, said):
    somebody.remember(before)
    told = {each for each in _told(somebody) if "neighbour is" not in each}
    somebody.remember(said)
    assert told.isdisjoint(_told(somebody))


@pytest.mark.parametrize(("before", "said", "now"), CALLED)
def test_what_it_is_called_is_put_right(somebody, before, said, now):
    somebody.remember(before)
    somebody.remember(said)
    assert now in _told(somebody)
