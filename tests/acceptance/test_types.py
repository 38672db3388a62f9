"""Types of one's own, through the front door: added, said, backfilled, split, retired."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

import programs
import pytest
import yaml
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.curation import backfill
from beliefledger.curation.storing import Details
from beliefledger.gate.typed_memories import Added, Constraint, Relation
from beliefledger.ledger.errors import TypeInvalid
from beliefledger.ledger.events.belief import MemoryMovedIn, MemoryMovedOut
from beliefledger.ledger.events.ops import JobRan
from beliefledger.tools.cli import app

ROOT = Path(__file__).resolve().parents[2]
MEDICATION = {
    "name": "medication",
    "description": "What somebody takes, and how much of it.",
    "attribute": "medication.{name}",
    "value": "{dose}",
    "half_life_days": 365,
    "category": "health",
    "fields": {
        "name": {"description": "which", "required": True},
        "dose": {"description": "how much", "required": True},
    },
    "patterns": ["take {dose} of {name}", "on {dose} of {name}", "take {name}"],
}
DIET = {
    "name": "diet",
    "attribute": "diet.{food}",
    "fields": {"food": {"description": "what is not eaten", "required": True}},
    "patterns": ["don't eat {food}", "never eat {food}"],
}
HEALTH = ["ordinary", "health"]


@pytest.fixture
def memory(place):
    with open_memory(place) as opened:
        opened.consent.grant("ana", "explicit_consent", categories=HEALTH)
        yield opened


def said(memory, text, subject="ana"):
    """The decisions about one sentence, as (outcome, reason, type)."""
    _, decisions = memory.remember(subject, text)
    return [(each.outcome, each.reason, each.type) for each in decisions]


def standing(memory, subject="ana"):
    return {(each.type, each.attribute, each.value) for each in memory.beliefs(subject)}


def history(memory):
    """Every event as it lies in the store, by position."""
    rows = memory._log._store.read_at(list(range(1, memory.status(digests=False).position + 1)))
    return {row.position: (bytes(row.envelope), row.body and bytes(row.body)) for row in rows}


# Adding


def test_an_added_type_is_said_in_everyday_words(memory):
    before = said(memory, "I take 50 mg of sertraline every morning.")
    assert before == [("admit", "truth.new", "fact")]
    memory.types.add(MEDICATION)
    assert said(memory, "I'm on 20 mg of omeprazole these days.") == [
        ("admit", "truth.new", "medication")
    ]
    assert said(memory, "I take 20 mg of omeprazole.") == [
        ("confirm", "durability.repeated", "medication")
    ]
    assert said(memory, "I'm now on 40 mg of omeprazole.") == [
        ("supersede", "truth.change", "medication")
    ]
    [medication] = memory.typed("ana", type="medication")
    assert isinstance(medication, Added)
    assert medication.fields == {"name": "omeprazole", "dose": "40 mg"}
    assert medication.category == "health"
    assert medication.half_life_days == 365


def test_the_same_definition_twice_is_once_and_another_takes_its_place(memory):
    first = memory.types.add(MEDICATION, by="ben")
    position = memory.status(digests=False).position
    assert memory.types.add(MEDICATION) == first
    assert memory.status(digests=False).position == position
    changed = memory.types.add(MEDICATION | {"threshold": 0.7})
    assert changed.threshold == 0.7
    with pytest.raises(TypeInvalid, match="under another name"):
        memory.types.add(MEDICATION | {"attribute": "drug.{name}"})
    assert memory.types.get("medication") == changed


def test_a_type_of_its_own_threshold_keeps_apart_what_the_policy_would_believe(memory):
    memory.types.add(MEDICATION | {"threshold": 0.9})
    assert said(memory, "I take 5 mg of zinc.") == [
        ("quarantine", "truth.below_threshold", "medication")
    ]
    assert memory.typed("ana") == []
    [kept] = memory.typed("ana", quarantined=True)
    assert kept.threshold == 0.9


def test_a_policy_that_asks_for_more_than_the_type_counts(place):
    with open_memory(place, policy={"thresholds": {"default": 0.9}}) as memory:
        memory.consent.grant("ana", "explicit_consent", categories=HEALTH)
        memory.types.add(MEDICATION | {"threshold": 0.1})
        [(outcome, _, _)] = said(memory, "I take 5 mg of zinc.")
        assert outcome == "quarantine"


def test_a_type_says_how_long_its_memories_hold(memory):
    memory.types.add(MEDICATION | {"ttl_days": 30})
    said(memory, "I take 5 mg of zinc.")
    [belief] = memory.beliefs("ana")
    assert (belief.expires_at - belief.valid_from).days == 30


def test_another_process_takes_up_an_added_type(place, memory):
    with open_memory(place) as other:
        assert said(other, "I live in Porto.") == [("admit", "truth.new", "fact")]
        memory.types.add(MEDICATION)
        assert said(other, "I take 5 mg of zinc.") == [("admit", "truth.new", "medication")]


def test_a_relation_is_typed_by_its_vocabulary(memory):
    said(memory, "I report to Sarah Chen.")
    [boss] = memory.typed("ana", type="relation")
    assert isinstance(boss, Relation)
    assert (boss.inverse, boss.predicate_is_stateful) == ("manages", True)


def test_an_entity_is_typed_with_its_other_names_and_what_is_believed_of_it(memory):
    said(memory, "Atlas is our internal build system.")
    memory.store("ana", "Kim", attribute="owner", details=Details(entity="Atlas"))
    [atlas] = memory.typed("ana", type="entity")
    assert (atlas.name, atlas.aliases) == ("Atlas", ())
    assert atlas.attributes == {"entity.kind": "internal build system", "owner": "Kim"}


def test_what_is_typed_is_what_is_believed(memory):
    said(memory, "I live in Porto.")
    said(memory, "I prefer tea over coffee.")
    said(memory, "I live in Porto.")
    shapes = memory.typed("ana")
    assert [each.memory_id for each in shapes] == [each.memory_id for each in memory.beliefs("ana")]
    fact = memory.typed("ana", type="fact")[0]
    assert (fact.repetition_count, len(fact.evidence)) == (2, 2)
    assert fact.last_confirmed_at > fact.valid_from
    [alone] = memory.typed(memory_id=fact.memory_id[:10])
    assert alone == fact
    assert memory.typed("nobody") == []


# Backfill


def with_memories(memory):
    memory.consent.grant("ben", "consent")
    for text in (
        "I take 50 mg of sertraline every morning.",
        "I live in Porto.",
        "I prefer tea over coffee.",
        "I can't eat peanuts.",
    ):
        said(memory, text)
    memory.store(
        "ana",
        "aspirin",
        attribute="health.pill",
        text="User takes aspirin",
        details=Details(category="health"),
    )
    said(memory, "I live in Leeds.", "ben")
    memory.types.add(MEDICATION)


def test_a_dry_run_tells_what_would_move_and_changes_nothing(memory):
    with_memories(memory)
    before = history(memory)
    answer = memory.types.backfill("medication", apply=False)
    assert (answer.applied, answer.looked_at, answer.matched) == (False, 6, 2)
    assert (answer.moved, answer.untouched) == (1, 5)
    [move] = answer.moves
    assert (move.from_type, move.attribute, move.value) == (
        "fact", "medication.sertraline", "50 mg",
    )  # fmt: skip
    assert move.subject == "ana"
    [short] = answer.incomplete
    assert (short.text, short.missing) == ("User takes aspirin", ("dose",))
    assert history(memory) == before


def test_a_backfill_moves_what_fits_and_leaves_the_rest(memory):
    with_memories(memory)
    before, old = history(memory), {each.memory_id: each for each in memory.beliefs()}
    answer = memory.types.backfill("medication", apply=True, by="ben")
    new = {each.memory_id: each for each in memory.beliefs()}
    [moved] = [each for each in new.values() if each != old[each.memory_id]]
    assert old.keys() == new.keys()
    was = old[moved.memory_id]
    assert (was.type, was.attribute) == ("fact", "health.medication.50-mg-of-sertraline")
    assert (moved.type, moved.attribute, moved.value) == (
        "medication", "medication.sertraline", "50 mg",
    )  # fmt: skip
    for same in ("text", "evidence", "confidence", "mentions", "valid_from", "consent_basis"):
        assert getattr(moved, same) == getattr(was, same), same
    assert answer.moves[0].memory_id == moved.memory_id
    # Old events never change, and a time before the backfill still tells the old type.
    after = history(memory)
    assert {position: after[position] for position in before} == before
    assert standing_at(memory, len(before)) == {each.type for each in old.values()}
    assert all(each.same for each in memory.operations.rebuild(verify=True))
    assert memory.proofs.verify().problem is None


def standing_at(memory, position):
    return {each.type for each in memory.beliefs(as_of=position)}


def test_both_halves_of_a_move_are_one_append_and_the_job_is_on_record(memory):
    with_memories(memory)
    before = memory.status(digests=False).position
    memory.types.backfill("medication", apply=True)
    out, came, ran = list(memory._log.read(before))
    assert isinstance(out.event, MemoryMovedOut)
    assert isinstance(came.event, MemoryMovedIn)
    assert (out.event.to, came.event.moved_from) == (came.stream, out.stream)
    assert out.event.cause == came.event.cause == "backfilled"
    assert out.event.decision == came.event.moved_by
    registered = memory._log.find(came.event.moved_by)
    assert (registered.type, registered.facts["type"]) == ("type.registered.v1", "medication")
    assert isinstance(ran.event, JobRan)
    assert (ran.event.job, ran.event.outcome) == ("backfill:medication", "done")
    assert ran.event.counts["moved"] == 1
    assert ran.event.counts["incomplete"] == 1


def test_a_second_backfill_finds_nothing_left(memory):
    with_memories(memory)
    memory.types.backfill("medication", apply=True)
    again = memory.types.backfill("medication", apply=True)
    assert (again.looked_at, again.moved, len(again.incomplete)) == (5, 0, 1)


def test_a_new_statement_follows_a_moved_memory(memory):
    with_memories(memory)
    memory.types.backfill("medication", apply=True)
    assert said(memory, "I take 50 mg of sertraline.") == [
        ("confirm", "durability.repeated", "medication")
    ]
    [medication] = memory.typed("ana", type="medication")
    assert medication.repetition_count == 2


def test_two_memories_that_become_one_value_are_one(memory):
    memory.store(
        "ana",
        "zinc",
        attribute="health.a",
        text="User takes 5 mg of zinc",
        details=Details(category="health"),
    )
    memory.store(
        "ana",
        "zinc",
        attribute="health.b",
        text="User takes 5 mg of zinc",
        details=Details(category="health"),
    )
    memory.types.add(MEDICATION)
    assert memory.types.backfill("medication", apply=True).moved == 2
    [medication] = memory.beliefs("ana")
    assert (medication.value, medication.mentions) == ("5 mg", 2)
    assert all(each.same for each in memory.operations.rebuild(verify=True))


def test_past_and_quarantined_memories_move_too(memory):
    memory.store(
        "ana", "5 mg of zinc", attribute="health.zinc", text="User takes 5 mg of zinc",
        details=Details(category="health"), valid_from="2025-01-01", valid_to="2025-06-01",
    )  # fmt: skip
    memory.store(
        "ana", "9 mg of iron", attribute="health.iron", text="User takes 9 mg of iron",
        details=Details(category="health"), confidence=0.2,
    )  # fmt: skip
    memory.types.add(MEDICATION)
    assert memory.types.backfill("medication", apply=True).moved == 2
    assert memory.beliefs("ana") == []
    [past] = memory.beliefs("ana", valid_at="2025-03-01")
    assert (past.type, past.value, str(past.valid_to.date())) == (
        "medication", "5 mg", "2025-06-01",
    )  # fmt: skip
    [apart] = memory.beliefs("ana", quarantined=True, min_confidence=0)
    assert (apart.type, apart.quarantined, apart.confidence) == ("medication", True, 0.2)


def test_a_special_category_needs_its_own_basis_and_ends_with_it(memory):
    memory.consent.grant("ben", "consent")
    for person in ("ana", "ben"):
        memory.store(person, "zinc", attribute="habit.morning", text="User takes 5 mg of zinc")
    memory.types.add(MEDICATION)
    answer = memory.types.backfill("medication", apply=True)
    assert (answer.matched, answer.moved) == (2, 1)
    [ben] = memory.beliefs("ben")
    assert answer.not_permitted == (ben.memory_id,)
    assert ben.type == "fact"
    memory.consent.grant("ben", "explicit_consent", categories=["health"])
    assert memory.types.backfill("medication", apply=True).moved == 1
    memory.consent.withdraw("ben", basis="explicit_consent", by="system")
    assert memory.beliefs("ben") == []


def test_only_what_was_asked_for_is_looked_at(memory):
    with_memories(memory)
    assert memory.types.backfill("medication", apply=False, from_type="preference").looked_at == 1
    assert memory.types.backfill("medication", apply=False, subject="ben").looked_at == 1
    assert memory.types.backfill("medication", apply=False, subject="nobody").looked_at == 0


def test_an_erased_person_is_left_alone(memory):
    with_memories(memory)
    memory.erase("ana", by="system")
    assert memory.types.backfill("medication", apply=True).looked_at == 1


@pytest.mark.parametrize(
    ("name", "wanted", "message"),
    [
        ("vitamin", {}, "'vitamin' is not registered"),
        ("fact", {}, "'fact' has no patterns"),
        ("relation", {}, "far end"),
        ("medication", {"patterns": ["take {pill}"]}, "none of its fields"),
    ],
)
def test_a_backfill_that_makes_no_sense_is_refused(memory, name, wanted, message):
    memory.types.add(MEDICATION)
    with pytest.raises(TypeInvalid, match=message):
        memory.types.backfill(name, apply=True, **wanted)


def many(memory, count):
    memory.consent.grant("cleo", "consent")
    for number in range(count):
        memory.record_turn("cleo", f"I don't eat dish{number}.", ordinal=number)
    memory.record_turn("cleo", "I live in Porto.")
    memory.process()
    memory.types.add(DIET)


class Broken(Exception):
    pass


def test_a_backfill_that_was_broken_off_goes_on(memory, monkeypatch):
    many(memory, 12)
    monkeypatch.setattr(backfill, "LOOKED_AT", 5)
    monkeypatch.setattr(backfill, "MOVED", 2)
    seen = []

    def stop(done, total):
        seen.append((done, total))
        raise Broken

    with pytest.raises(Broken):
        memory.types.backfill("diet", apply=True, progress=stop)
    assert seen == [(5, 13)]
    assert memory.types.get("diet").memories == 5
    seen.clear()
    rest = memory.types.backfill("diet", apply=True, progress=lambda *now: seen.append(now))
    assert (rest.looked_at, rest.moved, rest.untouched) == (8, 7, 1)
    assert seen == [(5, 8), (8, 8)]
    assert memory.types.get("diet").memories == 12
    assert len({each.memory_id for each in memory.beliefs("cleo")}) == 13


KILLED = """
import os, sys
from beliefledger import open_memory
from beliefledger.curation import backfill
backfill.LOOKED_AT, backfill.MOVED = 5, 2
with open_memory(sys.argv[1]) as memory:
    memory.types.backfill("diet", apply=True, progress=lambda *_: os.kill(os.getpid(), 9))
