"""BM25+ over the texts of one subject, to which texts are added one by one.

The statistics cover only the texts that are searched: what a reader may not see, or what was not
there yet at the time asked about, changes no score.

    score(q, d) = Σ idf(t) · (δ + tf·(k₁ + 1) / (tf + k₁·(1 − b + b·|d| / avgdl))),  t in q and d
    idf(t) = ln(1 + (N − df(t) + ½) / (df(t) + ½))

Lv and Zhai, Lower-Bounding Term Frequency Normalization, CIKM 2011; the idf is that of Robertson
and Spärck Jones, kept above 0.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from sys import intern
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from beliefledger.projections.index_state import State

    Mask = NDArray[np.bool_]
    Scores = NDArray[np.float32]

K1 = 1.2
B = 0.4
DELTA = 1.0
VERSION = "bm25+/1"


class Part(NamedTuple):
    """What one term adds to the scores of which texts."""

    texts: NDArray[np.int32]
    values: Scores
    idf: float


class Lexical:
    """Terms of numbered texts. Not safe in several threads at once: whoever has it takes turns."""

    def __init__(self, b: float = B) -> None:
        self._b = b
        """How much a text's length counts, from 0 to 1."""
        self._entries: dict[str, tuple[array[int], array[int]]] = {}
        """By term: the numbers of the texts that have it, and how often each has it."""
        self._kept: dict[str, int] = {}
        """The places of terms that were restored and not asked for since, in … """
        self._kept_at: NDArray[np.int64] = np.zeros(1, np.int64)
        """… where each of them starts in …"""
        self._kept_entries: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None
        self._lengths = array("f")

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def lengths(self) -> Scores:
        """How many terms each text has. To be let go of before a text is added."""
        return np.frombuffer(self._lengths, np.float32)

    def add(self, terms: Sequence[str]) -> int:
        """Add a text; returns its number."""
        number = len(self._lengths)
        self._lengths.append(len(terms))
        if not terms:
            return number
        counts: dict[str, int] = {}
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
        entries, kept = self._entries, self._kept
        for term, count in counts.items():
            found = entries.get(term) or (self._entry(term) if kept else None)
            if found is None:
                entries[term] = array("i", (number,)), array("i", (count,))
            else:
                found[0].append(number)
                found[1].append(count)
        return number

    def _entry(self, term: str) -> tuple[array[int], array[int]] | None:
        """The texts that have a term and how often, if any has it."""
        found = self._entries.get(term)
        if found is None and self._kept_entries is not None:
            place = self._kept.pop(term, None)
            if place is not None:
                some = slice(self._kept_at[place], self._kept_at[place + 1])
                texts, times = self._kept_entries
                found = array("i", texts[some].tobytes()), array("i", times[some].tobytes())
                self._entries[term] = found
        return found

    def parts(self, query: Sequence[str], mask: Mask) -> list[Part]:
        """Each term's contribution to the texts that the mask lets through."""
        searched = int(mask.sum())
        if not searched:
            return []
        lengths = self.lengths
        average = max(1.0, float(lengths @ mask.astype(np.float32)) / searched)
        found: list[Part] = []
        for term in query:
            entry = self._entry(term)
            if entry is None:
                continue
            texts = np.frombuffer(entry[0], np.int32)
            times = np.frombuffer(entry[1], np.int32)
            if searched < mask.size:
                there = mask[texts]
                texts, times = texts[there], times[there]
            if texts.size:
                idf = _idf(searched, texts.size)
                long = K1 * (1 - self._b + (self._b / average) * lengths[texts])
                values = np.float32(idf) * (DELTA + times * np.float32(K1 + 1) / (times + long))
                found.append(Part(texts, values.astype(np.float32), idf))
        return found

    def having(self, term: str) -> NDArray[np.int32]:
        """The numbers of the texts that have a term. Not to be kept: the index grows."""
        found = self._entry(term)
        return np.frombuffer(found[0], np.int32) if found else np.zeros(0, np.int32)

    def scores(self, query: Sequence[str], mask: Mask) -> Scores:
        """The score of every text for these terms: float32 of shape (number of texts,). 0 where
        none of them is in it, or the mask leaves it out."""
        return added(self.parts(query, mask), len(self))

    # Keeping

    def state(self) -> State:
        """All of it, to be restored in another process."""
        for term in list(self._kept):
            self._entry(term)
        texts, times = array("i"), array("i")
        starts = array("q", (0,))
        for of, often in self._entries.values():
            texts += of
            times += often
            starts.append(len(texts))
        return {
            "terms": list(self._entries),
            "starts": np.array(starts, np.int64),
            "texts": np.array(texts, np.int32),
            "times": np.array(times, np.int32),
            "lengths": np.array(self._lengths, np.float32),
        }

    def restore(self, state: State) -> None:
        """Have what another one had. What is kept of a term is looked up when it is asked for;
        terms are in memory once, however many indexes have them."""
        self._entries = {}
        self._kept = {intern(term): place for place, term in enumerate(state["terms"])}
        self._kept_at = state["starts"]
        self._kept_entries = state["texts"], state["times"]
        self._lengths = array("f", state["lengths"].tobytes())


def _idf(searched: int, count: int) -> float:
    return math.log(1 + (searched - count + 0.5) / (count + 0.5))


def added(parts: Sequence[Part], count: int) -> Scores:
    """The parts, added up over `count` texts."""
    scores = np.zeros(count, np.float32)
    for part in parts:
        scores[part.texts] += part.values
    return scores


def most(parts: Sequence[Part], terms: int, searched: int) -> float:
    """About the score of a text that has each of these terms once. Unknown terms count, too: a text
    with one common word of many says little about the query."""
    nowhere = (terms - len(parts)) * _idf(searched, 0)
    return (DELTA + 1) * (sum(part.idf for part in parts) + nowhere)
