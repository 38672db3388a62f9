"""A command line builds the command that it asks for, and no other."""

import subprocess
import sys

import pytest
import typer
from typer.main import get_command_name

import beliefledger.tools.cli
from beliefledger.tools.cli import app
from beliefledger.tools.cli.needed_commands import IN, needed


def built(*arguments: str) -> set[str]:
    return set(typer.main.get_command(needed(arguments)).commands)  # type: ignore[attr-defined]


ALL = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["beliefs", "--subject", "ana"], {"beliefs"}),
        (["why-not", "--subject", "ana", "x"], {"why-not"}),
        (["--ledger", "erase", "status"], {"status"}),
        (["-l", "erase", "--ledger=x", "ops", "tail"], {"ops"}),
        (["beliefs", "--help"], {"beliefs"}),
        (["belief"], ALL),
        (["--help"], ALL),
        ([], ALL),
        (["--version"], ALL),
        (["--install-completion"], ALL),
    ],
)
def test_the_one_that_is_asked_for_is_built(arguments, expected):
    assert built(*arguments) == expected


def test_a_noun_has_all_of_its_commands_and_help_none_of_them():
    whole, own, listed = (
        typer.main.get_command(each).commands["ops"]  # type: ignore[attr-defined]
        for each in (app, needed(["ops", "tail"]), needed(["--help"]))
    )
    assert set(own.commands) == set(whole.commands) >= {"tail", "backup", "vault"}
    assert (listed.commands, listed.help) == ({}, whole.help)


def test_completion_knows_all_commands(monkeypatch):
    monkeypatch.setenv("_BELIEFLEDGER_COMPLETE", "complete_bash")
    assert built("beliefs") == ALL


def test_the_application_itself_stays_whole():
    needed(["--help"])
    needed(["status"])
    assert set(typer.main.get_command(app).commands) == ALL  # type: ignore[attr-defined]
    assert all(each.typer_instance.registered_commands for each in app.registered_groups)


def test_help_tells_of_bare_commands_what_it_tells_of_whole_ones():
    listed, whole = (
        {
            name: (command.get_short_help_str(500), command.rich_help_panel, command.hidden)
            for name, command in typer.main.get_command(each).commands.items()  # type: ignore[attr-defined]
        }
        for each in (needed(["--help"]), app)
    )
    assert listed == whole
    bare = typer.main.get_command(needed(["--help"])).commands["beliefs"]  # type: ignore[attr-defined]
    assert bare.params == []


def test_of_each_command_it_is_known_in_which_modules_it_is():
    def modules(group):
        theirs = {each.callback.__module__ for each in group.registered_commands}
        return theirs.union(*(modules(each.typer_instance) for each in group.registered_groups))

    there = {
        each.name or get_command_name(each.callback.__name__): {each.callback.__module__}
        for each in app.registered_commands
    } | {each.name: modules(each.typer_instance) for each in app.registered_groups}
    known = {
        word: {f"{beliefledger.tools.cli.__name__}.{module}" for module in modules.split()}
        for modules, words in IN.items()
        for word in words.split()
    }
    assert known == there


def test_a_command_loads_no_module_of_another():
    """In a process of its own: here all of them are loaded."""
    code = (
        "import sys; from beliefledger.tools.cli.needed_commands import needed;"
        "needed(['beliefs', '-s', 'ana']);"
        "print(*(each for each in sys.modules if each.startswith('beliefledger.tools.cli.')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {each.rpartition(".")[2] for each in ran.stdout.split()}
    assert loaded == {"beliefs", "common", "needed_commands", "output", "rows"}
