"""Whom and what a subject speaks of, through the front door and the command line."""

from __future__ import annotations

import json

import pytest
from command_line import CliRunner
from wishes import storing

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.ledger.errors import InvalidTurn, NotPermitted, UnknownMemory
from beliefledger.ledger.times import DAY
from beliefledger.operations.copy import copy
from beliefledger.tools.cli import app

VIEWS = ("entities", "links")


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def say(memory, entity, attribute, value, type="fact", **more):
    return memory.store(
        "ana", value, **storing(entity=entity, **(more)), attribute=attribute, type=type
    )


def known(memory, **more):
    return {each.name: each for each in memory.entities.list("ana", **more)}


def names(answer):
    return [(each.name, each.how) for each in answer.names]


def digests(memory):
    return {
        each.name: (each.digest, each.content_digest)
        for each in memory.status(digests=True).views
        if each.name in VIEWS
    }


def assert_whole(memory):
    assert all(view.same for view in memory.operations.rebuild(verify=True))


def test_an_entity_has_names_attributes_and_mentions(memory, clock):
    role = say(memory, "Sarah", "work.role", "VP")
    first = clock.now
    clock.ahead(60)
    say(memory, "Sarah", "work.role", "VP", said_at=clock.now)
    say(memory, "Sarah", "home.location", "Porto")
    say(memory, "Sarah", "alias", "S. Chen", "entity")
    sarah = memory.entities.get("ana", "s. chen")
    assert sarah == memory.entities.get("ana", sarah.entity_id[:8]) == known(memory)["Sarah"]
    assert names(sarah) == [("Sarah", "first"), ("S. Chen", "stated")]
    assert {each.attribute: each.value for each in sarah.attributes} == {
        "work.role": "VP",
        "home.location": "Porto",
    }
    assert sarah.attributes[0].memory_id == role.memory_id
    assert sarah.attributes[0].confidence > 0.5
    assert sarah.mentions == 4
    assert (sarah.last_said - sarah.first_said).total_seconds() == 60
    assert sarah.first_said.timestamp() == first / 1e6
    assert_whole(memory)


def test_those_spoken_of_most_come_first(memory):
    for value in ("Lisbon", "Faro"):
        say(memory, "Ben", f"likes.{value}", value)
    say(memory, "Sarah", "role", "VP")
    assert [each.name for each in memory.entities.list("ana")] == ["Ben", "Sarah"]
    assert memory.entities.list("nobody") == []


def test_merged_entities_are_one_from_then_on_and_two_before(memory):
    say(memory, "Liz Miller", "role", "VP")
    moved = say(memory, "Beth", "home.location", "Porto")
    far = say(memory, "User", "relation.works-with", "Beth", "relation")
    before = memory.as_of(memory.status().position)
    assert memory.entities.merge("ana", "Liz Miller", "Beth", by="eve") == 2
    assert set(known(memory)) == {"User", "Liz Miller"}
    liz = memory.entities.get("ana", "Beth")
    assert names(liz) == [("Liz Miller", "first"), ("Beth", "first")]
    assert moved.memory_id in {each.memory_id for each in liz.attributes}
    assert liz.mentions == 3
    assert len(liz.absorbed) == 1
    [path] = memory.related("ana", relation="works-with")
    assert (path.steps[0].entity, path.steps[0].memory.memory_id) == ("Liz Miller", far.memory_id)
    # As of before they are two, and each has its own.
    then = known(memory, as_of=before)
    assert set(then) == {"User", "Liz Miller", "Beth"}
    assert [each.value for each in then["Beth"].attributes] == ["Porto"]
    assert memory.entities.get("ana", "Beth", as_of=before).entity_id == liz.absorbed[0]
    [path] = memory.related("ana", relation="works-with", as_of=before)
    assert path.steps[0].entity == "Beth"
    assert_whole(memory)


def test_a_split_gives_back_what_a_merge_took(memory):
    say(memory, "Ben", "role", "CTO")
    say(memory, "Carla", "home.location", "Porto")
    say(memory, "Carla", "relation.works-with", "Ben", "relation")
    say(memory, "User", "relation.reports-to", "Ben", "relation")

    def told():
        return [
            [(step.relation, step.entity, step.memory.text) for step in path.steps]
            for path in memory.related("ana", hops=3)
        ]

    before = told()
    assert len(before) == 4
    memory.entities.merge("ana", "Ben", "Carla", by="eve")
    assert told() != before
    other = memory.entities.split("ana", "Ben", ["Carla"], by="eve")
    assert sorted(told(), key=str) == sorted(before, key=str)
    carla = memory.entities.get("ana", "Carla")
    assert (carla.entity_id, carla.name) == (other, "Carla")
    assert names(memory.entities.get("ana", "Ben")) == [("Ben", "first"), ("manager", "role")]
    assert_whole(memory)


def test_a_title_is_whoever_held_it(memory, clock):
    say(memory, "User", "relation.reports-to", "Ben", "relation")
    then = memory.as_of(memory.status().position)
    clock.ahead(DAY / 1e6)
    say(memory, "User", "relation.reports-to", "Carla", "relation")
    assert memory.entities.get("ana", "my manager").name == "Carla"
    assert memory.entities.get("ana", "my manager", as_of=then).name == "Ben"
    assert ("manager", "role") not in names(memory.entities.get("ana", "Ben"))


