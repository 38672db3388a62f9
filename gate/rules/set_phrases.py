"""Phrases that stand for one word, or for none: "these days", "by the way". They are in
normalised.yaml.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beliefledger.gate.rules.lexicon import load
from beliefledger.gate.rules.words import Token

_DATA: dict[str, Any] = load("normalised.yaml")
_BEFORE_SPEAKER: dict[str, str] = _DATA["before the speaker"]
PHRASES: dict[tuple[str, str], list[tuple[tuple[str, ...], str]]] = {}
"""By their first two words: the words, and what stands for them."""
for _typed, _meant in [
    *_DATA["phrases"].items(),
    *_BEFORE_SPEAKER.items(),
    *((each, ",") for each in _DATA["aside"]),
]:
    _words = tuple(_typed.split())
    PHRASES.setdefault((_words[0], _words[1]), []).append((_words, _meant))
_SPEAKER = frozenset("i i'm im i'll i've we we're we'll my our".split())


def phrase(words: Sequence[Token], at: int) -> tuple[int, str]:
    """How many words a phrase at `at` has, and the one it stands for; 0 where there is none."""
    for said, meant in PHRASES[words[at].low, words[at + 1].low]:
        end = at + len(said)
        if end > len(words) or any(words[at + i].low != each for i, each in enumerate(said)):
            continue
        if " ".join(said) in _BEFORE_SPEAKER and not _goes_on_with_speaker(words, end):
            continue
        if meant != ",":
            return len(said), meant
        if at and words[at - 1].low == "," and end < len(words) and words[end].low == ",":
            return len(said) + 1, ""
    return 0, ""


def _goes_on_with_speaker(words: Sequence[Token], at: int) -> bool:
    at += at < len(words) and words[at].low == ","
    return at < len(words) and words[at].low in _SPEAKER
