"""Strong words of complaint are no crime, and what is meant as it is said stays."""

from __future__ import annotations

import pytest

from beliefledger.gate.rules import hyperboles

NOT_MEANT = ("robbery", "murder", "criminal", "theft", "crime", "killing", "mugging", "fraud")


@pytest.mark.parametrize(
    "said",
    [
        "rent went up to 1580, robbery",
        "rent's 1580 now, daylight robbery",
        "Gym is 60 a month, criminal prices",
        "council tax is 210 a month, its murder",
        "parking is 30 quid a day, absolute robbery",
        "nursery is 1200 a month which is basically theft",
        "my car insurance went up to 900 - highway robbery",
        "trains are 45 quid return, its a crime",
        "7 quid for a pint, that's a crime",
        "electric bill is 240, they're mugging us",
        "the stairs are murder on my knees",
        "this commute is killing me",
        "mondays are literally killing me",
        "its a crime how good this bread is",
        "best crime I ever committed was moving to Leeds",
        "the fees are pure fraud",
    ],
)
def test_they_are_left_out(said: str) -> None:
    left = hyperboles.without(said)
    assert left != said
    assert not any(each in left for each in NOT_MEANT), left


@pytest.mark.parametrize(
    "said",
    [
        "my brother was done for robbery",
        "I was convicted of fraud",
        "i did time for burglary, paid a fine too",
        "he got 3 years for theft",
        "she was charged with murder",
        "I was fined 200 pounds for shoplifting",
        "my dad is in prison for fraud and the rent is due",
        "there was a robbery at the shop where I work",
        "I have a criminal record and pay my rent",
        "I work in fraud prevention at Barclays",
        "my uncle was murdered",
        "I write crime novels",
    ],
)
def test_what_is_meant_stays(said: str) -> None:
    assert hyperboles.without(said) == said
