"""Who is related to whom, over up to three memories, as of any moment; and who disagrees."""

from __future__ import annotations

import json

import pytest
from command_line import CliRunner
from wishes import storing

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.ledger.errors import InvalidQuery, UnknownMemory
from beliefledger.ledger.times import DAY
from beliefledger.tools.cli import app


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def say(memory, entity, attribute, value, type="fact", **more):
    return memory.store(
        "ana", value, **storing(entity=entity, **(more)), attribute=attribute, type=type
    )


def relate(memory, one, relation, other, **more):
    return say(memory, one, f"relation.{relation}", other, "relation", **more)


def ways(paths):
    """Each path as `relation > whom` or `attribute = value`."""
    return [
        " ".join(
            f"{step.relation} > {step.entity}"
            if step.relation is not None
            else f"{step.attribute} = {step.value}"
            for step in path.steps
        )
        for path in paths
    ]


def test_whom_one_works_for_and_what_their_role_is_take_two_memories(memory):
    memory.record_turn("ana", "I report to Ben.", session="monday")
    memory.record_turn("ana", "Ben is the head of data.", session="tuesday")
    memory.process()
    [path] = memory.related("ana", relation="reports-to", attribute="role")
    assert ways([path]) == ["reports-to > Ben work.role = head of data"]
    assert path.entity == "User"
    for step, words in zip(path.steps, ("I report to Ben", "Ben is the head of data"), strict=True):
        [evidence] = step.memory.evidence
        turn = memory.explain(step.memory.memory_id).turn
        assert evidence.turn_id == turn["turn_id"]
        assert words in turn["content"]
    # The same in two hops that are counted.
    assert memory.related("ana", relation="reports-to", attribute="role", hops=2) == [path]
    # No matter by which of their names one asks.
    assert ways(memory.related("ana", "manager", attribute="role", hops=1)) == [
        "work.role = head of data"
    ]


def test_a_relation_is_found_from_either_end(memory):
    relate(memory, "User", "reports-to", "Ben")
    relate(memory, "Zoe", "manages", "Ben")
    relate(memory, "Ben", "member-of", "Data Guild")
    assert ways(memory.related("ana", "Ben", "manages")) == ["manages > User"]
    assert ways(memory.related("ana", "Ben", "reports-to")) == ["reports-to > Zoe"]
    assert ways(memory.related("ana", "Ben", "manager")) == ["reports-to > Zoe"]
    assert ways(memory.related("ana", relation="reports-to", hops=3)) == [
        "reports-to > Ben",
        "reports-to > Ben reports-to > Zoe",
    ]
    assert ways(memory.related("ana", "Data Guild", "has-member")) == ["has-member > Ben"]
    assert memory.related("ana", "Data Guild", "member-of") == []
    [path] = memory.related("ana", "Ben", "manages")
    assert (path.steps[0].forward, path.steps[0].memory.attribute) == (
        False,
        "relation.reports-to",
    )


def test_relations_of_one_hop_each(memory):
    relate(memory, "User", "works-with", "Carla")
    relate(memory, "Carla", "reports-to", "Ben")
    relate(memory, "Carla", "uses", "Vim")
    say(memory, "Ben", "role", "CTO")
    assert ways(memory.related("ana", relation=["works-with", "reports-to"])) == [
        "works-with > Carla reports-to > Ben"
    ]
    assert ways(memory.related("ana", relation=["works-with", "reports-to"], attribute="role")) == [
        "works-with > Carla reports-to > Ben role = CTO"
    ]
    assert len(memory.related("ana", hops=2)) == 3
    assert len(memory.related("ana", hops=3)) == 4


def test_three_hops_at_most_and_nobody_twice(memory):
    for one, other in (("User", "A1"), ("A1", "A2"), ("A2", "A3"), ("A3", "A4"), ("A2", "User")):
        relate(memory, one, "works-with", other)
    found = ways(memory.related("ana", relation="works-with", hops=3))
    assert "works-with > A1 works-with > A2 works-with > A3" in found
    assert not any("A4" in way for way in found if "A1 works-with > A2" in way)
    assert not any("User" in way for way in found)
    assert max(way.count(">") for way in found) == 3


@pytest.mark.parametrize(
    "asked",
    [
        {"hops": 4},
        {"hops": 0},
        {"relation": ["uses", "uses"], "hops": 1},
        {"relation": ["uses", "uses", "uses"], "attribute": "role"},
        {"relation": "repots-to"},
        {"relation": []},
    ],
)
def test_what_makes_no_path_is_told(memory, asked):
    relate(memory, "User", "uses", "Vim")
    with pytest.raises(InvalidQuery):
        memory.related("ana", **asked)


