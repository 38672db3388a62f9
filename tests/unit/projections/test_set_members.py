"""Which members of a set a text tells of, and which a question asks for."""

import pytest

from beliefledger.projections.set_members import told_of
from beliefledger.projections.set_questions import SetQuestion, role_asked, set_asked


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("We have a dog called Biscuit, he's a beagle.", [("dog", "biscuit")]),
        ("our cats Tom & Kit", [("cat", "tom kit")]),
        ("we've three hens: Peck, Dot and Lulu", [("hen", "peck dot lulu")]),
        ("adopted another cat, Miso", [("cat", "miso")]),
        ("Mila is our cat", [("cat", "mila")]),
        ("the dog's called Rex", [("dog", "rex")]),
        ("just had a baby girl, she's called Ida", [("daughter", "ida")]),
        ("User's son is Ben", [("son", "ben")]),
        ("I play the piano and the guitar", [("", "piano"), ("", "guitar")]),
        ("I speak French at home and a bit of Dutch", [("", "french"), ("", "dutch")]),
        ("dr Patel is my dentist", [("dentist", "patel")]),
        ("plumber's name is Stan", [("plumber", "stan")]),
        ("our landlord is Mr Hill", [("landlord", "hill")]),
        ("allergic to nuts and cats here", [("", "nut cat")]),
    ],
)
def test_a_text_tells_of_members(text, members):
    told = told_of(text).members
    assert [(each.kind, " ".join(each.names)) for each in told] == members


@pytest.mark.parametrize(
    "text",
    [
        "my sister's dog is called Rex",
        "the neighbours' cat keeps sitting on our car",
        "I'd like a dog",
        "we have to take the dog to the vet",
        "I have a friend's number, she has a dog",
        "Emma plays the cello",
        "my sister's dentist is Dr Who",
        "sadly our dog Biscuit died",
        "I went to the pet shop",
        "our dog walker quit",
    ],
)
def test_what_is_somebody_elses_or_not_so_is_no_member(text):
    kinds = {"dog", "cat", "dentist"}
    told = [
        each for each in told_of(text).members if each.kind in kinds or each.names == ("cello",)
    ]
    assert not told


def test_whose_allergy_it_is_is_told():
    [own] = told_of("I'm allergic to penicillin").members
    theirs = [e for e in told_of("my son Ben is allergic to nuts").members if e.set == "allergies"]
    assert own.own
    assert [each.own for each in theirs] == [False]


def test_what_ended_is_told_by_its_terms():
    assert ("pets", ("sad", "biscuit", "die", "yesterday")) in told_of(
        "sadly Biscuit died yesterday"
    ).ended


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("what pets do I have?", SetQuestion("pets", alone=True)),
        ("how many cats do we have?", SetQuestion("pets", "cat", counts=True)),
        ("what are my girls called", SetQuestion("children", "daughter", alone=True)),
        ("kids?", SetQuestion("children")),
        ("which allergies do we have in the family?", SetQuestion("allergies")),
        ("what languages do I speak?", SetQuestion("languages", alone=True)),
        ("tell me about my pets", SetQuestion("pets")),
        ("what do my kids eat?", None),
        ("when do my kids finish school?", None),
        ("how old are my kids?", None),
        ("what pets did I use to have?", None),
        ("what's my cat called?", None),
        ("what pets does my sister have?", None),
    ],
)
def test_a_question_asks_for_a_set(question, asked):
    found = set_asked(question)
    assert (found and found._replace(alone=False)) == (asked and asked._replace(alone=False))


@pytest.mark.parametrize(
    ("question", "role"),
    [
        ("who is our builder?", "builder"),
        ("what's the name of our plumber?", "plumber"),
        ("builder's name?", "builder"),
        ("what was the plumber called again", "plumber"),
        ("which vet do we go to?", "vet"),
        ("name of my accountant", "accountant"),
        ("who was my old dentist", None),
        ("when is the plumber coming", None),
        ("who's my sister's dentist", None),
        ("garden party", None),
    ],
)
def test_a_question_asks_who_has_a_role(question, role):
    assert role_asked(question) == role
