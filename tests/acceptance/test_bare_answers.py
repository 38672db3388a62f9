"""What a word or two say, as the answer to a question of the assistant."""

from __future__ import annotations

import pytest

from beliefledger import open_memory


def answered(somebody, asked, answer):
    """What is believed once somebody has answered."""
    somebody.is_asked(asked)
    return [each.text for each in somebody.believed_after(answer, besides=())]


@pytest.mark.parametrize(
    ("asked", "answer", "text"),
    [
        ("Where do you live?", "Bergen", "User lives in Bergen"),
        ("Where do you live?", "in bergen", "User lives in bergen"),
        ("Where's home for you?", "Leeds", "User's home is Leeds"),
        ("Who do you work for?", "Tesco", "User works for Tesco"),
        ("What should I call you?", "Mick", "User wants to be called Mick"),
        ("Which bank are you with?", "Monzo", "User banks with Monzo"),
        ("Who's your boss?", "Graham", "User's boss is Graham"),
        ("Who's your landlord?", "Mr Khan", "User's landlord is Mr Khan"),
        ("When's your birthday?", "May 3", "User's birthday is May 3"),
        ("What kind of music do you like?", "jazz", "User likes jazz"),
        ("What operating system are you on?", "linux", "User's operating system is linux"),
        ("What time do you usually wake up?", "6ish", "User wakes up at 6ish"),
        ("What size shoe are you?", "9", "User's shoe size is 9"),
        ("What are you studying?", "law", "User: studying law"),
        ("Which team do you support?", "Leeds", "User supports Leeds"),
        ("How do you get to work?", "by bike", "User gets to work by bike"),
        ("How much is your rent?", "950", "User's rent is 950"),
        ("How much do you earn?", "42k", "User earns 42k"),
        ("What do you drive?", "a golf", "User drives a golf"),
        ("Metric or imperial?", "metric", "User: metric"),
    ],
)
def test_a_word_says_what_was_asked(somebody, asked, answer, text):
    assert answered(somebody, asked, answer) == [text]


@pytest.mark.parametrize(
    ("before", "asked", "answer", "text"),
    [
        ("i live in oslo", "Where are you living these days?", "bergen", "User lives in bergen"),
        ("i have two kids", "How many kids do you have now?", "three", "User has three kids"),
        ("my name is Jo", "What's your name?", "Mick", "User's name is Mick"),
    ],
)
def test_it_takes_the_place_of_what_was_told(somebody, before, asked, answer, text):
    somebody.remember(before)
    assert answered(somebody, asked, answer) == [text]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Where do you live?", "the moon"),
        ("Where do you live?", "in your walls"),
        ("Where are you based?", "narnia"),
        ("Where do you live?", "maybe later"),
        ("What's your rent?", "too much"),
        ("Do you have any allergies?", "nuts"),  # of health: that waits for a person
    ],
)
def test_a_joke_and_what_is_no_answer_say_nothing(somebody, asked, answer):
    assert answered(somebody, asked, answer) == []


def test_the_question_is_not_told_as_the_words_of_who_answered(place):
    with open_memory(place, consent="consent", embedder="words-3") as memory:
        memory.remember("ana", "my rent is 1100 a month", session="s")
        memory.record_turn("ana", "Where do you live now?", role="assistant", session="s")
        memory.remember("ana", "Cardiff", session="s")
        told, *_ = memory.context("ana", "where do I live now?").lines
    assert (told.text, told.words) == ("User lives in Cardiff", None)


@pytest.mark.parametrize(
    ("before", "shouted", "text"),
    [
        ("We have two cats.", "30!!", "two cats"),
        ("I have one sister.", "8!!", "one sister"),
        ("I have two kids.", "100!!!", "two kids"),
        ("I'm 30.", "64!!!!", "User is 30"),
        ("I work two days a week.", "90!!", "two days a week"),
        ("we have 20 students", "Result came! 6.5!!", "20 students"),
        ("I pay 40 a month for the gym", "3:2!!!", "40 a month"),
    ],
)
def test_a_figure_that_is_shouted_is_of_nothing_that_was_told(somebody, before, shouted, text):
    believed = [each.text for each in somebody.believed_after(before, shouted, besides=())]
    assert any(text in each for each in believed), believed


@pytest.mark.parametrize(
    ("before", "said", "text"),
    [
        ("i have 3 cats", "*4", "4 cats"),
        ("i have 3 cats", "4*", "4 cats"),
        ("i have 3 cats", "sorry, 4", "4 cats"),
        ("i have 3 cats", "oops 4!", "4 cats"),
        ("i have 3 cats", "no wait, 4!!", "4 cats"),
        ("my train is at 7:10", "7:40!!", "7:40"),
    ],
)
def test_a_figure_with_a_word_for_it_puts_right(somebody, before, said, text):
    believed = [each.text for each in somebody.believed_after(before, said, besides=())]
    assert any(text in each for each in believed), believed
