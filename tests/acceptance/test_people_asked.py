"""What is so of a relative or friend comes first, asked by the relation or by the name."""

from __future__ import annotations

import pytest

MOVED_ON = "I'm at Mercy Hospital since last week, left St. Mary's"


def say(somebody, *turns):
    for month, words in enumerate(turns, 1):
        said_at = f"2025-{month:02}-03T12:00:00Z"
        somebody.memory.record_turn(somebody.who, words, said_at=said_at)
    somebody.memory.process()


def found(somebody, query):
    return [each.text for each in somebody.search(query, valid_at="2025-12-01").results]


CASES = [
    (
        ("my brother Tom drives a taxi", MOVED_ON, "Tom says he hates his taxi lol"),
        "User's brother Tom drives a taxi",
        (
            "what does my brother do?",
            "what's my brother's job?",
            "what does Tom do for a living?",
            "what's Tom's job?",
        ),
    ),
    (
        ("my sister Lena works at a bakery", MOVED_ON, "Lena brought bread from the bakery again"),
        "User's sister Lena works at a bakery",
        ("where does my sister work?", "where does Lena work?"),
    ),
    (
        ("my wife Nora is vegan", "I'm vegetarian", "Nora burnt the tofu lol"),
        "User's wife Nora is vegan",
        ("what does my wife eat?", "what's my wife's diet?", "is Nora vegetarian?"),
    ),
    (
        ("my brother Sam plays the cello", "rained all day", "Sam says his cello is out of tune"),
        "User's brother Sam plays the cello",
        ("what instrument does my brother play?", "what does Sam play?"),
    ),
    (
        ("my brother Dan fixes bikes", MOVED_ON, "ugh. dan's bikes are all over the hallway"),
        "User's brother Dan fixes bikes",
        ("what does my brother do for a living?", "what's Dan's job?"),
    ),
    (
        ("my boss Greta plays golf", "I live in Leeds", "Greta is off this week"),
        "User's boss Greta plays golf",
        ("which sport does my boss play?",),
    ),
    (
        ("my uncle Bert runs a pig farm", "I'm vegetarian", "Bert says the pigs escaped lol"),
        "User's uncle Bert runs a pig farm",
        ("what does my uncle do?", "what does Bert do for a living?"),
    ),
]


@pytest.mark.parametrize(
    ("turns", "answer", "question"),
    [(turns, answer, question) for turns, answer, questions in CASES for question in questions],
)
def test_what_is_told_of_somebody_comes_before_what_mentions_them(
    somebody, turns, answer, question
):
    say(somebody, *turns)
    assert found(somebody, question)[0] == answer


def test_a_context_begins_with_it(somebody):
    say(somebody, *CASES[0][0])
    believed = somebody.memory.context(somebody.who, "what does my brother do?").content
    first = believed.split("Believed now, about the question")[1].strip().splitlines()[0]
    assert "User's brother Tom drives a taxi" in first


def test_of_somebody_too_the_newer_value_comes_before_the_older(somebody):
    say(somebody, "my friend Priya lives in Bristol", "I live in Leeds", "Priya moved to Cardiff")
    for question in ("where does my friend live?", "what city does Priya live in?"):
        order = found(somebody, question)
        assert order[0] == "Priya moved to Cardiff"
        assert "Bristol" not in order[0]


def test_two_relatives_are_told_apart(somebody):
    say(somebody, "my brother Leo is a chef", "my sister Ana is a pilot", "Leo hates the heat")
    for question, answer in (
        ("what does my brother do?", "User's brother Leo is a chef"),
        ("what does my sister do?", "User's sister Ana is a pilot"),
        ("what's Leo's job?", "User's brother Leo is a chef"),
    ):
        assert found(somebody, question)[0] == answer


def test_a_new_job_takes_the_place_of_a_relatives_old_one(somebody):
    say(somebody, "my brother is a chef", "my brother is a waiter now")
    assert [each.text for each in somebody.beliefs()] == ["User's brother is a waiter now"]


def test_who_leaves_a_job_or_sells_a_car_is_a_relative_still(somebody):
    say(
        somebody,
        "my brother is Jonas",
        "my friend Kai works at Siemens",
        "Jonas sold the Volvo and got a Skoda", "Kai quit Siemens",
    )  # fmt: skip
    texts = [each.text for each in somebody.beliefs()]
    assert {"User's brother is Jonas", "User's friend is Kai"} <= set(texts)


def test_who_parted_is_not(somebody):
    say(somebody, "my girlfriend is Zoe", "Zoe and I split up")
    assert "User's girlfriend is Zoe" not in [each.text for each in somebody.beliefs()]


def test_a_role_stays_where_the_employer_is_left(somebody):
    say(somebody, "I work at St. Mary's as a nurse")
    assert found(somebody, "what do I do?")[0] == "User works at St. Mary's as a nurse"
    say(somebody, "so long", MOVED_ON)
    texts = [each.text for each in somebody.beliefs()]
    assert "User works as a nurse" in texts
    assert not [each for each in texts if each == "User works at St. Mary's as a nurse"]
    for question in ("what's my job?", "what do I do?"):
        assert "User works as a nurse" in found(somebody, question)[:3]


@pytest.mark.parametrize(
    ("said", "role"),
    [
        ("I'm a nurse at St. Mary's", "nurse"),
        ("I work as a welder for Bosch", "welder"),
        ("working at Lidl as a cashier", "cashier"),
        ("started at Bosch as a welder last week", "welder"),
        ("got hired at Ikea as a kitchen planner", "kitchen planner"),
        ("I've been a teacher at Oakfield High since 2019", "teacher"),
        ("new job: data analyst at Zalando", "data analyst"),
        ("my job: baker at Hofpfisterei", "baker"),
    ],
)
def test_a_role_is_kept_beside_the_employer(somebody, said, role):
    say(somebody, said)
    told = {each.attribute: each for each in somebody.beliefs()}
    assert told["work.role"].value == role
    assert role in found(somebody, "what's my job?")[0]
