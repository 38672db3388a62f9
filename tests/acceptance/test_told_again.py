"""What is told again with another day, date or hour takes the place of what was told first."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("before", "again", "left"),
    [
        ("trash day is monday", "trash day is thursday", "monday"),
        ("trash day is monday", "trash day will be thursday from next week", "monday"),
        ("thesis due june 15", "thesis is due july 1", "june 15"),
        ("standup is at 9:30", "standup is at 10:15", "9:30"),
        ("my exam is on the 3rd", "my exam is on the 9th", "3rd"),
        ("Tom's birthday is June 3", "Tom's birthday is June 8", "June 3"),
    ],
)
def test_the_same_of_another_time_takes_its_place(somebody, before, again, left):
    told = [each.text for each in somebody.believed_after(before, again, besides=())]
    assert told
    assert not any(left in each for each in told)


@pytest.mark.parametrize(
    ("before", "again"),
    [
        ("i swim on mondays", "i swim on thursdays"),
        ("band practice thursdays", "band practice fridays"),
        ("the kids are with me on mondays", "the kids are with me on tuesdays"),
        ("my exam is on the 3rd", "my second exam is on the 9th"),
        ("my birthday is june 3", "my sister's birthday is june 8"),
        ("my flight is on monday", "my flight home is on friday"),
    ],
)
def test_what_may_have_several_times_keeps_them(somebody, before, again):
    told = [each.text for each in somebody.believed_after(before, besides=())]
    after = [each.text for each in somebody.believed_after(again, besides=())]
    assert set(told) < set(after)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("it's a girl! her name is Signe", "User's daughter is Signe"),
        ("its a boy! his name is Otto", "User's son is Otto"),
    ],
)
def test_a_child_is_called_by_the_name_of_the_next_sentence(somebody, said, text):
    assert [each.text for each in somebody.believed_after(said)] == [text]


def test_a_sisters_child_is_none_of_the_users(somebody):
    somebody.remember("my sister had her baby! it's a girl! her name is Signe")
    assert not any(each.text.startswith("User's daughter") for each in somebody.beliefs())


def test_nobody_is_called_by_the_name_of_a_place(somebody):
    somebody.remember("my son goes to Oakfield primary")
    somebody.remember("he moved up a year")
    assert not any(each.text.startswith("Oakfield") for each in somebody.beliefs())


@pytest.mark.parametrize(
    ("before", "news", "words", "now"),
    [
        ("i rent a 1 bed in Leeds, 1350 a month", "landlord put it up to 1450", "1350", "1450"),
        ("im taking 5 courses", "dropped algebra so 4", "5 courses", "4 courses"),
        ("our team has 8 people", "two left so were 6 now", "8 people", "6 people"),
        ("my shifts are tue thu sat", "now its mon wed fri", "tue", "mon wed fri"),
        ("my badge number is 40718", "got a new badge, 51220", "40718", "51220"),
        ("my channel has 300 subscribers", "1000 subs!!!", "300", "1000"),
        ("call me Kate", "ok its Beth please, not kate", "Kate", "Beth"),
        ("please answer me in german", "english again please", "german", "english"),
        ("lease ends 31 july", "signed for another year", "31 july", "another year"),
        ("travel insurance with Allianz", "switched to World Nomads", "Allianz", "Nomads"),
        ("my flatmates are Rui and Hanna", "hanna has gone", "Hanna", "Rui"),
        ("we have two donkeys, Pip and Squeak", "Pip's been sold", "Pip and", "Squeak"),
    ],
)
def test_a_few_words_of_news_change_what_was_told(somebody, before, news, words, now):
    assert any(words in each.text for each in somebody.believed_after(before, besides=()))
    after = somebody.believed_after(news, besides=())
    assert not any(words in each.text for each in after)
    assert any(now in each.text for each in after)


@pytest.mark.parametrize(
    ("before", "said", "words"),
    [
        ("our team has 8 people", "two left early so i was alone", "8 people"),
        ("my commute is the 47 bus", "bus route cancelled, i take the tram 3 now", "tram 3"),
        ("i do training on mondays", "im skipping training this week", "training on mondays"),
        ("my kids are Leo and Mia", "leo left for school", "Leo"),
        ("my rent is 900", "we settled on the blue one for 4", "900"),
        ("i work mon tue wed", "i worked sat sun as a favour", "mon tue wed"),
        ("never deploy on fridays", "we did deploy last friday, an emergency", "never deploy"),
        ("My manager is Tom", "Tom is back", "manager is Tom"),
        ("travel insurance with Allianz", "we went to Oslo", "Allianz"),
        ("my girlfriend is Lena", "Lena moved in with me", "girlfriend is Lena"),
        (
            "We live in Aarhus with our two kids and a dog named Balder",
            "Balder is staying with my parents while we are on vacation",
            "lives in Aarhus",
        ),
    ],
)
def test_what_is_no_news_of_it_changes_nothing(somebody, before, said, words):
    after = somebody.believed_after(before, said, besides=())
    assert any(words in each.text for each in after)
