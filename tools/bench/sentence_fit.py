"""Fits vectors of words to what a model of sentences says of whole sentences.

A sentence's vector is the sum of its words' vectors, made 1 long. They are moved until the cosines
of sentences are those that the model gives: of some hundred sentences at a time, the mean squared
difference of all pairs, less what holds a word where it was, by Adam. Words that no sentence has
stay where they are.

Fitting static vectors to sentences rather than to single words: Model2Vec's successor Tokenlearn
(Tulkens and van Dongen, 2024). Keeping cosines of pairs: Park et al., Relational Knowledge
Distillation, CVPR 2019.
"""

from __future__ import annotations

import json
import lzma
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beliefledger.projections.search_terms import terms
from beliefledger.tools.bench.adam import Adam

Vectors = NDArray[np.float32]

SENTENCES = 50_000
OF_USERS = 0.4
"""The share of the sentences that users said; agents say far more."""
TOGETHER = 512
PASSES = 2
RATE = 2e-3
HELD = 0.01
"""How much it costs to move a word, beside the mean squared difference of cosines."""
_SEED = 0
_WORDS = range(3, 41)
_LETTERS = 0.8
_END = re.compile(r"(?<=[.!?])\s+|\n+")
_MARK = re.compile(r"^[\s\-*#>\d.)|]+")


def sentences(haystacks: Path, most: int = SENTENCES) -> list[str]:
    """Sentences of the sessions of a file of LongMemEval, without those that any question is
    answered by; the same each time, in no order."""
    said: dict[str, set[str]] = {"user": set(), "assistant": set()}
    for turn in turns_of_none(haystacks):
        said[turn["role"]].update(_split(turn["content"]))
    rng = np.random.default_rng(_SEED)
    of_users = round(most * OF_USERS)
    chosen = [*_some(said["user"], of_users, rng), *_some(said["assistant"], most - of_users, rng)]
    return [chosen[each] for each in rng.permutation(len(chosen))]


def turns_of_none(haystacks: Path) -> Iterator[Mapping[str, str]]:
    """The turns, with `role` and `content`, of those sessions of a file of LongMemEval that none of
    its questions is answered by."""
    with lzma.open(haystacks) as file:
        held: Mapping[str, Any] = json.load(file)
    evidence = {name for asked in held["questions"] for name in asked["answer_session_ids"]}
    for key, turns in held["sessions"].items():
        if key.split("#")[0] not in evidence:
            yield from turns


def _some(said: set[str], count: int, rng: np.random.Generator) -> list[str]:
    ordered = sorted(said)
    return [ordered[each] for each in rng.permutation(len(ordered))[:count]]


def _split(text: str) -> Iterator[str]:
    for part in _END.split(text):
        sentence = _MARK.sub("", part).replace("**", "").strip()
        letters = sum(each.isascii() and (each.isalpha() or each == " ") for each in sentence)
        if len(sentence.split()) in _WORDS and letters >= _LETTERS * len(sentence):
            yield sentence


class _Bags:
    """The known words of sentences and how much each counts: 1 + ln of how often it is said."""

    def __init__(self, some: Sequence[str], places: Mapping[str, int]) -> None:
        words: list[int] = []
        much: list[float] = []
        starts = [0]
        for sentence in some:
            for stem, count in Counter(terms(sentence)).items():
                if stem in places:
                    words.append(places[stem])
                    much.append(1 + math.log(count))
            starts.append(len(words))
        self._words, self._much = np.array(words), np.array(much, np.float32)
        self._starts = np.array(starts)
        self.told = np.flatnonzero(np.diff(self._starts))
        """The sentences that have a known word."""

    def of(self, some: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp], Vectors]:
        """Of some sentences: each word, the place of its sentence among them, and its count."""
        lengths = self._starts[some + 1] - self._starts[some]
        rows = np.repeat(np.arange(len(some)), lengths)
        at = np.concatenate([np.arange(*self._starts[each : each + 2]) for each in some])
        return self._words[at], rows, self._much[at]


def fitted(names: Sequence[str], vectors: Vectors, some: Sequence[str], told: Vectors) -> Vectors:
    """The vectors of the words `names`, moved. `told` are the model's vectors of the sentences."""
    bags = _Bags(some, {name: place for place, name in enumerate(names)})
    meant = told - told.mean(axis=0)
    meant /= np.linalg.norm(meant, axis=1, keepdims=True)
    first = vectors.astype(np.float32)
    moved = first.copy()
    adam = Adam(moved, RATE)
    rng = np.random.default_rng(_SEED)
    for _ in range(PASSES):
        order = rng.permutation(bags.told)
        for at in range(0, len(order) - TOGETHER + 1, TOGETHER):
            batch = order[at : at + TOGETHER]
            moved -= adam.step(_gradient(moved, first, bags.of(batch), meant[batch]))
    return moved


def _gradient(
    moved: Vectors,
    first: Vectors,
    bag: tuple[NDArray[np.intp], NDArray[np.intp], Vectors],
    meant: Vectors,
) -> Vectors:
    words, rows, much = bag
    summed = np.zeros((len(meant), moved.shape[1]), np.float32)
    np.add.at(summed, rows, moved[words] * much[:, None])
    norms = np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-6)
    unit = summed / norms
    apart = unit @ unit.T - meant @ meant.T
    of_unit = (4 / apart.size) * apart @ unit
    of_sum = (of_unit - (of_unit * unit).sum(axis=1, keepdims=True) * unit) / norms
    gradient = np.zeros_like(moved)
    np.add.at(gradient, words, of_sum[rows] * much[:, None])
    there = np.unique(words)
    gradient[there] += (2 * HELD / len(there)) * (moved[there] - first[there])
    return gradient
