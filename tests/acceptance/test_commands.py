"""Every command as a process of its own: what a shell gets to see of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from beliefledger.tools.cli import app

STARTED = """
import contextlib, functools, gc, json, os, sys, tempfile
import typer.main
import beliefledger.memory
from beliefledger.tools.cli import main
from beliefledger.tools.cli.common import app

typer.main.get_command = functools.cache(typer.main.get_command)  # not anew for each of them
with contextlib.suppress(SystemExit), open(os.devnull, "w") as nowhere:
    with contextlib.redirect_stdout(nowhere):
        app(["beliefs", "--help"])  # loads what is loaded late
gc.freeze()
for words in json.load(sys.stdin):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = os.fork()  # as if begun anew, without loading everything again
        if not child:
            os.dup2(out.fileno(), 1), os.dup2(errors.fileno(), 2)
            sys.argv = ["beliefledger", *words]
            try:
                main()
            except SystemExit as ended:
                sys.stdout.flush(), sys.stderr.flush()
                os._exit(ended.code or 0)
            finally:
                sys.excepthook(*sys.exc_info())
                os._exit(1)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said = [os.pread(file.fileno(), 1 << 20, 0).decode() for file in (out, errors)]
        print(json.dumps([code, *said]))
"""


def commands(command: Any, *words: str) -> Iterator[tuple[str, ...]]:
    """The words of every command, and of every group of them."""
    yield words
    for name, under in getattr(command, "commands", {}).items():
        yield from commands(under, *words, name)


COMMANDS = list(commands(typer.main.get_command(app)))


@pytest.fixture(scope="module")
def ended():
    """How each command ended, asked for its help: the code, and what was on standard output and on
    standard error."""
    asked = [(*words, "--help") for words in COMMANDS]
    told = subprocess.run(
        [sys.executable, "-c", STARTED],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "80"},
    )
    return dict(zip(COMMANDS, map(json.loads, told.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "beliefledger")
def test_asked_for_its_help_it_tells_its_use(ended, words):
    code, out, errors = ended[words]
    assert (code, errors) == (0, "")
    assert f"beliefledger {' '.join(words)}".rstrip() in " ".join(out.split())
