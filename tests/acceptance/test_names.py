"""Names of one person lead to one person's memories: aliases, titles, merges, splits, echoes."""

from __future__ import annotations

import pytest
from wishes import storing

from beliefledger import open_memory
from beliefledger.gate.registry import default_types
from beliefledger.ledger.errors import NotPermitted, UnknownMemory


@pytest.fixture
def memory(place):
    with open_memory(place) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def ids(memory):
    """Each name that memories were written under, and the entity it leads to."""
    found = {}
    for version in memory.beliefs("ana"):
        found[version.entity] = entity_of(memory, version.memory_id)
    return found


def entity_of(memory, memory_id):
    with memory._queries.view("belief_versions") as (connection, generation):
        from beliefledger.projections import questions

        row = questions.versions_of_memory(connection, generation, memory_id)[-1]
    words = memory._log.read_at([row.words_at])[row.words_at].event
    return words.memory.resolved.entity


def say(memory, entity, attribute, value, type="fact", **more):
    return memory.store(
        "ana", value, **storing(entity=entity, **(more)), attribute=attribute, type=type
    )


def alias(memory, entity, name):
    return say(memory, entity, "alias", name, "entity")


def whole(memory):
    """The views are what a rebuild makes of the log, and every decision can be made again."""
    assert all(view.same for view in memory.operations.rebuild(verify=True))
    replayed = memory.audit.replay_all()
    assert replayed.same == replayed.decisions > 0


def test_a_stated_alias_moves_what_was_said_under_it(memory):
    say(memory, "Sarah", "role", "VP of Platform")
    moved = say(memory, "S. Chen", "work.location", "Berlin")
    assert len(set(ids(memory).values())) == 2
    assert alias(memory, "Sarah", "S. Chen").outcome == "admit"
    assert len(set(ids(memory).values())) == 1
    (after,) = [each for each in memory.beliefs("ana") if each.attribute == "work.location"]
    assert (after.memory_id, after.value) == (moved.memory_id, "Berlin")
    assert after.evidence
    # What is said under either name from now on meets what was said under the other.
    assert say(memory, "Sarah", "work.location", "Berlin").outcome == "confirm"
    assert say(memory, "S. Chen", "role", "CTO").outcome == "supersede"
    whole(memory)


def test_before_an_alias_is_stated_near_names_are_two_people(memory):
    say(memory, "Sarah Chen", "role", "VP of Platform")
    say(memory, "Sarah", "role", "nurse")
    assert sorted(belief.value for belief in memory.beliefs("ana")) == ["VP of Platform", "nurse"]


def test_a_policy_may_link_near_names(new_place):
    with open_memory(new_place(), policy={"entities": {"near": "link"}}) as memory:
        memory.consent.grant("ana", "consent")
        say(memory, "Sarah Chen", "role", "VP of Platform")
        assert say(memory, "Sarah", "role", "VP of Platform").outcome == "confirm"


def test_of_two_values_that_meet_by_an_alias_the_one_said_later_holds(memory):
    say(memory, "Sarah", "role", "VP of Platform", said_at="2026-02-01")
    say(memory, "S. Chen", "role", "Director", said_at="2026-01-01")
    alias(memory, "Sarah", "S. Chen")
    roles = [each.value for each in memory.beliefs("ana") if each.attribute == "role"]
    assert roles == ["VP of Platform"]
    then = memory.beliefs("ana", valid_at="2026-01-15")
    assert [each.value for each in then if each.attribute == "role"] == ["Director"]
    whole(memory)


def test_the_later_value_takes_over_when_it_is_the_one_that_moves(memory):
    say(memory, "Sarah", "role", "Director", said_at="2026-01-01")
    say(memory, "S. Chen", "role", "VP of Platform", said_at="2026-02-01")
    alias(memory, "Sarah", "S. Chen")
    roles = [each.value for each in memory.beliefs("ana") if each.attribute == "role"]
    assert roles == ["VP of Platform"]
    whole(memory)


