"""A noun without "my" belongs to whom or what the sentence before tells of."""

from __future__ import annotations

import pytest

NAMED = [
    ("hired a baker!! name is Oona, starts next week", None),
    ("new puppy!! name is Waffle", None),
    ("we have a new boss. name is Karl", None),
    ("hired a nanny!! name is Ewa", None),
    ("got a boat. name is Maribel", None),
    ("my boss is nice. name is Karl", None),
    ("got a kitten!! name is Miso", "User's kitten is called Miso"),
    ("my daughter was born!! name is Ida, 3.4 kg", "User's daughter is called Ida"),
    ("i met someone. name is Tara", "User met someone called Tara"),
]
OF_THE_SPEAKER = [
    ("hi! name is Theo", "Theo"),
    ("Hello there. Name is Theo, I'm 30.", "Theo"),
    ("name is Theo", "Theo"),
    ("i just signed up. name is Theo", "Theo"),
    ("i need help with my account. name is Theo Marsh", "Theo Marsh"),
    ("I'm a nurse from Leeds. Name is Theo.", "Theo"),
    ("I work as a baker. name is Theo", "Theo"),
    ("I am new here. name is Ana.", "Ana"),
]
FIGURES = [
    ("my rent is 900 a month", "my sister got a flat!! rent is 600 a month", "900", "600"),
    ("my birthday is 3 May", "got a kitten!! birthday is 4 june", "3 May", "4 june"),
    ("my salary is 3000 a month", "hired a baker! salary is 2000 a month", "3000", "2000"),
    ("I am 34", "we have a new trainee. age is 19", "34", "19"),
    ("my rent is 600 a month", "moved to a new flat! rent is 700 a month", "700", "600"),
    ("my rent is 600 a month", "my landlord called. rent is 700 a month now", "700", "600"),
]


@pytest.mark.parametrize(("said", "told"), NAMED)
def test_the_name_of_somebody_else_is_not_the_speakers(somebody, said, told):
    somebody.remember("my name is Ann")
    somebody.remember(said)
    there = [each.text for each in somebody.beliefs()]
    assert "User's name is Ann" in there
    assert told is None or told in there
    assert not any(each.lower().startswith("name is") for each in there)


@pytest.mark.parametrize(("said", "name"), OF_THE_SPEAKER)
def test_the_speaker_gives_their_name(somebody, said, name):
    somebody.remember(said)
    assert f"User's name is {name}" in [each.text for each in somebody.beliefs()]


@pytest.mark.parametrize(("first", "then", "believed", "not_so"), FIGURES)
def test_a_figure_is_of_whom_the_sentence_before_tells(somebody, first, then, believed, not_so):
    somebody.remember(first)
    somebody.remember(then)
    there = " · ".join(each.text for each in somebody.beliefs())
    assert believed in there
    assert not_so not in there
