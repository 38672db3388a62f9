"""The policy's recall_floor: what is less sure is shown only to who asks for less."""

from __future__ import annotations

import json

import pytest
from command_line import CliRunner
from wishes import searching

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.gate.policy import default_policy, load
from beliefledger.tools.cli import app


@pytest.fixture
def memory(tmp_path):
    with open_memory(tmp_path) as opened:
        opened.consent.grant("ana", "consent")
        for value, confidence in (("Porto", 0.9), ("Lisbon", 0.6)):
            opened.store(
                "ana",
                value,
                details=Details(entity=value),
                attribute="visited",
                text=f"Ana has visited the town of {value}",
                confidence=confidence,
            )
            opened.store(
                "ana", f"{value} office", attribute=f"relation.uses.{value}", type="relation",
                confidence=confidence,
            )  # fmt: skip
            opened.store(
                "ana", f"trip to {value}", attribute="trip", type="event", confidence=confidence
            )
        yield opened


def shown(memory, **stated):
    """How many memories each question gives."""
    return {
        "beliefs": len(memory.beliefs("ana", **stated)),
        "search": len(
            memory.search(
                "ana", "visited the town", **searching(include=["memories"], **(stated))
            ).results
        ),
        "related": len(memory.related("ana", **stated)),
        "events": len(memory.events("ana", **stated)),
    }


def test_what_is_shown_by_default_follows_the_policy_in_force(memory):
    everything = shown(memory, min_confidence=0.4)
    assert everything == {"beliefs": 6, "search": 2, "related": 2, "events": 2}
    assert shown(memory) == everything
    memory.policy.adopt(load({"recall_floor": 0.7}), by="system")
    assert shown(memory) == {"beliefs": 3, "search": 1, "related": 1, "events": 1}
    assert shown(memory) == shown(memory, min_confidence=0.7)
    assert shown(memory, min_confidence=0.4) == everything
    memory.policy.adopt(default_policy(), by="system")
    assert shown(memory) == everything


def test_a_search_puts_on_record_the_floor_that_it_had(memory):
    memory.policy.adopt(load({"recall_floor": 0.7}), by="system")
    found = memory.search("ana", "visited the town")
    assert memory.recalls.get(found.recall_id).asked["min_confidence"] == 0.7
    memory.policy.adopt(default_policy(), by="system")
    assert memory.audit.replay_recall(found.recall_id).verdict == "same"


def test_another_process_adopting_a_policy_is_noticed(memory, tmp_path):
    with open_memory(tmp_path) as other:
        assert len(other.beliefs("ana")) == 6
        memory.policy.adopt(load({"recall_floor": 0.7}), by="system")
        assert len(other.beliefs("ana")) == 3


@pytest.mark.parametrize("command", ["beliefs", "related", "search", "events"])
def test_the_command_line_asks_for_the_policys_floor_too(memory, tmp_path, command):
    words = ["visited the town"] if command == "search" else []
    noun = ["entities"] if command == "related" else []
    asked = ["--ledger", str(tmp_path), *noun, command, *words, "--subject", "ana", "--json"]

    def count(*more):
        done = CliRunner().invoke(app, [*asked, *more])
        assert done.exit_code == 0, done.output
        answer = json.loads(done.stdout)
        return len(answer["results"] if command == "search" else answer)

    before = count()
    memory.policy.adopt(load({"recall_floor": 0.7}), by="system")
    assert 0 < count() < before
    assert count("--min-confidence", "0.4") == before
