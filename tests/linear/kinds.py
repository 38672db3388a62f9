"""Runs that a pattern cannot tell apart, of which one is enough.

What a pattern does with a text depends on nothing but how each character fares in each of its
literals, ranges and classes: "-a-a" costs one that names neither what "_b_b" would, if \\w were all
it asks. So the growth of its cost is the same, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from re import _constants as op
from re import _parser
from typing import Any

from growth import Run

_PARTS = frozenset(
    {op.ANY, op.AT, op.CATEGORY, op.NEGATE, op.GROUPREF_EXISTS, op.FAILURE, op.SUCCESS}
)
"""What asks of a character only what `_fares` says anyway, or nothing."""


def unlike(pattern: re.Pattern[str], runs: Iterable[Run]) -> list[Run]:
    """The first of the runs of each kind that a pattern tells apart."""
    runs = list(runs)
    literals: set[int] = set()
    ranges: set[tuple[int, int]] = set()
    for kind, value in _asked(_parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)):
        if kind is op.LITERAL:
            literals |= _cases(value)
        elif kind is op.RANGE:
            ranges.add(value)
        elif kind is not None:  # what was said before must come again: every letter counts
            return list(dict.fromkeys(runs))
    same: dict[Any, str] = {}
    alphabet = {char for run in runs for text in run for char in text}
    kinds = {ord(c): same.setdefault(_fares(c, literals, ranges), c) for c in sorted(alphabet)}
    found: dict[Run, Run] = {}
    for run in runs:
        piece, before, after = (text.translate(kinds) for text in run)
        found.setdefault(Run(_once(piece), before, after), run)
    return list(found.values())


def _fares(char: str, literals: set[int], ranges: Iterable[tuple[int, int]]) -> Any:
    """All that a pattern asks about a character, whatever its flags."""
    return (
        char if literals & _cases(ord(char)) else "",
        *(any(low <= each <= high for each in _cases(ord(char))) for low, high in ranges),
        *(low <= ord(char) <= high for low, high in ranges),
        char == "_" or char.isalnum(),
        char.isdecimal(),
        char.isspace(),
        char == "\n",
        char.isascii(),
    )


def _cases(code: int) -> set[int]:
    """A character, and those it may be taken for where case does not count."""
    char = chr(code)
    other = (char, char.lower(), char.upper(), char.lower().upper(), char.upper().lower())
    return {ord(each) for each in other if len(each) == 1}


def _once(piece: str) -> str:
    """What comes over and over in a piece: "ab" of "abab"."""
    size = (piece + piece).find(piece, 1) if piece else 0
    return piece[:size]


def _asked(tree: Sequence[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    """The literals and ranges of a tree; what is neither, nor asks for any, as it is."""
    for kind, argument in tree:
        if kind in (op.LITERAL, op.NOT_LITERAL):
            yield op.LITERAL, argument
        elif kind is op.RANGE:
            yield kind, argument
        elif kind is op.IN:
            yield from _asked(argument)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            yield from _asked(argument[2])
        elif kind is op.BRANCH:
            for branch in argument[1]:
                yield from _asked(branch)
        elif kind is op.SUBPATTERN:
            yield from _asked(argument[3])
        elif kind is op.ATOMIC_GROUP:
            yield from _asked(argument)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            yield from _asked(argument[1])
        elif kind not in _PARTS:
            yield kind, argument
