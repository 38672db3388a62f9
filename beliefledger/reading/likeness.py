"""How alike two sayings are, by the words that both use. Pure."""

from __future__ import annotations

from collections.abc import Collection

from beliefledger.gate.claim_words import Word, words_of
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.dataclass import dataclass

_LIGHT = 0.25
"""What a word counts that says little, such as "have", beside one that says much."""
ALIKE = 0.6
"""The share of a claim's words from which a saying is like it: of two words, both."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The words of a claim that others are compared with."""

    words: tuple[Word, ...]
    numbers: frozenset[str]

    @classmethod
    def of(cls, text: str, without: Collection[str] = ()) -> Claim:
        """`without` are words that say nothing here, such as the subject's own name."""
        read = words_of(text)
        skipped = {word.casefold() for word in without}
        unique = {word.text: word for word in read.content if word.text not in skipped}
        return cls(tuple(unique.values()), frozenset(read.numbers))

    def likeness(self, text: str) -> float:
        """The share of this claim's words that a text uses, too, in any form or as a synonym: from
        0 to 1."""
        whole = sum(map(_weight, self.words)) + len(self.numbers)
        if not whole:
            return 0.0
        read = words_of(text)
        keys = frozenset[str]().union(*(word.keys for word in read.content))
        shared = sum(_weight(word) for word in self.words if not word.keys.isdisjoint(keys))
        return (shared + len(self.numbers & set(read.numbers))) / whole

    def nearest(self, text: str) -> float:
        """The likeness of the most alike sentence of a text."""
        return max((self.likeness(text[start:end]) for start, end in sentences(text)), default=0.0)


def _weight(word: Word) -> float:
    return _LIGHT if word.light else 1.0
