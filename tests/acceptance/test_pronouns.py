"""What is said of "he" or "she" is about whom the words before name."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("turns", "over", "stands"),
    [
        (
            ("My friend Maria lives in Madrid.", "She moved to Paris."),
            ("Madrid",),
            ("Maria moved to Paris",),
        ),
        (
            ("My friend Maria lives in Madrid. She moved to Paris.",),
            ("Madrid",),
            ("Maria moved to Paris",),
        ),
        (
            (
                "My brother Max lives in Linz.",
                "He works at Voest.",
                "He got a new job at Bosch.",
            ),
            ("Voest",),
            ("Linz", "Max got a new job at Bosch"),
        ),
        (
            ("My friend Maria lives in Madrid.", "She lives in Paris now."),
            ("Madrid",),
            ("Maria lives in Paris",),
        ),
        (("My brother Tim is a vet in Hull. he plays drums",), (), ("vet", "Tim plays drums")),
        (("My dog is Rex", "he likes cheese"), (), ("Rex likes cheese",)),
        (("My husband is Luca.", "He moved to Bern"), (), ("Luca moved to Bern",)),
    ],
)
def test_the_one_who_was_named_is_meant(somebody, turns, over, stands):
    somebody.ends_with(turns, over, stands)


@pytest.mark.parametrize(
    ("turns", "stands"),
    [
        (("My friend Maria lives in Madrid.", "He moved to Paris."), "Madrid"),
        (("My sister Ana lives in Oslo.", "He moved to Paris"), "Oslo"),
        (("My friends Maria and Tom live in Madrid.", "She moved to Paris."), "Madrid"),
        (("My friend Maria lives in Madrid.", "Did she move to Paris?"), "Madrid"),
        (("My friend Maria lives in Madrid", "she might move to Paris"), "Madrid"),
    ],
)
def test_where_somebody_else_may_be_meant_nothing_changes(somebody, turns, stands):
    found = [each.text for each in somebody.believed_after(*turns, besides=())]
    assert [each for each in found if stands in each]
    assert not [each for each in found if "Paris" in each]


@pytest.mark.parametrize(
    ("turns", "never"),
    [
        (("Rome is lovely. I met a guy.", "his name is Luca"), "Rome's"),
        (("Leeds was fun. I met a girl there.", "her name is Kim"), "Leeds's"),
        (("Kyoto is great. I met a guy.", "he's called Daichi"), "Kyoto's"),
        (("I watch Netflix. I got a puppy.", "his name is Otto"), "Netflix's"),
        (("I moved to Bergen and got a kitten.", "her name is Tofu"), "Bergen's"),
        (("We love Spotify. I've started seeing a guy.", "he's called Omar"), "Spotify's"),
        (("Porto was great and I met someone.", "her name is Ines"), "Porto's"),
        (("Porto was great and I met someone.", "she lives in Ghent"), "Porto lives"),
        (("I joined Strava. I found a running buddy.", "she's a nurse"), "Strava's"),
        (("Rome is lovely. I met a guy. He's a chef.",), "Rome's"),
        (("Oslo is cold. I hired a cleaner.", "Her name's Marit"), "Oslo's"),
        (("Max got a dog. I like it.", "his name is Rex"), "Max's name"),
        (
            ("My daughter is Beth.", "She's asked dad to go with me", "He's got one from 1987"),
            "'s got one",
        ),
        (
            ("My friend is Beth.", "She's asked dad to go with me", "He's got one from 1987"),
            "'s got one",
        ),
        (("My friend is Beth.", "She's on holiday", "He's got a red car"), "'s got"),
        (("My friend Beth is nice. I asked dad.", "He's got one from 1987"), "Beth's got"),
        (("My friend Kim is nice. I asked my mum.", "She's got a key"), "Kim's got"),
    ],
)
def test_a_pronoun_is_of_nobody_whose_name_cannot_be_meant(somebody, turns, never):
    assert not [each for each in somebody.believed_after(*turns, besides=()) if never in each.text]


@pytest.mark.parametrize(
    ("turns", "stands"),
    [
        (("I met a guy called Luca.", "He's a chef"), "Luca's a chef"),
        (("I met a guy, Luca.", "He lives in Turin"), "Luca lives in Turin"),
        (("I have a friend, Joao.", "He plays the drums"), "Joao plays the drums"),
        (("My colleague Sven has a cat.", "he lives in Malmö"), "Sven lives in Malmö"),
        (("Max is my big brother.", "he lives in Malmö"), "Max lives in Malmö"),
        (("My wife Ana got a job.", "she starts in May"), "Ana starts in May"),
        (("I got a puppy. His name is Otto",), "Otto"),
    ],
)
def test_who_was_told_with_a_name_is_meant_still(somebody, turns, stands):
    assert [each for each in somebody.believed_after(*turns, besides=()) if stands in each.text]
