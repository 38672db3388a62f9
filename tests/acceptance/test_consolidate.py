"""Rephrasings become one memory, are said again, come apart again; on both backends."""

from __future__ import annotations

import json

import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.ledger.errors import CallerMistake, EmbedderMissing, NotPermitted, UnknownMemory
from beliefledger.operations.copy import copy
from beliefledger.tools.cli import app

SAID = (
    ("dark mode", "editor.theme", "preference", "User prefers dark mode", 0.9),
    ("dark mode", "ui.appearance", "preference", "User likes dark mode", 0.7),
    ("dark mode", "screen.style", "preference", "User prefers to use dark mode", 0.8),
    ("light mode", "print.theme", "preference", "User prefers light mode", 0.8),
    ("Berlin", "home.location", "fact", "User lives in Berlin", 0.9),
    ("Berlin", "home.residence", "fact", "User resides in Berlin", 0.6),
    ("Berlin", "work.location", "fact", "User works in Berlin", 0.9),
    ("two children", "family.children", "fact", "User has two children", 0.9),
    ("three children", "family.kids", "fact", "User has three children", 0.9),
)


def seed(memory, subject="ana", clock=None):
    memory.consent.grant(subject, "consent")
    made = {}
    for value, attribute, kind, text, confidence in SAID:
        decision = memory.store(
            subject, value, attribute=attribute, type=kind, text=text, confidence=confidence
        )
        assert decision.outcome == "admit", (text, decision.reason)
        made[attribute] = decision.memory_id
        if clock is not None:
            clock.ahead(60)
    return made


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        yield opened


def texts(memory, subject="ana"):
    return sorted(each.text for each in memory.beliefs(subject))


def sound(memory):
    """The log verifies, each view is what a rebuild gives, every decision is made the same."""
    assert memory.proofs.verify().ok
    for view in memory.operations.rebuild(verify=True):
        assert view.same, view
    summary = memory.audit.replay_all()
    assert summary.same == summary.decisions
    return {view.name: view.content_digest for view in memory.status(digests=True).views}


def test_what_would_be_merged_is_shown_and_nothing_is_changed(memory, clock):
    made = seed(memory, clock=clock)
    position = memory.status().position
    answer = memory.operations.consolidation.consolidate("ana")
    assert memory.status().position == position
    assert not answer.applied
    assert [(each.before, each.after) for each in answer.clusters] == [
        (("User lives in Berlin", "User resides in Berlin"), "User lives in Berlin"),
        (
            (
                "User prefers dark mode",
                "User prefers to use dark mode",
                "User likes dark mode",
            ),
            "User prefers dark mode",
        ),
    ]
    assert answer.clusters[0].members[0].memory_id == made["home.location"]
    assert all(each.similarity >= 0.85 for each in answer.clusters)
    reasons = {each.texts: each.reason for each in answer.apart}
    assert reasons["User has two children", "User has three children"] == "the numbers differ"
    assert "works" in reasons["User lives in Berlin", "User works in Berlin"]
    assert answer.input_tokens == answer.output_tokens == answer.cost_micro_usd == 0


def test_merged_memories_link_both_ways_and_carry_the_least_trust(memory, clock):
    made = seed(memory, clock=clock)
    answer = memory.operations.consolidation.consolidate("ana", apply=True)
    merged = {each.type: each.memory_id for each in answer.clusters}
    dark = next(each for each in memory.beliefs("ana") if each.memory_id == merged["preference"])
    assert dark.text == "User prefers dark mode"
    assert dark.confidence == 0.7
    assert dark.mentions == 3
    assert len({each.turn_id for each in dark.evidence}) == 3
    story = memory.explain(dark.memory_id)
    assert story.holds
    assert {each.memory_id for each in story.originals} == {
        made["editor.theme"],
        made["ui.appearance"],
        made["screen.style"],
    }
    assert "consolidation" in story.decided_by
    for attribute in ("editor.theme", "ui.appearance", "screen.style"):
        original = memory.explain(made[attribute])
        assert not original.holds
        assert original.memory.superseded_by == dark.memory_id
    assert texts(memory) == sorted(
        {text for *_, text, _ in SAID}
        - {"User likes dark mode", "User prefers to use dark mode", "User resides in Berlin"}
    )
    assert memory.operations.consolidation.consolidate("ana", apply=True).clusters == ()
    sound(memory)


