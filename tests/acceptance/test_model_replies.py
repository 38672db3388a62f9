"""What comes of each shape of answer that a provider may give, recorded in `tests/golden/replies`.

The real clients read them from a server on the loopback.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from chat_api import MODEL, chat_api
from messages_api import messages_api
from model_server import Answer

from beliefledger.gate.claims import beyond
from beliefledger.gate.model.claude import ClaudeClient
from beliefledger.gate.model.extractor import ModelExtractor
from beliefledger.gate.model.openai import OpenAIClient
from beliefledger.gate.policy import default_policy
from beliefledger.gate.registry import Registry, default_types
from beliefledger.ledger.errors import LedgerError
from beliefledger.ledger.times import parse

REPLIES = Path(__file__).parents[1] / "golden" / "replies"
SHAPES = sorted(REPLIES.rglob("*.json"))
REGISTRY = Registry(types={kind.name: kind for kind in default_types()})
POLICY = default_policy()


@dataclass(frozen=True)
class Said:
    content: str
    role: str = "user"
    turn_id: str = "t"
    said_at: int = parse("2026-03-02T09:00:00Z")


@pytest.fixture(scope="module")
def servers():
    with messages_api() as claude, chat_api() as openai:
        yield {"claude": claude, "openai": openai}


def client_of(api, server):
    if api == "claude":
        return ClaudeClient("a-key", base_url=server.url)
    return OpenAIClient("a-key", model=MODEL, base_url=f"{server.url}/v1")


def test_there_are_at_least_forty_shapes():
    assert len(SHAPES) >= 40


@pytest.mark.parametrize("path", SHAPES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_each_shape_comes_to_what_it_should(path, servers):
    recorded = json.loads(path.read_text("utf-8"))
    wanted = recorded["expect"]
    server = servers[path.parent.name]
    server.asked.clear()
    server.answers = [Answer(**each) for each in recorded["answers"]]
    extractor = ModelExtractor(
        client_of(path.parent.name, server), lambda: REGISTRY, lambda: POLICY
    )
    turn = Said(recorded["said"])
    try:
        if "error" in wanted:
            with pytest.raises(LedgerError) as raised:
                extractor.extract(turn)
            assert type(raised.value).__name__ == wanted["error"]
            assert wanted.get("says", "") in str(raised.value)
            return
        found = extractor.extract(turn)
    finally:
        extractor.close()
    assert server.answers == []  # nothing more was asked, and nothing less
    assert [each.claim for each in found.candidates] == wanted["claims"]
    assert found.skipped == wanted.get("skipped")
    assert found.fallen == wanted.get("fallen", 0)
    if "cost" in wanted:
        assert found.cost_micro_usd == wanted["cost"]
    if "verbatim" in wanted:
        assert wanted["verbatim"] == [
            turn.content[span.start : span.end] == span.quote
            for each in found.candidates
            for span in each.spans
        ]
    if "within" in wanted:
        assert wanted["within"] == [beyond(each) is None for each in found.candidates]
