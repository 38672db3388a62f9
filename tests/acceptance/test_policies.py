"""Policies that were in force are listed, shown and compared."""

from __future__ import annotations

import json

import pytest
import yaml
from command_line import CliRunner

from beliefledger import PolicyInvalid, UnknownMemory, open_memory
from beliefledger.gate.policy import default_policy, load
from beliefledger.tools.cli import app

RUN = CliRunner()


def run(place, *words, code=0):
    answer = RUN.invoke(app, ["--ledger", str(place), *words])
    assert answer.exit_code == code, answer.output
    return answer.stdout if code == 0 else " ".join(answer.output.split())


def test_a_threshold_of_a_type_decides(place):
    with open_memory(place, consent="consent", policy={"thresholds": {"fact": 0.99}}) as memory:
        memory.remember("ana", "I live in Porto.")
        memory.remember("ana", "I like jazz.")
        assert [each.type for each in memory.beliefs("ana")] == ["preference"]
        decided = {each.type: each.reason for each in memory.decisions("ana")}
        assert decided["fact"] == "truth.below_threshold"
        assert memory.audit.replay_all().same == 2


def test_those_of_before_are_listed_shown_and_compared(place):
    with open_memory(place) as memory:
        first = memory.policy.adopt({"name": "careful", "recall_floor": 0.5}, by="eva")
        memory.policy.adopt({"name": "open", "ttl_days": {"event": 9}}, by="max")
        memory.policy.adopt({"name": "careful", "recall_floor": 0.5}, by="max")
        told = memory.policy.list()
        assert [(each.name, each.by) for each in told] == [
            ("default", "system"),
            ("careful", "eva"),
            ("open", "max"),
            ("careful", "max"),
        ]
        assert [each.in_force for each in told] == [False, False, False, True]
        assert told[1].digest == told[3].digest == first == told[1].policy.digest()
        assert memory.policy.get(first[:8]) == memory.policy.current
        assert memory.policy.get("default") == default_policy()
        with pytest.raises(UnknownMemory, match="'0000'"):
            memory.policy.get("0000")
        with pytest.raises(UnknownMemory, match="''"):
            memory.policy.get("")
        found = memory.policy.diff("default", told[2].digest)
        assert [(each.field, each.before, each.after) for each in found] == [
            ("name", "default", "open"),
            ("ttl_days.event", None, 9),
        ]
        assert memory.policy.diff("current", first) == ()
        with pytest.raises(PolicyInvalid, match=r"ttl_days.evnt: .*did you mean event\?"):
            memory.policy.adopt({"ttl_days": {"evnt": 9}}, by="max")
        with pytest.raises(PolicyInvalid, match=r"thresholds.types.fcat: .*fact\?"):
            memory.policy.adopt({"thresholds": {"types": {"fcat": 0.9}}}, by="max")
        assert len(memory.policy.list()) == 4

    listed = json.loads(run(place, "policy", "list", "--json"))
    assert [each["in_force"] for each in listed] == [False, False, False, True]
    assert listed[1]["digest"][:10] in run(place, "policy", "list")
    shown = run(place, "policy", "show", listed[2]["digest"][:12])
    assert load(yaml.safe_load(shown)).digest() == listed[2]["digest"]
    answer = json.loads(run(place, "policy", "diff", "default", "--json"))
    assert answer == [
        {"field": "name", "before": "default", "after": "careful"},
        {"field": "recall_floor", "before": 0.4, "after": 0.5},
    ]
    assert "recall_floor" in run(place, "policy", "diff", "default")
    assert "They say the same." in run(place, "policy", "diff", "current")
    assert "policy list" in run(place, "policy", "show", "zzzz", code=3)
    assert "leave out" in run(place, "policy", "show", "zz", "--default", code=2)


def test_what_is_shown_of_fewer_special_categories_is_read_back(place, tmp_path):
    file = tmp_path / "policy.yaml"
    file.write_text("special_categories: {union: null, health: prohibit}")
    run(place, "init")
    run(place, "policy", "adopt", str(file), "--by", "eva")
    file.write_text(run(place, "policy", "show"))
    assert "union" not in load(file).special_categories
    assert load(file).special_categories["health"] == "prohibit"
    file.write_text("thresholds: {dfault: 0.6}")
    assert "did you mean default?" in run(place, "policy", "validate", str(file), code=3)
