"""What a search finds first is told in the context, also where little was said so far."""

from __future__ import annotations

import pytest

from beliefledger import open_memory

ANSWERED = [
    (
        "can you write a card for my brother felix, he's getting married",
        "what is my brother called",
        "felix",
    ),
    ("write a toast for my sister nora, she turns 30", "what's my sister's name", "nora"),
    ("can you write a card for my nan dorothy, she turns 90", "what is my nan called", "dorothy"),
    ("bought a used renault clio, which tyres should i get", "what car do i have", "clio"),
    ("bought a used renault clio, which tyres should i get", "did i buy a car", "clio"),
    (
        "got a thinkpad with my bonus, which linux should i put on",
        "which laptop do i have",
        "thinkpad",
    ),
    ("adopted a whippet called pickle, how much should he eat", "what pet do i have", "pickle"),
    (
        "started learning the cello, how often should i practise",
        "what instrument do i play",
        "cello",
    ),
    ("moved to porto last week, any tips for flats?", "where do i live", "porto"),
    (
        "bought a used renault clio, insurance quote is 48 a month, normal?",
        "what car do i drive",
        "clio",
    ),
    (
        "bought a used renault clio, insurance quote is 48 a month, normal?",
        "how much is my car insurance",
        "48",
    ),
    ("rest at home with the kids (mila 4, jonas 7)", "what are my kids called", "mila"),
    (
        "got the offer from indeed, i start on the 23rd, same role",
        "whos my employer these days",
        "indeed",
    ),
]
UNSAID = [
    ("i went to the cinema with my cousin", "what car do i have"),
    ("i went to the cinema with my cousin", "what is my brother called"),
    ("my sister drives a renault", "which laptop do i have"),
    ("should i get a dog?", "what pet do i have"),
    ("what about a new car, maybe a clio?", "what car do i drive"),
    ("can you write a card for my brother felix", "what is my sister called"),
    ("bought a used renault clio, which tyres should i get", "where do i live"),
]


@pytest.fixture(scope="module", params=["hashed-1", "words-3"])
def memory(request, tmp_path_factory):
    place = tmp_path_factory.mktemp("ledger")
    with open_memory(place, consent="contract", embedder=request.param) as opened:
        yield opened


def asked(memory, said, question):
    memory.remember(said, said, said_at="2026-03-01T10:00:00Z")
    return memory.context(said, question, max_tokens=600)


@pytest.mark.parametrize(("said", "question", "answer"), ANSWERED)
def test_the_only_thing_that_answers_is_told(memory, said, question, answer):
    assert any(answer in line.text for line in asked(memory, said, question).lines)


@pytest.mark.parametrize(("said", "question"), UNSAID)
def test_what_does_not_answer_is_not(memory, said, question):
    lines = asked(memory, said, question).lines
    assert [line.text for line in lines if line.section != "profile"] == []
