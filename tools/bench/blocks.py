"""What people told, and what each may say later that puts an end to it, or only sounds so.

The files and their format are described in tests/data/successions/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from beliefledger.tools.bench.quality import DATA

BLOCKS = DATA / "successions" / "blocks"
SIXTH = 6
"""Every sixth block of a file is to test with, the others are to tune on."""
HALVES = ("tune", "test")
SINGLE = "single_"
"""Begins the name of each file of blocks that tell one line."""
_LATER = re.compile(r"> (?P<said>.+) \| (?P<over>-|\d+(?: \d+)*)")


class Later(NamedTuple):
    """What is said later, and the numbers of what was told, from 1 on, that is over then."""

    said: str
    over: frozenset[int]


class Block(NamedTuple):
    """What one person told, and what each may say later: one or the other, and not in turn."""

    name: str
    batch: str
    told: tuple[str, ...]
    later: tuple[Later, ...]


def blocks(half: str, *, single: bool = False) -> Iterator[Block]:
    """The blocks of a half; those that tell one line, each of which changes in half of what is said
    later, only where they are asked for."""
    for path in sorted(BLOCKS.glob("*.txt")):
        if path.stem.startswith(SINGLE) and not single:
            continue
        for number, text in enumerate(path.read_text("utf-8").strip().split("\n\n")):
            if (number % SIXTH == SIXTH - 1) == (half == "test"):
                yield block_of(f"{path.stem}-{number}", path.stem, text)


def block_of(name: str, batch: str, text: str) -> Block:
    """Raises ValueError for lines that are not in the format."""
    lines = text.splitlines()
    first = next((at for at, line in enumerate(lines) if line.startswith(">")), len(lines))
    later = []
    for line in lines[first:]:
        found = _LATER.fullmatch(line)
        if found is None:
            raise ValueError(f"{name}: {line!r} is not '> words | numbers'.")
        over = frozenset(int(each) for each in found["over"].split() if each != "-")
        if over and max(over) > first:
            raise ValueError(f"{name}: {line!r} has a number of nothing that was told.")
        later.append(Later(found["said"], over))
    if not first or not later:
        raise ValueError(f"{name}: it tells nothing, or nothing is said later.")
    return Block(name, batch, tuple(lines[:first]), tuple(later))
