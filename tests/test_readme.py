"""What the README and the docs say is what happens."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from beliefledger.tools.cli import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize(
    "page", ["README.md", "docs/search.md", "docs/erasure.md", "docs/proofs.md"]
)
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
    commands = get_command(app).commands
    for line in re.findall(r"^\$ beliefledger (.*)$", page.read_text("utf-8"), re.M):
        words = shlex.split(line, comments=True)
        while words and words[0].startswith("-"):
            words = words[2:]
        command = commands[words[0]]
        options = {
            name
            for parameter in command.params
            for name in (*parameter.opts, *parameter.secondary_opts)
        }
        for sub in getattr(command, "commands", {}).values():
            options |= {name for parameter in sub.params for name in parameter.opts}
        for word in words[1:]:
            if word.startswith("--"):
                assert word.split("=")[0] in options, f"{line}: {word}"


def test_the_documents_name_every_make_target():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    for target in ("demo", "test", "check", "bench"):
        assert re.search(rf"^{target}:", makefile, re.M)
        assert f"make {target}" in readme
