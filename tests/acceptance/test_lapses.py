"""What is over for somebody near to the user, or on hold, is not told as if it stood."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def opened_with():
    return {"extractor": "rules", "consent": "explicit_consent"}


def told(somebody, *turns):
    """The claims that are believed after these turns, without what only happened."""
    for words in turns:
        somebody.remember(words)
    return {each.text for each in somebody.beliefs() if each.type != "event"}


OVER = (
    ("My sister Ana works at Zalando", "my sister Ana quit"),
    ("My sister Ana works at Zalando", "ana got fired :("),
    ("My sister Ana works at Zalando as a designer", "Zalando let Ana go"),
    ("My sister Ana works at Zalando", "my sis isnt at zalando any more"),
    ("My sister Ana works at Siemens Energy", "Ana left Siemens"),
    ("My brother Tim works nights at the depot", "Tim handed in his notice"),
    ("My mum Rita is a nurse", "mum retired last month"),
    ("My friend Jo works for Bolt", "I met Jo today, he got laid off"),
    ("My dad Bob drives a Ford", "Bob sold his car"),
    ("My friend Lea lives in Munich", "Lea moved away"),
    ("My friend Lea lives in Munich", "lea doesnt live in munich any more"),
    ("My brother Sam is dating Nina", "Sam and Nina broke up"),
    ("My brother Sam is engaged to Nina", "Sam called off the engagement"),
    ("My cousin Kim studies law at Leeds", "Kim graduated"),
    ("My son Max goes to Elm Primary", "Max left Elm Primary"),
    ("My friend Jo goes to the gym every day", "jo quit the gym"),
    ("My dad plays golf every Sunday", "my dad doesnt play golf any more"),
    ("My dad Bob lives in Leeds", "my dad died last week"),
    ("My grandma Rita lives in Hull", "we lost grandma last night"),
    ("I'm taking guitar lessons", "I paused the guitar lessons"),
    ("I'm learning Portuguese on Duolingo", "Portuguese is on hold"),
    ("I go to choir on Thursdays", "choir's on break till January"),
    ("I work at Siemens Energy in Berlin", "left siemens last week"),
    ("My boss Rob likes short emails", "I have a new boss, Mia"),
    ("My partner Jonas doesn't eat pork", "Jonas and I split up"),
    ("My colleague Priya drives a Tesla", "Priya quit"),
)  # fmt: skip


def test_what_is_taught_is_told_without_the_school_that_was_left(somebody):
    before = "I teach maths at Ashfield School"
    after = "left Ashfield, starting at Park High in September"

    assert told(somebody, before) == {"User teaches maths", "User teaches maths at Ashfield School"}
    assert not any("Ashfield" in each for each in told(somebody, after))


@pytest.mark.parametrize(("before", "after"), OVER)
def test_what_is_over_is_not_told(somebody, before, after):
    stands = told(somebody, before)
    left = stands & told(somebody, after)

    assert stands
    assert all(each.startswith(("User's",)) and " is " in each for each in left), left
    assert all(each.split(" is ")[1][0].isupper() for each in left), left


STAYS = (
    ("My sister Ana works at Zalando", "Ana didn't quit"),
    ("My sister Ana works at Zalando", "Ana almost quit last year"),
    ("My sister Ana works at Zalando", "if Ana got fired she'd move home"),
    ("My sister Ana works at Zalando", "did Ana quit?"),
    ("My sister Ana works at Zalando", "Ana's boyfriend got fired"),
    ("My sister Ana works at Zalando", "Ana quit her yoga class"),
    ("My sister Ana works at Zalando", "I dreamt Ana quit"),
    ("My sister Ana works at Zalando", "my other sister quit"),
    ("My sister Ana works at Zalando", "Ana left early today"),
    ("My dad Bob lives in Leeds", "Bob died laughing at that"),
    ("My dad Bob lives in Leeds", "Bob's phone died"),
    ("My dad Bob lives in Leeds", "in the game Bob died"),
    ("My dad Bob drives a Ford", "Bob sold his boat"),
    ("My friend Lea lives in Munich", "Lea moved desks to another team"),
    ("My friend Lea lives in Munich", "Lea moved on"),
    ("My brother Sam is married to Nina", "Sam and his band broke up"),
    ("My cousin Kim studies law at Leeds", "Kim graduated from high school in 2015"),
    ("My brother Omar plays golf every Sunday", "Omar is off sugar now"),
    ("My boss Rob hates meetings", "Rob quit smoking"),
    ("I'm taking guitar lessons", "I paused the movie"),
    ("I'm learning Portuguese", "the call was on hold for an hour"),
    ("I work at Park High", "left Park Street market with a new lamp"),
)  # fmt: skip


@pytest.mark.parametrize(("before", "after"), STAYS)
def test_what_is_not_over_is_told(somebody, before, after):
    stands = told(somebody, before)

    assert stands
    assert stands <= told(somebody, after)


def test_a_dead_father_is_the_father_still(somebody):
    stands = told(somebody, "My dad is Bob", "Bob plays golf", "Bob works at Ford")

    assert stands - told(somebody, "Bob died") == {"Bob plays golf", "Bob works at Ford"}
    assert any("Bob died" in each.text for each in somebody.beliefs())


def test_only_the_sister_who_is_named_has_quit(somebody):
    ana, bea = "My sister Ana works at Zalando", "My sister Bea works at Aldi"
    assert told(somebody, ana, bea) <= told(somebody, "my sister quit")
    assert not any("Aldi" in each for each in told(somebody, "my sister Bea quit"))
    assert any("Zalando" in each for each in told(somebody))


def test_what_was_begun_is_not_told_once_it_is_on_hold(somebody):
    somebody.remember("I started learning Portuguese")
    somebody.remember("Portuguese is on hold")

    assert [each.text for each in somebody.beliefs()] == ["Portuguese is on hold"]


LEFT = (
    ("I have two cats, Pixel and Toast", "Toast died", "User has a cat, Pixel"),
    ("I have two cats called Pixel and Toast", "Pixel ran away", "User has a cat called Toast"),
    ("I have two cats, Pixel and Toast", "one of the cats died", "User has a cat, Pixel or Toast"),
    ("I have two bikes", "one of my bikes got stolen", "User has a bike"),
    ("I have three cats", "one of them died", "User has cats"),
    ("I have two dogs, Rex and Milo", "we gave Rex away", "User has a dog, Milo"),
    ("I own a boat and a caravan", "sold the boat", "User owns a caravan"),
    ("I play tennis and squash", "I gave up squash", "User plays tennis"),
    ("I use Notion and Obsidian", "I dropped Notion", "User uses Obsidian"),
    ("I go to yoga and pilates every week", "I quit pilates", "User goes to yoga every week"),
    ("I'm learning Spanish and Italian", "I dropped Italian", "User is learning Spanish"),
    ("I live with two flatmates, Tim and Kai", "Kai moved out", "User lives with a flatmate, Tim"),
)  # fmt: skip


@pytest.mark.parametrize(("before", "after", "left"), LEFT)
def test_the_others_are_left_of_several(somebody, before, after, left):
    stands = told(somebody, before)
    now = told(somebody, after)

    assert left in now
    # "User's dog is Milo" was told beside the two, and is so still.
    assert stands & now <= {each for each in stands if each.startswith("User's dog is Milo")}


def test_a_language_is_dropped_alone(somebody):
    before = told(somebody, "I speak German, French and Dutch")

    assert before - told(somebody, "I dropped French") == {"User speaks French"}


SEARCHED = (
    ("My sister Ana works at Zalando", "my sister Ana quit", "where does Ana work"),
    ("I have two cats, Pixel and Toast", "Toast died", "do I have cats"),
    ("My partner Jonas doesn't eat pork", "Jonas and I split up", "what does Jonas not eat"),
)


@pytest.mark.parametrize(("before", "after", "asked"), SEARCHED)
def test_a_search_tells_the_words_of_what_is_over_as_outdated(somebody, before, after, asked):
    told(somebody, before, after)

    found = {each.text: each.standing.state for each in somebody.search(asked).results}
    assert found[before] == "outdated"
