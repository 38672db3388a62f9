"""What is said in few words or in passing, and bare answers to the assistant's questions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from beliefledger.gate.checks import claim_within_spans
from beliefledger.gate.claims import claim_within
from beliefledger.gate.rules.extractor import RuleExtractor
from beliefledger.ledger.data_files import parsed

CASES = parsed(Path(__file__).with_name("shorthand.yaml").read_bytes())
SAID_AT = int(datetime(2026, 10, 31, tzinfo=UTC).timestamp()) * 1_000_000


@dataclass(frozen=True)
class Turn:
    content: str
    role: str = "user"
    turn_id: str = "0"
    said_at: int = SAID_AT


@pytest.mark.parametrize("case", CASES, ids=[case["say"] for case in CASES])
def test_few_words_say_what_they_say_and_no_more(case):
    found = RuleExtractor().extract(Turn(case["say"]))
    claims = [each.claim for each in found]
    if not case["claims"]:
        assert claims == []
    assert set(case["claims"]) <= set(claims)
    for each in found:
        assert claim_within_spans(each)
        assert claim_within(each)


def answered(question, answer):
    return RuleExtractor().extract(Turn(answer, turn_id="1"), [Turn(question, role="assistant")])


@pytest.mark.parametrize(
    ("question", "answer", "claim", "attribute"),
    [
        ("What kind of car do you have?", "a skoda", "User has a skoda", "vehicle.car"),
        ("Nice! Where do you live?", "leeds", "User lives in leeds", "home.location"),
        ("Where do you work?", "at Bosch", "User works at Bosch", "work.employer"),
        ("What do you do for work?", "a nurse", "User does for work: a nurse", "work.role"),
        ("How old are you?", "34", "User is 34", "identity.age"),
        ("How many kids do you have?", "two", "User has two kids", "family.children"),
        ("Do you prefer tea or coffee?", "tea", "User prefers tea", "prefers.tea"),
        ("Cups or grams? Would you like cups or grams?", "grams", None, None),
        ("Would you like cups or grams?", "grams, always", "User: grams, always", "prefers.grams"),
        ("Would you like cups or grams?", "grams", None, None),
        ("Where do you live?", "why do you ask", None, None),
        ("Where do you live?", "no idea", None, None),
        ("What car do you drive?", "none", None, None),
        ("What do you do for a living?", "stocks going up", None, None),
        ("How old are you?", "old", None, None),
        ("Do you prefer tea or coffee?", "no preference", None, None),
        ("What is the capital of France?", "Paris", None, None),
        ("What car does she drive?", "a skoda", None, None),
    ],
)
def test_a_bare_answer_says_what_was_asked(question, answer, claim, attribute):
    found = answered(question, answer)
    assert [(each.claim, each.attribute) for each in found] == (
        [(claim, attribute)] if claim else []
    )
    for each in found:
        assert [span.turn for span in each.spans] == [None, "0"]
        assert claim_within_spans(each)
        assert claim_within(each)


def test_only_the_assistants_last_words_ask():
    asked = [Turn("Where do you live?", role="assistant"), Turn("just a moment", turn_id="1")]
    assert RuleExtractor().extract(Turn("leeds", turn_id="2"), asked) == []
    assert RuleExtractor().extract(Turn("leeds?", turn_id="1"), asked[:1]) == []
