"""Words of which a pattern needs one, so that most texts are told apart without searching them.

To look for a string is many times as fast as to search with a pattern that ignores case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from beliefledger.ledger.kept_patterns import PATTERNS
from beliefledger.ledger.late_patterns import compile_later

_REPEATS = {op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT}
_MOST = 400
_LETTERS = 2
"""So many letters tell something; of marks and faces one does."""
_FEW = 30
"""So many strings are looked for one by one."""
DIGIT = r"\d"
"""Stands among what a pattern needs for any digit."""
_DIGIT = compile_later(DIGIT)


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
        if len(self.needs) <= _FEW:
            return may_match(self.needs, low)
        return next(self._filed.found(low), None) is not None

    def search(self, text: str, low: str) -> re.Match[str] | None:
        """Where it finds something first in a text that is `low` in lower case."""
        return self.pattern.search(text) if self.may_match(low) else None

    @cached_property
    def _filed(self) -> _Filed:
        return _Filed({each: [0] for each in self.needs})


class HasPattern(Protocol):
    """An entry of a table: a pattern, and what it says."""

    @property
    def pattern(self) -> Guarded: ...


class Line(NamedTuple):
    """An entry that says nothing beside what it finds."""

    pattern: Guarded


E = TypeVar("E", bound=HasPattern)


class Table(Generic[E]):
    """Entries of which most find nothing in most texts.

    Of the strings that the patterns need a text has few, so that one look tells which may match.
    """

    def __init__(self, entries: Iterable[E]) -> None:
        self.entries = tuple(entries)

    def possible(self, low: str) -> list[E]:
        """The entries that may find something in a text that is `low` in lower case, in order."""
        always, filed = self._looked_up
        found = set(always)
        for places in filed.found(low):
            found.update(places)
        return [self.entries[place] for place in sorted(found)]

    def found(self, low: str) -> Iterator[re.Match[str]]:
        """What each of the entries finds first in a text in lower case, in their order."""
        for each in self.possible(low):
            match = each.pattern.pattern.search(low)
            if match is not None:
                yield match

    @cached_property
    def _looked_up(self) -> tuple[list[int], _Filed]:
        """The places of the entries that need nothing known, and of the others by what they do."""
        always: list[int] = []
        by_string: dict[str, list[int]] = {}
        for place, entry in enumerate(self.entries):
            if not entry.pattern.needs:
                always.append(place)
            for string in entry.pattern.needs:
                by_string.setdefault(string, []).append(place)
        return always, _Filed(by_string)


class _Filed:
    """Strings, and the places of what needs each. One of three letters and more is filed under the
    three that are rarest, a shorter one under its rarest letter or mark."""

    def __init__(self, places: dict[str, list[int]]) -> None:
        self._digits = places.get(DIGIT)
        self._long: dict[str, list[tuple[str, list[int]]]] = {}
        self._short: dict[str, list[tuple[str, list[int]]]] = {}
        for string, there in places.items():
            if string == DIGIT:
                continue
            if len(string) > 2:
                letters = min((string[at : at + 3] for at in range(len(string) - 2)), key=_usual)
                self._long.setdefault(letters, []).append((string, there))
            else:
                self._short.setdefault(min(string, key=_usual), []).append((string, there))
        self._threes, self._ones = frozenset(self._long), frozenset(self._short)

    def found(self, low: str) -> Iterator[list[int]]:
        """The places of each string that a text in lower case has."""
        for letters in self._threes & _threes(low):
            for string, places in self._long[letters]:
                if string in low:
                    yield places
        if self._ones:
            for letter in self._ones & _ones(low):
                for string, places in self._short[letter]:
                    if string in low:
                        yield places
        if self._digits is not None and _DIGIT.search(low) is not None:
            yield self._digits


# Several tables look at one text in a row.
@lru_cache(maxsize=8)
def _threes(low: str) -> frozenset[str]:
    return frozenset([low[at : at + 3] for at in range(len(low) - 2)])


@lru_cache(maxsize=8)
def _ones(low: str) -> frozenset[str]:
    return frozenset(low)


_RARE_FIRST = "zqxjkvbpygfwmucldrhsnioate "


def _usual(letters: str) -> int:
    """How usual some letters are, by the frequency of each; marks and digits are rare."""
    return sum(_RARE_FIRST.find(each) for each in letters)


def forget() -> None:
    """Empty the caches, which may hold words of an erased subject."""
    _threes.cache_clear()
    _ones.cache_clear()


def needed(source: str, flags: int = 0) -> tuple[str, ...]:
    """Lower-case strings, one of which is in every text that the pattern finds something in.

    Empty where no such strings are known: then the pattern has to be asked.
    """
    found = _best(_parser.parse(source, flags))
    return (
        () if found is None else tuple(sorted(found, key=lambda each: (each != DIGIT, len(each))))
    )


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
    for each in needs:
        if each in low:
            return True
    return needs[0] == DIGIT and _DIGIT.search(low) is not None


def _best(sequence: Any) -> frozenset[str] | None:
    """The strings that tell most of those that a sequence of a parsed pattern needs."""
    best: frozenset[str] | None = None
    run = ""
    for kind, argument in [*sequence, (None, None)]:
        if kind is op.LITERAL and _is_plain(argument):
            run += chr(argument).lower()
            continue
        best = _better(best, frozenset({run.strip()}))
        run = ""
        inner: frozenset[str] | None = None
        if kind is op.SUBPATTERN:
            inner = _best(argument[-1])
        elif kind is op.IN:
            inner = _members(argument)
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


def _is_plain(code: int) -> bool:
    """Whether a letter or mark stands in a text in lower case as it does in a pattern."""
    letter = chr(code)
    return code < 128 or letter.lower() == letter.upper() == letter != "’"


def _members(argument: Any) -> frozenset[str] | None:
    """The letters or marks of a set of which one is needed, digits as one; None for other sets."""
    found = set()
    for kind, value in argument:
        if _is_digit(kind, value):
            found.add(DIGIT)
        elif kind is op.LITERAL and _is_plain(value):
            found.add(chr(value).lower())
        else:
            return None
    return frozenset(found)


def _is_digit(kind: Any, value: Any) -> bool:
    """Whether a member of a set is a digit, or some of them."""
    if kind is op.CATEGORY:
        return value is op.CATEGORY_DIGIT
    if kind not in (op.LITERAL, op.RANGE):
        return False
    least, most = value if kind is op.RANGE else (value, value)
    return bool(ord("0") <= least and most <= ord("9"))


def _better(one: frozenset[str] | None, other: frozenset[str]) -> frozenset[str] | None:
    if len(other) > _MOST or not all(map(_tells, other)):
        return one
    return other if one is None or _worth(other) > _worth(one) else one


def _tells(string: str) -> bool:
    """Whether few texts have a string: letters of a word, or a mark that is no apostrophe."""
    if len(string) >= _LETTERS:
        return True
    return bool(string) and not string.isalnum() and not string.isspace() and string != "'"


def _worth(strings: frozenset[str]) -> float:
    """Few strings tell more, and long ones; two letters stand in most texts."""
    least = min(1 if len(each) == _LETTERS else max(len(each), 3) for each in strings)
    return least / (2 + len(strings))
