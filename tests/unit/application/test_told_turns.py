"""Which sentences of a turn a context tells a model."""

from __future__ import annotations

import time

import pytest

from beliefledger.search.told_turns import acts, shares_a_term, untouched


def told(text):
    """What is told of a turn: its sentences without those that are not meant, and whether any of
    them states something."""
    found = acts(text)
    unmeant = [text[start:end] for start, end in found.unmeant]
    return unmeant, found.stating


@pytest.mark.parametrize(
    "text",
    [
        "where do I live?",
        "Which charger do I need for my car?",
        "write a two line email to my boss",
        "please forget that about the musicals, it's embarrassing",
        "Thanks, that helps.",
        "lol ok, good night",
        "tell me about my pets. Thanks!",
        "is 48 a month normal, too much?",
        "so should I get the clio, the red one?",
        "You work at Red Bull, right?",
        "what about a new car, maybe a clio?",
    ],
)
def test_questions_requests_and_small_talk_state_nothing(text):
    assert told(text) == ([], False)


@pytest.mark.parametrize(
    "text",
    [
        "So what can I cook tonight? I have chickpeas and spinach",
        "picked up a Kia Niro today, it's electric",
        "We're in York now! boxes everywhere",
        "let me know if you need my address, I'm in Leeds",
        "my mate Tom says he's moving to Dubai",
        "bought a used renault clio, insurance quote is 48 a month, normal?",
        "my rent goes up to 900, too much?",
        "the landlord wants 900 a month from May, can he do that?",
    ],
)
def test_statements_are_told(text):
    assert told(text) == ([], True)


@pytest.mark.parametrize(
    ("text", "unmeant"),
    [
        ("The boat is dry. If I won the lottery I'd move to Barbados.", 1),
        ("Let's play a game, you're a landlord and I'm a pirate called Redbeard", 1),
        ("I like tea. My wifi password is [redacted password], by the way.", 1),
        ('Reword this, please. "Dear Mr Hall, I am writing to complain about your flat."', 1),
    ],
)
def test_what_is_not_meant_and_secrets_are_not_told(text, unmeant):
    assert len(told(text)[0]) == unmeant


def test_words_that_a_memory_came_of_are_told():
    assert untouched([(0, 10), (12, 20)], [(14, 16)]) == [(0, 10)]


def test_a_term_is_shared_but_for_the_commonest_and_those_of_asking():
    assert shares_a_term("how do I seal the bow?", "Seal it with resin.")
    assert not shares_a_term("tell me about my pets", "Thank you for telling me.")
    assert not shares_a_term("where am I?", "I am here.")


def test_reading_takes_time_in_proportion_to_the_text():
    def seconds(times):
        text = (
            "I think my friend said, if we go, we should pack light; where would you stay? " * times
        )
        begin = time.thread_time()
        acts(text)
        return time.thread_time() - begin

    seconds(10)
    assert min(seconds(240) for _ in range(3)) < 12 * max(0.002, min(seconds(60) for _ in range(3)))
