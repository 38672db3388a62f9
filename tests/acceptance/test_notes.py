"""Notes through the front door: kept word for word, found, quoted, and folded."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from beliefledger.gate import notes
from beliefledger.gate.custom_types import Noticing
from beliefledger.gate.rules import RuleExtractor
from beliefledger.opener import open_memory

NOTE = "By the way, the heating engineer for the Lisbon house has to come back twice, sadly."
OTHER = "By the way, the heating engineer for the Porto house has to come back twice, sadly."
TYPED = "I recently got a silver necklace from Tiffany's in Lisbon for my sister."
SAID = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Growing:
    """The rules, which at first type nothing."""

    name = "growing/1"
    grown = False

    def __init__(self, memory):
        rulebook = memory._core.rulebook
        self._rules = RuleExtractor(Noticing(lambda: rulebook.current().registry))

    def extract(self, turn, earlier=()):
        if self.grown:
            return self._rules.extract(turn, earlier)
        return notes.beside([], turn, earlier) if turn.role == "user" else []


@pytest.fixture
def memory(place):
    with open_memory(place) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def told(memory, text, **fields):
    _, decisions = memory.remember("ana", text, said_at=SAID, **fields)
    return decisions


def test_a_note_is_the_sentence_and_less_sure_than_what_is_typed(memory):
    [decision] = told(memory, NOTE)
    told(memory, "I live in Porto.")
    assert (decision.outcome, decision.reason) == ("admit", "truth.new")
    beliefs = {each.type: each for each in memory.beliefs("ana")}
    note = beliefs["note"]
    assert (note.text, note.value) == (NOTE, NOTE)
    assert 0.5 <= note.confidence < beliefs["fact"].confidence
    [typed] = memory.typed("ana", type="note")
    assert (typed.said, typed.supersession) == (NOTE, "never")


def test_a_note_contradicts_nothing_and_the_same_again_confirms(memory):
    told(memory, NOTE)
    told(memory, OTHER)
    [again] = memory.remember("ana", NOTE)[1]
    assert (again.outcome, again.reason) == ("confirm", "durability.repeated")
    held = {each.text: each for each in memory.beliefs("ana", type="note")}
    assert set(held) == {NOTE, OTHER}
    assert held[NOTE].mentions == 2
    assert not any(each.contested or each.contradicts for each in held.values())


def test_a_note_is_found_and_quoted_with_its_date(memory):
    told(memory, NOTE)
    found = memory.search("ana", "When does the heating engineer come back?")
    assert any(each.text == NOTE for each in found.results)
    context = memory.context("ana", "When does the heating engineer come back?")
    [line] = [each for each in context.lines if each.text == NOTE]
    assert line.section == "memories"
    assert f"“{NOTE}” (on 2026-03-01;" in context.content


def test_a_note_is_no_part_of_the_profile(memory):
    told(memory, NOTE)
    assert memory.context("ana", "What is the capital of France?").lines == ()


def test_without_consent_there_is_no_note(memory):
    _, [decision] = memory.remember("ben", NOTE, said_at=SAID)
    assert (decision.outcome, decision.reason) == ("reject", "permission.no_consent")


def test_a_typed_memory_takes_the_place_of_the_note_of_its_sentence(memory):
    memory._gate.reader.extractor = reader = Growing(memory)
    told(memory, f"{TYPED} {NOTE}")
    notes_of = {each.text: each for each in memory.beliefs("ana", type="note")}
    assert set(notes_of) == {TYPED, NOTE}

    reader.grown = True
    memory.remember("ana", TYPED)
    [typed] = [each for each in memory.beliefs("ana") if each.type != "note"]
    assert [each.text for each in memory.beliefs("ana", type="note")] == [NOTE]
    [*_, last] = memory.history(notes_of[TYPED].belief_id)
    assert last.became.what == "merged"
    assert last.became.by == typed.memory_id
    assert memory.audit.replay_all().different == 0

    reader.grown = False
    [again] = memory.remember("ana", TYPED)[1]
    assert (again.outcome, again.memory_id) == ("confirm", typed.memory_id)


def test_a_view_made_anew_holds_the_same_notes(memory):
    memory._gate.reader.extractor = reader = Growing(memory)
    told(memory, f"{TYPED} {NOTE}")
    reader.grown = True
    memory.remember("ana", TYPED)
    before = [(each.type, each.text, each.confidence) for each in memory.beliefs("ana")]
    memory.operations.rebuild()
    assert [(each.type, each.text, each.confidence) for each in memory.beliefs("ana")] == before


def test_notes_are_left_off_and_taken_up_again_by_the_name_of_their_type(memory):
    memory.types.retire("note", by="dana")
    assert told(memory, NOTE) == []
    added = memory.types.add("note", by="dana")
    assert (added.name, added.built_in, added.slot) == ("note", True, "content")
    [decision] = told(memory, OTHER)
    assert decision.outcome == "admit"


def test_an_erased_turn_takes_its_note_along(memory):
    receipt, _ = memory.remember("ana", NOTE, said_at=SAID)
    memory.erase("ana", turn=receipt.turn_id, by="dana")
    assert memory.beliefs("ana") == []


def test_what_is_told_beside_a_name_stays_when_the_name_is_told(memory):
    for said in ("also my brother Jonas doesn't eat pork", "my brother Jonas is 40 by now"):
        memory.remember("ana", said)
    told = {each.text for each in memory.beliefs("ana")}
    assert {"User's brother is Jonas", "also my brother Jonas doesn't eat pork"} <= told
