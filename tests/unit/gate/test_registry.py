"""The types: their definitions in the log, what a file of one may say, and how it is said."""

from __future__ import annotations

import pytest
import yaml
from pydantic import ValidationError

from beliefledger.gate.checks import claim_within_spans
from beliefledger.gate.custom_types import Custom, Noticing, keyed
from beliefledger.gate.registry import (
    BUILT_IN,
    MemoryType,
    Registry,
    SlotRule,
    Supersession,
    default_types,
    load_type,
    replaceable,
)
from beliefledger.gate.rules import RuleExtractor
from beliefledger.gate.slots import STATEFUL_RELATIONS, slot_attribute
from beliefledger.ledger.candidate import Candidate, Span
from beliefledger.ledger.errors import TypeInvalid
from beliefledger.ledger.events.policy import TypeRegistered, TypeRetired

MEDICATION = {
    "name": "medication",
    "description": "What somebody takes, and how much of it.",
    "attribute": "medication.{name}",
    "value": "{dose}",
    "half_life_days": 365,
    "threshold": 0.6,
    "category": "health",
    "fields": {
        "name": {"description": "which", "required": True},
        "dose": {"description": "how much", "required": True},
    },
    "patterns": ["take {dose} of {name}", "on {dose} of {name}", "take {name}"],
}
SAID_AT = 1_772_355_600_000_000


def registered(*kinds):
    return [TypeRegistered(type=kind.name, definition=kind.definition()) for kind in kinds]


class Turn:
    turn_id = "t"
    role = "user"
    said_at = SAID_AT

    def __init__(self, content):
        self.content = content


def noticed(text, *kinds):
    registry = Registry(types={kind.name: kind for kind in (*default_types(), *kinds)})
    return RuleExtractor(Noticing(lambda: registry)).extract(Turn(text))


# Definitions


def test_the_default_types_are_the_ten_and_each_says_what_it_is():
    kinds = default_types()
    assert {kind.name for kind in kinds} == BUILT_IN
    assert len(kinds) == len(BUILT_IN) == 10
    for kind in kinds:
        assert kind.description.endswith(".")
        assert kind.threshold is None  # the policy's


@pytest.mark.parametrize("kind", [*default_types(), load_type(MEDICATION)], ids=lambda k: k.name)
def test_a_definition_comes_back_from_the_log_as_it_was(kind):
    assert MemoryType.of(kind.definition()) == kind


def test_a_definition_of_an_older_version_is_read():
    old = {"name": "fact", "prior": 150_000, "half_life_days": 180, "slot": "attribute",
           "ends_only_by_removal": False}  # fmt: skip
    kind = MemoryType.of(old)
    assert kind.prior == 0.15
    assert kind.definition() == old


def test_a_type_of_the_name_note_from_before_notes_stays_its_owner_s():
    own = load_type({"name": "note", "description": "A musical note.", "patterns": ["play {value}"],
                     "attribute": "note.played"})  # fmt: skip
    old = [kind for kind in default_types() if kind.name != "note"]
    registry = Registry(types={kind.name: kind for kind in [*old, own]})
    assert not registry.keeps_notes()
    assert registry.added() == [own]
    assert "note" in registry.proposed()


def test_notes_are_not_for_a_model_to_propose():
    registry = Registry(types={kind.name: kind for kind in default_types()})
    assert registry.keeps_notes()
    assert set(registry.proposed()) == BUILT_IN - {"note"}
    assert not registry.added()


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("fact", Supersession.VALUE),
        ("relation", Supersession.VALUE),
        ("constraint", Supersession.REMOVAL),
        ("event", Supersession.NEVER),
        ("commitment", Supersession.NEVER),
        ("note", Supersession.NEVER),
    ],
)
def test_what_ends_a_memory(name, rule):
    kind = next(each for each in default_types() if each.name == name)
    assert kind.supersession is rule


