"""The runs of words of a sentence, as seen from what is believed.

What a belief has, too, is told apart by whether its value has it ("=v") or the rest of its claim
("=w"), whatever the word is; a number is "#". So "sold the corsa" and "sold the piano" are one run
where a corsa and a piano are believed in: "sold the =v". Pure.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from beliefledger.gate.scorers import BEGIN, END, words_and_marks
from beliefledger.networks.stems import stem

VALUE, CLAIM, NUMBER = "=v", "=w", "#"


def tokens(text: str) -> tuple[tuple[str, str], ...]:
    """The words and marks of a text, each with its stem."""
    return tuple((each, stem(each)) for each in words_and_marks(text))


def seen_from(
    said: tuple[tuple[str, str], ...],
    claim: AbstractSet[str],
    value: AbstractSet[str],
    small: AbstractSet[str],
) -> list[str]:
    """The tokens of a sentence with what a belief has in place of the words that it has: its claim
    and its value by their stems, in which `small` words never are."""
    seen = [BEGIN]
    for word, its_stem in said:
        if word[0].isdigit() and its_stem not in value and its_stem not in claim:
            seen.append(NUMBER)
        elif its_stem in value and word not in small:
            seen.append(VALUE)
        elif its_stem in claim and word not in small:
            seen.append(CLAIM)
        else:
            seen.append(word)
    seen.append(END)
    return seen
