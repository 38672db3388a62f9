"""Every command that a message or a page names is one that the command line has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from beliefledger.tools.cli import app

ROOT = Path(__file__).resolve().parents[2]
COMMANDS: Any = typer.main.get_command(app)
FOLDERS = ("ledger", "gate", "projections", "tools", "docs", "tests/acceptance")
FILES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *(file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.*"))),
    *(
        file
        for file in sorted((ROOT / "beliefledger").rglob("*.*"))
        if file.relative_to(ROOT).parts[1] not in {"ledger", "gate", "projections", "tools"}
    ),
]
PROSE = set(
    "a and as below came costs declares every folded has is keeps knows listens made master never"
    " opened or positions recalls schema that this to tree views was were which with wrote".split()
)
"""What may follow the name of the program where no command is meant."""
CALLED = re.compile(
    r"beliefledger(?:[ ](?:--ledger|-l)[ =]\S+)?[ ](?P<words>[a-z][a-z-]*(?:[ ][a-z][a-z-]*){0,2})"
)
LABEL = "vault"
"""Of a schema, in its comment: `beliefledger vault, version 2`."""


def _text(file: Path) -> str:
    """The text of a file, with strings that go on in the next line made one."""
    text = file.read_text("utf-8")
    return re.sub(r"\s*\"\n\s*f?\"\s*|\s*\n\s*(?=[a-z])", " ", text)


def _wrong(words: list[str]) -> bool:
    """Whether words begin with no command, or with a group and none of its commands."""
    command = COMMANDS
    for word in words:
        under = getattr(command, "commands", None)
        if under is None:
            return False
        if word not in under:
            return True
        command = under[word]
    return False


def _named(file: Path) -> Iterator[str]:
    """Whatever stands after the program's name, and whatever stands in backticks after a noun."""
    text = _text(file)
    for found in CALLED.finditer(text):
        if text[: found.start()].endswith(("import ", "from ", "this ", "an earlier ", "older ")):
            continue
        if found["words"] != LABEL and found["words"].split()[0] not in PROSE:
            yield found["words"]
    nouns = "|".join(n for n, each in COMMANDS.commands.items() if hasattr(each, "commands"))
    if file.suffix == ".md":
        for found in re.finditer(rf"`((?:{nouns})(?: [a-z][a-z-]*)+)[^`]*`", text):
            yield found[1]


@pytest.mark.parametrize(
    "file",
    [file for file in FILES if file.suffix in {".py", ".md", ".yaml"} and file != Path(__file__)],
    ids=lambda file: str(file.relative_to(ROOT)),
)
def test_a_command_that_is_named_is_there(file):
    wrong = [words for words in _named(file) if _wrong(words.split())]
    assert wrong == []
