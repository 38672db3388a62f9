"""A model is scored on the sample sets by one command; here the model is a server on loopback."""

from __future__ import annotations

import json

import pytest
from messages_api import error, messages_api, says
from model_server import statement

from beliefledger.settings import MASTER_KEY, MASTER_KEY_FILE, VAULT
from beliefledger.tools.bench import scoring


@pytest.fixture
def api(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
    for name in (MASTER_KEY, VAULT, MASTER_KEY_FILE):  # which a run sets for itself
        monkeypatch.setenv(name, "restored afterwards")
    with messages_api() as served:
        yield served


def quoting(body):
    """A model that notes every turn whole, as somebody's words."""
    said = json.loads(body["messages"][0]["content"])["now"]["content"]
    return says({"statements": [statement(said, said.split()[-1], "told.thing", claim=said)]})


def test_one_command_scores_a_model_and_tells_the_cost(api, capsys):
    api.always = quoting
    assert scoring.main(["--base-url", api.url, "--sample", "12"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for figure in ("sentences to keep, tune", "scripts, tune", "turns read", "tokens read", "cost"):
        assert figure in told
    assert api.asked[0]["model"].startswith("claude-haiku")
    assert len(api.asked) >= 12


def test_a_model_without_a_price_costs_an_unknown_sum_and_failures_are_counted(api, capsys):
    api.always = lambda _body: error(400, "invalid_request_error")
    arguments = ["--base-url", api.url, "--model", "a-local-model", "--sample", "2"]
    assert scoring.main(arguments) == 0
    assert "tries that failed" in capsys.readouterr().out
    api.always = lambda _body: says({"statements": []})
    assert scoring.main(arguments) == 0
    assert "unknown" in capsys.readouterr().out


def test_a_refused_key_is_told(api, capsys):
    api.always = lambda _body: error(401, "authentication_error")
    assert scoring.main(["--base-url", api.url, "--sample", "1"]) == 1
    assert "ANTHROPIC_API_KEY" in capsys.readouterr().err
