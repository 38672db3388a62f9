"""Two people in one talk are two entities: a named speaker who is not the subject is their own."""

from __future__ import annotations

import json

import pytest

from beliefledger import open_memory
from beliefledger.tools.ingest import Ingest


@pytest.fixture
def memory(place):
    with open_memory(place, consent="consent") as opened:
        yield opened
        assert all(view.same for view in opened.operations.rebuild(verify=True))
        replayed = opened.audit.replay_all()
        assert replayed.same == replayed.decisions > 0


def talk(memory, subject, *turns):
    for at, (speaker, words) in enumerate(turns, 1):
        memory.record_turn(
            subject, words, speaker=speaker, session="talk", said_at=f"2026-03-{at:02}"
        )
    memory.process()


def homes(memory, subject):
    return {
        each.entity: each.value
        for each in memory.beliefs(subject)
        if each.attribute == "home.location"
    }


def test_each_of_two_speakers_has_a_home(memory):
    talk(
        memory, "ana",
        ("Ana", "I live in Porto."), ("Bo", "I live in Oslo."), ("Ana", "I moved to Faro."),
        ("Bo", "I moved to Bergen."), ("Bo", "My manager lives in Kiel."),
        ("Ana", "My manager lives in Braga."),
    )  # fmt: skip
    assert homes(memory, "ana") == {
        "User": "Faro", "Bo": "Bergen", "Bo's manager": "Kiel", "manager": "Braga",
    }  # fmt: skip
    assert "Bo moved to Bergen" in [each.text for each in memory.beliefs("ana")]


def test_who_speaks_first_is_not_taken_for_the_subject(memory):
    talk(memory, "ana", ("Bo", "I live in Oslo."), ("Ana", "I live in Porto."))
    assert homes(memory, "ana") == {"Bo": "Oslo", "User": "Porto"}


def test_what_the_subject_says_of_the_other_meets_what_they_say(memory):
    talk(memory, "ana", ("Bo", "I live in Oslo."), ("Ana", "Bo moved to Bergen."))
    assert homes(memory, "ana") == {"Bo": "Bergen"}


def test_an_id_that_names_nobody_is_whoever_spoke_first(memory):
    talk(
        memory, "talk-7",
        ("Caroline", "I live in Oslo."), ("Melanie", "I live in Porto."),
        ("Caroline Ek", "I moved to Bergen."),
    )  # fmt: skip
    assert homes(memory, "talk-7") == {"User": "Bergen", "Melanie": "Porto"}
    caroline = memory.entities.get("talk-7", "Caroline")
    assert (caroline.name, {each.how for each in caroline.names}) == ("User", {"first", "speaker"})


def test_beside_turns_that_name_nobody_a_name_is_somebody_elses(memory):
    talk(memory, "u-17", (None, "I live in Porto."), ("Bo", "I live in Oslo."))
    assert homes(memory, "u-17") == {"User": "Porto", "Bo": "Oslo"}


def test_one_person_under_any_name_of_theirs_is_the_subject(memory):
    talk(memory, "ana", ("Ana", "I like jazz."), (None, "I live in Porto."), ("user", "I use Vim."))
    talk(memory, "u-17", ("Ana", "I like jazz."), ("Ana", "I live in Porto."))
    for subject in ("ana", "u-17"):
        assert {each.entity for each in memory.beliefs(subject)} == {"User"}


def test_a_person_says_under_what_name_the_subject_speaks(memory):
    talk(memory, "ana", ("Ana", "I like jazz."))
    memory.entities.add_alias("ana", "User", "Sunny", by="eve")
    talk(memory, "ana", ("Sunny", "I live in Porto."))
    assert homes(memory, "ana") == {"User": "Porto"}


def test_nobody_is_corrected_by_the_other(memory):
    talk(memory, "ana", ("Ana", "I live in Porto."), ("Bo", "Actually it's Lisbon, not Porto."))
    assert homes(memory, "ana") == {"User": "Porto"}


def test_turns_that_come_in_by_a_file_keep_their_speakers(memory, tmp_path):
    lines = [
        {"subject": "ana", "role": "user", "speaker": "Ana", "content": "I live in Porto."},
        {"subject": "ana", "role": "user", "speaker": "Bo", "content": "I live in Oslo."},
    ]
    file = tmp_path / "talk.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert Ingest(memory).files([file]).recorded == 2
    assert homes(memory, "ana") == {"User": "Porto", "Bo": "Oslo"}
