"""What kind of answer a question asks for, and which kinds a text has."""

from __future__ import annotations

import pytest

from beliefledger.projections.answer_kinds import kinds_asked, kinds_in


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("when do we open?", "from this week on doors are at 7"),
        ("what time is standup", "standup got moved to 10:15"),
        ("what time does the guild start?", "Guild's at six now"),
        ("which day is judo?", "milan does judo, also tuesdays"),
        ("what day do releases go out?", "we push only on Wednesdays now"),
        ("when is the wedding?", "Joana postponed the wedding to september 12"),
        ("what year was it?", "bought it second hand in 2021"),
        ("how much is the rent?", "our rent's gone up to 1450 a month"),
        ("how much have I saved?", "im at 455k now in the car jar"),
        ("how much is it?", "7,50 euros, as ever"),
        ("how many hens are left?", "Down to four birds, a fox"),
        ("how old is Ellie?", "my daughter Ellie turned 9 yesterday"),
        ("who does the books?", "My wife Karen does the books"),
        ("who's our apprentice?", "we hired an apprentice, her name is svenja"),
        ("so who is my boss now?", "Beth left, my manager is now Oluwaseun"),
        ("where do I live?", "we found a flat in Roslyn, much warmer"),
        ("where's my boy?", "Nels got the keys in spokane"),
        ("which city is it?", "Yusuf signed with a team in Kigali"),
    ],
)
def test_a_text_has_what_is_asked_for(question: str, text: str) -> None:
    assert kinds_asked(question)
    assert kinds_asked(question) & kinds_in(text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("when do we open?", "he is in his place and so quiet its spooky"),
        ("what time is it?", "bought 3 kilos of flour"),
        ("how much is the rent?", "the landlord is a nice man"),
        ("how many are left?", "she wanted a cake in the shape of an axolotl"),
        ("what day is it?", "we talked about it at length"),
    ],
)
def test_one_that_has_it_not_is_told_apart(question: str, text: str) -> None:
    assert not kinds_asked(question) & kinds_in(text)


@pytest.mark.parametrize("question", ["what do I drive?", "which editor do I use?", "am I vegan?"])
def test_a_question_that_shows_no_kind_asks_for_none(question: str) -> None:
    assert kinds_asked(question) == 0
