"""A turn with its words marked, and a refusal with the words around it."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from beliefledger import open_memory
from beliefledger.ledger.errors import UnknownMemory
from beliefledger.reading.words import marked
from beliefledger.tools.cli import app

SAID = "I live in Lisbon. I have diabetes. What if I were a doctor? The sky is blue."
MARKED = (
    "⟦I live in Lisbon⟧(1). ⟦I have diabetes⟧(2). What if ⟦I were a doctor⟧(3)? The sky is blue."
)


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def test_each_span_is_marked_with_what_the_gate_did(memory):
    receipt, decisions = memory.remember("ana", SAID, session="s", said_at="2026-02-01")
    answer = memory.turn(receipt.turn_id[:8])
    assert (answer.turn_id, answer.position) == (receipt.turn_id, receipt.position)
    assert (answer.subject, answer.role, answer.session) == ("ana", "user", "s")
    assert f"{answer.said_at:%Y-%m-%d}" == "2026-02-01"
    assert (answer.state, answer.extractor, answer.content) == ("extracted", "rules/34", SAID)
    assert answer.marked == MARKED
    assert [(span.number, span.text, span.outcome) for span in answer.spans] == [
        (1, "I live in Lisbon", "admit"),
        (2, "I have diabetes", "queue"),
        (3, "I were a doctor", "quarantine"),
    ]
    assert [each.decision_id for each in answer.decisions] == [
        each.decision_id for each in decisions
    ]
    memory.revoke(decisions[0].memory_id, by="lea")
    assert memory.turn(receipt.turn_id).spans[0].became.what == "revoked"


def test_a_turn_that_waits_and_one_that_nobody_reads_say_so(memory):
    receipt = memory.record_turn("ana", "I live in Lisbon.", role="assistant", speaker="Bot")
    waits = memory.turn(receipt.turn_id)
    assert (waits.state, waits.extractor, waits.decisions) == ("pending", None, ())
    memory.process()
    read = memory.turn(receipt.turn_id)
    assert (read.state, read.skipped, read.speaker) == ("extracted", "role:assistant", "Bot")


def test_a_turn_in_another_language_says_that_it_was_not_read(memory, place):
    receipt, decisions = memory.remember("ana", "Ich wohne in Berlin und arbeite als Lehrer.")
    said = memory.turn(receipt.turn_id)
    assert (decisions, said.extractor, said.not_read) == ([], "rules/34", "language")
    quiet, _ = memory.remember("ana", "Ok, thanks a lot!")
    assert memory.turn(quiet.turn_id).not_read is None
    answer = memory.why_not("ana", "Ana lives in Berlin")
    (near,) = answer.waiting
    assert near.turn_id == receipt.turn_id
    assert "a language that its extractor does not read" in near.why
    memory.close()
    again = ("--ledger", place, "remember", "-s", "ana", "Mi chiamo Ana e vivo con mia figlia.")
    asked = CliRunner().invoke(app, again)
    assert "Not read: language." in asked.output
    assert json.loads(CliRunner().invoke(app, (*again, "--json")).stdout)["not_read"] == "language"


def test_an_erased_turn_has_no_words_but_its_decisions(memory):
    receipt, _ = memory.remember("ana", SAID)
    silent = memory.record_turn("ana", "Nothing to see.")
    memory.process()
    for each in (receipt, silent):
        memory.erase("ana", turn=each.turn_id, by="lea")
    answer = memory.turn(receipt.turn_id[:10])
    assert (answer.state, answer.content, answer.marked, answer.spans) == ("erased", None, None, ())
    assert answer.decisions[0].reason == "truth.new"
    assert {each.claim for each in answer.decisions} == {None}
    assert memory.turn(silent.turn_id).state == "erased"


def test_a_decision_whose_memory_is_erased_is_explained_without_its_words(memory, place):
    receipt, [decided] = memory.remember("ana", "I live in Lisbon.")
    memory.erase("ana", turn=receipt.turn_id, by="lea")
    for identifier in (decided.decision_id, decided.decision_id[:10]):
        done = CliRunner().invoke(app, ["--ledger", place, "explain", identifier])
        assert done.exit_code == 0, done.output
        for told in ("admit, because truth.new", "The words are erased.", "belief.conflict="):
            assert told in done.stdout
        assert "Lisbon" not in done.stdout.replace("“I live in Lisbon.”", "")  # the example


def test_an_unknown_turn_is_refused(memory):
    memory.remember("ana", SAID)
    with pytest.raises(UnknownMemory, match="no turn 'ffff"):
        memory.turn("ffffffff")


def test_spans_that_overlap_are_marked_as_one():
    assert marked("one two three", [(0, 3, "1"), (4, 7, "2")]) == "⟦one⟧(1) ⟦two⟧(2) three"
    assert marked("one two three", [(4, 13, "2"), (0, 7, "1")]) == "⟦one two three⟧(1, 2)"
    assert marked("one two", [(0, 3, "1"), (0, 3, "1")]) == "⟦one⟧(1) two"
    assert marked("one two", [(4, 7, "")]) == "one ⟦two⟧"
    assert marked("one", []) == "one"


def test_a_refusal_shows_the_sentence_who_said_it_and_when(memory):
    memory.record_turn("ana", "I'm tired today.", speaker="Ana", said_at="2026-02-01")
    memory.process()
    [decision] = memory.decisions("ana")
    answer = memory.audit.refusal(decision.decision_id)
    assert answer.turn["marked"] == "⟦I'm tired today⟧."
    assert (answer.turn["speaker"], answer.turn["said_at"][:10]) == ("Ana", "2026-02-01")
    assert (answer.scores["c"], answer.trace[-1]) == (
        0.645,
        "durability.lasting=durability.transient",
    )
    assert (answer.example, answer.memory) == ("“I'm tired today.”", None)
    memory.erase("ana", turn=decision.turn_id, by="lea")
    gone = memory.audit.refusal(decision.decision_id)
    assert (gone.turn, gone.scores, gone.decision.claim) == (None, {}, None)
    assert gone.decision.reason == "durability.transient"


def test_the_command_line_shows_both(place):
    def run(*words):
        answer = CliRunner(env={"COLUMNS": "110"}).invoke(app, ["--ledger", place, *words])
        assert answer.exit_code == 0, answer.output
        return answer.stdout

    run("consent", "grant", "--subject", "ana", "--by", "lea")
    told = json.loads(run("remember", "--subject", "ana", SAID, "--json"))
    page = run("turn", told["turn_id"][:8])
    assert MARKED in page
    assert "permission.special_category" in page
    assert json.loads(run("turn", told["turn_id"], "--json"))["marked"] == MARKED
    waits = told["decisions"][1]
    page = run("explain", waits["decision_id"])
    assert "user, " in page
    assert "⟦I have diabetes⟧" in page
    assert "It is of a special category, and no grant names that category" in page
    assert "beliefledger conflicts review" in page
    assert re.search(r"^ on +2", run("turn", told["turn_id"]), re.M)
    run("erase", "ana", "--turn", told["turn_id"], "--by", "lea", "--yes")
    assert "The words are erased." in run("explain", waits["decision_id"])
    page = run("turn", told["turn_id"])
    assert "Its words are erased." in page
    assert re.search(r"^ recorded +2", page, re.M)  # when it was said is among its words
    assert not re.search(r"^ on ", page, re.M)


def test_a_turn_can_be_asked_about_while_it_is_decided(place, monkeypatch):
    with open_memory(place, consent="consent") as memory:
        receipt = memory.record_turn("ana", "I live in Lisbon.")
        read = memory._log.read_stream

        def decided_meanwhile(*given, **named):
            found = read(*given, **named)
            monkeypatch.undo()
            memory.process()
            return found

        memory.turn(receipt.turn_id)
        monkeypatch.setattr(memory._log, "read_stream", decided_meanwhile)
        asked = memory.turn(receipt.turn_id)
        assert asked.content == "I live in Lisbon."
        assert len(memory.turn(receipt.turn_id).decisions) == 1
