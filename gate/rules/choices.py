"""Which choice a name belongs to: "pytest" is a test framework, "aisle" a seat."""

from __future__ import annotations

from typing import NamedTuple

from beliefledger.gate.rules.lexicon import load
from beliefledger.gate.rules.words import Token
from beliefledger.ledger.late_patterns import compile_later


class Choice(NamedTuple):
    """A slot of named alternatives; `liked` when liking one is choosing it."""

    attribute: str
    topic: str
    liked: bool
    words: frozenset[str]
    tail: frozenset[str]
    whole: bool = False


def _load() -> tuple[dict[str, Choice], int]:
    names: dict[str, Choice] = {}
    longest = 1
    for attribute, entry in load("things.yaml").items():
        choice = Choice(
            attribute,
            entry["topic"],
            bool(entry.get("liked")),
            frozenset(entry.get("words", "").split()),
            frozenset(filter(None, entry.get("tail", "").split("|"))),
            bool(entry.get("whole")),
        )
        for name in entry["names"]:
            names[str(name)] = choice
            longest = max(longest, len(str(name).split()))
    return names, longest


def names_only(choice: Choice, words: str) -> bool:
    """Whether words only say what kind of thing a choice is: "for the mobile", of a network."""
    said = [each for each in words.lower().split() if each not in _ARTICLES]
    return bool(said) and choice.words.issuperset(said)


_NAMES, _LONGEST = _load()
_VERSION = compile_later(r"[vs]?\d+[a-z]?(?:\.\w+)*$")
_ARTICLES = frozenset({"the", "a", "an", "my", "our"})


def lookup(words: list[Token], start: int, stop: int) -> tuple[Choice, int, int] | None:
    """The choice that the words [start, stop) name, with the name's own range, or None.

    Articles before it, a version and a generic word after it may stand beside the name.
    """
    while start < stop and words[start].low in _ARTICLES:
        start += 1
    for end in range(min(stop, start + _LONGEST + 1), start, -1):
        name = " ".join(token.low for token in words[start:end])
        choice = _NAMES.get(name)
        if choice is None:
            continue
        rest = [token.low for token in words[end:stop]]
        if all(word in choice.words or _VERSION.match(word) for word in rest):
            if choice.whole:
                return choice, start, stop
            tailed = end - start > 1 and words[end - 1].low in choice.tail
            return choice, start, end - tailed
    return None
