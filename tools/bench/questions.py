"""What people ask an assistant of themselves, and what they told that answers it.

The files and their format are described in tests/data/successions/README.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from beliefledger.tools.bench.blocks import SIXTH, blocks
from beliefledger.tools.bench.quality import DATA

ASKED = DATA / "successions" / "asked"
ITEMS = DATA / "successions" / "items"
_BAR = " | "


class Question(NamedTuple):
    """What is asked, and of which person."""

    words: str
    of: str
    answers: tuple[str, ...]
    """What was told, and after it what may be said later in its place, one or the other."""
    others: tuple[str, ...] = ()
    """What the same person told of something else."""
    near: tuple[str, ...] = ()
    """What the same person may say that changes nothing."""


def questions(half: str) -> Iterator[Question]:
    """The questions of a half: of the blocks, and of the items."""
    yield from of_blocks(half)
    yield from of_items(half)


def of_blocks(half: str) -> Iterator[Question]:
    """Two questions for each line that a block tells."""
    asked = dict(_asked())
    for block in blocks(half):
        near = tuple(later.said for later in block.later if not later.over)
        for number, told in enumerate(block.told, 1):
            later = tuple(each.said for each in block.later if number in each.over)
            others = [text for place, text in enumerate(block.told, 1) if place != number]
            others += [e.said for e in block.later if e.over and number not in e.over]
            for words in asked.get(f"{block.name}.{number}", ()):
                yield Question(words, block.name, (told, *later), tuple(others), near)


def of_items(half: str) -> Iterator[Question]:
    """Two questions for each item; every sixth of a file is to test with. What the items beside it,
    two before and two after, tell is taken as told by the same person, of something else."""
    for path in sorted(ITEMS.glob("*.txt")):
        lines = enumerate(path.read_text("utf-8").splitlines())
        items = [
            (number, line.split(_BAR))
            for number, line in lines
            if (number % SIXTH == SIXTH - 1) == (half == "test")
        ]
        for place, (number, (*answers, first, second)) in enumerate(items):
            beside = [*items[max(0, place - 2) : place], *items[place + 1 : place + 3]]
            others = tuple(text for _, each in beside for text in each[:-2])
            for words in (first, second):
                yield Question(words, f"{path.stem}-{number}", tuple(answers), others)


def _asked() -> Iterator[tuple[str, list[str]]]:
    for path in sorted(ASKED.glob("*.txt")):
        for line in path.read_text("utf-8").splitlines():
            name, *words = line.split(_BAR)
            yield name, words
