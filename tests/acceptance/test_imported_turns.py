"""What was said goes along when a person is imported: with its times, and read by nobody."""

from __future__ import annotations

import json

import pytest

from beliefledger import Details, open_memory
from beliefledger.ledger.events.turn import TurnRecorded


@pytest.fixture
def exported(new_place, clock):
    with open_memory(new_place(), consent="consent", clock=clock) as memory:
        memory.remember("ana", "I live in Lisbon.", session="one", metadata={"ticket": 7})
        clock.ahead(3600)
        memory.remember("ana", "I moved to Porto. I like tea.")
        memory.record_turn(
            "ana", "Porto is lovely!", role="assistant", session="one", said_at="2026-02-27"
        )
        gone, _ = memory.remember("ana", "I have two cats.")
        memory.store("ana", "39", attribute="shoe size", details=Details(agent="form"))
        memory.process()
        memory.erase("ana", turn=gone.turn_id, by="Lea")
        yield json.loads("".join(memory.export("ana", by="Lea").json()))


def conversation(memory):
    """What is recorded as said."""
    return [
        each
        for each in memory._log.read()
        if each.type == TurnRecorded.NAME and each.facts["channel"] == "imported" and each.event
    ]


def test_they_come_with_their_times_and_the_same_is_believed(place, exported):
    with open_memory(place) as other:
        answer = other.exports.import_person(exported, by="Lea")
        assert (answer.turns, answer.not_taken) == (3, ())
        said = [each.event for each in conversation(other)]
        assert [(each.role, each.content, each.session) for each in said] == [
            ("user", "I live in Lisbon.", "one"),
            ("user", "I moved to Porto. I like tea.", None),
            ("assistant", "Porto is lovely!", "one"),
        ]
        assert said[0].metadata == {"ticket": 7}
        first = exported["turns"][0]
        turn = other.turn(conversation(other)[0].stream)
        assert turn.said_at.isoformat() == first["recorded_at"].replace("Z", "+00:00")
        assert (turn.state, turn.extractor, turn.skipped) == ("extracted", "imported", "imported")
        assert other.turn(conversation(other)[2].stream).said_at.day == 27
        before = {each["versions"][-1]["text"] for each in exported["memories"] if each["holds"]}
        assert {each.text for each in other.beliefs("ana")} == before
        assert other.process().turns == 0
        assert {each.text for each in other.beliefs("ana")} == before
        for each in other.decisions("ana"):
            assert other.audit.replay(each.decision_id).verdict == "same"


def test_memories_cite_them_and_go_with_them(place, exported):
    with open_memory(place) as other:
        other.exports.import_person(exported, by="Lea")
        turns = {each.event.content: each.stream for each in conversation(other)}
        [porto] = [each for each in other.beliefs("ana") if each.value == "Porto"]
        moved = turns["I moved to Porto. I like tea."]
        assert moved in {each.turn_id for each in porto.evidence}
        other.erase("ana", turn=moved, by="Lea")
        assert not {"Porto", "tea"} & {each.value for each in other.beliefs("ana")}


def test_no_search_finds_them_and_imported_again_they_are_the_same(place, exported):
    with open_memory(place) as other:
        other.exports.import_person(exported, by="Lea")
        found = other.search("ana", "is Porto lovely?").results
        assert all(each.kind == "memory" for each in found)
        again = other.exports.import_person(exported, by="Lea")
        assert (again.turns, again.written) == (0, 0)
        assert len(conversation(other)) == 3
        handed_on = json.loads("".join(other.export("ana", by="Lea").json()))
    assert [each["content"] for each in handed_on["turns"] if each["channel"] == "imported"] == [
        each["content"]
        for each in exported["turns"]
        if each["channel"] == "conversation" and each["content"]
    ]


def test_an_import_handed_on_is_the_same_again(new_place, exported):
    beliefs = []
    for _ in range(2):
        with open_memory(new_place()) as other:
            other.exports.import_person(exported, by="Lea")
            beliefs.append({(each.text, each.confidence) for each in other.beliefs("ana")})
            exported = json.loads("".join(other.export("ana", by="Lea").json()))
            assert len(conversation(other)) == 3
    assert beliefs[0] == beliefs[1]
