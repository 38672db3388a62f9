"""Whether a text is English, which is all that the rules read. By scripts and function words."""

from __future__ import annotations

from itertools import islice

from beliefledger.gate.rules.lexicon import load
from beliefledger.ledger.late_patterns import compile_later

_WORDS = {language: frozenset(words.split()) for language, words in load("languages.yaml").items()}
_ENGLISH = _WORDS.pop("en")
_BOTH = _WORDS.pop("both")
"""English words that others have, too."""
_OTHERS = tuple(_WORDS.values())
_WORD = compile_later(r"[^\W\d_]++(?:['’][^\W\d_]++)?")
_MOST = 120
"""So many words tell."""
_LATIN_ENDS = "\u024f"
_LATIN_TOO = ("\u1e00", "\u1eff")


def is_foreign(text: str) -> bool:
    """True if the text is surely in another language; short or mixed ones are not."""
    words = [found[0].lower().replace("’", "'") for found in islice(_WORD.finditer(text), _MOST)]
    if not words:
        return False
    letters = sum(map(len, words))
    other_script = sum(_outside(letter) for word in words for letter in word)
    if other_script * 2 > letters:
        return True
    english = sum(word in _ENGLISH for word in words)
    if english * 3 > len(words):
        return False
    marked = sum(not word.isascii() for word in words)
    best, known = max(
        ((sum(word in known for word in words), known) for known in _OTHERS), key=lambda one: one[0]
    )
    if not marked and known.isdisjoint(set(words) - _BOTH):
        return False  # "no olives for me": Spanish, by "no" and "me"
    return best + marked // 2 >= 2 and 2 * best > 3 * english and best * 6 >= len(words)


def _outside(letter: str) -> bool:
    """Whether a letter is of another script than the Latin one."""
    return letter > _LATIN_ENDS and not _LATIN_TOO[0] <= letter <= _LATIN_TOO[1]
