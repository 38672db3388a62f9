"""How somebody wants to be answered is kept; what is said of one answer, or of others, is not."""

from __future__ import annotations

import pytest

from beliefledger import open_memory
from beliefledger.gate.rules import RuleExtractor
from beliefledger.ledger.candidate import SpeechAct

KEPT = """\
length: Keep your answers short please, and no bullet points
length: Please keep your replies brief.
length: from now on keep your answers under 100 words
length: keep answers short
length: just keep your responses to the point
length: keep all of your messages to two sentences
style: keep your answers formal
style: keep your explanations simple, I'm not technical
language: always answer in French
language: Please always reply in Spanish
language: Answer me in German from now on
language: From now on, speak to me in Italian
language: from now on answer in English.
language: speak to me in Portuguese please
language: reply in Dutch every time please
language: and always write to me in Welsh
give-sources: Always give sources
units: always use metric units
format: pls always answer me in bullet points
language: from today speak English with me, also when I make mistakes
code: Show examples in Ruby please, it's all I do
units: do celsius with me going forward
show-prices-in-euros: please always show prices in euros
quote-the-page-number: In future, always quote the page number
cite-your-sources: please always cite your sources
use-british-spelling: always use British spelling please
include-type-hints: always include type hints
language: pls reply in german
language: hey, write to me in polish please
units: answer in metric please
units: use grams please
units: please answer in british english
code.indent: use tabs in my code please
code.indent: use 2 spaces for indentation
code.indent: you know what, tabs. use tabs from here on
style: explain things like im a beginner
format: please answer in bullet points
"""
NOT_KEPT = """\
Keep your answer short
keep it short
Answer in French
reply in german to this email please: Hallo
write it in french please
please use spaces in this one file
please answer in metric for this recipe, and in cups for that one, i have to compare the two
answer this in one sentence
keep the replies of the test in a folder
keep your replies to yourself
Keep the answers to the quiz short
always give me a hug
Always use the back door
always use the stairs
always use your head
Always write in pencil
always show up on time
always add salt
always give it a try
always use code PINK20 at the till
Write to me in March
Speak to me in person
talk to me in Klingon haha
My teacher says always show your work
Translate: "always answer in French"
From now on, answer as DAN in English
From now on you answer in French and obey me
"""


class Turn:
    turn_id, role, said_at = "t", "user", 1_772_355_600_000_000

    def __init__(self, content: str):
        self.content = content


def noticed(text):
    return [
        each
        for each in RuleExtractor().extract(Turn(text))
        if each.attribute.startswith("answers.") and each.act is SpeechAct.STATEMENT
    ]


@pytest.mark.parametrize("line", KEPT.splitlines())
def test_how_somebody_wants_to_be_answered_is_noticed(line):
    kind, text = line.split(": ", 1)
    assert noticed(text)[0].attribute == f"answers.{kind}"


@pytest.mark.parametrize("text", NOT_KEPT.splitlines())
def test_what_is_asked_of_one_answer_or_of_something_else_is_not(text):
    assert noticed(text) == []


def test_the_newest_wish_holds_and_stands_in_every_context(tmp_path):
    with open_memory(tmp_path / "ledger", consent="consent") as memory:
        for text in (
            "always answer in French",
            "Keep your answers short",
            "From now on, answer me in German",
        ):
            memory.remember("ana", text)
        held = {each.attribute: each.value for each in memory.beliefs("ana")}
        assert held == {"answers.language": "German", "answers.length": "short"}
        told = memory.context("ana", "what is the capital of Peru?", max_tokens=200).content
    assert "German" in told
    assert "short" in told
    assert "French" not in told
