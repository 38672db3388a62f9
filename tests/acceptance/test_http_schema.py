"""The whole API by its own document: generated calls, alone and in sequences, bounded in time."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import FlakyStrategyDefinition
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from served import served

from beliefledger import open_memory

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
BOUNDED = settings(
    max_examples=4,
    stateful_step_count=8,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
ANA = "ana"
LONGEST_ADDRESS = 65_000
"""In bytes; it reads up to 65,535."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    place = tmp_path_factory.mktemp("schema") / "ledger"
    with open_memory(place) as memory:
        memory.consent.grant(ANA, "consent")
        memory.remember(ANA, "I live in Lisbon.")
        with served(memory, worker=False, calls_per_minute=1_000_000) as running:
            yield running


@pytest.fixture(scope="module")
def schema(server):
    found = schemathesis.openapi.from_url(f"{server.root}/v1/openapi.json")
    token = server.token("schema", role="admin", subjects=None)
    found.config.update(headers={"Authorization": f"Bearer {token}"}, base_url=f"{server.root}/v1")
    return found


def validate(case, response):
    """Raises where an answer is not as the document says. An address that is too long for the
    program that reads requests comes to nothing of ours: docs/http.md says how it is refused."""
    if len(response.request.url) > LONGEST_ADDRESS and response.status_code == 400:
        assert response.text == "Invalid HTTP request received."
    else:
        case.validate_response(response, checks=CHECKS)


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


def test_sequences_of_calls_answer_as_the_document_says(server, schema):
    machine = schema.as_state_machine()
    seen = Counter()

    class Sequences(machine):
        def validate_response(self, response, case, additional_checks=(), **kwargs):
            seen[case.operation.label] += 1
            validate(case, response)

    for number in range(4):
        # The server remembers what was done: where the same draws meet another answer, a run ends.
        with suppress(FlakyStrategyDefinition):
            seed(number)(Sequences).run(settings=settings(BOUNDED, max_examples=3))
    assert sum(seen.values()) > 15