def test_at_each_position_the_leaders_slot_has_one_value(memory, clock):
    made = seed(memory, clock=clock)
    slots = {each.memory_id: each.belief_id for each in memory.beliefs("ana")}
    first = memory.status().position
    merged = [
        each.memory_id
        for each in memory.operations.consolidation.consolidate("ana", apply=True).clusters
    ]
    for each in merged:
        memory.operations.consolidation.undo(each, by="carla")
    for position in range(first, memory.status().position + 1):
        for leader in ("editor.theme", "home.location"):
            slot = slots[made[leader]]
            there = [b for b in memory.beliefs("ana", as_of=position) if b.belief_id == slot]
            assert len(there) <= 1, (position, leader)


def test_saying_an_original_again_confirms_the_merged_memory(memory, clock):
    seed(memory, clock=clock)
    merged = {
        each.type: each.memory_id
        for each in memory.operations.consolidation.consolidate("ana", apply=True).clusters
    }
    before = next(each for each in memory.beliefs("ana") if each.memory_id == merged["fact"])
    clock.ahead(60)
    again = memory.store(
        "ana",
        "Berlin",
        attribute="home.residence",
        text="User resides in Berlin",
        confidence=0.9,
    )
    assert (again.outcome, again.memory_id) == ("confirm", merged["fact"])
    after = next(each for each in memory.beliefs("ana") if each.memory_id == merged["fact"])
    assert after.mentions == before.mentions + 1
    assert "User resides in Berlin" not in texts(memory)
    sound(memory)


def test_another_value_of_an_original_meets_the_merged_memory(memory, clock):
    seed(memory, clock=clock)
    merged = {
        each.type: each.memory_id
        for each in memory.operations.consolidation.consolidate("ana", apply=True).clusters
    }
    clock.ahead(60)
    moved = memory.store(
        "ana", "Porto", attribute="home.residence", text="User resides in Porto", confidence=0.9
    )
    assert moved.outcome == "supersede"
    assert merged["fact"] not in {each.memory_id for each in memory.beliefs("ana")}
    with pytest.raises(NotPermitted, match="does not hold any more"):
        memory.operations.consolidation.undo(merged["fact"], by="carla")
    sound(memory)


def test_one_command_takes_a_merge_back(memory, clock):
    made = seed(memory, clock=clock)
    before = {each.memory_id: each for each in memory.beliefs("ana")}
    merged = {
        each.type: each.memory_id
        for each in memory.operations.consolidation.consolidate("ana", apply=True).clusters
    }
    clock.ahead(60)
    memory.store(
        "ana",
        "dark mode",
        attribute="ui.appearance",
        type="preference",
        confidence=0.9,
        text="User likes dark mode",
    )
    with pytest.raises(NotPermitted, match="named principal"):
        memory.operations.consolidation.undo(merged["preference"], by="system")
    for each in merged.values():
        clock.ahead(60)
        memory.operations.consolidation.undo(each[:12], by="carla", note="these are two things")
    after = {each.memory_id: each for each in memory.beliefs("ana")}
    assert after.keys() == before.keys()
    leader = made["editor.theme"]
    for memory_id, was in before.items():
        now = after[memory_id]
        more = 1 if memory_id == leader else 0  # it was said once more in between
        assert (now.text, now.belief_id) == (was.text, was.belief_id)
        assert now.valid_from == was.valid_from
        assert now.mentions == was.mentions + more
        assert len(now.evidence) == len(was.evidence) + more
    assert not memory.explain(merged["fact"]).holds
    with pytest.raises(NotPermitted, match="does not hold any more"):
        memory.operations.consolidation.undo(merged["fact"], by="carla")
    with pytest.raises(NotPermitted, match="not merged from others"):
        memory.operations.consolidation.undo(leader, by="carla")
    clock.ahead(60)
    again = memory.store(
        "ana", "Berlin", attribute="home.residence", text="User resides in Berlin", confidence=0.9
    )
    assert (again.outcome, again.memory_id) == ("confirm", made["home.residence"])
    sound(memory)
    redone = memory.operations.consolidation.consolidate("ana", apply=True)
    assert {each.type for each in redone.clusters} == {"fact", "preference"}
    sound(memory)