def test_somebody_unknown_is_told_and_an_unknown_subject_has_nobody(memory):
    with pytest.raises(UnknownMemory, match="Zoe"):
        memory.related("ana", "Zoe")
    assert memory.related("nobody") == []
    assert memory.related("ana") == []


def test_relations_are_as_of_a_moment_and_valid_at_one(memory, clock):
    relate(memory, "User", "reports-to", "Ben", valid_from="2025-01-01")
    then = memory.as_of(memory.status().position)
    clock.ahead(DAY / 1e6)
    relate(memory, "User", "reports-to", "Carla")
    assert ways(memory.related("ana")) == ["reports-to > Carla"]
    assert ways(memory.related("ana", as_of=then)) == ["reports-to > Ben"]
    assert ways(memory.related("ana", valid_at="2025-06-01")) == ["reports-to > Ben"]
    assert memory.related("ana", valid_at="2024-06-01") == []
    assert [path.steps[0].memory.recorded_to for path in memory.related("ana", as_of=then)] == [
        None
    ]


def test_what_ended_was_revoked_or_is_unsure_leads_nowhere(memory, clock):
    relate(memory, "User", "uses", "Vim")
    relate(memory, "User", "uses", "Emacs")
    relate(memory, "User", "uses", "Ed", confidence=0.3)
    assert len(memory.related("ana", relation="uses")) == 2
    clock.ahead(60)
    relate(memory, "User", "uses", "Vim", negated=True)
    gone = [path.steps[0].entity for path in memory.related("ana", relation="uses")]
    assert "Vim" not in gone
    [path] = memory.related("ana", relation="uses")
    memory.revoke(path.steps[0].memory.memory_id, by="eve")
    assert memory.related("ana", relation="uses") == []
    assert all(view.same for view in memory.operations.rebuild(verify=True))


def test_memories_that_disagree_name_each_other(memory, clock):
    one = memory.store("ana", "Porto", attribute="home.location", confidence=0.95)
    before = memory.as_of(memory.status().position)
    other = memory.store("ana", "Lisbon", attribute="home.location", confidence=0.6)
    assert other.reason == "truth.weaker_than_current"
    memory.store("ana", "Faro", attribute="home.location", details=Details(context="on Fridays"))
    told = {each.value: each for each in memory.beliefs("ana", quarantined=True)}
    assert told["Porto"].contradicts == (other.memory_id,)
    assert told["Lisbon"].contradicts == (one.memory_id,)
    assert told["Faro"].contradicts == ()
    assert memory.explain(one.memory_id).memory.contradicts == (other.memory_id,)
    assert memory.beliefs("ana", as_of=before)[0].contradicts == ()
    # Without those in quarantine, one still learns of them.
    assert {each.value: each.contradicts for each in memory.beliefs("ana")} == {
        "Porto": (other.memory_id,),
        "Faro": (),
    }
    clock.ahead(60)
    memory.revoke(other.memory_id, by="eve")
    assert all(each.contradicts == () for each in memory.beliefs("ana"))
    assert all(view.same for view in memory.operations.rebuild(verify=True))


def test_one_that_took_the_others_place_does_not_disagree(memory, clock):
    memory.store("ana", "Porto", attribute="home.location")
    clock.ahead(60)
    memory.store("ana", "Lisbon", attribute="home.location")
    assert all(each.contradicts == () for each in memory.beliefs("ana", quarantined=True))
    [belief] = memory.beliefs("ana")
    assert all(each.contradicts == () for each in memory.history(belief.belief_id))


def test_the_command_line_draws_a_tree(place):
    runner = CliRunner()

    def run(*words):
        done = runner.invoke(app, ["--ledger", place, *words])
        assert done.exit_code == 0, done.output
        return done.stdout

    run("consent", "grant", "-s", "ana")
    for text in ("I report to Ben.", "Ben is the head of data.", "I work with Carla."):
        run("remember", "-s", "ana", text)
    drawn = run("entities", "related", "-s", "ana", "--hops", "2").splitlines()
    assert drawn[0] == "User"
    assert drawn[1].startswith("├── reports-to → Ben")
    assert drawn[2].startswith("│   └── work.role: head of data")
    assert drawn[3].startswith("└── works-with → Carla")
    answer = json.loads(
        run(
            "entities",
            "related",
            "-s",
            "ana",
            "--relation",
            "reports-to",
            "--attribute",
            "role",
            "--json",
        )
    )
    assert [step["value"] for step in answer[0]["steps"]] == ["Ben", "head of data"]
    assert all(step["memory"]["evidence"] for step in answer[0]["steps"])
    assert "Nothing is believed" in run("entities", "related", "-s", "ana", "--relation", "owns")
