"""A JSON object beside a turn and the memories of it: kept, shown, erased and exported."""

from __future__ import annotations

import json

import pytest
from at_rest import at_rest
from command_line import CliRunner

from beliefledger import Details, InvalidTurn, MemoryInput, TurnInput, open_memory
from beliefledger.tools.cli import app

GIVEN = {"ticket": 7, "where": {"city": "Porto", "share": 0.25}, "tags": ["a", None, True]}


@pytest.fixture
def memory(place):
    with open_memory(place, consent="consent") as opened:
        yield opened


def test_it_stays_beside_the_turn_and_what_comes_of_it(memory):
    receipt, _ = memory.remember("ana", "I live in Porto.", metadata=GIVEN)
    assert memory.turn(receipt.turn_id).metadata == GIVEN
    [belief] = memory.beliefs("ana")
    assert belief.metadata == GIVEN
    assert memory.explain(belief.memory_id).turn["metadata"] == GIVEN
    assert memory.history(belief.memory_id)[0].metadata == GIVEN
    assert memory.search("ana", "Porto").results[0].memory.metadata == GIVEN
    assert memory.update(belief.memory_id, value="Faro", by="Lea")
    assert [each.metadata for each in memory.beliefs("ana")] == [GIVEN]


def test_every_way_in_takes_it(memory):
    memory.record_turn("ana", "I ski.", metadata={"n": 1})
    memory.record_turns([TurnInput(subject="ana", content="I like tea.", metadata={"n": 2})])
    memory.process()
    memory.store("ana", "red", attribute="colour", details=Details(metadata={"n": 3}))
    memory.store_many([MemoryInput("ana", "39", "size", details=Details(metadata={"n": 4}))])
    found = {each.metadata["n"] for each in memory.beliefs("ana")}
    assert found >= {2, 3, 4}
    [red] = [each for each in memory.beliefs("ana") if each.value == "red"]
    decision = memory.update(red.memory_id, metadata={"n": 5}, by="Lea")
    assert decision.outcome == "supersede"
    [red] = [each for each in memory.beliefs("ana") if each.value == "red"]
    assert red.metadata == {"n": 5}


def test_it_is_erased_with_its_turn(memory):
    receipt, _ = memory.remember("ana", "I live in Porto.", metadata={"note": "unheard-of"})
    memory.remember("ben", "I live in Faro.", metadata={"note": "unheard-of"})
    memory.erase("ana", turn=receipt.turn_id, by="Lea")
    assert memory.turn(receipt.turn_id).metadata == {}
    memory.erase("ben", by="Lea")
    events = [each.event for each in memory._log.read() if each.event is not None]
    assert "unheard-of" not in str(events)


def test_it_is_encrypted_wherever_it_lies(memory, place):
    memory.remember("ana", "I live in Porto.", metadata={"unheard-of": "marked-word"})
    memory.search("ana", "Porto")
    memory.status()
    kept = at_rest(place)
    assert kept
    for word in (b"unheard-of", b"marked-word"):
        assert not any(word in each or word.hex().encode() in each for each in kept)


def test_what_is_no_small_object_is_refused_before_anything_is_written(memory):
    before = memory.status(digests=False).position
    for wrong in ([], {"x": "y" * 5_000}, {"x": object()}):
        for call in (
            lambda wrong=wrong: memory.record_turn("ana", "I ski.", metadata=wrong),
            lambda wrong=wrong: memory.remember("ana", "I ski.", metadata=wrong),
            lambda wrong=wrong: memory.store(
                "ana", "red", attribute="colour", details=Details(metadata=wrong)
            ),
        ):
            with pytest.raises(InvalidTurn, match="metadata"):
                call()
    assert memory.status(digests=False).position == before


def test_it_is_exported_and_imported(memory, new_place):
    memory.remember("ana", "I live in Porto.", metadata=GIVEN)
    exported = json.loads("".join(memory.export("ana", by="Lea").json()))
    assert [each["metadata"] for each in exported["turns"]] == [GIVEN]
    assert exported["memories"][0]["versions"][0]["metadata"] == GIVEN
    with open_memory(new_place()) as other:
        other.exports.import_person(exported, by="Lea")
        assert [each.metadata for each in other.beliefs("ana")] == [GIVEN]


def test_the_commands_take_it(place, tmp_path):
    def run(*words):
        return CliRunner().invoke(app, ["--ledger", str(place), *words])

    words = ("--subject", "ana", "--consent", "consent", "--metadata")
    assert run("remember", "I live in Porto.", *words, '{"n": 1}').exit_code == 0
    assert run("store", "colour", "red", *words, '{"n": 2}').exit_code == 0
    for wrong in ("[]", "{", "7"):
        assert run("remember", "I ski.", *words, wrong).exit_code == 2
    lines = [
        {"subject": "ana", "role": "user", "content": "I like tea.", "metadata": {"n": 3}},
        {"subject": "ana", "role": "user", "content": "I like soup.", "metadata": "x"},
    ]
    file = tmp_path / "chat.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    told = run("ingest", str(file), "--json")
    assert json.loads(told.stdout)["refused"] == 1
    beliefs = json.loads(run("beliefs", "--json").stdout)
    assert {each["metadata"]["n"] for each in beliefs} == {1, 2, 3}
