"""Memberships that were cancelled, guests who went home, pets that died, what was handed back."""

from __future__ import annotations

import pytest

OVER = [
    ("i joined puregym, 24 a month", "cancelled puregym, waste of money", "joined puregym"),
    ("i joined puregym", "i cancelled my puregym membership.", "joined puregym"),
    ("i joined the gym, 30 a month", "cancelled the gym, never went", "User joined the gym"),
    ("i joined puregym, 24 a month", "binned off puregym", "joined puregym"),
    ("i signed up for duolingo max", "cancelled duolingo", "signed up"),
    ("jo's boyfriend moved in for two weeks", "jo's bf is back at his own place", "moved in for"),
    ("jo's boyfriend moved in for two weeks", "jo's boyfriend has moved out again", "moved in for"),
    ("my cousin moved in for a month", "my cousin went back to leeds", "moved in for"),
    ("my cousin is staying with us for a month", "my cousin has gone home", "staying with"),
    ("My supervisor is Prof. Garnier", "Dr. Lefèvre supervises me now", "Garnier"),
    ("I drive a 2019 freightliner cascadia", "turned in the cascadia today", "drives a 2019"),
    ("driving a 2019 freightliner cascadia", "turned in the cascadia", "driving a 2019"),
    ("got a 2019 freightliner cascadia", "turned the cascadia in", "got a 2019"),
    ("my old dog Balder is 14", "We lost Balder yesterday.", "is 14"),
    ("my old cat Mimi is 17", "we had to put Mimi to sleep", "is 17"),
    ("i quit energy drinks", "drinking energy drinks again", "quit energy"),
    ("I am living in a CROUS residence", "I moved to a shared flat near Jean Macé", "CROUS"),
    ("Applied for a junior credit analyst job at Nedbank", "nedbank said no", "Applied"),
    ("Applied for a junior credit analyst job at Nedbank", "nedbank rejected me", "Applied"),
    (
        "hired the backend person: Tomasz, starts 1 october.",
        "tomasz handed in his notice :( leaves end of december",
        "starts 1 october",
    ),
    (
        "trying mondays for a month, 9 to 2",
        "mondays are dead, average 60 quid. stopping that",
        "9 to 2",
    ),
]
STANDS = [
    ("Applied for a junior credit analyst job at Nedbank", "absa rejected me", "Applied"),
    ("Applied for an analyst job at Nedbank", "if nedbank said no i would cry", "Applied"),
    ("Applied for an analyst job at Nedbank", "nedbank said no news yet", "Applied"),
    ("i joined puregym, 24 a month", "cancelled my class at puregym", "joined puregym"),
    ("i joined puregym, 24 a month", "cancelled netflix", "joined puregym"),
    ("i joined puregym, 24 a month", "i might cancel puregym", "joined puregym"),
    ("i joined puregym, 24 a month", "my sister cancelled puregym", "joined puregym"),
    ("i joined puregym, 24 a month", "left puregym at nine", "joined puregym"),
    ("jo's boyfriend moved in for two weeks", "kim's bf is back at his own place", "moved in for"),
    ("jo's boyfriend moved in for two weeks", "jo went home early", "moved in for"),
    ("my cousin is staying with us for a month", "my sister has gone home", "staying with"),
    ("my cousin is staying with us for a month", "my cousin has gone to bed", "staying with"),
    ("my cousin is staying with us for a month", "my cousin is back home from work", "staying"),
    ("My supervisor is Prof. Garnier", "Dr. Lefèvre also supervises me", "Garnier"),
    ("My supervisor is Prof. Garnier", "Dr. Lefèvre supervises my friend Ana now", "Garnier"),
    ("I drive a 2019 freightliner cascadia", "turned in the essay today", "drives a 2019"),
    ("my old cat Mimi is 17", "Mimi is asleep", "is 17"),
    ("my old dog Balder is 14", "my friend lost her dog Rex yesterday.", "is 14"),
    ("i quit energy drinks", "drinking sports drinks again", "quit energy"),
    ("I am living in a CROUS residence", "I moved the desk to the window", "CROUS"),
    ("I live in Leeds", "I moved to a shared flat near the station", "lives in Leeds"),
    ("i take history, french and drama", "my sister has no more french", "french"),
]
ANOTHER = [
    ("i get 6.80 an hour at haxbys", "haxbys put me up to 7.20 an hr", "6.80", "7.20 an hr"),
    ("i get 6.80 an hour at haxbys", "they bumped my pay to £7.20", "6.80", "7.20"),
    ("my gcse options r history, french, drama", "YESS no more french", "french,", "drama"),
    ("my staff: kirsty, ahmed n poppy", "poppy left", "n poppy", "kirsty and ahmed"),
]
NO_OTHER = [
    ("i get 6.80 an hour at haxbys", "haxbys put tom up to 7.20 an hr", "gets 6.80"),
    ("i get 6.80 an hour at haxbys", "haxbys might put me up to 7.20 an hr", "gets 6.80"),
    ("i get 6.80 an hour at haxbys", "they put me up to it", "gets 6.80"),
]


@pytest.mark.parametrize(("first", "then", "over"), OVER)
def test_what_is_given_back_or_gone_is_over(somebody, first, then, over):
    somebody.ends_with((first, then), (over,), ())


@pytest.mark.parametrize(("first", "then", "stands"), STANDS)
def test_what_is_of_something_else_ends_nothing(somebody, first, then, stands):
    somebody.ends_with((first, then), (), (stands,))


@pytest.mark.parametrize(("first", "then", "over", "stands"), ANOTHER)
def test_what_is_less_or_more_now_takes_its_place(somebody, first, then, over, stands):
    somebody.ends_with((first, then), (over,), (stands,))


@pytest.mark.parametrize(("first", "then", "stands"), NO_OTHER)
def test_the_figure_of_others_leaves_it(somebody, first, then, stands):
    somebody.ends_with((first, then), (), (stands,))


EATS = [
    "was vegan but just vegetarian now",
    "i was vegan for 3 years but im just vegetarian now, cheese won",
    "was vegan, back to vegetarian now",
]
STILL_EATS = [
    "my sister was vegan but just vegetarian now",
    "tom was vegan, but just vegetarian now",
    "is the menu just vegetarian now?",
]


@pytest.fixture
def eater(somebody):
    somebody.memory.consent.grant(
        somebody.who, "explicit_consent", categories=("ordinary", "health")
    )
    somebody.remember("I'm vegan")
    return somebody


@pytest.mark.parametrize("said", EATS)
def test_another_diet_takes_the_place_of_the_one_before(eater, said):
    eater.remember(said)
    assert [b.value for b in eater.beliefs() if b.attribute == "diet.type"] == ["vegetarian"]


@pytest.mark.parametrize("said", STILL_EATS)
def test_the_diet_of_others_leaves_the_users(eater, said):
    eater.remember(said)
    assert [b.value for b in eater.beliefs() if b.attribute == "diet.type"] == ["vegan"]
