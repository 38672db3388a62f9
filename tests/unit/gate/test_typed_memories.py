"""Memories in the shape of their type: what the rules notice, read back field by field."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import ValidationError

from beliefledger.gate.decision import TurnView
from beliefledger.gate.effects import memory_of
from beliefledger.gate.registry import Registry, Supersession, default_types, load_type
from beliefledger.gate.rules import RuleExtractor
from beliefledger.gate.slots import slot_attribute, value_of
from beliefledger.gate.typed_memories import (
    MODELS,
    Added,
    Commitment,
    Constraint,
    Decision,
    Entity,
    EvidenceSpan,
    Fact,
    Happening,
    Preference,
    Procedure,
    Relation,
    Stored,
    typed,
)
from beliefledger.ledger.times import DAY

SAID_AT = 1_772_355_600_000_000  # Sunday 2026-03-01
REGISTRY = Registry(types={kind.name: kind for kind in default_types()})


@dataclass
class Turn:
    content: str
    turn_id: str = "t"
    role: str = "user"
    said_at: int = SAID_AT


def stored(candidate, **changed):
    turn = TurnView(
        turn_id="t", role="user", content="", said_at=SAID_AT, session="s1", agent="helper"
    )
    fields = {
        "memory_id": "m1",
        "type": candidate.type,
        "subject": "ana",
        "memory": memory_of(candidate, turn, valid_from=SAID_AT, valid_to=None),
        "importance": candidate.importance,
        "confidence": 700_000,
        "mentions": 2,
        "valid_from": SAID_AT,
        "valid_to": None,
        "expires_at": SAID_AT + 90 * DAY,
        "evidence": (
            EvidenceSpan(turn="t", start=0, end=4, said_at=SAID_AT),
            EvidenceSpan(turn="u", start=3, end=9, said_at=SAID_AT + DAY),
        ),
    }
    return Stored(**fields | changed)


def shaped(text, type_, **fields):
    """The first memory of a type that the rules notice in a sentence."""
    found = RuleExtractor().extract(Turn(text))
    candidate = next(each for each in found if each.type == type_)
    candidate = candidate.model_copy(update={"fields": fields})
    return typed(stored(candidate), REGISTRY.types[type_])


def test_there_is_a_model_for_each_type_of_the_beginning():
    assert set(MODELS) == set(REGISTRY.types)


def test_every_memory_has_what_all_have():
    fact = shaped("I live in Porto.", "fact")
    assert fact.repetition_count == 2
    assert fact.last_confirmed_at == SAID_AT + DAY
    assert fact.expires_at == SAID_AT + 90 * DAY
    assert fact.predicate_is_stateful
    assert [each.turn for each in fact.evidence] == ["t", "u"]
    assert (fact.session, fact.agent, fact.topic, fact.subject) == ("s1", "helper", "home", "ana")
    assert (fact.importance, fact.confidence) == (800_000, 700_000)
    assert (fact.prior, fact.half_life_days, fact.threshold) == (0.15, 180, None)
    assert fact.supersession is Supersession.VALUE


def test_without_evidence_it_was_last_said_when_it_was_said():
    candidate = RuleExtractor().extract(Turn("I live in Porto."))[0]
    fact = typed(stored(candidate, evidence=()), REGISTRY.types["fact"])
    assert fact.last_confirmed_at == SAID_AT


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("I live in Porto.", "fact"),
        ("I prefer tea over coffee.", "preference"),
        ("I went to a concert in Porto with Ben last Saturday.", "event"),
        ("I work with Tom.", "relation"),
        ("I can't eat gluten.", "constraint"),
        ("I'll send the report by Friday.", "commitment"),
    ],
)
def test_slot_and_canonical_form_are_the_gate_s_own(text, type_):
    candidate = next(e for e in RuleExtractor().extract(Turn(text)) if e.type == type_)
    kind = REGISTRY.types[type_]
    memory = typed(stored(candidate), kind)
    assert memory.slot() == ("user", slot_attribute(candidate, kind))
    assert memory.canonical()[0] == value_of(candidate, kind)


def test_a_fact():
    fact = shaped("I don't eat gluten.", "fact")
    assert isinstance(fact, Fact)
    assert (fact.entity, fact.attribute, fact.value) == ("User", "eats.gluten", "gluten")
    assert fact.negated
    assert (fact.since, fact.until, fact.context) == (SAID_AT, None, None)
    assert fact.canonical() == ("not gluten", None)


def test_a_preference():
    tea = shaped("I prefer tea over coffee.", "preference")
    assert isinstance(tea, Preference)
    assert (tea.value, tea.polarity, tea.over, tea.strength) == ("tea", "for", "coffee", "plain")
    mornings = shaped("I really hate mornings.", "preference")
    assert (mornings.polarity, mornings.strength, mornings.over) == ("against", "strong", None)


def test_a_preference_in_a_context():
    dark = shaped("I like dark mode at night.", "preference")
    assert (dark.context, dark.canonical()) == ("at night", ("dark", "night"))


def test_an_event():
    event = shaped("I went to a concert in Porto with Ben last Saturday.", "event")
    assert isinstance(event, Happening)
    assert (event.end - event.start, event.precision) == (DAY, "day")
    assert event.start == SAID_AT - SAID_AT % DAY - DAY  # the Saturday before
    assert (event.place, event.participants) == ("Porto", ("Ben",))
    assert event.supersession is Supersession.NEVER
    assert not event.predicate_is_stateful


def test_an_event_is_in_no_month_and_a_given_place_counts():
    event = shaped("I visited my aunt in March.", "event")
    assert (event.place, event.participants) == (None, ())
    assert shaped("I visited my aunt in March.", "event", place="Leeds").place == "Leeds"


def test_an_entity_gathers_what_is_believed_of_it():
    candidate = next(
        each
        for each in RuleExtractor().extract(Turn("Atlas is our internal build system."))
        if each.type == "entity"
    )
    also = candidate.model_copy(update={"attribute": "atlas.owner", "value": "Kim"})
    names = ("atlas", "the builder")
    entity = typed(stored(candidate), REGISTRY.types["entity"], [stored(also).memory], names)
    assert isinstance(entity, Entity)
    assert entity.name == "Atlas"
    assert entity.aliases == ("the builder",)
    assert entity.kind_of == "internal build system"
    assert entity.attributes["atlas.owner"] == "Kim"
    assert entity.attributes["entity.kind"] == "internal build system"


def test_a_stateful_relation():
    boss = shaped("I report to Sarah Chen.", "relation")
    assert isinstance(boss, Relation)
    assert (boss.source, boss.relation, boss.target) == ("User", "reports-to", "Sarah Chen")
    assert (boss.inverse, boss.role, boss.predicate_is_stateful) == ("manages", "manager", True)
    assert boss.slot() == ("user", "relation.reports-to")


def test_a_relation_of_which_one_may_have_several():
    tom = shaped("I work with Tom.", "relation")
    assert (tom.relation, tom.inverse, tom.predicate_is_stateful) == (
        "works-with", "works-with", False,
    )  # fmt: skip
    assert tom.slot() == ("user", "relation.works-with:tom")


def test_a_decision():
    text = "We decided to use Postgres instead of MySQL because it is free."
    choice = shaped(text, "decision", why="it is free")
    assert isinstance(choice, Decision)
    assert (choice.what, choice.alternatives, choice.why) == ("Postgres", ("MySQL",), "it is free")


def test_a_procedure():
    steps = "run the tests, then push the tag"
    deploy = shaped("When I deploy, I first run the tests.", "procedure", steps=steps)
    assert isinstance(deploy, Procedure)
    assert deploy.trigger == "I deploy"
    assert deploy.steps == ("run the tests", "push the tag")


def test_a_constraint():
    gluten = shaped("I can't eat gluten.", "constraint")
    assert isinstance(gluten, Constraint)
    assert (gluten.rule, gluten.what, gluten.hard) == ("forbids", "gluten", True)
    assert gluten.ends_only_by_removal
    assert gluten.supersession is Supersession.REMOVAL
    allergy = shaped("I'm allergic to peanuts.", "constraint")
    assert (allergy.rule, allergy.what) == ("forbids", "peanuts")


def test_a_commitment():
    report = shaped("I'll send Ana the report by Friday.", "commitment", to_whom="Ana")
    assert isinstance(report, Commitment)
    assert report.what.endswith("Ana the report by Friday")
    assert report.due_precision == "day"
    assert report.due_from == SAID_AT - SAID_AT % DAY + 5 * DAY  # the Friday after
    assert report.to_whom == ("Ana",)
    assert not report.withdrawn


def test_a_memory_of_an_added_type_keeps_its_fields():
    kind = load_type(
        {
            "name": "medication",
            "attribute": "medication.{name}",
            "fields": {"name": {"description": "which", "required": True}},
            "patterns": ["take {name}"],
            "threshold": 0.6,
        }
    )
    candidate = RuleExtractor().extract(Turn("I live in Porto."))[0]
    candidate = candidate.model_copy(
        update={"type": "medication", "attribute": "medication.zinc", "fields": {"name": "zinc"}}
    )
    memory = typed(stored(candidate), kind)
    assert isinstance(memory, Added)
    assert memory.fields == {"name": "zinc"}
    assert (memory.attribute, memory.threshold) == ("medication.zinc", 0.6)


def test_what_is_shown_holds_no_definition_and_cannot_be_changed():
    fact = shaped("I live in Porto.", "fact")
    written = fact.model_dump(mode="json")
    assert "kind" not in written
    assert "memory" not in written
    assert {"repetition_count", "last_confirmed_at", "predicate_is_stateful"} <= written.keys()
    with pytest.raises(ValidationError):
        fact.value = "Lisbon"
