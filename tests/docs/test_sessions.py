"""The tutorial and the how-tos: each command prints what the page says that it prints."""

from __future__ import annotations

import re
import shlex

import docsite
import programs
import pytest
import sessions
from typer.main import get_command

from beliefledger.tools.cli import app

DOCS = docsite.ROOT / "docs"
PAGES = ["tutorial.md", "howto/auditor.md", "howto/operator.md", "howto/subscriber.md"]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_says(page, tmp_path, tmp_path_factory):
    """`python tests/sessions.py docs/…` writes it anew; read the difference."""
    text = (DOCS / page).read_text("utf-8")
    ahead = tmp_path_factory.mktemp("bin")
    programs.commands(ahead)
    assert sessions.compared(sessions.written(text, tmp_path, ahead)) == sessions.compared(text)
    assert "Traceback" not in text
    assert "Usage: beliefledger" not in text


def test_a_session_that_prints_something_else_is_noticed(tmp_path):
    text = "```console\n$ echo one\ntwo\n```\n"
    assert sessions.written(text, tmp_path) == "```console\n$ echo one\none\n```\n"


def test_a_score_may_differ_with_the_day_and_nothing_else_may(tmp_path):
    page = "```console\n$ echo 'pytest 15.19  '\npytest 15.18\n```\n"
    written = sessions.written(page, tmp_path)
    assert written != page
    assert sessions.compared(written) == sessions.compared(page)
    assert sessions.compared(written.replace("pytest", "unittest")) != sessions.compared(page)


def test_files_of_a_page_are_there_for_its_commands(tmp_path):
    text = "```python\n# greet.py\nprint('hi')\n```\n\n```console\n$ python greet.py\n```\n"
    assert sessions.run(text, tmp_path) == [[("python greet.py", "hi\n")]]


def test_ids_and_the_present_are_the_same_in_each_run(tmp_path):
    same = sessions.steady("aa11bb22cc at aa11bb22, then dd33ee44ff", tmp_path)
    first, second = re.findall(r"[0-9a-f]{10}", same)
    assert first != second
    assert f"at {first[:8]}," in same
    assert sessions.steady("deadbeef facade 12", tmp_path) == "deadbeef facade 12"


def test_units_start_commands_that_exist():
    files = (DOCS.parent / "deploy" / "systemd").glob("*.service")
    text = "\n".join(each.read_text("utf-8") for each in files)
    units = re.findall(r"^ExecStart=\S+/beliefledger (.*)$", text, re.M)
    assert len(units) == 4
    for unit in units:
        command = get_command(app)
        words = shlex.split(unit)
        while getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
        options = {name for each in command.params for name in each.opts}
        assert not set(words) - options
