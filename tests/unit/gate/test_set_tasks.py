"""What a turn only sets as a task, and what somebody tells of themselves with a question behind."""

from __future__ import annotations

import pytest

from beliefledger.gate.set_tasks import tasks
from beliefledger.gate.speech import speech_act
from beliefledger.ledger.candidate import SpeechAct

SET = [
    ("I have 12 apples, give 5 to Tom and eat 2. How many do I have left?", "hypothetical"),
    ("I am thinking of a number. I double it and add 7 and get 31. What is it?", "hypothetical"),
    ("My father is three times as old as me; in 12 years twice. How old am I?", "hypothetical"),
    ("I throw a ball up at 15 m/s from a 20 m roof. When does it hit the ground?", "hypothetical"),
    ("My garden is 12 m by 8 m. What is the area? (Q4 of the worksheet)", "hypothetical"),
    ("I invest 2,000 at 3% compound interest. how much do I have? show working", "hypothetical"),
    ("I drive 60 km at 40 km/h and back at 60 km/h, what is my average speed?", "hypothetical"),
    ("Write me a monologue. I'm an old lighthouse keeper, my only friend is a gull.", "role_play"),
    ("here's my fanfic opening: I'm Harry's secret sister and live in the attic", "role_play"),
    ("For the interview practice I'll be a Java developer at Siemens", "role_play"),
    ("*draws sword* I am Lady Ysolde and I have three brothers to avenge", "role_play"),
    ("test test 123. my name is Testy McTestface", "quoted"),
    ("We are looking for a Senior Engineer (m/f/d) in Hamburg. You have 5 years of Go.", "quoted"),
    ("Grandma's scones: I use 225g flour and never add egg. — convert to cups", "quoted"),
    ("Why did I get fired from the calendar factory? I took a day off.", "sarcastic"),
]
TOLD = [
    "I have two cats and a dog, how much food should I buy?",
    "I was born in 1990, how old am I?",
    "I have 3 kids. How many bedrooms do we need?",
    "My rent is 900 and I earn 2500, what is a good savings rate?",
    "Write me a cover letter. I'm a nurse with 5 years of experience.",
    "Write a short story for my daughter. She is 6 and loves horses.",
    "We are looking for a flat in Porto, our budget is 900.",
    "*sigh* my laptop died again, it was a ThinkPad",
    "Why did I move to Leeds? I got a job at the university there, and I love it.",
    "here's my new number: 0171 5551234",
    "This is my dog: Rex, 3 years old. What should he weigh?",
    "I run 5k in 27 minutes, how fast is that per km?",
    "I've driven the same 2012 Corsa for 10 years",
    "My test is on Friday and I have 3 exams left",
]


@pytest.mark.parametrize(("text", "act"), SET)
def test_what_is_set_as_a_task_is_nobodys(text, act):
    told = next(iter(tasks(text)))
    assert told.act is SpeechAct(act)
    start = max(text.lower().find(each) for each in ("i'm ", "i am ", "my ", "i ", "we "))
    assert speech_act(text, max(start, told.start), len(text)) is SpeechAct(act)


@pytest.mark.parametrize("text", TOLD)
def test_what_is_told_with_a_question_behind_is_told(text):
    assert list(tasks(text)) == []
