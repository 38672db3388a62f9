"""How much of a text states something, beside what it asks for and what it only imagines."""

from __future__ import annotations

import pytest

from beliefledger.projections.open_sentences import stated
from beliefledger.projections.search_terms import terms


@pytest.mark.parametrize(
    "text",
    [
        "where do I live?",
        "write me a haiku about a failing test",
        "can u write a funny out of office for a long weekend",
        "whats the difference between a latte and a flat white again",
        "ok so how do i get oil off a shirt",
        "should i buy a motorcycle",
        "do you know any good jokes about bread, for the chalkboard",
        "any tips for growing leeks",
        "I could use a good riddle for the kids.",
        "please suggest a name for a cake",
        "what if hotels had no doors",
        "btw, quick question, is there a good film on tonight",
    ],
)
def test_what_asks_for_something_states_nothing(text: str) -> None:
    assert stated(text) == 0


@pytest.mark.parametrize(
    "text",
    [
        "I live in Porto",
        "actually make it 1800",
        "make that 10:30",
        "please use grams and celsius with me",
        "always give me sizes in millimetres",
        "what happened is that my car broke down",
        "how I met Jono is a long story",
        "list price was 900, I paid 700",
        "I need a new phone",
        "So I moved to Leeds",
    ],
)
def test_what_tells_something_does(text: str) -> None:
    assert stated(text) > 0


def test_only_the_part_that_tells_counts() -> None:
    assert stated("what should I cook? I don't eat meat") == stated("I don't eat meat")


def test_what_a_text_states_is_outside_its_questions() -> None:
    assert stated("I like tea. Do you like green coffee?") == len(terms("I like tea"))
    assert stated("Do you?") == 0
    assert stated("Green tea") == 2