"""


def test_a_killed_backfill_goes_on_in_another_process(place):
    with open_memory(place) as memory:
        many(memory, 12)
        before = history(memory)
    killed = programs.run(
        [sys.executable, "-c", KILLED, place],
        cwd=ROOT, env=os.environ, timeout=60, check=False, capture_output=True,
    )  # fmt: skip
    assert killed.returncode == -9, killed.stderr
    with open_memory(place) as memory:
        assert memory.types.get("diet").memories == 5
        assert memory.types.backfill("diet", apply=True).moved == 7
        assert memory.types.get("diet").memories == 12
        after = history(memory)
        assert {position: after[position] for position in before} == before
        assert all(each.same for each in memory.operations.rebuild(verify=True))


def test_two_backfills_at_once_move_each_memory_once(place, monkeypatch):
    monkeypatch.setattr(backfill, "MOVED", 3)
    with open_memory(place) as one, open_memory(place) as two:
        many(one, 12)
        answers = []

        def run(memory):
            answers.append(memory.types.backfill("diet", apply=True))

        threads = [threading.Thread(target=run, args=(each,)) for each in (one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        assert sum(each.moved for each in answers) == 12
        moved = [each for each in one._log.read() if isinstance(each.event, MemoryMovedIn)]
        assert len({each.event.memory_id for each in moved}) == len(moved) == 12


# Splitting


def test_a_fact_split_into_a_constraint_stands_in_the_way_of_a_new_fact(memory):
    said(memory, "I don't eat gluten.")
    said(memory, "I don't eat meat.")
    said(memory, "I live in Porto.")
    split = memory.types.backfill(
        "constraint", apply=True, from_type="fact", patterns=["doesn't eat {value}"], subject="ana"
    )
    assert split.moved == 2
    assert ("constraint", "eats.gluten", "gluten") in standing(memory)
    [gluten, _] = memory.typed("ana", type="constraint")
    assert isinstance(gluten, Constraint)
    assert gluten.rule == "forbids"
    assert said(memory, "I eat gluten.") == [("escalate", "truth.constraint_stands", "fact")]
    [conflict] = memory.conflicts.list("ana")
    assert [each.value for each in conflict.standing] == ["gluten"]
    assert ("constraint", "eats.gluten", "gluten") in standing(memory)


def test_a_split_may_give_another_key_and_the_old_one_leads_there(memory):
    said(memory, "I don't eat gluten.")
    memory.types.backfill(
        "constraint",
        apply=True,
        patterns=["doesn't eat {value}"],
        attribute="constraint.eat.{value}",
    )
    assert standing(memory) == {("constraint", "constraint.eat.gluten", "gluten")}
    assert said(memory, "I eat gluten.") == [("escalate", "truth.constraint_stands", "fact")]
    assert said(memory, "I don't eat gluten.") == [("confirm", "durability.repeated", "fact")]


def test_what_no_pattern_fits_stays_what_it_was(memory):
    said(memory, "I don't eat gluten.")
    said(memory, "I live in Porto.")
    memory.types.backfill(
        "constraint", apply=True, from_type="fact", patterns=["never eat {value}"]
    )
    assert {kind for kind, _, _ in standing(memory)} == {"fact"}
    assert said(memory, "I eat gluten.") == [("supersede", "truth.at_least_as_strong", "fact")]


# Retiring


def test_a_retired_type_is_written_no_more_and_shown_still(memory):
    memory.types.add(MEDICATION)
    said(memory, "I take 5 mg of zinc.")
    retired = memory.types.retire("medication", by="ben")
    assert (retired.retired, retired.memories) == (True, 1)
    assert standing(memory) == {("medication", "medication.zinc", "5 mg")}
    assert [each.type for each in memory.typed("ana")] == ["medication"]
    refused = memory.store("ana", "5 mg", attribute="medication.iron", type="medication")
    assert (refused.outcome, refused.reason) == ("reject", "truth.unknown_type")
    with pytest.raises(TypeInvalid, match="'medication' is retired"):
        memory.types.backfill("medication", apply=True)
    position = memory.status(digests=False).position
    memory.types.retire("medication")
    assert memory.status(digests=False).position == position
    with pytest.raises(TypeInvalid, match="no type 'vitamin'"):
        memory.types.retire("vitamin")


def test_a_type_added_again_lives_on(memory):
    memory.types.add(MEDICATION)
    memory.types.retire("medication")
    assert not memory.types.add("medication").retired
    assert said(memory, "I take 5 mg of zinc.") == [("admit", "truth.new", "medication")]


def test_decisions_of_a_type_s_time_are_decided_the_same_again(memory):
    said(memory, "I take 5 mg of zinc.")
    memory.types.add(MEDICATION | {"threshold": 0.9})
    said(memory, "I take 9 mg of iron.")
    memory.types.backfill("medication", apply=True)
    memory.types.retire("medication")
    summary = memory.audit.replay_all()
    assert (summary.same, summary.different) == (summary.decisions, 0)


# The command line


def beliefledger(place, *arguments):
    return CliRunner().invoke(app, ["--ledger", place, *arguments])


def answered(place, *arguments):
    ran = beliefledger(place, *arguments, "--json")
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


def test_the_command_line_adds_backfills_and_retires(place, tmp_path):
    path = tmp_path / "medication.yaml"
    path.write_text(yaml.safe_dump(MEDICATION))
    with open_memory(place) as memory:
        memory.consent.grant("ana", "explicit_consent", categories=HEALTH)
        said(memory, "I take 50 mg of sertraline every morning.")
    assert answered(place, "types", "add", str(path), "--by", "ben")["name"] == "medication"
    assert len(answered(place, "types", "list")) == 11
    assert answered(place, "types", "backfill", "medication", "--dry-run")["moved"] == 1
    page = beliefledger(place, "types", "backfill", "medication", "--apply")
    assert "1 looked at · 1 fit · 1 moved · 0 not complete · 0 untouched" in page.stdout
    shown = beliefledger(place, "types", "show", "medication")
    assert "take {dose} of {name}" in shown.stdout
    retired = answered(place, "types", "retire", "medication")
    assert (retired["retired"], retired["memories"]) == (True, 1)
    assert not answered(place, "types", "add", "medication")["retired"]


def test_the_command_line_splits(place):
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        said(memory, "I don't eat gluten.")
    split = ("types", "split", "fact", "constraint", "--pattern", "doesn't eat {value}")
    assert answered(place, *split, "--dry-run")["moved"] == 1
    assert answered(place, *split, "--apply")["moves"][0]["attribute"] == "eats.gluten"
    page = beliefledger(place, *split, "--apply")
    assert "0 looked at" in page.stdout


@pytest.mark.parametrize("how", [(), ("--dry-run", "--apply")])
def test_the_command_line_wants_to_be_told_whether_to_move(place, how):
    beliefledger(place, "init")
    ran = beliefledger(place, "types", "backfill", "medication", *how)
    assert ran.exit_code == 2
    assert "--dry-run or --apply" in ran.stderr


def test_the_command_line_says_what_is_wrong_with_a_file(place, tmp_path):
    path = tmp_path / "medication.yaml"
    path.write_text(yaml.safe_dump(MEDICATION | {"colour": "red"}))
    beliefledger(place, "init")
    ran = beliefledger(place, "types", "add", str(path))
    assert ran.exit_code == 3
    assert "'colour' is nothing that a type has" in ran.stderr
    assert beliefledger(place, "types", "show", "vitamin").exit_code == 3
    assert beliefledger(place, "types", "add", str(tmp_path / "no.yaml")).exit_code == 3


def test_a_category_that_the_policy_does_not_know_is_refused(memory):
    with pytest.raises(TypeInvalid, match=r"'helth' is none of the policy's special .*health"):
        memory.types.add(MEDICATION | {"category": "helth"})
    assert "medication" not in {each.name for each in memory.types.list()}


def test_a_backfill_from_a_type_that_there_is_none_of_is_refused(memory):
    memory.types.add(MEDICATION)
    with pytest.raises(TypeInvalid, match="There is no type 'fakt'; there are fact, "):
        memory.types.backfill("medication", apply=False, from_type="fakt")