def test_a_merged_memory_may_be_merged_again_and_each_merge_taken_back(memory, clock):
    made = seed(memory, clock=clock)
    near = memory.operations.consolidation.consolidate(
        "ana", type="preference", threshold=0.955, apply=True
    )
    assert [len(each.members) for each in near.clusters] == [2]
    clock.ahead(60)
    all_ = memory.operations.consolidation.consolidate("ana", type="preference", apply=True)
    assert [len(each.members) for each in all_.clusters] == [2]
    inner, outer = near.clusters[0].memory_id, all_.clusters[0].memory_id
    assert len(next(b for b in memory.beliefs("ana") if b.memory_id == outer).evidence) == 3
    clock.ahead(60)
    for attribute, text in (
        ("editor.theme", "User prefers dark mode"),
        ("screen.style", "User prefers to use dark mode"),
        ("ui.appearance", "User likes dark mode"),
    ):
        said = memory.store("ana", "dark mode", attribute=attribute, type="preference", text=text)
        assert (said.outcome, said.memory_id) == ("confirm", outer), attribute
    with pytest.raises(NotPermitted, match="does not hold any more"):
        memory.operations.consolidation.undo(inner, by="carla")
    clock.ahead(60)
    memory.operations.consolidation.undo(outer, by="carla")
    assert inner in {each.memory_id for each in memory.beliefs("ana")}
    clock.ahead(60)
    memory.operations.consolidation.undo(inner, by="carla")
    assert {made[name] for name in ("editor.theme", "ui.appearance", "screen.style")} <= {
        each.memory_id for each in memory.beliefs("ana")
    }
    sound(memory)


def test_decisions_said_in_several_ways_become_one_and_stay_one(memory):
    memory.consent.grant("ana", "consent")
    for text in (
        "I decided to use Postgres for the backend.",
        "I decided to go with Postgres for the backend.",
        "I have decided to use Postgres for the backend.",
    ):
        memory.remember("ana", text)
    assert len(memory.beliefs("ana")) == 3
    (cluster,) = memory.operations.consolidation.consolidate("ana", apply=True).clusters
    _, (again,) = memory.remember("ana", "I decided to go with Postgres for the backend.")
    assert (again.outcome, again.memory_id) == ("confirm", cluster.memory_id)
    (only,) = memory.beliefs("ana")
    assert only.mentions == 4
    assert len(memory.explain(only.memory_id).confirmed_by) == 1
    sound(memory)


def test_two_who_merge_the_same_make_one_merge(memory):
    from beliefledger.gate.consolidation import Consolidator

    made = seed(memory)
    held = {each.memory_id: each.belief_id for each in memory.beliefs("ana")}
    both = {made[name]: held[made[name]] for name in ("home.location", "home.residence")}
    ref = memory._log.subject("ana")
    Consolidator(memory._gate).consolidate(ref, both, similarity=900_000)
    with pytest.raises(UnknownMemory, match="does not hold any more"):
        Consolidator(memory._gate).consolidate(ref, both, similarity=900_000)
    different = {made[name]: held[made[name]] for name in ("family.children", "family.kids")}
    with pytest.raises(NotPermitted, match="numbers differ"):
        Consolidator(memory._gate).consolidate(ref, different, similarity=900_000)


def test_what_stands_on_different_grants_or_is_contested_stays_apart(memory):
    memory.consent.grant("ana", "consent")
    memory.store("ana", "Berlin", attribute="home.location", text="User lives in Berlin")
    memory.consent.grant("ana", "contract")
    memory.store("ana", "Berlin", attribute="home.residence", text="User resides in Berlin")
    answer = memory.operations.consolidation.consolidate("ana", apply=True)
    assert answer.clusters == ()
    assert "grants" in answer.apart[0].reason
    memory.consent.withdraw("ana", basis="consent", by="system")
    assert texts(memory) == ["User resides in Berlin"]