def test_the_vocabulary_of_relations_pairs_its_inverses_and_knows_the_stateful_ones():
    relations = next(each for each in default_types() if each.name == "relation").relations
    assert set(relations) == set(
        "reports-to manages works-with member-of owns created uses located-at".split()
    )
    assert relations["reports-to"].inverse == "manages"
    assert relations["manages"].inverse == "reports-to"
    assert relations["reports-to"].role == "manager"
    stateful = {f"relation.{name}" for name, each in relations.items() if each.stateful}
    assert stateful == STATEFUL_RELATIONS


def test_a_ledger_s_own_vocabulary_says_which_relation_is_stateful():
    kind = MemoryType(
        name="relation", prior=0.1, half_life_days=1, slot=SlotRule.RELATION,
        relations={"married-to": {"stateful": True}, "reports-to": {}},
    )  # fmt: skip

    def slot(attribute):
        span = Span(start=0, end=1, quote="x")
        return slot_attribute(
            Candidate(
                claim="x", spans=(span,), type="relation", attribute=attribute, value="Kim",
                importance=1, confidence=1,
            ),
            kind,
        )  # fmt: skip

    assert slot("relation.married-to") == "relation.married-to"
    assert slot("relation.reports-to") == "relation.reports-to:kim"


# The fold


def test_a_retired_type_is_out_of_force_and_known_as_it_was():
    kind = load_type(MEDICATION)
    registry = Registry.folded([*registered(*default_types(), kind), TypeRetired(type=kind.name)])
    assert kind.name not in registry.types
    assert registry.known(kind.name) == kind
    assert registry.added() == []
    assert registry.digest() == Registry.folded(registered(*default_types())).digest()


def test_a_type_that_is_added_again_is_in_force_again():
    kind = load_type(MEDICATION)
    events = [*registered(kind), TypeRetired(type=kind.name), *registered(kind)]
    registry = Registry.folded(events)
    assert registry.added() == [kind]
    assert not registry.retired


def test_retiring_what_was_never_registered_says_nothing():
    assert Registry.folded([TypeRetired(type="ghost"), None]) == Registry(types={})


# A file


