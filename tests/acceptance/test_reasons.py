"""Every reason code has a sentence and an example, and the example is decided with that code."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.gate.outcomes import Reason
from beliefledger.gate.reasons import meanings
from beliefledger.gate.rules.extractor import RuleExtractor
from beliefledger.ledger.candidate import Candidate, Durability, Span
from beliefledger.tools.cli import app

SAID = re.compile(r"“([^”]+)”(?: \((\d{4}-\d\d-\d\d)\))?")
STORED = {
    "truth.promoted": [{"confidence": 0.47}, {"confidence": 0.47}],
    "truth.below_threshold": [{"confidence": 0.3}],
    "truth.constraint_stands": [
        {"attribute": "language", "value": "English", "type": "constraint"},
        {"attribute": "language", "value": "German", "type": "constraint"},
    ],
    "durability.trivial": [{"details": Details(importance=0.1)}],
    "durability.outside_purpose": [{"details": Details(topic="astrology")}],
    "permission.prohibited_category": [{"details": Details(category="genetic")}],
    "permission.scope_too_wide": [{"details": Details(visibility_scope="team")}],
}
"""Examples that are no sentence: what is stored for them."""


class Model:
    """Notices by rules, but of some sentences what a careless model might."""

    name = "careless/1"

    def __init__(self):
        self._rules = RuleExtractor()

    def extract(self, turn, earlier=()):
        text = turn.content
        fields = {
            "claim": "User lives in Lisbon", "spans": (Span(start=0, end=len(text), quote=text),),
            "type": "fact", "attribute": "home.location", "value": "Lisbon",
            "importance": 800_000, "confidence": 900_000,
        }  # fmt: skip
        match turn.session:
            case "truth.unknown_type":
                fields["type"] = "residence"
            case "truth.span_not_found":
                fields["spans"] = (Span(start=7, end=15, quote="in Porto"),)
            case "truth.claim_exceeds_span":
                fields["claim"] += " with Rita"
            case "truth.not_the_subject":
                [said] = earlier
                quote = Span(start=0, end=19, quote=said.content, turn=said.turn_id)
                fields["spans"] = (quote,)
            case "durability.session_only":
                fields |= {
                    "claim": "Answer in French", "attribute": "answers",
                    "value": "French", "durability": Durability.SESSION,
                }  # fmt: skip
            case _:
                return self._rules.extract(turn, earlier)
        return [Candidate(**fields)]


@pytest.fixture
def memory(place):
    with open_memory(place, extractor=Model()) as opened:
        yield opened


def fed(memory, code):
    """The reason of the last decision about a code's example."""
    if code != "permission.no_consent":
        memory.consent.grant(code, "consent")
    for number, fields in enumerate(STORED.get(code, ())):
        plain = {"attribute": "home.location", "value": "Lisbon", "idempotency_key": str(number)}
        memory.store(code, **(plain | fields))
    if code == "truth.not_the_subject":
        memory.record_turn(code, "You live in Lisbon.", role="assistant", session=code)
    if code == "truth.no_context":
        for part in ("morning", "evening", "morning", "evening"):
            memory.remember(code, f"I prefer {part} meetings.")
        [belief] = memory.conflicts.loops(code)
        memory.conflicts.resolve(
            belief.belief_id,
            contexts={"at work": "morning", "at home": "evening"},
            by="lea",
        )
    for text, at in SAID.findall(meanings()[Reason(code)].example):
        ask = code == "truth.to_be_asked"
        memory.record_turn(code, text, session=code, said_at=at or None, ask=ask)
        memory.process(subject=code)
    return memory.decisions(code)[-1]


def test_every_code_has_a_plain_sentence_and_an_example():
    assert list(meanings()) == list(Reason)
    for code, meaning in meanings().items():
        assert re.fullmatch(r"[A-Z][^.]*\.", meaning.sentence), code
        assert len(meaning.sentence) < 120, code
        assert meaning.example.strip(), code
        assert meaning.advice is None or meaning.advice[0].isupper(), code
        if meaning.hint:
            assert meaning.advice, code


def test_each_example_is_decided_with_its_code(memory):
    reasons = {code.value: fed(memory, code.value).reason for code in Reason}
    assert reasons == {code.value: code.value for code in Reason}


def test_a_decision_says_its_reason_in_a_sentence(memory):
    decision = fed(memory, "truth.question")
    assert decision.says == "It is a question, which states nothing."


def run(*words, code=0, columns="80"):
    answer = CliRunner(env={"COLUMNS": columns}).invoke(app, ["reasons", *words])
    assert answer.exit_code == code, answer.output
    return answer


def test_the_command_line_has_them_as_a_table_that_fits_eighty_columns():
    page = run().stdout
    for code in Reason:
        assert re.search(rf"^ ?{re.escape(code.value)}\b", page, re.M), code
    assert [line for line in page.splitlines() if len(line) > 80] == []
    assert "…" not in page
    told = {each["code"]: each for each in json.loads(run("--json").stdout)}
    assert list(told) == [code.value for code in Reason]
    assert set(told["truth.new"]) == {"code", "sentence", "example", "advice", "hint"}


def test_one_code_or_the_codes_of_one_check_can_be_asked_for():
    page = " ".join(run("truth.question").stdout.split())
    assert "It is a question, which states nothing." in page
    assert "Say it as a statement." in page
    kind = json.loads(run("durability", "--json").stdout)
    assert {each["code"].split(".")[0] for each in kind} == {"durability"}
    assert "beliefledger reasons" in run("truth.nonsense", code=2).stderr
