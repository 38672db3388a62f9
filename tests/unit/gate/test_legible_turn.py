"""What an extractor is shown of a turn, and where what it finds is in it."""

from __future__ import annotations

import pytest

from beliefledger.gate.checks import claim_within_spans
from beliefledger.gate.claims import claim_within
from beliefledger.gate.decision import TurnView
from beliefledger.gate.extractor import Extraction
from beliefledger.gate.legible_turn import legible
from beliefledger.gate.rules import RuleExtractor
from beliefledger.ledger.candidate import Candidate, Span

SAID = 1_750_000_000_000_000


def turn(content, turn_id="t2", role="user"):
    return TurnView(turn_id, role, content, SAID)


def found(said, *before):
    read = legible(said, before)
    return read.returned(Extraction(RuleExtractor().extract(read.turn, read.earlier))).candidates


def test_a_turn_that_nobody_disguised_is_shown_as_it_is():
    said = turn("I live in São Paulo — “home” — 👩\u200d👨.")
    assert legible(said, ()).turn is said


@pytest.mark.parametrize(
    "text", ["I l\u200bive in Lis\u00adbon.", "I lіve in Lisbоn.", "Ｉ live in 𝐋𝐢𝐬𝐛𝐨𝐧."]
)
def test_a_span_quotes_what_was_said_and_the_value_is_what_is_read(text):
    [candidate] = found(turn(text))
    [span] = candidate.spans
    assert text[span.start : span.end] == span.quote == text[:-1]
    assert (candidate.value, candidate.claim) == ("Lisbon", "User lives in Lisbon")
    assert claim_within(candidate)
    assert claim_within_spans(candidate)


def test_a_span_of_an_earlier_turn_is_found_there():
    asked = turn("So you l\u200bive in Lіsbon?", "t1", "assistant")
    [candidate] = found(turn("Yes, that's right."), asked)
    there = next(span for span in candidate.spans if span.turn == "t1")
    assert asked.content[there.start : there.end] == there.quote
    assert "\u200b" in there.quote
    assert candidate.value == "Lisbon"


def test_a_name_of_another_script_stays_as_it_was_said_in_value_and_claim():
    [candidate] = found(turn("I live in Соса."))
    assert (candidate.value, candidate.claim) == ("Соса", "User lives in Соса")
    assert claim_within(candidate)
    assert claim_within_spans(candidate)


def test_a_claim_of_other_words_is_not_let_through_by_folding():
    span = Span(start=0, end=16, quote="I live in Lіsbon")
    given = {"type": "fact", "attribute": "lives_in", "importance": 1, "confidence": 1}
    said = Candidate(claim="User lives in Lisboa", spans=(span,), value="Lisboa", **given)
    assert not claim_within(said)
    assert not claim_within_spans(said)


def test_a_span_that_quotes_nothing_of_the_turn_is_left_for_the_gate_to_refuse():
    said = turn("I l\u200bive here.")
    span = Span(start=0, end=6, quote="I ski.")
    given = {"type": "fact", "attribute": "a", "importance": 1, "confidence": 1}
    wrong = Candidate(claim="User skis", spans=(span,), value="ski", **given)
    assert legible(said, ()).returned(Extraction([wrong])).candidates == [wrong]
