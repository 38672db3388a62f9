"""A nickname is not an identity: two people whose names go together stay two till one says."""

from __future__ import annotations

import pytest

from beliefledger import open_memory

PAIRS = [
    ("Beth", "Eliza"),
    ("Elizabeth", "Beth"),
    ("Robert", "Bert"),
    ("Robert", "Bob"),
    ("William", "Bill"),
    ("Margaret", "Peggy"),
    ("Alexander", "Sandy"),
    ("James", "Jim"),
    ("Katherine", "Kate"),
    ("Richard", "Dick"),
    ("Dorothy", "Dot"),
    ("Edward", "Ted"),
    ("Charles", "Chuck"),
    ("Jon", "Jonathan"),
]


@pytest.fixture
def memory(place):
    with open_memory(place, consent="consent") as opened:
        yield opened


def test_the_second_of_two_linked_names_takes_no_slot_of_the_first(memory):
    for one, other in PAIRS:
        who = f"{one}-{other}"
        tell(
            memory, who, f"{one} lives in Oslo.", f"{other} lives in Oslo.",
            f"{other} moved to Rome.", f"My brother is called {one}.",
            f"My cousin is called {other}.",
        )  # fmt: skip
        homes = {
            each.entity: each.value
            for each in memory.beliefs(who)
            if each.attribute == "home.location"
        }
        assert homes == {one: "Oslo", other: "Rome"}, who
        decided = {each.claim: each.outcome for each in memory.decisions(who)}
        assert decided[f"{other} lives in Oslo"] == "admit", who
    assert all(view.same for view in memory.operations.rebuild(verify=True))
    replayed = memory.audit.replay_all()
    assert replayed.same == replayed.decisions > 0


def test_a_person_is_asked_and_says_that_two_are_one_or_stay_apart(memory):
    tell(memory, "ana", "Robert lives in Oslo.", "Bob works at Equinor.")
    (bob,) = [each for each in memory.entities.list("ana") if each.name == "Bob"]
    assert [each.name for each in bob.questions] == ["Robert"]
    memory.entities.merge("ana", "Robert", "Bob", by="eve")
    tell(memory, "ana", "Bob moved to Rome.")
    found = {each.attribute: each.value for each in memory.entities.get("ana", "Bob").attributes}
    assert found == {"home.location": "Rome", "work.employer": "Equinor"}
    assert memory.entities.get("ana", "Robert").name == "Robert"

    tell(memory, "ben", "Robert lives in Oslo.", "Bob works at Equinor.")
    memory.entities.keep_apart("ben", "Robert", "Bob", by="eve")
    tell(memory, "ben", "Bob moved to Rome.")
    assert memory.entities.get("ben", "Robert").attributes[0].value == "Oslo"


def test_whoever_only_asks_may_use_a_nickname(memory):
    tell(memory, "ana", "Robert lives in Oslo.")
    assert memory.entities.get("ana", "Bob").name == "Robert"


def test_a_stated_nickname_is_an_identity(memory):
    tell(memory, "ana", "Bob's full name is Robert Miller.", "Robert Miller lives in Oslo.")
    tell(memory, "ana", "Bob moved to Rome.")
    homes = [each.value for each in memory.beliefs("ana") if each.attribute == "home.location"]
    assert homes == ["Rome"]


def tell(memory, subject, *said):
    for words in said:
        memory.record_turn(subject, words)
    memory.process()
