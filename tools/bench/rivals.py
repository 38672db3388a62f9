"""Runs szl-recall beside us, in a process of its own Python.

It is not among our dependencies: `python -m venv DIRECTORY`, then `DIRECTORY/bin/pip install
szl-recall`, and DIRECTORY/bin/python is its Python.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from beliefledger.tools.bench import rival

_PROBE = "import importlib.metadata as known; known.version('szl-recall')"


@dataclass(frozen=True, slots=True)
class RivalRun:
    """What szl-recall took, and found for each query: the texts, best first."""

    version: str
    embeds: bool
    """Whether its extra for embeddings is installed: else it ranks by BM25 alone."""
    fill_seconds: float
    milliseconds: Sequence[float]
    """Of each query."""
    found: Sequence[Sequence[str]]
    peak_bytes: int | None
    """None where the system does not tell it."""


def missing(python: Path | None) -> str | None:
    """Why szl-recall cannot be measured with this Python, if it cannot."""
    if python is None:
        return "not measured: no Python with szl-recall is given"
    try:
        probe = subprocess.run([python, "-I", "-c", _PROBE], check=False, capture_output=True)
    except OSError as error:
        return f"not measured: {python} does not run ({error.strerror})"
    if probe.returncode:
        return f"not measured: {python} has no szl-recall; install it in a venv of its own"
    return None


def rival_python(given: Path | None) -> Path | None:
    """The Python given, if szl-recall can be measured with it. `missing` says why it cannot."""
    # Not resolved: a venv's Python is a link, and knows its packages by the link's place.
    return None if given is None or missing(given) else given.absolute()


def measure(
    python: Path | None, texts: Sequence[str], queries: Sequence[str], k: int
) -> RivalRun | None:
    """Fill a store of szl-recall with the texts, oldest first, and search it. None where it is
    not installed."""
    able = rival_python(python)
    if able is None:
        return None
    with tempfile.TemporaryDirectory(prefix="rival-") as place:
        directory = Path(place)
        _write(directory / "texts", texts)
        _write(directory / "queries", queries)
        command: list[str | Path] = [able, "-I", Path(rival.__file__).absolute()]
        command += ["--texts", directory / "texts", "--queries", directory / "queries"]
        run = subprocess.run(
            [*command, "--k", str(k)],
            check=False,
            capture_output=True,
            text=True,
            cwd=directory,  # it reads settings from the directory it is run in, and from variables
            env={"TMPDIR": place},
        )
    if run.returncode:
        raise RuntimeError(f"szl-recall could not be measured:\n{run.stderr[-2000:]}")
    return RivalRun(**json.loads(run.stdout))


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
