"""What the README and the docs say is what happens."""

from __future__ import annotations

import doctest
import re
import shlex
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import mapped
import pytest
from command_line import CliRunner
from typer.main import get_command

from beliefledger.gate.policy import load
from beliefledger.tools.cli import app
from beliefledger.tools.server.configuration import configuration

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


SESSIONS = [
    "README.md",
    "docs/async.md",
    "docs/context.md",
    "docs/erasure.md",
    "docs/events.md",
    "docs/errors.md",
    "docs/exports.md",
    "docs/howto/engineer.md",
    "docs/operations.md",
    "docs/parts.md",
    "docs/proofs.md",
    "docs/tokens.md",
    "docs/search.md",
    "docs/verbs.md",
    "docs/webhooks.md",
]
"""The documents with Python that is run."""
RUN_THERE = {"docs/custom-parts.md": "tests/docs/test_custom_parts.py"}
"""Documents whose Python needs more than this package, and the tests that run it."""


@cache
def _commands() -> Any:
    """To make it takes a quarter of a second, and half of the pages show a command."""
    return get_command(app)


@pytest.mark.parametrize("page", SESSIONS)
def test_the_python_of_the_documents_runs(page):
    results = doctest.testfile(str(ROOT / page), module_relative=False, encoding="utf-8")
    assert results.attempted > 8
    assert results.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_shown_exists(page):
    text = page.read_text("utf-8")
    lines = re.findall(r"^ *\$ beliefledger (.*)$", text, re.M)
    lines += re.findall(r"`beliefledger ((?!positions v1)[a-z-][^`]*)`", text)  # a format's line
    for line in lines:
        words = shlex.split(line, comments=True)
        while words and words[0].startswith("-"):
            words = words[2:]
        command = _commands()
        while getattr(command, "commands", {}):
            if not words:
                break  # the group itself is spoken of
            assert words[0] in command.commands, f"{line}: {words[0]}"
            command = command.commands[words.pop(0)]
        options = {
            name
            for parameter in command.params
            for name in (*parameter.opts, *parameter.secondary_opts)
        }
        for word in words:
            if word.startswith("--"):
                assert word.split("=")[0] in options, f"{line}: {word}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_all_python_in_a_document_is_run(page):
    """Code that nobody runs is wrong before long. It is a session, which a doctest runs, or a file
    of the reader's own, which begins with its name and is run here."""
    text = page.read_text("utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        if re.match(r"# \w+\.py\n", block):
            exec(compile(block, page.name, "exec"), {"__name__": page.name})
        else:
            assert block.startswith(">>> "), block
    name = page.relative_to(ROOT).as_posix()
    assert ">>> " not in text or name in {*SESSIONS, *RUN_THERE}


SHOWN = ["README.md", "docs/mcp.md"]
"""Pages with commands whose answers they do not show; the others' are compared with what they
show."""


@pytest.mark.parametrize("page", SHOWN)
def test_commands_that_are_only_shown_run(page, place):
    """But for servers, which do not end."""
    text = (ROOT / page).read_text("utf-8")
    commands = [shlex.split(each) for each in re.findall(r"^\$ beliefledger (.*)$", text, re.M)]
    told = {}
    for words in commands:
        if words[0] != "serve":
            answer = CliRunner().invoke(app, ["--ledger", place, *words])
            assert answer.exit_code == 0, (words, answer.output)
            told[words[0]] = answer.stdout
    assert len(told) > 1
    if page == "README.md":
        assert "User moved to Porto" in told["beliefs"]
        assert "User uses pytest" in told["search"]


SETTINGS = {"docs/cli.md": load, "docs/howto/auditor.md": load, "docs/tokens.md": configuration}
"""Pages with files of settings, and what reads them."""


@pytest.mark.parametrize(("page", "read"), SETTINGS.items(), ids=SETTINGS)
def test_files_of_settings_that_are_shown_are_read(page, read, tmp_path):
    blocks = re.findall(r"^```yaml\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.M | re.S)
    assert blocks
    for number, block in enumerate(blocks):
        file = tmp_path / f"{number}.yaml"
        file.write_text(block, "utf-8")
        assert read(file)


def test_every_page_with_a_file_of_settings_is_read():
    pages = [page.relative_to(ROOT).as_posix() for page in PAGES if "```yaml" in page.read_text()]
    assert set(pages) == set(SETTINGS)


def test_documents_that_are_run_elsewhere_are():
    for page, test in RUN_THERE.items():
        assert f'"{Path(page).name}"' in (ROOT / test).read_text("utf-8"), test


OURS = "|".join((*mapped.TOPS, "tests", "docs", ".ci"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_named_exists(page):
    """Files and folders of ours in backticks; `…` and `<name>` stand for something else."""
    for name in re.findall(rf"`((?:{OURS})/[\w./*-]*)`", page.read_text("utf-8")):
        assert any(ROOT.glob(name.rstrip("/"))), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_module_named_exists(page):
    folders = "ledger|gate|projections|tools|erasure|proofs|search|reading|opening|operations"
    for name in re.findall(rf"beliefledger\.(?:{folders})(?:\.\w+)*", page.read_text("utf-8")):
        assert resolve_name(name), name


def test_the_map_has_every_file_and_no_other():
    listed = mapped.rows((ROOT / "docs" / "map.md").read_text("utf-8"))
    assert set(listed) == set(mapped.sources()), "run `make map`"
    assert not [str(path) for path, (known, _) in listed.items() if not known]


def test_the_map_states_true_callers():
    assert mapped.untrue((ROOT / "docs" / "map.md").read_text("utf-8")) == [], "run `make map`"


def test_the_map_is_written_from_its_own_words():
    page = "# Map\n" + mapped.MARK + "\n## `ledger/`\n\nBelow.\n\n" + mapped.HEAD
    page += "| [times.py](../ledger/times.py) | My words. | nobody |\n"
    page += "| [book.py](../ledger/book.py) | It moved. | nobody |\n"
    page += "| [gone.py](../ledger/gone.py) | It is gone. | nobody |\n"
    moved = {Path("ledger/log.py"): Path("ledger/book.py")}
    written = mapped.written(page, moved)
    rows = mapped.rows(written)
    assert rows[Path("ledger/times.py")][0] == "My words."
    assert rows[Path("ledger/log.py")][0] == "It moved."
    assert rows[Path("ledger/envelope.py")][0].startswith("The envelope of an event")
    assert set(rows) == set(mapped.sources())
    assert "## `ledger/`\n\nBelow.\n" in written
    assert mapped.written(written, {}) == written
    assert mapped.untrue(written) == []
    assert mapped.untrue(page)


def test_the_documents_name_every_make_target():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    for target in ("demo", "test", "check", "bench"):
        assert re.search(rf"^{target}:", makefile, re.M)
        assert f"make {target}" in readme
