"""An agent that is built as the documents say: the anthropic package's tool runner, our tools."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

from messages_api import message, messages_api, says
from model_server import Answer
from served import served

from beliefledger import open_memory
from beliefledger.ledger.events.ops import ToolCalled

DOCUMENT = Path(__file__).parents[2] / "docs/mcp.md"


def documented():
    """The agent of the documents."""
    [code] = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text("utf-8"), re.M | re.S)
    found = {}
    exec(compile(code, str(DOCUMENT), "exec"), found)
    return found["answer"]


class Model:
    """Calls one tool after another, as a model would, from what the tools answered."""

    def __init__(self, before):
        self._before = before
        self.told = []
        """What each tool answered."""
        self.offered = set()

    def __call__(self, asked):
        self.offered = {each["name"] for each in asked["tools"]}
        last = asked["messages"][-1]["content"]
        if isinstance(last, list):
            [result] = last
            assert not result.get("is_error"), result
            told = result["content"]
            text = told if isinstance(told, str) else told[0]["text"]
            self.told.append(json.loads(text)["data"])
        wanted = self._next(len(self.told))
        if wanted is None:
            return says("In Porto; in the morning.")
        made = message("I look it up.", "tool_use")
        name, given = wanted
        called = {"type": "tool_use", "id": f"toolu_{len(self.told)}", "name": name, "input": given}
        return Answer(made | {"content": [*made["content"], called]})

    def _next(self, step):
        """The next call, or None at the end."""
        said = [f"I prefer {when} meetings." for when in ("morning", "afternoon") * 2]
        said += [said[0], "I live in Porto."]
        if step < 2 * len(said):
            if step % 2:
                return "job_status", {"job_id": self.told[-1]["job_id"], "wait_seconds": 20}
            return "store_memory", {"text": said[step // 2], "topic": "work"}
        asked = [
            ("context", {"query": "where does the user live, and when do they meet?"}),
            ("believe_as_of", {"as_of": str(self._before)}),
            ("believe_as_of", {"as_of": "2100-01-01"}),
            ("list_conflicts", {}),
        ]
        if step < 2 * len(said) + len(asked):
            return asked[step - 2 * len(said)]
        if step == 2 * len(said) + len(asked):
            [conflict] = self.told[-1]["conflicts"]
            chosen = next(each for each in conflict["choices"] if "morning" in each["text"])
            return "resolve_conflict", {
                "belief_id": conflict["belief_id"],
                "choose": chosen["id"],
                "note": "They said so just now.",
            }
        return None


def test_an_agent_stores_asks_for_context_asks_as_of_a_date_and_resolves(place, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    with (
        messages_api() as api,
        open_memory(place) as memory,
        served(memory, call_seconds=40) as server,
    ):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        memory.consent.grant("ana", "consent")
        before = memory.status().position
        model = api.always = Model(before)
        said = asyncio.run(
            documented()(
                "Where does ana live?", server.url, server.token(), "claude-haiku-4-5-20251001"
            )
        )
        assert said == "In Porto; in the morning."
        *_, context, then, now, conflicts, settled = model.told
        assert "Porto" in context["content"]
        assert then["beliefs"] == []
        assert any(each["value"] == "Porto" for each in now["beliefs"])
        assert len(conflicts["conflicts"]) == 1
        assert [each["value"] for each in settled["beliefs"]] == ["morning"]
        assert memory.conflicts.list("ana") == []
        assert {each.agent for each in memory.beliefs("ana")} <= {"bot", None}
        assert "forget" not in model.offered
        assert "store_memory" in model.offered
        calls = [each.facts for each in memory._log.read() if each.type == ToolCalled.NAME]
        assert [each["outcome"] for each in calls] == ["ok"] * len(model.told)
        assert not any("a-key" in str(each) for each in calls)
