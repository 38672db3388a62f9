"""docs/cli.md names every command, every option and every exit code, and none that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from beliefledger.answers import Became, BeliefAnswer, DecisionAnswer, StatusAnswer, ViewAnswer
from beliefledger.reading.candidates import LikeCandidate, NearTurn, WhyNotAnswer
from beliefledger.reading.changes import ChangeStep, DiffAnswer, EventAnswer, MemoryChange
from beliefledger.reading.entities import AlikeAnswer, AttributeAnswer, EntityAnswer, NameAnswer
from beliefledger.reading.turns import TurnAnswer, TurnSpan
from beliefledger.search.answers import (
    DecisionBrief,
    EpisodeAnswer,
    FoundAnswer,
    OutdatedWords,
    SearchAnswer,
    StandingAnswer,
)
from beliefledger.search.context import ContextAnswer
from beliefledger.search.context_text import ContextLine
from beliefledger.tools.cli import app
from beliefledger.tools.cli.common import COULD_NOT, INTERRUPTED, ORDER, REFUSED_INPUT, USAGE

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text("utf-8")
GENERAL = {"--help", "-h", "--install-completion", "--show-completion"}


def _commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    for each, under in getattr(command, "commands", {}).items():
        whole = f"{name} {each}".strip()
        if hasattr(under, "commands"):
            yield from _commands(under, whole)
        else:
            yield whole, under


ROOT = typer.main.get_command(app)
COMMANDS = dict(_commands(ROOT))


def _options(command: Any) -> set[str]:
    return {
        name
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("-")
    } - GENERAL


def _section(name: str) -> str:
    """The text under the heading of a command, up to the next heading."""
    found = re.search(rf"^#+ `{re.escape(name)}[^\n]*`\n(.*?)(?=^#|\Z)", PAGE, re.M | re.S)
    assert found, f"docs/cli.md has no heading for `{name}`"
    return found[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_each_of_its_options_is_documented(name):
    section = _section(name)
    for option in _options(COMMANDS[name]):
        assert re.search(rf"(?<![\w-]){option}(?![\w-])", section), (name, option)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_is_documented_that_is_not_there(name):
    known = _options(COMMANDS[name]) | _options(ROOT)
    written = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", _section(name)))
    assert written <= known, name


def test_no_command_is_documented_that_is_not_there():
    headings = re.findall(r"^### `([a-z][a-z -]*?)(?: [A-Z\[-].*)?`$", PAGE, re.M)
    assert set(headings) == set(COMMANDS)


def test_the_general_options_are_documented():
    for option in _options(ROOT):
        assert f"`{option}" in PAGE, option


def _groups(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    yield name, command
    for each, under in command.commands.items():
        if hasattr(under, "commands"):
            yield from _groups(under, each)


def test_every_command_has_its_place_in_the_help_and_says_what_it_does():
    groups = dict(_groups(ROOT, "beliefledger"))
    assert {name: set(group.commands) for name, group in groups.items()} == {
        name: set(order.split()) for name, order in ORDER.items()
    }
    for name, group in groups.items():
        assert group.help, name
        assert name == "beliefledger" or group.help.count(". ") == 0, name
    for name, command in COMMANDS.items():
        assert command.help, name
        for parameter in command.params:
            assert getattr(parameter, "help", None) or parameter.name == "help", (name, parameter)


@pytest.mark.parametrize("code", [0, REFUSED_INPUT, USAGE, COULD_NOT, INTERRUPTED])
def test_every_exit_code_is_documented(code):
    assert re.search(rf"^\| {code} \|", PAGE, re.M)


@pytest.mark.parametrize("answer", [BeliefAnswer, DecisionAnswer, StatusAnswer, ViewAnswer])
def test_every_field_of_the_main_answers_is_documented(answer):
    for name in answer.model_fields:
        assert f"`{name}`" in PAGE, name


SHAPES = {
    "A decision": [DecisionAnswer],
    "What became of it": [Became],
    "A like candidate": [LikeCandidate],
    "A near turn": [NearTurn],
    "A change": [MemoryChange, ChangeStep, EventAnswer],
    "A result": [FoundAnswer, StandingAnswer, OutdatedWords, DecisionBrief, EpisodeAnswer],
    "An entity": [EntityAnswer, NameAnswer, AttributeAnswer, AlikeAnswer],
    "A belief": [BeliefAnswer],
    "`turn ID`": [TurnAnswer, TurnSpan],
    "`context": [ContextAnswer, ContextLine],
    "`diff": [DiffAnswer],
    "`search": [SearchAnswer],
    "`why-not": [WhyNotAnswer],
}


@pytest.mark.parametrize("heading", SHAPES)
def test_every_field_of_a_shape_is_documented(heading):
    found = re.search(rf"^#+ {re.escape(heading)}[^\n]*\n(.*?)(?=^#|\Z)", PAGE, re.M | re.S)
    assert found, heading
    written = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`]*)`", found[1]))))
    fields = {name for answer in SHAPES[heading] for name in answer.model_fields}
    assert fields <= written, fields - written


def test_reading_commands_take_json():
    without = {name for name, each in COMMANDS.items() if "--json" not in _options(each)}
    assert without == {"demo", "serve", "mcp"}
