"""Every event has a JSON Schema and an example, and what is told of events fits them."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path

import pytest
from command_line import CliRunner
from jsonschema import Draft202012Validator

from beliefledger import InvalidQuery, open_memory
from beliefledger.exports.event_schema import inner, schema
from beliefledger.exports.event_units import in_units
from beliefledger.ledger import codec
from beliefledger.ledger.envelope import stamp
from beliefledger.ledger.errors import LogCorrupted
from beliefledger.ledger.events import BY_NAME
from beliefledger.ledger.fields import A_SCORE, A_TIME
from beliefledger.ledger.store import Row
from beliefledger.tools.cli import app

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import catalogue  # noqa: E402

EXAMPLES = [json.loads(line) for line in catalogue.EXAMPLES.read_text("utf-8").splitlines()]
RUN = CliRunner()


@pytest.fixture(scope="module")
def every():
    return Draft202012Validator(schema())


def run(place, *words):
    answer = RUN.invoke(app, ["--ledger", str(place), *words])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_the_catalogue_is_what_the_classes_say():
    told = "run python tests/catalogue.py"
    assert catalogue.PAGE.read_text("utf-8") == catalogue.page(), told
    assert catalogue.EXAMPLES.read_text("utf-8") == catalogue.examples(), told
    page = catalogue.PAGE.read_text("utf-8")
    assert all(f"### `{name}`\n" in page for name in BY_NAME)


def test_fields_that_came_later_may_be_left_out_and_are_told():
    page = catalogue.PAGE.read_text("utf-8").partition("## Fields that came later")[2]
    came = {each for name in BY_NAME for each in catalogue.later(name)}
    assert {("turn.recorded.v2", "metadata"), ("SearchQuery", "context")} <= came
    for owner, field in came:
        assert f"| `{owner}` | `{field}` |\n" in page


def test_a_program_that_does_not_know_a_field_stops_there_and_names_it():
    name = "turn.parked.v2"
    parts = json.loads((catalogue.GOLDEN / "events" / f"{name}.json").read_text("utf-8"))
    head = json.loads(parts["head"] + "1}")
    head["facts"]["unheard_of"] = 1
    sealed = json.dumps(head, sort_keys=True, separators=(",", ":")).removesuffix("1}").encode()
    row = Row(1, stamp(sealed, 1, parts["tail"].encode()), None)
    with pytest.raises(LogCorrupted, match=r"(?s)does not have its fields.*unheard_of"):
        codec.unseal(row, None)


@pytest.mark.parametrize("name", BY_NAME)
def test_each_schema_takes_the_example_of_its_event_alone(name, every):
    own = schema([name])
    Draft202012Validator.check_schema(own)
    check = Draft202012Validator(own)
    [example] = [each for each in EXAMPLES if each["type"] == name]
    check.validate(example)
    every.validate(example)
    others = [each for each in EXAMPLES if each["type"] != name]
    assert not any(check.is_valid(each) for each in others)
    for wrong in (
        {**example, "facts": {**example["facts"], "unheard_of": 1}},
        {**example, "position": 0},
        {key: each for key, each in example.items() if key != "subject_ref"},
    ):
        assert not check.is_valid(wrong)
        assert not every.is_valid(wrong)


def test_examples_are_the_golden_events():
    for each in EXAMPLES:
        golden = json.loads((catalogue.GOLDEN / "events" / f"{each['type']}.json").read_text())
        facts = json.loads(f"{golden['head']}0{golden['tail']}")["facts"]
        assert each["facts"] == in_units(each["type"], facts)
        body = golden["body"] and json.loads(golden["body"])
        known = body and {name: body[name] for name in body}
        told = in_units(each["type"], known) if known else None
        assert (each["body"] or {}).keys() >= (told or {}).keys()
        assert {name: (each["body"] or {})[name] for name in told or {}} == (told or {})


def test_no_score_and_no_time_is_told_as_the_log_counts_it():
    names = {"confidence", "importance", "similarity", "said_at", "valid_from", "expires_at"}
    for kind in BY_NAME.values():
        for model in (kind, *inner(kind)):
            for name, field in model.model_fields.items():
                if name in names and model.__name__ != "Ends":
                    assert {A_SCORE, A_TIME} & set(_marks(field)), (model, name)


def _marks(field):
    yield from field.metadata
    for part in getattr(field.annotation, "__args__", ()):
        yield from getattr(part, "__metadata__", ())


def test_what_happens_fits_the_schemas(place, every):
    with open_memory(place, consent="consent") as memory:
        memory.remember("ana", "I live in Porto. My boss is Carla.")
        memory.remember("ana", "I moved to Lisbon. I might move to Rome.")
        memory.remember("ana", "I live in Lisbon.")
        memory.store("ana", "nuts", attribute="food.allergy", confidence=0.7)
        memory.remember("ben", "I like jazz.", said_at="2026-03-01")
        memory.search("ana", "where do I live?", by="assistant")
        memory.policy.adopt({"recall_floor": 0.3}, by="admin")
        memory.types.retire("procedure", by="admin")
        memory.erasure.holds.place("ben", "a claim", by="dpo")
        erased = memory.erase("ana", by="dpo")
        assert erased
    lines = [json.loads(line) for line in run(place, "ops", "tail", "--json").splitlines()]
    lines += [
        json.loads(line) for line in run(place, "export", "events", "--by", "dpo").splitlines()
    ]
    assert len({each["type"] for each in lines}) > 15
    for each in lines:
        every.validate(each)
        assert datetime.fromisoformat(each["recorded_at"]).year >= 2026
    decided = [each for each in lines if each["type"] == "gate.decided.v2"]
    assert decided
    for each in decided:
        assert datetime.fromisoformat(each["facts"]["decided_at"]).year >= 2026
    kept = [each for each in decided if not each["destroyed"]]
    assert kept
    assert all(0 < each["body"]["c"] <= 1 for each in kept)
    [gone, *_] = [each for each in lines if each["type"] == "subject.erased.v2"]
    assert gone["subject"] is None
    assert gone["subject_ref"]
    assert any(each["subject_ref"] == gone["subject_ref"] and each["destroyed"] for each in lines)


def test_an_export_of_a_person_has_the_same_units(place):
    with open_memory(place, consent="consent") as memory:
        memory.remember("ana", "I live in Porto.")
        document = json.loads("".join(memory.export("ana", by="dpo").json()))
    proposed = [each for each in document["record"] if each["type"] == "candidate.proposed.v2"]
    assert 0 < proposed[0]["body"]["candidate"]["confidence"] <= 1
    admitted = [each for each in document["record"] if each["type"] == "memory.admitted.v2"]
    assert datetime.fromisoformat(admitted[0]["body"]["memory"]["said_at"]).tzinfo is not None


def test_schemas_are_told_on_the_command_line(tmp_path):
    assert json.loads(run(tmp_path, "schema", "events")) == schema()
    one = json.loads(run(tmp_path, "schema", "events", "subject.erased.v2"))
    assert one["properties"]["type"] == {"const": "subject.erased.v2"}
    assert "null" in one["properties"]["subject"]["type"]
    some = json.loads(run(tmp_path, "schema", "events", "memory.*", "turn.*"))
    assert {each["$ref"].rpartition("/")[2].split(".")[0] for each in some["oneOf"]} == {
        "memory",
        "turn",
    }
    answer = RUN.invoke(app, ["schema", "events", "memory.admited.v2"])
    assert answer.exit_code == 2
    assert "memory.admitted.v2" in answer.output
    with pytest.raises(InvalidQuery, match="remembrance"):
        schema(["remembrance.*"])
