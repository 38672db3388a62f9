"""What was mistyped is put right by the next turn."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("turns", "over", "stands"),
    [
        (
            ("i work for Accenture", "deloitte!! why did i write accenture, long day"),
            ("for Accenture",),
            ("eloitte",),
        ),
        (("my mac has 8gb of ram", "18 i mean"), ("has 8gb",), ("18",)),
        (
            ("our api gateway is kong", "wait no its traefik, kong is the other project"),
            ("gateway is kong",),
            ("traefik",),
        ),
        (("party is at Gino's on the 5th", "*Nino's, autocorrect"), ("Gino",), ("Nino",)),
        (("call me Kat", "no wait thats my sisters login, its Steph here"), ("Kat",), ("Steph",)),
        (("the kickoff is on the 9th", "oops, the 19th"), ("the 9th",), ("19th",)),
        (
            ("my course is called Intro to Econometrics, prof Hale", "Haley, with a y at the end"),
            (),
            ("Econometrics",),
        ),
        (
            ("my sister lives in Leeds", "not leeds, lincoln. i always mix them up"),
            ("Leeds",),
            ("incoln",),
        ),
        (("I was born in 1987", "1978!!! dyslexic moment"), ("1987",), ("1978",)),
        (("my dog is 4", "14 even, missed a key"), ("is 4",), ("14",)),
        (("we meet on thursdays", "tuesdays, i mean tuesdays"), ("thursdays",), ("tuesday",)),
        (("my boss is called Anna", "hanna with an h"), ("Anna",), ("anna",)),
        (("my rent is 950", "ugh typo 590"), ("950",), ("590",)),
        (("my daughter is called Emmy", "Emma lol thanks autocorrect"), ("Emmy",), ("Emma",)),
    ],
)
def test_what_was_mistyped_is_put_right(somebody, turns, over, stands):
    somebody.ends_with(turns, over, stands)


NO_REPAIRS = [
    ("I live in Lisbon.", "OK stop the music."),
    ("I live in Lisbon", "ok next question"),
    ("I live in Lisbon", "well done"),
    ("I live in Lisbon", "oh wow"),
    ("My dog is Rex", "ok draft an email"),
    ("I live in Lisbon", "ok perfect"),
    ("I work at Acme", "ok lunch time"),
    ("I live in Lisbon", "ok then Porto"),
    ("I use Python", "ok dark mode"),
    ("I drive a Volvo", "hmm interesting"),
    ("I use Python", "well, long story"),
    ("I live in Lisbon", "sorry, typo"),
    ("I work at Acme", "ok boss"),
    ("I live in Lisbon", "well it's raining"),
    ("I live in Lisbon", "ok it's late"),
    ("I work at Acme", "no problem"),
    ("i like jazz", "no worries"),
    ("I drive a Volvo", "no idea"),
    ("I drive a Volvo", "wait, really?"),
    ("I drive a Volvo", "sorry about that"),
    ("I drive a Volvo", "sorry for the delay"),
    ("I drive a Volvo", "no rush at all"),
    ("I drive a Volvo", "actually never mind"),
    ("I drive a Volvo", "actually that works"),
    ("I drive a Volvo", "sorry wrong chat"),
    ("I drive a Volvo", "oh sorry, different topic"),
    ("I drive a Volvo", "sorry, phone died"),
    ("I drive a Volvo", "sorry, one sec"),
    ("I drive a Volvo", "no more questions"),
    ("I drive a Volvo", "actually quick question"),
    ("I drive a Volvo", "wait a second"),
    ("I drive a Volvo", "sorry, back now"),
    ("I drive a Volvo", "oops, wrong button"),
    ("i live in lisbon", "oops wrong button"),
    ("i work at acme", "sorry dinner time"),
    ("i work at acme", "sorry cat walked over keyboard"),
    ("i like jazz", "no thanks mate"),
    ("My favourite colour is blue.", "no wait, first run the tests"),
    ("I use Python.", "ok now summarise the meeting notes"),
    ("My boss is Eve.", "OK delete the draft."),
    ("I have two cats.", "OK open the file"),
]
"""What begins as a repair does, and only goes on: nothing of it is a value."""


@pytest.mark.parametrize(("told", "said"), NO_REPAIRS)
def test_what_goes_on_puts_nothing_right(somebody, told, said):
    before = [each.text for each in somebody.believed_after(told)]
    assert [each.text for each in somebody.believed_after(said)] == before


@pytest.mark.parametrize(
    ("said", "believed"),
    [
        ("sometimes I sleep on the sofa. Jess's sofa I mean", "I sleep on Jess's sofa"),
        ("sometimes I cry in the car. David's car I mean", "I cry in David's car"),
        ("sometimes I nap in the office. Priya's office I mean", "I nap in Priya's office"),
        ("on sundays I swim in the lake. Lake Bled I mean", None),
        ("usually I'm at the gym. PureGym I mean", None),
        ("often I've had lunch in the park. Hyde Park I mean", "had lunch in Hyde Park"),
    ],
)
def test_the_speaker_gives_way_to_no_name(somebody, said, believed):
    found = [each.text for each in somebody.believed_after(said, besides=())]
    assert all(" I" in each or each.startswith(("I", "User")) for each in found)
    assert believed is None or any(believed in each for each in found)
