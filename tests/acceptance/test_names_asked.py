"""Who somebody is stays told, whatever else is new; what is asked of others is told of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from beliefledger import open_memory

FIRST = datetime(2026, 6, 1, 12, tzinfo=UTC)
DOG = "we adopted a dog!! hes a whippet called pickle"
MARE = "got a horse!! shes a mare called duchess"
LIDL = ("i work at dell", "got a job at lidl, dell was awful")
SISTER = "my sister joanna is coming over at the weekend"
SAD = "sad news, biscuit died on friday. need help with words for my sister"


def found(tmp_path, embedder, turns, question):
    with open_memory(tmp_path, consent="contract", embedder=embedder) as memory:
        for number, words in enumerate(turns):
            memory.remember("ana", words, said_at=FIRST + timedelta(days=4 * number))
        return memory.search("ana", question).results


@pytest.mark.parametrize("embedder", ["words-3", "hashed-1"])
@pytest.mark.parametrize(
    ("turns", "question", "first"),
    [
        (("my manager is priya", DOG), "who is my manager", "User's manager is priya"),
        (("my manager is priya", DOG), "who is my boss", "User's manager is priya"),
        (("my wife is layla", MARE), "what is my wife called", "User's wife is layla"),
        (("i have a brother", "my brother is tom", DOG), "what's my brother's name", "is tom"),
        ((SISTER, SAD), "who is my sister", "User's sister is joanna"),
        (
            ("my son is leo", "new guy at work, his name is piet, so funny"),
            "what is my son called",
            "User's son is leo",
        ),
        # What does say something of who it is comes first even so.
        (
            ("my boss is priya", "new boss starts monday, he's called marek"),
            "who is my boss",
            "marek",
        ),
        (
            ("my neighbour is bob", "bob moved out, karl lives next door now"),
            "who is my neighbour",
            "karl lives next door",
        ),
    ],
)  # fmt: skip
def test_news_of_something_else_takes_no_name_up(tmp_path, embedder, turns, question, first):
    results = found(tmp_path, embedder, turns, question)
    assert first in results[0].text
    assert results[0].taken_up_by is None


@pytest.mark.parametrize("embedder", ["words-3", "hashed-1"])
@pytest.mark.parametrize(
    ("turns", "question", "first"),
    [
        (("my sister is ana", "ana works at google", *LIDL), "where does ana work", "google"),
        (("my sister is ana", "ana works at google", *LIDL), "who does ana work for", "google"),
        (("my sister is ana", *LIDL), "where does ana work", "sister is ana"),
        (("my brother is tom", "i just moved to leeds"), "where does my brother live", "tom"),
        # Of whoever does it together with the subject, what the subject does is told.
        (
            ("my brother works at bmw", "he got a job at audi"),
            "where does my brother work",
            "audi",
        ),
        (
            (
                "me and my wife are watching The Bridge",
                "we're done with the bridge, so it's Borgen every evening",
            ),
            "what do my wife and I watch in the evenings?",
            "Borgen",
        ),
    ],
)  # fmt: skip
def test_what_the_subject_does_answers_nothing_of_others(
    tmp_path, embedder, turns, question, first
):
    assert first in found(tmp_path, embedder, turns, question)[0].text


RUI = ("my boyfriend is rui", "rui and i broke up", "my boyfriend is andre")


@pytest.mark.parametrize("embedder", ["words-3", "hashed-1"])
@pytest.mark.parametrize(
    ("turns", "question", "told", "not_told"),
    [
        (RUI, "who is my ex", "User's boyfriend is rui", "andre"),
        (RUI, "who was my ex", "User's boyfriend is rui", "andre"),
        (RUI, "what's my ex's name", "User's boyfriend is rui", "andre"),
        (RUI, "what is my ex-boyfriend called", "User's boyfriend is rui", "andre"),
        (RUI, "who is my boyfriend", "User's boyfriend is andre", None),
        (("my boyfriend is sam",), "who is my ex", None, "sam"),
        (("my ex is called rui", "my boyfriend is andre"), "who is my ex", "rui", "andre"),
        (("my ex moved to lisbon", "i live in porto"), "where does my ex live", "lisbon", None),
        (
            ("my boss is priya", "priya left, my boss is marek now"),
            "who is my ex boss",
            "User's boss is priya",
            "User's boss is marek",
        ),
        # The name of one relative is no answer to who another is.
        (("my boyfriend is sam", "i have a brother"), "what is my sister's name", None, "sam"),
        (("my brother is tom", "my friend is sam"), "what is my sister's name", None, "is "),
        (("my brother is tom", "my friend is sam"), "who is my friend", "is sam", "tom"),
        (("my brother is tom",), "what are my siblings called", "tom", None),
        (
            ("my boyfriend is sam and my sister is ana",),
            "what is my sister's name",
            "sister is ana",
            None,
        ),
    ],
)
def test_no_other_name_is_told(tmp_path, embedder, turns, question, told, not_told):
    texts = [each.text for each in found(tmp_path, embedder, turns, question)]
    if told is not None:
        assert any(told in each for each in texts[:3])
    if not_told is not None:
        assert not any(not_told in each for each in texts)
