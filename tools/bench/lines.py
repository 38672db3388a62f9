"""Sentences to train the scorers with, a line each: tests/data/lines/README.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from beliefledger.tools.bench.quality import DATA

LINES = DATA / "lines"
_KEPT = {"+ ": True, "- ": False}


class Line(NamedTuple):
    """A sentence, who wrote it, and whether it is to be kept."""

    batch: str
    text: str
    kept: bool


def labelled() -> Iterator[Line]:
    """All of them, by batch. Raises `KeyError` for a line that begins with neither mark."""
    for path in sorted(LINES.glob("*.txt")):
        for line in path.read_text("utf-8").splitlines():
            yield Line(path.stem, line[2:], _KEPT[line[:2]])
