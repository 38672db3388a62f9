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
