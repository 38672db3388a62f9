"""The whole API by its own document: generated calls, alone and in sequences, bounded in time."""

from __future__ import annotations

import itertools
from collections import Counter

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from served import BACKENDS, served_on

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
BOUNDED = settings(
    max_examples=4,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
MOST_RUNS = 8
STEPS = settings(BOUNDED, max_examples=10, stateful_step_count=16)
ANA = "ana"
LONGEST_ADDRESS = 65_000
"""In bytes; it reads up to 65,535."""
WHO = "whom the sequence is about"
SAID = {
    "record_turn": {"subject": WHO, "content": "I live in Lisbon."},
    "remember": {"subject": WHO, "text": "I live in Lisbon. What if I were a doctor?"},
    "store": {"subject": WHO, "attribute": "hobby", "value": "chess"},
    "update": {"topic": "home"},
    "correct": {"words": "I never lived there."},
    "why_not": {"subject": WHO, "claim": "User lives in Porto"},
    "search": {"subject": WHO, "query": "home"},
    "context": {"subject": WHO, "query": "home"},
    "erase": {"subject": WHO},
}
"""What a body has to say for the call to come to something."""
FREE = {"importance", "confidence", "negated", "metadata"}
"""Fields of these bodies in which anything that the document allows will do."""
NOT_GIVEN = {
    "after", "agent", "as_of", "by", "end", "metadata", "new", "reason", "start", "type",
    "valid_at",
}  # fmt: skip
"""Arguments of an address whose meaning is in the ledger, and not in the document."""


@pytest.fixture(scope="module", params=BACKENDS)
def server(request, tmp_path_factory):
    with served_on(request, tmp_path_factory, worker=False, calls_per_minute=1_000_000) as running:
        running.memory.remember(ANA, "I live in Lisbon.", consent="consent")
        yield running


@pytest.fixture
def schema(server):
    return read(server, "schema")


def read(server, name, algorithms=()):
    """The document, with the token of an admin for everybody; `algorithms` find more links."""
    document = httpx2.get(f"{server.root}/v1/openapi.json").json()
    differs = document["components"]["schemas"]["ReplayAnswer"]["properties"]["differs"]
    # schemathesis takes it for the `items` of an older draft, in which it may be no list.
    assert differs["additionalProperties"].pop("prefixItems") == [{}, {}]
    found = schemathesis.openapi.from_dict(document)
    token = server.token(name, role="admin", subjects=None)
    found.config.update(headers={"Authorization": f"Bearer {token}"}, base_url=f"{server.root}/v1")
    found.config.phases.stateful.inference.algorithms = list(algorithms)
    return found


def validate(case, response):
    """Raises where an answer is not as the document says. An address that is too long for the
    program that reads requests comes to nothing of ours: docs/http.md says how it is refused."""
    if len(response.request.url) > LONGEST_ADDRESS and response.status_code == 400:
        assert response.text == "Invalid HTTP request received."
    else:
        case.validate_response(response, checks=CHECKS)


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_every_endpoint_answers_as_the_document_says(server, schema):
    answered = Counter()
    for result in schema.get_all_operations():
        operation = result.ok()

        @seed(19)
        @BOUNDED
        @given(case=operation.as_strategy())
        def holds(case):
            answer = case.call(timeout=20)
            validate(case, answer)
            answered[case.operation.label, answer.status_code // 100] += 1

        holds()
    assert len({label for label, _ in answered}) == len(list(schema.get_all_operations()))
    assert len({label for label, kind in answered if kind == 2}) > 20


def declared(schema):
    """The links of the document, as schemathesis names them."""
    operations = [each.ok() for each in schema.get_all_operations()]
    labels = {each.definition.raw["operationId"]: each.label for each in operations}
    return {
        f"{each.label} -> [{status}] {name} -> {labels[link['operationId']]}"
        for each in operations
        for status, answer in each.definition.raw["responses"].items()
        for name, link in answer.get("links", {}).items()
    }


def walked(server, schema, enough):
    """The links that were followed and answered, until there are `enough` of them: in sequences of
    generated calls. Each sequence is about somebody of its own, so that how it goes depends on its
    calls alone. What a body has to say for a call to come to something is put in."""
    followed, numbers = Counter(), itertools.count()

    class Sequences(schema.as_state_machine()):
        def setup(self):
            self.person = f"somebody {next(numbers)} of {id(schema)}"
            server.memory.remember(self.person, "I like tea.", consent="consent")
            self.given = {"subject": self.person, "wait": 0}

        def before_call(self, case):
            raw = case.operation.definition.raw
            said = SAID.get(raw["operationId"])
            if said is not None:
                made = case.body if isinstance(case.body, dict) else {}
                free = {name: made[name] for name in FREE & set(made)}
                case.body = free | {n: self.person if v == WHO else v for n, v in said.items()}
            names = {each["name"] for each in raw.get("parameters", ())}
            kept = {n: each for n, each in (case.query or {}).items() if n not in NOT_GIVEN}
            case.query = kept | {n: each for n, each in self.given.items() if n in names}
            if "Idempotency-Key" in case.headers:
                case.headers["Idempotency-Key"] = f"{self.person} {raw['operationId']}"

        def validate_response(self, response, case, additional_checks=(), **kwargs):
            validate(case, response)
            step = self.recorder.cases[case.id]
            if step.is_transition_applied and response.status_code < 300:
                followed[step.transition.id] += 1

    for number in range(MOST_RUNS):
        seed(number)(Sequences).run(settings=STEPS)
        if enough(followed):
            break
    return set(followed)


def test_sequences_of_calls_follow_every_link_of_the_document(server, schema):
    links = declared(schema)
    assert walked(server, schema, links.issubset) == links


@pytest.mark.parametrize("server", ["sqlite"], indirect=True)
def test_sequences_of_calls_follow_links_that_the_document_does_not_say(server):
    """Found by what answers and arguments are called."""
    links = declared(read(server, "reading"))
    schema = read(server, "finding", ["dependency-analysis"])
    # A type that is retired is so for all sequences.
    schema = schema.exclude(operation_id="retire_type")
    found = walked(server, schema, lambda followed: len(set(followed) - links) > 7)
    assert len(found - links) > 7
