"""Stems of words, as the gate and the networks compare them. Pure."""

from __future__ import annotations


def stem(word: str) -> str:
    """A word without the endings of plurals and of verbs: "nursing" and "nurse" are one, and so are
    "running" and "run"."""
    word = word.removesuffix("'s")
    if word.endswith("+") and len(word) > _LONGEST_PLUS:
        word = word.rstrip("+")  # Disney+, but C++
    for ending in ("ing", "ies", "al", "ers", "es", "ed", "er", "s", "e", "y"):
        if len(word) - len(ending) >= 3 and word.endswith(ending):
            word = word.removesuffix(ending)
            if ending in _DOUBLING and len(word) > 3 and word[-1] == word[-2] in _DOUBLED:
                return word[:-1]
            return word
    return word


_LONGEST_PLUS = 3
_DOUBLING = ("ing", "ed")
_DOUBLED = frozenset("bdgmnprt")
"""Consonants that are doubled before such an ending: "jogging", "planned", but not "calling"."""
