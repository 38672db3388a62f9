"""How probably a sentence puts an end to what another one told, or another value in its place, by a
small network. Pure.

The network lays the two beside each other: each word is seen with the word of the other sentence
that is nearest to it, and how near that is. Convolutions read what was told, then, with what they
found there, what is said later. Its weights are in over-1.bin, which
`beliefledger.tools.bench.distil_over` makes; all it counts with are whole numbers, as in
`sentence_network`.

Words beside the nearest of the other sentence: Parikh et al., A Decomposable Attention Model for
Natural Language Inference, EMNLP 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from beliefledger.gate import network_words
from beliefledger.gate.meant_memories import stem
from beliefledger.gate.network_words import (
    HIGHEST,
    UNKNOWN,
    Layer,
    added,
    beside,
    handed_on,
    place_of,
)
from beliefledger.ledger.data_files import content

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from beliefledger.gate.network_words import Whole

FILE = "over-1.bin"
OF_TOLD, OF_SAID = 32, 48
"""So many words at most are read of what was told, and of what is said."""
DILATED = 2
"""How far apart the words are that the last convolution sees at once."""


class Text(NamedTuple):
    """A sentence as the network reads it."""

    places: list[int]
    """Of its words among those that the network knows."""
    stems: list[str]
    """Of its words; none of marks and figures, which are the same nowhere."""


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
        stems = [stem(word) if word.isalpha() else "" for word in words]
        return Text([place_of(self.places, word) for word in words], stems)

    def log_odds(self, told: Text, said: Text) -> float:
        """How probably what was told is over once something is said, as log odds."""
        import numpy as np  # noqa: PLC0415  (a tenth of a second, and most calls score nothing)

        layers = self.layers
        same = _same(told.stems, said.stems)
        near = self.near[said.places].astype(np.float64) @ self.near[told.places].T.astype(
            np.float64
        )
        near += same * self.same
        vectors = [self.vectors[each.places].astype(np.float64) for each in (told, said)]
        rows = [
            np.concatenate(
                [
                    own + either[:, None] * self.marks[number].astype(np.float64),
                    other[each.argmax(axis=1)],
                    np.clip(np.rint(each.max(axis=1) * self.nearness), -HIGHEST, HIGHEST)[:, None],
                ],
                axis=1,
            )
            for number, own, other, each, either in (
                (1, vectors[0], vectors[1], near.T, same.max(axis=0)),
                (0, vectors[1], vectors[0], near, same.max(axis=1)),
            )
        ]
        first = added(
            handed_on(beside(rows[0]) @ layers.told.weights, layers.told), layers.told_again
        )
        known = _pooled([first], layers.of_told)
        sums = beside(rows[1]) @ layers.said.weights + layers.said.bias
        second = np.clip(
            np.rint(sums * layers.said.scale + known * layers.of_told.scale), 0, HIGHEST
        )
        second = added(second, layers.said_again)
        second = added(second, layers.said_wide, DILATED)
        hidden = handed_on(_pooled([second, first], layers.hidden), layers.hidden)
        out = hidden @ layers.out.weights + layers.out.bias
        return float((out * layers.out.scale)[0])


def _same(told: Sequence[str], said: Sequence[str]) -> Whole:
    """Which word of what is said (a row each) has the stem of which word of what was told."""
    import numpy as np  # noqa: PLC0415

    found = [[float(own != "" and own == other) for other in told] for own in said]
    return np.array(found)


def _pooled(parts: Sequence[Whole], layer: Layer) -> Whole:
    """What a layer counts in the mean and the maximum of each of some sentences' words."""
    import numpy as np  # noqa: PLC0415

    wide = parts[0].shape[1]
    total = np.zeros(layer.weights.shape[1])
    for number, rows in enumerate(parts):
        at = 2 * number * wide
        total += (rows.sum(axis=0) @ layer.weights[at : at + wide]) / len(rows)
        total += rows.max(axis=0) @ layer.weights[at + wide : at + 2 * wide]
    return total


@cache
def network() -> PairNetwork:
    """The network that comes with the package."""
    return unpacked(content("beliefledger.gate", FILE))


def log_odds(told: str, said: str) -> float:
    """How probably what was told is over once something is said, as log odds."""
    own = network()
    return own.log_odds(own.read(told, OF_TOLD), own.read(said, OF_SAID))


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