def test_of_nearly_one_name_a_person_is_asked_and_answers(memory):
    say(memory, "Marlowe Quint", "role", "CTO")
    say(memory, "Marlowe Quintt", "home.location", "Faro")
    [one, other] = memory.entities.list("ana", questions=True)
    assert one.questions[0].entity_id == other.entity_id
    assert other.questions[0].name == one.name
    assert 0.85 < one.questions[0].similarity < 1
    memory.entities.keep_apart("ana", one.entity_id, other.entity_id, by="eve")
    assert memory.entities.list("ana", questions=True) == []
    assert len(memory.entities.list("ana")) == 2
    say(memory, "Marlowe Quinttt", "age", "40")
    [asked] = memory.entities.get("ana", "Marlowe Quinttt").questions
    memory.entities.merge("ana", asked.entity_id, "Marlowe Quinttt", by="eve")
    assert memory.entities.list("ana", questions=True) == []
    assert_whole(memory)


def test_who_acts_is_named_and_whom_it_is_about_is_known(memory):
    say(memory, "Ben", "role", "CTO")
    with pytest.raises(UnknownMemory, match="Zoe"):
        memory.entities.get("ana", "Zoe")
    with pytest.raises(UnknownMemory, match="nobody"):
        memory.entities.add_alias("nobody", "Ben", "Benny", by="eve")
    with pytest.raises(NotPermitted):
        memory.entities.add_alias("ana", "Ben", "Benny", by=" ")
    with pytest.raises(InvalidTurn):
        memory.entities.split("ana", "Ben", "Ben", by="eve")
    with pytest.raises(InvalidTurn, match="one entity"):
        memory.entities.keep_apart("ana", "Ben", "Ben", by="eve")
    assert memory.entities.add_alias("ana", "Ben", "Benny", by="eve").names[-1].how == "actor"


def test_nothing_is_left_of_the_erased(memory):
    say(memory, "Ben", "role", "CTO")
    say(memory, "User", "relation.works-with", "Ben", "relation")
    say(memory, "Marlowe Quint", "role", "CTO")
    say(memory, "Marlowe Quintt", "role", "CFO")
    memory.consent.grant("bob", "consent")
    memory.store("bob", "CTO", details=Details(entity="Ben"), attribute="role")
    memory.erase("ana", by="eve")
    assert memory.entities.list("ana") == memory.related("ana") == memory.events("ana") == []
    with pytest.raises(NotPermitted):
        memory.entities.add_alias("ana", "Ben", "Benny", by="eve")
    with memory._core.projector.reading() as connection:
        states = memory._core.projector.states(connection)
        for view in VIEWS:
            for table in memory._core.projector.views[view].tables(states[view].generation):
                refs = {row.subject_ref for row in connection.execute(table.select())}
                assert refs <= {memory._log.subject("bob")}
    assert [each.name for each in memory.entities.list("bob")] == ["Ben"]
    assert_whole(memory)


def test_a_copy_knows_the_same(memory, place, new_place):
    say(memory, "Liz Miller", "role", "VP")
    say(memory, "Beth", "home.location", "Porto")
    memory.entities.merge("ana", "Liz Miller", "Beth", by="eve")
    there = new_place()
    copy(place, there)
    with open_memory(there, clock=memory._core.clock) as copied:
        assert copied.entities.list("ana") == memory.entities.list("ana")
        assert digests(copied) == digests(memory)


def test_two_ledgers_that_were_told_the_same_say_the_same(new_place, clock):
    contents = []
    for place in (new_place(), new_place()):
        with open_memory(place, clock=clock) as memory:
            memory.consent.grant("ana", "consent")
            say(memory, "Liz Miller", "role", "VP")
            say(memory, "Beth", "home.location", "Porto")
            memory.entities.merge("ana", "Liz Miller", "Beth", by="eve")
            contents.append({name: content for name, (_, content) in digests(memory).items()})
    assert contents[0] == contents[1]


def test_the_command_line_lists_shows_merges_and_splits(place):
    runner = CliRunner()

    def run(*words):
        done = runner.invoke(app, ["--ledger", place, *words])
        assert done.exit_code == 0, done.output
        return done.stdout

    run("consent", "grant", "-s", "ana")
    for text in ("I report to Ben.", "Ben is the head of data.", "I work with Carla."):
        run("remember", "-s", "ana", text)
    listed = json.loads(run("entities", "list", "-s", "ana", "--json"))
    assert {each["name"] for each in listed} == {"User", "Ben", "Carla"}
    assert "Carla" in run("entities", "list", "-s", "ana")
    shown = run("entities", "show", "-s", "ana", "manager")
    assert "head of data" in shown
    assert "manager (role)" in shown
    run("entities", "alias", "-s", "ana", "Ben", "Benny", "--by", "eve")
    merged = json.loads(
        run("entities", "merge", "-s", "ana", "Benny", "Carla", "--by", "eve", "--json")
    )
    assert merged["moved"] == 1
    assert [each["name"] for each in merged["entity"]["names"]][-1] == "Carla"
    assert "They are two" in run("entities", "split", "-s", "ana", "Ben", "Carla", "--by", "eve")
    assert "kept apart" in run("entities", "apart", "-s", "ana", "Ben", "Carla", "--by", "eve")
    unknown = runner.invoke(app, ["--ledger", place, "entities", "show", "-s", "ana", "Zoe"])
    assert unknown.exit_code == 3


def test_an_entity_is_of_the_kind_that_the_words_say(memory):
    for words in (
        "I report to Sarah Chen.",
        "I had lunch with Tom last Tuesday.",
        "Acme is a logistics company.",
    ):
        memory.remember("ana", words)
    kinds = {each.name: each.kind for each in memory.entities.list("ana")}
    assert kinds["Sarah Chen"] == kinds["Tom"] == kinds["User"] == "person"
    assert kinds["Acme"] == "logistics company"
    assert {each.name for each in memory.entities.list("ana", kind="person")} >= {
        "Sarah Chen",
        "Tom",
    }