def test_a_withdrawn_consent_ends_what_was_merged_on_it(memory):
    seed(memory)
    memory.operations.consolidation.consolidate("ana", apply=True)
    memory.consent.withdraw("ana", by="system")
    assert memory.beliefs("ana") == []
    sound(memory)


def test_an_erased_subject_leaves_nothing_of_what_was_merged(memory, clock):
    seed(memory)
    seed(memory, "ben")
    memory.operations.consolidation.consolidate(apply=True)
    memory.erase("ana", by="carla")
    assert memory.beliefs("ana") == []
    assert len(memory.beliefs("ben")) == len(SAID) - 3
    assert memory.proofs.verify().ok
    for view in memory.operations.rebuild(verify=True):
        assert view.same, view


def test_a_copy_has_the_same_merges_and_takes_them_back(new_place, clock):
    one, other = new_place(), new_place()
    with open_memory(one, clock=clock) as memory:
        seed(memory, clock=clock)
        merged = (
            memory.operations.consolidation.consolidate("ana", apply=True).clusters[0].memory_id
        )
        memory.operations.consolidation.undo(merged, by="carla")
        digests = sound(memory)
    copy(one, other)
    with open_memory(other, clock=clock) as memory:
        assert sound(memory) == digests
        left = next(
            each for each in memory.operations.consolidation.consolidate("ana", apply=True).clusters
        )
        assert left.memory_id is not None


def test_thresholds_are_each_types_own_or_one_for_this_run(memory):
    seed(memory)
    assert memory.operations.consolidation.consolidate("ana", threshold=0.999).clusters == ()
    assert [
        each.type
        for each in memory.operations.consolidation.consolidate("ana", type="fact").clusters
    ] == ["fact"]
    strict = {"name": "habit", "prior": 0.2, "half_life_days": 90, "slot": "content"}
    memory.types.add(strict | {"similarity": 0.999})
    for text in ("User drinks tea every morning", "User drinks tea each morning"):
        memory.store("ana", "tea", attribute="habit.tea", type="habit", text=text)
    assert memory.operations.consolidation.consolidate("ana", type="habit").clusters == ()
    assert (
        len(
            memory.operations.consolidation.consolidate(
                "ana", type="habit", threshold=0.85
            ).clusters
        )
        == 1
    )
    for wrong in ({"threshold": 0}, {"threshold": 1.5}, {"type": "nothing"}, {"how": "magic"}):
        with pytest.raises(CallerMistake):
            memory.operations.consolidation.consolidate("ana", **wrong)


def test_without_the_extra_only_this_is_refused(memory, monkeypatch):
    from beliefledger.projections import embedding

    seed(memory)
    monkeypatch.setattr(embedding, "find_spec", lambda _name: None)
    with pytest.raises(EmbedderMissing, match="pip install"):
        memory.operations.consolidation.consolidate("ana")
    assert len(memory.beliefs("ana")) == len(SAID)


# The command line


def run(place, *args, code=0):
    result = CliRunner().invoke(app, ["--ledger", place, "ops", "consolidate", *args])
    assert result.exit_code == code, result.output
    return result


def test_on_the_command_line(place):
    with open_memory(place) as memory:
        seed(memory)
    shown = run(place, "--subject", "ana").output
    assert "Would merge 2 groups of 9 memories" in shown
    assert "the numbers differ" in shown
    assert json.loads(run(place, "--json").output)["applied"] is False
    done = json.loads(run(place, "--apply", "--by", "carla", "--json").output)
    merged = done["clusters"][0]["memory_id"]
    assert "Nothing to merge" in run(place, "--apply").output
    run(place, "--undo", merged, code=2)
    assert "2 memories again" in run(place, "--undo", merged, "--by", "carla").output
    run(place, "--undo", merged, "--by", "carla", code=3)
    run(place, "--type", "nothing", code=2)