def test_a_file_may_leave_out_what_a_fact_has(tmp_path):
    path = tmp_path / "pet.yaml"
    path.write_text(yaml.safe_dump({"name": "pet", "prompt": "an animal"}))
    kind = load_type(path)
    assert (kind.prior, kind.half_life_days, kind.slot) == (0.15, 180, SlotRule.ATTRIBUTE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "'colour' is nothing that a type has; it has name, description"),
        ({"slot": "drawer"}, "slot: .*'attribute', 'relation' or 'content'"),
        ({"name": "Medi Cation"}, "name: "),
        ({"threshold": 1.2}, "threshold: .*less than or equal to 1"),
        ({"half_life_days": 0}, "half_life_days: "),
        ({"attribute": "medication.{brand}"}, "attribute uses 'brand', which is none of its"),
        ({"value": "{colour}"}, "value uses 'colour', which is none of its fields"),
        ({"patterns": ["take {pill}"]}, "'take {pill}' has 'pill', none of its fields"),
        ({"patterns": ["take it"]}, "'take it' needs fields"),
        ({"patterns": ["{name} {dose}"]}, "needs words"),
        ({"patterns": ["take {dose}{name}"]}, "words between its fields"),
        ({"patterns": ["take {name} and {name}"]}, "each once"),
        ({"patterns": ["take {name}"]}, "'dose' is required, but no pattern has {dose}"),
        ({"attribute": None}, "patterns need an attribute"),
        ({"fields": {"value": {"description": "x"}}}, "'value' is the name of the value itself"),
        ({"fields": {"Name": {"description": "x"}}}, "'Name' is not a field's name"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_saying_why(change, message):
    with pytest.raises(TypeInvalid, match=message):
        load_type(MEDICATION | change)


def test_the_key_of_a_type_rests_on_what_every_memory_of_it_has():
    fields = {"name": {"description": "which"}, "dose": {"description": "x", "required": True}}
    with pytest.raises(TypeInvalid, match="attribute uses 'name': make that field required"):
        load_type(MEDICATION | {"fields": fields})


@pytest.mark.parametrize("text", ["- a\n- b\n", ":\n  - [", "\xff"])
def test_a_file_that_holds_no_type_is_refused(tmp_path, text):
    path = tmp_path / "type.yaml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(TypeInvalid):
        load_type(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(TypeInvalid, match="cannot be read"):
        load_type(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    "change", [{"slot": "content"}, {"attribute": "drug.{name}"}, {"value": None}]
)
def test_another_type_of_a_name_is_refused_and_another_wording_is_not(change):
    old = load_type(MEDICATION)
    replaceable(old, load_type(MEDICATION | {"threshold": 0.7, "description": "x"}))
    with pytest.raises(TypeInvalid, match="under another name"):
        replaceable(old, load_type(MEDICATION | change))


def test_a_type_of_the_beginning_is_not_redefined():
    fact = next(each for each in default_types() if each.name == "fact")
    replaceable(fact, fact)
    with pytest.raises(TypeInvalid, match="every ledger begins with"):
        replaceable(fact, fact.model_copy(update={"half_life_days": 1}))


def test_definitions_are_immutable():
    with pytest.raises(ValidationError):
        load_type(MEDICATION).prior = 1


# Patterns, in turns


@pytest.mark.parametrize(
    ("text", "attribute", "value", "negated"),
    [
        ("I take 50 mg of sertraline every morning.", "medication.sertraline", "50 mg", False),
        ("Thanks! I'm on 50mg of sertraline now.", "medication.sertraline", "50mg", False),
        ("I've been taking 100 mg of sertraline.", "medication.sertraline", "100 mg", False),
        ("I started taking 75 mg of zinc last week.", "medication.zinc", "75 mg", False),
        ("I take 20 mg of vitamin D daily.", "medication.vitamin-d", "20 mg", False),
        ("I don't take 50 mg of zinc any more.", "medication.zinc", "50 mg", True),
        ("I stopped taking 50 mg of zinc.", "medication.zinc", "50 mg", True),
    ],
)
def test_a_pattern_is_found_in_everyday_words(text, attribute, value, negated):
    [candidate] = noticed(text, load_type(MEDICATION))
    assert candidate.type == "medication"
    assert (candidate.attribute, candidate.value, candidate.negated) == (attribute, value, negated)
    assert candidate.category == "health"
    assert set(candidate.fields) == {"name", "dose"}
    span = candidate.spans[0]
    assert text[span.start : span.end] == span.quote
    assert all(words in span.quote for words in candidate.fields.values())


def test_a_list_is_several():
    found = noticed("I take 20 mg of zinc and 10 mg of iron.", load_type(MEDICATION))
    assert [(each.attribute, each.value) for each in found] == [
        ("medication.zinc", "20 mg"),
        ("medication.iron", "10 mg"),
    ]
    assert found[1].claim == "User takes 10 mg of iron"


@pytest.mark.parametrize(
    "text",
    [
        "I took 400 mg of ibuprofen yesterday.",
        "I should take 50 mg of zinc.",
        "My sister takes 50 mg of zinc.",
        "Take 50 mg of zinc!",
        "I take zinc.",
        "I said that they take 50 mg of zinc.",
        "I take the bus.",
    ],
)
def test_what_is_not_so_now_or_of_somebody_else_or_incomplete_is_no_medication(text):
    assert "medication" not in {each.type for each in noticed(text, load_type(MEDICATION))}


def test_what_a_type_takes_up_is_no_fact_besides_and_all_else_is_as_it_was():
    text = "I take 50 mg of sertraline every morning. I live in Porto."
    before = noticed(text)
    after = noticed(text, load_type(MEDICATION))
    assert [each.type for each in before] == ["fact", "fact"]
    assert [each.type for each in after] == ["medication", "fact"]
    assert after[1] == before[1]


def test_a_pattern_about_something_of_the_speaker():
    patterns = ["blood type is {value}"]
    kind = load_type({"name": "blood", "attribute": "health.blood-type", "patterns": patterns})
    [candidate] = noticed("My blood type is O negative.", kind)
    assert (candidate.claim, candidate.value) == ("User's blood type is O negative", "O negative")
    assert candidate.fields == {}


def test_a_pattern_with_a_negation_asks_for_one():
    diet = {"name": "diet", "attribute": "diet.{value}", "patterns": ["can't eat {value}"]}
    assert "diet" in {each.type for each in noticed("I cannot eat rye.", load_type(diet))}
    assert "diet" not in {each.type for each in noticed("I can eat rye.", load_type(diet))}


def test_what_happened_counts_for_a_type_of_happenings():
    dose = MEDICATION | {"name": "dose", "slot": "content", "attribute": None, "value": None}
    [candidate] = [
        each
        for each in noticed("I took 400 mg of ibuprofen yesterday.", load_type(dose))
        if each.type == "dose"
    ]
    assert candidate.fields == {"dose": "400 mg", "name": "ibuprofen"}


# Patterns, in claims


@pytest.mark.parametrize(
    ("claim", "fields"),
    [
        ("User takes 50 mg of sertraline every morning", {"dose": "50 mg", "name": "sertraline"}),
        ("User is no longer taking 50 mg of iron", {"dose": "50 mg", "name": "iron"}),
        ("User's mother is on 5 mg of zinc", {"dose": "5 mg", "name": "zinc"}),
        ("User takes aspirin", {"name": "aspirin"}),
        ("User lives in Porto", None),
        ("User mistakes 5 mg of zinc", None),
    ],
)
def test_a_claim_is_read_whoever_it_is_about(claim, fields):
    assert Custom(load_type(MEDICATION)).in_claim(claim) == fields


def test_what_lacks_a_required_field_has_neither_key_nor_value():
    shaped = Custom(load_type(MEDICATION)).reshaped({"name": "aspirin"}, "health.pill", "aspirin")
    assert shaped.missing == ("dose",)
    assert not shaped.attribute


def test_a_type_without_a_key_leaves_the_memory_its_own():
    constraint = next(each for each in default_types() if each.name == "constraint")
    shaped = Custom(constraint, ["does not eat {value}"]).reshaped(
        {"value": "gluten"}, "eats.gluten", "gluten"
    )
    assert (shaped.attribute, shaped.value, shaped.missing) == ("eats.gluten", "gluten", ())


# Candidates of others


def proposed(**fields):
    return Candidate(
        claim="User takes 5 mg of zinc",
        spans=(Span(start=0, end=19, quote="I take 5 mg of zinc"),),
        type="medication",
        attribute="health.supplements",
        value="zinc",
        importance=800_000,
        confidence=900_000,
        fields=fields,
    )


def test_a_model_s_candidate_gets_the_key_of_its_type_once_and_for_all():
    registry = Registry(types={"medication": load_type(MEDICATION)})
    candidate = keyed(proposed(name="zinc", dose="5 mg"), registry)
    assert (candidate.attribute, candidate.value) == ("medication.zinc", "5 mg")
    assert keyed(candidate, registry) == candidate


@pytest.mark.parametrize("fields", [{}, {"name": "zinc"}])
def test_a_candidate_that_lacks_fields_keeps_its_own_key(fields):
    registry = Registry(types={"medication": load_type(MEDICATION)})
    assert keyed(proposed(**fields), registry) == proposed(**fields)


def test_a_field_that_nobody_said_exceeds_the_span():
    assert claim_within_spans(proposed(name="zinc", dose="5 mg"))
    assert not claim_within_spans(proposed(name="zinc", dose="500 mg"))
