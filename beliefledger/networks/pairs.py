"""How probably a sentence puts an end to what another one told, or another value in its place, by a
small network. Pure.

The network lays the two beside each other: each word is seen with the word of the other sentence
that is nearest to it, and how near that is. Convolutions read what was told, then, with what they
found there, what is said later. Its weights are in over-1.bin, which
`beliefledger.tools.bench.distil_over` makes; all it counts with are whole numbers, as in
`sentence_network`. A smaller one, over-1-small.bin, learned from it and from labels
(`distil_small_over`): search asks it, in a quarter of the time.

Words beside the nearest of the other sentence: Parikh et al., A Decomposable Attention Model for
Natural Language Inference, EMNLP 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from beliefledger.ledger.data_files import content
from beliefledger.networks import words as network_words
from beliefledger.networks.stems import stem
from beliefledger.networks.words import (
    HIGHEST,
    UNKNOWN,
    Layer,
    added,
    beside,
    handed_on,
    place_of,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from beliefledger.networks.words import Whole

    Mask = NDArray[np.bool_]
    Numbers = NDArray[np.int64]

FILE, SMALL = "over-1.bin", "over-1-small.bin"
OF_TOLD, OF_SAID = 32, 48
"""So many words at most are read of what was told, and of what is said."""
DILATED = 2
"""How far apart the words are that the last convolution sees at once."""


class Text(NamedTuple):
    """A sentence as the network reads it."""

    places: Sequence[int]
    """Of its words among those that the network knows."""
    stems: Sequence[int]
    """A number for the stem of each; 0 of marks and figures, which are the same nowhere."""

    def begun(self, most: int) -> Text:
        """So many of its first words."""
        return Text(self.places[:most], self.stems[:most])


class Layers(NamedTuple):
    """The layers, in the order of their use."""

    told: Layer
    told_again: Layer
    of_told: Layer
    """What is known of all that was told, for each word of what is said."""
    said: Layer
    said_again: Layer
    said_wide: Layer
    hidden: Layer
    out: Layer


class PairNetwork(NamedTuple):
    """The weights of a network. Threads may share it: nothing in it changes."""

    places: dict[str, int]
    vectors: NDArray[np.int8]
    """What each word means …"""
    near: NDArray[np.int8]
    """… and where it lies among the others, one row for each word."""
    marks: NDArray[np.int8]
    """What is added to the vector of a word that both have: of what is said, and of what was told.
    """
    layers: Layers
    same: float
    """How much nearer words of one stem are."""
    nearness: float
    """What one of nearness is worth among the numbers of a vector."""

    def read(self, text: str, most: int) -> Text:
        """A sentence, or so many of its first words."""
        words = network_words.words(text, most) or [UNKNOWN]
        stems = [crc32(stem(word).encode()) if word.isalpha() else 0 for word in words]
        return Text([place_of(self.places, word) for word in words], stems)

    def log_odds(self, pairs: Sequence[tuple[Text, Text]]) -> Whole:
        """How probably what was told is over once something is said, as log odds, of pairs of what
        was told and what is said: of shape (pairs,). Each is as if it were read alone."""
        import numpy as np  # noqa: PLC0415  (a tenth of a second, and most calls score nothing)

        if not pairs:
            return np.zeros(0)
        layers = self.layers
        told = _rows([each.begun(OF_TOLD) for each, _ in pairs])
        said = _rows([each.begun(OF_SAID) for _, each in pairs])
        same = (said.stems[:, :, None] == told.stems[:, None, :]) & (said.stems > 0)[:, :, None]
        near = _whole(self.near[said.places]) @ _whole(self.near[told.places]).transpose(0, 2, 1)
        near += same * self.same
        near[~(said.there[:, :, None] & told.there[:, None, :])] = -np.inf
        first = self._beside(told, said, near.transpose(0, 2, 1), same.any(axis=1), 1)
        second = self._beside(said, told, near, same.any(axis=2), 0)
        is_told, is_said = told.there[:, :, None], said.there[:, :, None]
        found = handed_on(beside(first) @ layers.told.weights, layers.told) * is_told
        first = added(found, layers.told_again) * is_told
        known = _pooled([(first, told.counts)], layers.of_told)
        sums = beside(second) @ layers.said.weights + layers.said.bias
        sums = sums * layers.said.scale + (known * layers.of_told.scale)[:, None, :]
        second = np.clip(np.rint(sums), 0, HIGHEST) * is_said
        second = added(second, layers.said_again) * is_said
        second = added(second, layers.said_wide, DILATED) * is_said
        pooled = _pooled([(second, said.counts), (first, told.counts)], layers.hidden)
        hidden = handed_on(pooled, layers.hidden)
        out: Whole = ((hidden @ layers.out.weights + layers.out.bias) * layers.out.scale)[:, 0]
        return out

    def _beside(self, own: _Rows, other: _Rows, near: Whole, both: Mask, number: int) -> Whole:
        """Each word with the one of the other sentence that is nearest to it, and how near that
        is."""
        import numpy as np  # noqa: PLC0415

        at = near.argmax(axis=2)
        nearest = np.take_along_axis(other.places, at, axis=1)
        how = np.clip(np.rint(near.max(axis=2) * self.nearness), -HIGHEST, HIGHEST)
        vectors = _whole(self.vectors[own.places])
        vectors += both[:, :, None] * _whole(self.marks[number])
        rows = [vectors, _whole(self.vectors[nearest]), how[:, :, None]]
        found: Whole = np.concatenate(rows, axis=2) * own.there[:, :, None]
        return found


class _Rows(NamedTuple):
    """Sentences of which the shorter ones are filled up."""

    places: Numbers
    stems: Numbers
    there: Mask
    counts: Whole
    """How many words each has."""


def _rows(texts: Sequence[Text]) -> _Rows:
    import numpy as np  # noqa: PLC0415

    counts = np.array([len(each.places) for each in texts])
    shape = len(texts), int(counts.max(initial=0))
    places, stems = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, each in enumerate(texts):
        places[row, : counts[row]] = each.places
        stems[row, : counts[row]] = each.stems
    there = np.arange(shape[1]) < counts[:, None]
    return _Rows(places, stems, there, counts.astype(np.float64))


def _whole(numbers: NDArray[np.int8]) -> Whole:
    import numpy as np  # noqa: PLC0415

    return numbers.astype(np.float64)


def _pooled(parts: Sequence[tuple[Whole, Whole]], layer: Layer) -> Whole:
    """What a layer counts in the mean and the maximum of each of some sentences' words."""
    import numpy as np  # noqa: PLC0415

    count, _, wide = parts[0][0].shape
    total = np.zeros((count, layer.weights.shape[1]))
    for number, (rows, counts) in enumerate(parts):
        at = 2 * number * wide
        total += (rows.sum(axis=1) @ layer.weights[at : at + wide]) / counts[:, None]
        total += rows.max(axis=1) @ layer.weights[at + wide : at + 2 * wide]
    return total


@cache
def network() -> PairNetwork:
    """The network that comes with the package."""
    return unpacked(content("beliefledger.networks", FILE))


@cache
def small() -> PairNetwork:
    """The smaller network that comes with the package."""
    return unpacked(content("beliefledger.networks", SMALL))


def log_odds(told: str, said: str) -> float:
    """How probably what was told is over once something is said, as log odds."""
    own = network()
    return float(own.log_odds([(own.read(told, OF_TOLD), own.read(said, OF_SAID))])[0])


def packed(told: PairNetwork) -> bytes:
    """The content of a network's file."""
    matrices = [told.vectors, told.near, told.marks]
    further = {"same": told.same, "nearness": told.nearness}
    return network_words.packed(told.places, matrices, told.layers, **further)


def unpacked(read: bytes) -> PairNetwork:
    """The network of a file that `packed` made."""
    file, layers = network_words.unpacked(read)
    vectors, near, marks = file.matrices
    told = file.head["same"], file.head["nearness"]
    return PairNetwork(file.places, vectors, near, marks, Layers(*layers), *told)
