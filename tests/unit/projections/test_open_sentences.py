"""How much of a text states something, beside what it asks for and what it only imagines."""

from __future__ import annotations

import pytest

from beliefledger.projections.open_sentences import is_general, stated
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
        "what hotels are good in lisbon",
        "which of these two is heavier",
        "who won the cup last night",
        "how to get wax out of a rug",
        "why do cats purr",
        "recipe ideas with leeks",
        "best way to descale a kettle",
        "is it normal for a kettle to whistle twice",
        "is the metro safe at night in naples",
        "tips for a first triathlon",
        "explain gradient descent like im five",
        "translate 'see you soon' to danish",
        "yo what rhymes with orange",
        "looking for a pun about cheese",
        "does anyone still use fax",
        "did you know octopuses have three hearts",
        "when do clocks change in the us",
        "can a rabbit eat kale stems",
        "could someone explain vat to me",
        "how hot is too hot for tomato seedlings",
        "name for a goldfish, something posh, any ideas",
        "first class or second class stamp for a letter, does it matter",
        "which note is the highest on a recorder, kid wants to know",
        "do pine needles really make soil acidic",
        "does mochi go in the fridge or freezer",
        "can a corner shop in the uk sell fireworks all year",
        "is marble a rock or a mineral",
        "is 30 degrees hotter than 85 f",
        "in which book does the detective retire",
        "who decides what colour a bus is",
        "are beehive hairdos back",
    ],
)
def test_what_asks_for_something_states_nothing(text: str) -> None:
    assert stated(text) == 0


@pytest.mark.parametrize(
    "text",
    [
        "I live in Porto",
        "do pilates and yoga on thursdays",
        "does nights at the bakery",
        "can confirm, the flat is ours",
        "is a nurse at the clinic in Ghent",
        "is teaching a class tonight",
        "are in Leeds now",
        "actually make it 1800",
        "make that 10:30",
        "please use grams and celsius with me",
        "always give me sizes in millimetres",
        "what happened is that my car broke down",
        "how I met Jono is a long story",
        "list price was 900, I paid 700",
        "I need a new phone",
        "So I moved to Leeds",
        "what my boss wants is a weekly report",
        "which is why i moved to leeds",
        "who would have thought, i got the job",
        "how i take my coffee: black, two sugars",
        "where i work there are 12 people",
        "when i was in leeds i had a dog",
        "did it, handed in my notice",
        "did a 10k today",
        "was a nurse for ten years",
        "have a new job at the bank",
        "do the school run every morning",
        "does padel on thursdays now",
        "is now a vegetarian",
        "will be in oslo until june",
        "can't eat nuts",
        "i can do tuesdays only",
        "should be in the new flat by june",
        "give me short answers from now on",
        "always explain your steps",
        "convert prices to euros always",
        "my best friend is called ideas lol",
        "got a dog",
        "need glasses now",
        "are vegan, both of us",
        "could do with less sugar, so i switched to stevia",
        "best place to work i ever had, staying another year",
        "the difference between old and new rent is 90 quid",
        "explained it to my mum, she moved out",
        "what a day, signed the lease for the flat in ghent",
        "what we have now is a golf",
        "how about that, they promoted me to lead",
        "just moved to porto",
        "tell me when the 10 o clock standup starts, it moved to 10",
        "remind me to call my landlord mr petersen",
        "make it 3 bullet points from now on",
        "rate went up to 45",
        "compare that with my old salary, 2100",
        "if you must know im 34",
        "get me up at 6 now, not 7",
    ],
)
def test_what_tells_something_does(text: str) -> None:
    assert stated(text) > 0


def test_only_the_part_that_tells_counts() -> None:
    assert stated("what should I cook? I don't eat meat") == stated("I don't eat meat")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("can u help me write to Jens, hes my boss", "hes my boss"),
        (
            "my contract is up for renewal, they want 198, is that a lot?",
            "my contract they want 198 up renewal",
        ),
        ("sony xm4s, left ear crackles, repair or bin?", ""),
        ("what should we watch, we only have netflix", "we only have netflix"),
        (
            "flying to Oslo on the 7th with my sister, what time would you leave?",
            "flying to Oslo on the 7th with my sister",
        ),
        ("they dont do figma here, its all penpot, help", "they dont do figma here its all penpot"),
    ],
)
def test_what_stands_beside_a_question_is_told(text: str, told: str) -> None:
    assert stated(text) == len(terms(told))


@pytest.mark.parametrize(
    ("text", "general"),
    [
        ("which board game is good for five", True),
        ("what type of cloud looks like a ploughed field", True),
        ("why does the gear of my old fiesta stick", False),
        ("can you word a mail to our landlord", False),
        ("I play chess", False),
        ("is it cold in oslo? I moved there", False),
    ],
)
def test_who_asks_in_general_asks_of_nothing_of_theirs(text: str, general: bool) -> None:
    assert is_general(text) is general


def test_what_a_text_states_is_outside_its_questions() -> None:
    assert stated("I like tea. Do you like green coffee?") == len(terms("I like tea"))
    assert stated("Do you?") == 0
    assert stated("Green tea") == 2
