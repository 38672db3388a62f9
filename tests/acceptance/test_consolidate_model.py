"""A model words what rephrasings become: the real client against a server on loopback."""

from __future__ import annotations

import json

import pytest
from command_line import CliRunner
from messages_api import error, messages_api, says

from beliefledger import open_memory
from beliefledger.ledger.errors import ModelUnavailable, NotPermitted
from beliefledger.ledger.events.belief import MemoriesConsolidated
from beliefledger.tools.cli import app

SAID = (
    ("Berlin", "home.location", "fact", "User lives in Berlin"),
    ("Berlin", "home.residence", "fact", "User resides in Berlin"),
    ("hiking", "hobby.walking", "preference", "User enjoys hiking"),
    ("hike", "hobby.sport", "preference", "User likes to hike"),
)


@pytest.fixture
def api(monkeypatch):
    with messages_api() as served:
        monkeypatch.setenv("BELIEFLEDGER_MODEL_URL", served.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
        yield served


@pytest.fixture
def memory(place):
    with open_memory(place) as opened:
        opened.consent.grant("ana", "consent")
        for value, attribute, kind, text in SAID:
            opened.store("ana", value, attribute=attribute, type=kind, text=text)
        yield opened


def merges(memory):
    return [
        each.event for each in memory.subscribe(types=[MemoriesConsolidated.NAME], follow=False)
    ]


def test_a_dry_run_asks_no_model(memory, api):
    answer = memory.operations.consolidation.consolidate("ana", how="model")
    assert [each.after for each in answer.clusters] == [None, None]
    assert api.asked == []


def test_the_models_wording_is_taken_and_its_tokens_recorded(memory, api):
    api.answers = [
        says({"text": "User lives in Berlin"}, input_tokens=100, output_tokens=9),
        says({"text": "User loves  hiking"}, input_tokens=100, output_tokens=9),
    ]
    answer = memory.operations.consolidation.consolidate("ana", how="model", apply=True)
    assert [(each.how, each.after) for each in answer.clusters] == [
        ("model", "User lives in Berlin"),
        ("model", "User loves hiking"),
    ]
    assert json.loads(api.asked[1]["messages"][0]["content"]) == [
        "User enjoys hiking",
        "User likes to hike",
    ]
    assert answer.output_tokens == 18
    assert answer.cost_micro_usd > 0
    recorded = merges(memory)
    assert [each.how for each in recorded] == ["model", "model"]
    assert all("haiku" in each.merger for each in recorded)
    assert sum(each.cost_micro_usd for each in recorded) == answer.cost_micro_usd
    assert "User loves hiking" in {each.text for each in memory.beliefs("ana")}
    assert "claude-merge" in memory.explain(answer.clusters[1].memory_id).decided_by
    again = memory.store(
        "ana", "hike", attribute="hobby.sport", type="preference", text="User likes to hike"
    )
    assert again.memory_id == answer.clusters[1].memory_id


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"text": "User lives in Berlin with Ben"}, "words differ: with ben"),
        ({"text": "User does not live in Berlin"}, "denies"),
        ({"text": "User lived in Berlin"}, "over"),
        ({"text": ""}, "no sentence"),
        ("Sure! User lives in Berlin.", "no sentence"),
    ],
)
def test_a_wording_that_says_something_else_is_not_taken_and_that_is_told(memory, api, said, why):
    api.answers = [says(said)]
    answer = memory.operations.consolidation.consolidate(
        "ana", type="fact", how="model", apply=True
    )
    (cluster,) = answer.clusters
    assert (cluster.how, cluster.after) == ("words", "User lives in Berlin")
    assert why in cluster.note
    assert answer.output_tokens > 0
    (recorded,) = merges(memory)
    assert (recorded.how, recorded.output_tokens) == ("words", answer.output_tokens)


def test_what_was_merged_before_the_model_went_away_stays(memory, api):
    api.answers = [says({"text": "User lives in Berlin"})]
    api.always = lambda _body: error(529, "overloaded_error")
    with pytest.raises(ModelUnavailable, match="529"):
        memory.operations.consolidation.consolidate("ana", how="model", apply=True)
    assert len(merges(memory)) == 1
    assert len(memory.beliefs("ana")) == 3
    answer = memory.operations.consolidation.consolidate("ana", apply=True)
    assert [each.type for each in answer.clusters] == ["preference"]


def test_without_a_key_it_says_so_and_nothing_is_merged(memory, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(NotPermitted, match="key"):
        memory.operations.consolidation.consolidate("ana", how="model", apply=True)
    assert merges(memory) == []


def test_on_the_command_line(place, memory, api):
    api.always = lambda body: says(
        {"text": json.loads(body["messages"][0]["content"])[0] + " and tea"}
    )
    result = CliRunner().invoke(
        app, ["--ledger", place, "ops", "consolidate", "--model", "--apply"]
    )
    assert result.exit_code == 0, result.output
    assert "Merged 2 groups" in result.output
    assert "not taken" in result.output
    assert "tokens in" in result.output
