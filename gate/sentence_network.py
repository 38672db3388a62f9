"""How probably a sentence is meant as a lasting truth, by a small convolutional network. Pure.

The network reads a sentence's words in their order: three layers of convolution over three words
each, then the mean and the maximum of what they found. Its weights are in meant-1.bin, which
`beliefledger.tools.bench.distil_meant` makes. Weights, vectors and what a layer hands to the next
are whole numbers, so that every processor computes the same score.

Convolution over words: Kim, Convolutional Neural Networks for Sentence Classification, EMNLP 2014.
Layers that add to what they read: He et al., Deep Residual Learning for Image Recognition, CVPR
2016. Whole numbers for weights: Jacob et al., Quantization and Training of Neural Networks for
Efficient Integer-Arithmetic-Only Inference, CVPR 2018.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from beliefledger.ledger.data_files import content
from beliefledger.networks import words as network_words
from beliefledger.networks.words import UNKNOWN, Layer, added, beside, handed_on, place_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from beliefledger.networks.words import Whole

FILE = "meant-1.bin"
DILATIONS = (1, 1, 2)
"""How far apart the words are that a layer sees at once."""


class Network(NamedTuple):
    """The weights of a network. Threads may share it: nothing in it changes."""

    places: dict[str, int]
    vectors: NDArray[np.int8]
    """One row for each word."""
    layers: tuple[Layer, ...]
    of_mean: Whole
    of_most: Whole
    """The weights of the mean and of the maximum of each output …"""
    units: tuple[float, float]
    """… what one of theirs is worth …"""
    bias: float
    """… and what is added to them."""

    def log_odds(self, sentence: str) -> float:
        """How probably a sentence is meant, as log odds; 0 where it is as probable as not."""
        import numpy as np  # noqa: PLC0415  (a tenth of a second, and most calls score nothing)

        known = [place_of(self.places, word) for word in network_words.words(sentence)]
        found = self.vectors[known or [self.places[UNKNOWN]]].astype(np.float64)
        first, *further = self.layers
        found = handed_on(beside(found, DILATIONS[0]) @ first.weights, first)
        for layer, far in zip(further, DILATIONS[1:], strict=True):
            found = added(found, layer, far)
        mean = float(found.sum(axis=0) @ self.of_mean) / len(found)
        most = float(found.max(axis=0) @ self.of_most)
        return mean * self.units[0] + most * self.units[1] + self.bias


@cache
def network() -> Network:
    """The network that comes with the package."""
    return unpacked(content("beliefledger.gate", FILE))


def log_odds(sentence: str) -> float:
    """How probably a sentence is the speaker's own, meant as true and lasting, as log odds."""
    return network().log_odds(sentence)


def packed(told: Network) -> bytes:
    """The content of a network's file."""
    matrices: list[NDArray[Any]] = [told.vectors, told.of_mean, told.of_most]
    further = {"units": told.units, "bias": told.bias}
    return network_words.packed(told.places, matrices, told.layers, **further)


def unpacked(read: bytes) -> Network:
    """The network of a file that `packed` made."""
    import numpy as np  # noqa: PLC0415

    file, layers = network_words.unpacked(read)
    vectors, of_mean, of_most = file.matrices
    return Network(
        file.places,
        vectors,
        tuple(layers),
        of_mean.astype(np.float64),
        of_most.astype(np.float64),
        (file.head["units"][0], file.head["units"][1]),
        file.head["bias"],
    )