def test_what_waits_for_a_person_moves_with_the_values_that_it_is_about(memory):
    for day, role in enumerate(["nurse", "doctor", "nurse", "doctor", "nurse"], 1):
        last = say(memory, "S. Chen", "role", role, said_at=f"2026-03-0{day}")
    assert last.outcome == "escalate"
    say(memory, "Sarah", "pet", "cat")
    alias(memory, "Sarah", "S. Chen")
    (conflict,) = memory.conflicts.list("ana")
    held = memory.conflicts.resolve(conflict.belief_id, choose="nurse", by="Ina")
    assert [(each.value, each.contested) for each in held] == [("nurse", False)]
    assert memory.conflicts.list("ana") == []
    assert say(memory, "Sarah", "role", "nurse").outcome == "confirm"
    whole(memory)


def test_one_value_under_two_names_becomes_one_memory_with_both_mentions(memory):
    first = say(memory, "Sarah", "role", "VP of Platform")
    say(memory, "S. Chen", "role", "VP of Platform")
    alias(memory, "Sarah", "S. Chen")
    (role,) = [each for each in memory.beliefs("ana") if each.attribute == "role"]
    assert (role.memory_id, role.mentions) == (first.memory_id, 2)
    assert len({each.turn_id for each in role.evidence}) == 2
    whole(memory)


def test_a_title_is_whoever_holds_it(memory):
    say(memory, "manager", "meeting.time", "morning", "preference")
    say(memory, "User", "relation.reports-to", "Sarah Chen", "relation")
    assert say(memory, "Sarah Chen", "meeting.time", "morning").outcome == "confirm"
    assert say(memory, "my boss", "meeting.time", "morning").outcome == "confirm"
    say(memory, "User", "relation.reports-to", "Tom Reis", "relation")
    assert say(memory, "manager", "role", "Director").outcome == "admit"
    assert say(memory, "Tom Reis", "role", "Director").outcome == "confirm"
    # What was said of the one before stays theirs.
    assert say(memory, "Sarah Chen", "meeting.time", "morning").outcome == "confirm"
    whole(memory)


def test_a_title_is_known_where_the_ledger_is_older_than_vocabularies(new_place, monkeypatch):
    kinds = [
        kind.model_copy(update={"relations": {}}) if kind.name == "relation" else kind
        for kind in default_types()
    ]
    monkeypatch.setattr("beliefledger.gate.rulebook.default_types", lambda: kinds)
    with open_memory(new_place()) as memory:
        memory.consent.grant("ana", "consent")
        memory.record_turn("ana", "My manager is Sarah Chen.", said_at="2026-03-01")
        memory.record_turn("ana", "My manager hates golf.", said_at="2026-03-02")
        memory.process()
        assert memory.entities.get("ana", "manager").name == "Sarah Chen"
        assert not any(kind.relations for kind in memory.types.list())
        whole(memory)


def test_what_is_said_of_a_relative_by_title_is_said_of_them_by_name(memory):
    for words in ("My sister lives in Oslo.", "My sister is called Beth.", "Beth lives in Bergen."):
        memory.remember("ana", words)
    (home,) = [each for each in memory.beliefs("ana") if each.attribute == "home.location"]
    assert home.value == "Bergen"
    (beth,) = [each for each in memory.entities.list("ana") if each.name == "Beth"]
    assert {each.name for each in beth.names} == {"Beth", "sister"}
    memory.remember("ana", "My mum is called Carol.")
    memory.remember("ana", "My mom lives in York.")
    (york,) = [each for each in memory.beliefs("ana") if each.value == "York"]
    assert entity_of(memory, york.memory_id) == memory.entities.get("ana", "Carol").entity_id
    whole(memory)


