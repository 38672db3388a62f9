"""What the tests of faults share, and the scripts that they start share with them."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import programs
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # a script that is started by its path finds its neighbours there too


class Processes:
    """Scripts of this directory, run in processes of their own."""

    def __init__(self):
        self.started = []

    def __call__(self, script, *arguments):
        command = [sys.executable, str(HERE / script), *map(str, arguments)]
        process = programs.Program(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.started.append(process)
        return process

    def end(self):
        for process in self.started:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


@pytest.fixture
def processes():
    running = Processes()
    yield running
    running.end()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    """Where a ledger may lie: a directory, or a schema in a Postgres."""
    if request.param == "postgres":
        return request.getfixturevalue("cluster").ready()
    return str(tmp_path)
