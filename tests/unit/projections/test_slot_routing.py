"""Which slots a question is about, and whether it asks about now or about the past."""

import pytest

from beliefledger.projections.slot_routing import asked_for, built_in, slot_words


def names(question, more=()):
    return [slot.name for slot in asked_for(question, more).slots]


@pytest.mark.parametrize(
    ("question", "slot"),
    [
        ("where do I live (now)?", "home.location"),
        ("what city am I in?", "home.location"),
        ("who is my boss?", "relation.reports-to"),
        ("am I still vegetarian?", "diet.type"),
        ("what should I cook tonight?", "diet.type"),
        ("whats my ride", "drives"),
    ],
)
def test_paraphrases_ask_for_a_slot(question, slot):
    assert names(question)[0] == slot


@pytest.mark.parametrize(
    ("question", "tense", "first"),
    [
        ("where do I live?", "now", False),
        ("where do I live at the moment?", "now", False),
        ("where did I live before?", "past", False),
        ("what was my first dog called?", "past", True),
        ("where was I living in spring 2024?", "past", False),
        ("what did I buy at the market?", "any", False),
        ("how many dogs do I have?", "now", False),
        ("how many dogs did I have?", "any", False),
    ],
)
def test_words_say_whether_now_or_the_past_is_asked_for(question, tense, first):
    asked = asked_for(question)
    assert (asked.tense, asked.first) == (tense, first)


def test_what_is_asked_about_beside_the_slot_is_told():
    assert asked_for("what is my kitchen budget?").rest == ("kitchen",)
    assert asked_for("where did my sister live before Berlin?").rest == ()
    kin = asked_for("where does my sister live?").kin
    assert frozenset(("sis", "sister")) in kin


def test_questions_with_much_more_in_them_ask_for_no_slot():
    assert names("what did Melanie paint for the charity auction in Leeds at the school?") == []


def test_a_type_brings_words_of_its_own():
    boat = slot_words("type boat", {"types": ("boat",), "asks": ("sail with",)})
    assert names("what do I sail with?") == []
    assert names("what do I sail with?", (boat,)) == ["type boat"]


def test_every_slot_has_words_and_a_description():
    for slot in built_in():
        assert slot.about
        assert slot.names or slot.asks