def test_a_title_of_two_means_neither(memory):
    for words in ("My sister is called Beth.", "My sister is called Ann."):
        memory.remember("ana", words)
    memory.remember("ana", "My sister lives in Oslo.")
    (oslo,) = [each for each in memory.beliefs("ana") if each.value == "Oslo"]
    named = {memory.entities.get("ana", name).entity_id for name in ("Beth", "Ann")}
    assert entity_of(memory, oslo.memory_id) not in named
    memory.remember("ana", "My sister is called Beth.")
    assert entity_of(memory, oslo.memory_id) not in named
    whole(memory)


def test_whom_one_reports_to_is_one_person_under_all_names(memory):
    say(memory, "User", "relation.reports-to", "Sarah", "relation")
    alias(memory, "Sarah", "S. Chen")
    assert say(memory, "User", "relation.reports-to", "S. Chen", "relation").outcome == "confirm"


def test_a_relation_follows_its_far_end_into_the_merged_entity(memory):
    say(memory, "User", "relation.works-with", "S. Chen", "relation")
    say(memory, "Sarah", "role", "VP of Platform")
    alias(memory, "Sarah", "S. Chen")
    assert say(memory, "User", "relation.works-with", "Sarah", "relation").outcome == "confirm"
    whole(memory)


def test_named_people_merge_split_and_keep_apart(memory):
    say(memory, "Sarah", "role", "VP of Platform")
    say(memory, "Sunny", "pet", "cat")
    before = ids(memory)
    ref = memory._log.subject("ana")
    director, actor = memory._core.director, memory._core.actor("Ina")
    assert director.merge(ref, before["Sarah"], before["Sunny"], actor=actor) == 1
    assert len(set(ids(memory).values())) == 1
    assert say(memory, "Sarah", "pet", "cat").outcome == "confirm"
    with pytest.raises(NotPermitted, match="part of another"):
        director.merge(ref, before["Sunny"], before["Sarah"], actor=actor)
    with pytest.raises(UnknownMemory):
        director.alias(ref, "f" * 32, "Sun", actor=actor)
    with pytest.raises(NotPermitted):
        director.alias(ref, before["Sarah"], "User", actor=actor)
    memories = {each.memory_id: each.belief_id for each in memory.beliefs("ana")}
    other = director.split(ref, before["Sarah"], ["Sunny"], memories, actor=actor)
    after = ids(memory)
    assert after == {"Sarah": before["Sarah"], "Sunny": other}
    assert say(memory, "Sunny", "pet", "cat").outcome == "confirm"
    assert say(memory, "Sarah", "pet", "dog").outcome == "admit"
    director.keep_apart(ref, before["Sarah"], other, actor=actor)
    whole(memory)


def test_what_was_shown_and_comes_back_is_no_mention(memory):
    words = "My favorite drink is oat milk."
    (first,) = memory.remember("ana", words, session="s1")[1]
    memory.recalls.record_shown("ana", [first.memory_id], session="s2")
    (echo,) = memory.remember("ana", words, session="s2")[1]
    assert (echo.outcome, echo.mentions) == ("confirm", 1)
    (elsewhere,) = memory.remember("ana", words, session="s3")[1]
    assert (elsewhere.outcome, elsewhere.mentions) == ("confirm", 2)
    # What was shown after the words were said did not put them in their speaker's mouth.
    memory.record_turn("ana", words, session="s4")
    memory.recalls.record_shown("ana", [first.memory_id], session="s4")
    memory.process()
    assert memory.decisions("ana")[-1].mentions == 3
    whole(memory)


def test_names_of_the_erased_are_gone(memory):
    say(memory, "Sarah", "role", "VP of Platform")
    memory.erase("ana", by="Ina")
    memory.erasure.register_anew("ana", by="Ina")
    memory.consent.grant("ana", "consent")
    assert say(memory, "Sarah", "role", "nurse").outcome == "admit"
    assert all(view.same for view in memory.operations.rebuild(verify=True))
    assert memory.audit.replay_all().different == 0
