"""Static vectors of single words, read from a file that comes with the package: words-3.bin.

A text's vector is the weighted sum of its stems' vectors, made 1 long; a rare word weighs more than
a common one. The file has, after a line of JSON, the stems, a factor for each, and one signed byte
for each number of their vectors. `beliefledger.tools.bench.train_words` makes it and says how.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beliefledger.ledger.errors import EmbedderWrong
from beliefledger.projections.search_terms import stems, terms, words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

FILE = "words-3.bin"
SHA256 = "10a2c86e9afe67d246adae5d8672974e2f42c3ec04113df6a9fca1dc6cb7fa07"
FILES = {
    "words-3": (FILE, SHA256),
    "words-2": (
        "words-2.bin",
        "a6a36e083eedcc9e52968b25e7124d214515e1a63807238154cd9f94d0684e17",
    ),
    "words-1": (
        "words-1.bin",
        "25858a19eceb7e190d2b8441b59e4de6148e65fc7d5fc3f549e67fb39b1871ed",
    ),
}
"""By model: its file, and the digest that it has to have."""
_ALIGNED = 4
_MOST = 127
_MIDDLE = 127.5


class WordVectors(NamedTuple):
    """The vectors of stems, with their weights. Threads may share it: nothing in it changes."""

    places: dict[str, int]
    bytes: NDArray[np.int8]
    """One row for each stem …"""
    factors: Floats
    """… and what it is multiplied by."""
    unknown: float
    """The length of the vector of a stem that is not there."""
    whole: bool = False
    """Whether stop words count, and the question mark."""

    @property
    def dimension(self) -> int:
        return int(self.bytes.shape[1])

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row of length 1 for each text, in their order; zeros for a text without a term."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        read = every_term if self.whole else terms
        for number, text in enumerate(texts):
            vectors[number] = self._sum(Counter(read(text)))
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(norms > 0, norms, 1)
        return vectors

    def _sum(self, counts: Mapping[str, int]) -> Floats:
        """The weighted sum of some stems' vectors: one that is said n times counts 1 + ln n."""
        known: list[int] = []
        weights: list[float] = []
        total = np.zeros(self.dimension, np.float32)
        for stem, count in counts.items():
            place = self.places.get(stem)
            if place is None:
                total += self._of_unknown(stem) * np.float32(1 + math.log(count))
            else:
                known.append(place)
                weights.append(1 + math.log(count))
        if known:
            factors = self.factors[known] * np.array(weights, np.float32)
            total += factors @ self.bytes[known].astype(np.float32)
        return total

    def _of_unknown(self, stem: str) -> Floats:
        """A direction that is the stem's own, by its SHAKE-128 digest: equal names are near, and
        others are not."""
        digest = hashlib.shake_128(stem.encode()).digest(self.dimension)
        numbers = np.frombuffer(digest, np.uint8) - np.float32(_MIDDLE)
        own: Floats = numbers * np.float32(self.unknown / np.linalg.norm(numbers))
        return own


def every_term(text: str) -> list[str]:
    """The stems of a text's words, stop words among them, and its question mark."""
    return [*stems(words(text)), *("?" if "?" in text else "")]


def packed(names: Sequence[str], vectors: Floats, unknown: float, *, whole: bool = False) -> bytes:
    """The file's content: each row is divided by its highest number, and rounded."""
    factors = np.abs(vectors).max(axis=1) / _MOST
    rounded = np.rint(vectors / factors[:, None]).astype(np.int8)
    listed = "\n".join(names).encode()
    listed += b"\n" * (-len(listed) % _ALIGNED)
    told = {"dimension": vectors.shape[1], "stems": len(names), "unknown": unknown}
    told |= {"whole": True} if whole else {}
    head = json.dumps(told | {"bytes": len(listed)}).encode()
    head += b" " * (-(len(head) + 1) % _ALIGNED) + b"\n"
    content: bytes = head + listed + factors.astype("<f4").tobytes() + rounded.tobytes()
    return content


def unpacked(content: bytes) -> WordVectors:
    """The vectors of a file that `packed` made."""
    at = content.index(b"\n") + 1
    told = json.loads(content[:at])
    listed = content[at : at + told["bytes"]].decode().split("\n")[: told["stems"]]
    at += told["bytes"]
    factors = np.frombuffer(content, "<f4", told["stems"], at)
    rows = np.frombuffer(content, np.int8, offset=at + factors.nbytes)
    places = {word: place for place, word in enumerate(listed)}
    whole = told.get("whole", False)
    return WordVectors(places, rows.reshape(told["stems"], -1), factors, told["unknown"], whole)


def checked(content: bytes, file: str = FILE, sha256: str = SHA256) -> WordVectors:
    """The vectors of a file that comes with the package. Raises `EmbedderWrong` for another."""
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        raise EmbedderWrong(f"{file} has the SHA-256 {digest}. Install the package anew.")
    return unpacked(content)
