"""Words of which a pattern needs one, so that most texts are told apart without searching them.

To look for a string is many times as fast as to search with a pattern that ignores case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Generic, Protocol, TypeVar

from beliefledger.ledger.kept_patterns import PATTERNS
from beliefledger.ledger.late_patterns import compile_later

_REPEATS = {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}
_MOST = 60
_LEAST = 3


class Guarded:
    """A pattern that is asked only about texts with a word that it needs.

    It is parsed when a text is first shown to it, and compiled when one has such a word.
    """

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source = source
        self._flags = flags
        self.pattern = compile_later(source, flags)

    @cached_property
    def needs(self) -> tuple[str, ...]:
        return PATTERNS.needs(self._source, self._flags, needed)

    def may_match(self, low: str) -> bool:
        """Whether it may find something in a text that is `low` in lower case."""
        return may_match(self.needs, low)

    def search(self, text: str, low: str) -> re.Match[str] | None:
        """Where it finds something first in a text that is `low` in lower case."""
        return self.pattern.search(text) if may_match(self.needs, low) else None


class HasPattern(Protocol):
    """An entry of a table: a pattern, and what it says."""

    @property
    def pattern(self) -> Guarded: ...


E = TypeVar("E", bound=HasPattern)


class Table(Generic[E]):
    """Entries of which most find nothing in most texts.

    Each string that a pattern needs is filed under three letters of it. A text has few groups of
    three letters that any of them are filed under, so that one look tells which patterns may match.
    """

    def __init__(self, entries: Iterable[E]) -> None:
        self.entries = tuple(entries)

    def possible(self, low: str) -> list[E]:
        """The entries that may find something in a text that is `low` in lower case, in order."""
        always, filed, threes = self._filed
        found = set(always)
        for letters in threes & _threes(low):
            for string, places in filed[letters]:
                if string in low:
                    found.update(places)
        return [self.entries[place] for place in sorted(found)]

    @cached_property
    def _filed(self) -> _Filed:
        """The places of the entries that need nothing known, and of the others by what they do."""
        always: list[int] = []
        by_string: dict[str, list[int]] = {}
        for place, entry in enumerate(self.entries):
            if not entry.pattern.needs:
                always.append(place)
            for string in entry.pattern.needs:
                by_string.setdefault(string, []).append(place)
        filed: dict[str, list[tuple[str, list[int]]]] = {}
        for string, places in by_string.items():
            letters = min((string[at : at + 3] for at in range(len(string) - 2)), key=_usual)
            filed.setdefault(letters, []).append((string, places))
        return always, filed, frozenset(filed)


_Filed = tuple[list[int], dict[str, list[tuple[str, list[int]]]], frozenset[str]]


# Several tables look at one text in a row.
@lru_cache(maxsize=8)
def _threes(low: str) -> frozenset[str]:
    return frozenset([low[at : at + 3] for at in range(len(low) - 2)])


_RARE_FIRST = "zqxjkvbpygfwmucldrhsnioate "


def _usual(letters: str) -> int:
    """How usual some letters are, by the frequency of each; marks and digits are rare."""
    return sum(_RARE_FIRST.find(each) for each in letters)


def forget() -> None:
    """Empty the cache, which may hold words of an erased subject."""
    _threes.cache_clear()


def needed(source: str, flags: int = 0) -> tuple[str, ...]:
    """Lower-case strings, one of which is in every text that the pattern finds something in.

    Empty where no such strings are known: then the pattern has to be asked.
    """
    found = _best(_parser.parse(source, flags))
    return () if found is None else tuple(sorted(found, key=len))


def lowered(text: str) -> str:
    """A text in lower case, as `Guarded` is to be shown it. Patterns that ignore case take some
    letters for ours that keep their own lower case."""
    return text.lower() if text.isascii() else text.translate(_OURS).lower()


def plain(text: str) -> str:
    """As `lowered`, with plain apostrophes."""
    return lowered(text).replace("’", "'")


_OURS = str.maketrans("ſıİK", "siiK")


def may_match(needs: tuple[str, ...], low: str) -> bool:
    """Whether a pattern with these needs may find something in a text in lower case."""
    if not needs:
        return True
    for each in needs:  # noqa: SIM110  `any` takes four times as long, and this is asked often
        if each in low:
            return True
    return False


def _best(sequence: Any) -> frozenset[str] | None:
    """The strings that tell most of those that a sequence of a parsed pattern needs."""
    best: frozenset[str] | None = None
    run = ""
    for kind, argument in [*sequence, (None, None)]:
        if kind is op.LITERAL and argument < 128:
            run += chr(argument).lower()
            continue
        best = _better(best, frozenset({run.strip()}))
        run = ""
        inner: frozenset[str] | None = None
        if kind is op.SUBPATTERN:
            inner = _best(argument[-1])
        elif kind is op.ATOMIC_GROUP:
            inner = _best(argument)
        elif kind in _REPEATS and argument[0] > 0:
            inner = _best(argument[2])
        elif kind is op.BRANCH:
            each = [_best(branch) for branch in argument[1]]
            if all(strings is not None for strings in each):
                inner = frozenset().union(*(strings for strings in each if strings is not None))
        if inner is not None:
            best = _better(best, inner)
    return best


def _better(one: frozenset[str] | None, other: frozenset[str]) -> frozenset[str] | None:
    if len(other) > _MOST or any(len(each) < _LEAST for each in other):
        return one
    return other if one is None or _worth(other) > _worth(one) else one


def _worth(strings: frozenset[str]) -> float:
    """Few strings tell more, and long ones."""
    return min(map(len, strings)) / (2 + len(strings))
