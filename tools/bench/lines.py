"""Sentences to train the scorers with: tests/data/lines/README.md, and those of the scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from beliefledger.gate.sentences import sentences
from beliefledger.tools.bench.quality import DATA, PARTS, SCRIPTS, scripts_of

LINES = DATA / "lines"
_KEPT = {"+ ": True, "- ": False}


class Line(NamedTuple):
    """A sentence, who wrote it, and whether it is to be kept."""

    batch: str
    text: str
    kept: bool


def labelled(directory: Path = LINES) -> Iterator[Line]:
    """All of a directory, by batch. Raises `KeyError` for a line that begins with neither mark."""
    for path in sorted(directory.glob("*.txt")):
        for line in path.read_text("utf-8").splitlines():
            yield Line(path.stem, line[2:], _KEPT[line[:2]])


def of_scripts() -> Iterator[str]:
    """The sentences of the tune half of the scripts that have words of what has to be believed, or
    is over: all of them are to be kept."""
    for part in PARTS["tune"]:
        for script in scripts_of(SCRIPTS / f"{part}.yaml"):
            wanted = (*script.end, *script.gone, *script.was)
            for _, by, said in script.turns:
                for start, end in sentences(said) if by is None else ():
                    if any(each.search(said, start, end) for each in wanted):
                        yield said[start:end]
