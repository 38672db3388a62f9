"""What people tell over some months, some of which changes, and what they ask then: the halves to
test with of the blocks and the items, with which vectors of words are not fitted.

The files and their format are described in tests/data/successions/README.md.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from beliefledger.memory import MemoryLedger
from beliefledger.tools.bench.blocks import Block, blocks
from beliefledger.tools.bench.questions import Item, asked_of, items
from beliefledger.tools.bench.stories import noon

TOGETHER_BLOCKS, TOGETHER_ITEMS = 2, 8
"""So many blocks are of one person, or so many items."""
CHANGES = 0.55
"""The share of the items that change."""
NEAR = 2
"""So many sentences of a block are said that change nothing."""
_BEGIN = noon(date(2026, 1, 5))
_LATER = timedelta(days=30)
_SEED = 11


KINDS = ("one", "mixed")


class Asked(NamedTuple):
    """A question, the words of the turn that answers it, and of the one that did before."""

    words: str
    current: str
    outdated: str | None

    def told(self, words: str) -> str | None:
        """What a turn of these words tells."""
        if words == self.current:
            return "answer"
        return "outdated" if words == self.outdated else None


class History(NamedTuple):
    """What one person tells, and asks after the last of it."""

    name: str
    turns: Sequence[tuple[datetime, str]]
    asks: Sequence[Asked]

    @property
    def asked_at(self) -> datetime:
        return self.turns[-1][0] + _LATER


def histories(kind: str) -> Iterator[History]:
    """The histories `one`, each of one block or item, or `mixed`, of several."""
    rng = random.Random(_SEED)
    some = list(blocks("test"))
    every = list(items("test"))
    rng.shuffle(some)
    rng.shuffle(every)
    of_blocks, of_items = (1, 1) if kind == "one" else (TOGETHER_BLOCKS, TOGETHER_ITEMS)
    for start in range(0, len(some), of_blocks):
        yield _of_blocks(f"{kind} blocks {start}", some[start : start + of_blocks], rng)
    for start in range(0, len(every), of_items):
        yield _of_items(f"{kind} items {start}", every[start : start + of_items], rng)


def _of_blocks(name: str, some: Sequence[Block], rng: random.Random) -> History:
    first: list[list[str]] = []
    then: list[str] = []
    asks: list[Asked] = []
    for block in some:
        first.append(list(block.told))
        changes = [each for each in block.later if each.over]
        near = [each.said for each in block.later if not each.over]
        change = rng.choice(changes) if changes else None
        then += rng.sample(near, min(NEAR, len(near)))
        then += [change.said] if change else []
        asks += [
            Asked(words, change.said, told)
            if change and number in change.over
            else Asked(words, told, None)
            for number, told in enumerate(block.told, 1)
            for words in asked_of(block, number)
        ]
    rng.shuffle(then)
    return History(name, _days([*_mingled(first, rng), *then]), asks)


def _of_items(name: str, some: Sequence[Item], rng: random.Random) -> History:
    then: list[str] = []
    asks: list[Asked] = []
    for item in some:
        change = rng.choice(item.changes) if rng.random() < CHANGES else None
        then += [change] if change else []
        asks += [
            Asked(words, change, item.told) if change else Asked(words, item.told, None)
            for words in item.questions
        ]
    rng.shuffle(then)
    return History(name, _days([*(each.told for each in some), *then]), asks)


def _mingled(some: Sequence[list[str]], rng: random.Random) -> list[str]:
    """All of some lists, in chance order, those of each in their own."""
    order = [number for number, each in enumerate(some) for _ in each]
    rng.shuffle(order)
    left = [iter(each) for each in some]
    return [next(left[number]) for number in order]


def _days(said: Sequence[str]) -> list[tuple[datetime, str]]:
    return [(_BEGIN + timedelta(days=day), words) for day, words in enumerate(said)]


def tell(memory: MemoryLedger, history: History) -> None:
    """Have a person tell a history."""
    memory.consent.grant(history.name, "explicit_consent", categories=("ordinary", "health"))
    for said_at, words in history.turns:
        memory.record_turn(history.name, words, said_at=said_at)
        memory.process()
