"""What people ask an assistant of themselves, and what they told that answers it.

The files and their format are described in tests/data/successions/README.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

from beliefledger.tools.bench.blocks import SIXTH, Block, blocks
from beliefledger.tools.bench.quality import DATA

ASKED = DATA / "successions" / "asked"
ITEMS = DATA / "successions" / "items"
_BAR = " | "
_BESIDE = 2


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


class Item(NamedTuple):
    """What somebody told, two sentences of which each changes it, and two questions about it."""

    name: str
    told: str
    changes: tuple[str, ...]
    questions: tuple[str, ...]


def questions(half: str) -> Iterator[Question]:
    """The questions of a half: of the blocks, and of the items."""
    yield from of_blocks(half)
    yield from of_items(half)


def of_blocks(half: str) -> Iterator[Question]:
    """Two questions for each line that a block tells."""
    for block in blocks(half):
        near = tuple(later.said for later in block.later if not later.over)
        for number, told in enumerate(block.told, 1):
            later = tuple(each.said for each in block.later if number in each.over)
            others = [text for place, text in enumerate(block.told, 1) if place != number]
            others += [e.said for e in block.later if e.over and number not in e.over]
            for words in asked_of(block, number):
                yield Question(words, block.name, (told, *later), tuple(others), near)


def of_items(half: str) -> Iterator[Question]:
    """Two questions for each item. What the items beside it in its file, two before and two after,
    tell is taken as told by the same person, of something else."""
    for some in by_file(items(half)):
        for place, item in enumerate(some):
            first, last = max(0, place - _BESIDE), place + 1 + _BESIDE
            beside = [*some[first:place], *some[place + 1 : last]]
            others = tuple(text for each in beside for text in (each.told, *each.changes))
            for words in item.questions:
                yield Question(words, item.name, (item.told, *item.changes), others)


def by_file(some: Iterable[Item]) -> Iterator[list[Item]]:
    """Items in their order, those of each file together."""
    for _, group in groupby(some, lambda item: item.name.rpartition("-")[0]):
        yield list(group)


def items(half: str) -> Iterator[Item]:
    """The items of a half; every sixth of a file is to test with."""
    for path in sorted(ITEMS.glob("*.txt")):
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            if (number % SIXTH == SIXTH - 1) == (half == "test"):
                told, one, other, first, second = line.split(_BAR)
                yield Item(f"{path.stem}-{number}", told, (one, other), (first, second))


def asked_of(block: Block, number: int) -> Sequence[str]:
    """The questions about what a block tells in the line of a number, from 1 on."""
    return _asked()[f"{block.name}.{number}"]


@cache
def _asked() -> Mapping[str, Sequence[str]]:
    lines = [
        line.split(_BAR)
        for path in sorted(ASKED.glob("*.txt"))
        for line in path.read_text("utf-8").splitlines()
    ]
    return {name: words for name, *words in lines}
