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

import json
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from beliefledger.ledger.data_files import content
from beliefledger.ledger.late_patterns import compile_later

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.float64]
    """Whole numbers far below 2⁵³, which floats have exactly in any order of summation."""

FILE = "meant-1.bin"
NOTHING, UNKNOWN, CAPITAL = "<none>", "<unknown>", "^"
"""The words that stand for none, for one that is not known, and before one with a capital letter
that does not begin the sentence."""
ENDINGS = ("ing", "ed", "ly", "er", "est", "ness", "tion", "s", "nt")
"""An unknown word with one of these counts as `<ing>`, and so on."""
MOST_WORDS = 64
"""Of a sentence; what comes after them is not read."""
WIDTH = 3
"""How many words a layer sees at once."""
DILATIONS = (1, 1, 2)
"""How far apart these are, in each layer."""
HIGHEST = 2047
"""What a layer hands to the next at most."""
_WORD = compile_later(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]")
_DIGITS = str.maketrans("123456789", "000000000")
_LONGEST_NUMBER = 4
_SPEAKER = frozenset(("i", "im", "ive", "id", "ill"))


class Layer(NamedTuple):
    """A convolution: what it counts is multiplied by `scale` after `bias` is added."""

    weights: Whole
    """Of shape (3 × inputs, outputs): for the word before, the word, and the word after."""
    bias: Whole
    scale: Whole
    """One for each output."""


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

        known = [self._place(word) for word in words(sentence)]
        found = self.vectors[known or [self.places[UNKNOWN]]].astype(np.float64)
        for number, layer in enumerate(self.layers):
            sums = _beside(found, DILATIONS[number]) @ layer.weights + layer.bias
            told = np.clip(np.rint(sums * layer.scale), 0, HIGHEST)
            found = told if number == 0 else np.minimum(found + told, HIGHEST)
        mean = float(found.sum(axis=0) @ self.of_mean) / len(found)
        most = float(found.max(axis=0) @ self.of_most)
        return mean * self.units[0] + most * self.units[1] + self.bias

    def _place(self, word: str) -> int:
        place = self.places.get(word)
        return self.places[unknown(word)] if place is None else place


def words(sentence: str) -> list[str]:
    """The words and marks of a sentence as the network knows them: in lower case, without
    apostrophes, and each digit a zero."""
    told: list[str] = []
    for found in _WORD.finditer(sentence):
        word = found[0]
        lower = word.lower().replace("'", "").replace("’", "")
        if told and word[0].isupper() and lower not in _SPEAKER:
            told.append(CAPITAL)
        if lower[:1].isdigit():
            lower = lower.translate(_DIGITS)
            lower = lower[-_LONGEST_NUMBER:] if lower.isdigit() else lower
        told.append(lower)
    return told[:MOST_WORDS]


def unknown(word: str) -> str:
    """What an unknown word counts as."""
    ending = next((each for each in ENDINGS if word.endswith(each)), None)
    return UNKNOWN if ending is None else f"<{ending}>"


def _beside(rows: Whole, far: int) -> Whole:
    """Each row with the one so far before it, and the one so far after it; zeros beyond the
    ends."""
    import numpy as np  # noqa: PLC0415

    count, wide = rows.shape
    padded = np.zeros((count + 2 * far, wide))
    padded[far : far + count] = rows
    return np.concatenate([padded[:count], rows, padded[2 * far :]], axis=1)


@cache
def network() -> Network:
    """The network that comes with the package."""
    return unpacked(content("beliefledger.gate", FILE))


def log_odds(sentence: str) -> float:
    """How probably a sentence is the speaker's own, meant as true and lasting, as log odds."""
    return network().log_odds(sentence)


def packed(told: Network) -> bytes:
    """The file's content: a line of JSON, the words in lines, and the weights as signed bytes."""
    import numpy as np  # noqa: PLC0415

    matrices: list[NDArray[Any]] = [told.vectors, *(each.weights for each in told.layers)]
    matrices += [told.of_mean, told.of_most]
    named = "\n".join(told.places).encode()
    head = {
        "shapes": [list(each.shape) for each in matrices],
        "bytes": len(named),
        "biases": [each.bias.astype(int).tolist() for each in told.layers],
        "scales": [each.scale.tolist() for each in told.layers],
        "units": told.units,
        "bias": told.bias,
    }
    weights = b"".join(each.astype(np.int8).tobytes() for each in matrices)
    return json.dumps(head).encode() + b"\n" + named + weights


def unpacked(read: bytes) -> Network:
    """The network of a file that `packed` made."""
    import numpy as np  # noqa: PLC0415

    at = read.index(b"\n") + 1
    head = json.loads(read[:at])
    named = read[at : at + head["bytes"]].decode().split("\n")
    at += head["bytes"]
    matrices: list[NDArray[np.int8]] = []
    for shape in head["shapes"]:
        size = int(np.prod(shape))
        matrices.append(np.frombuffer(read, np.int8, size, at).reshape(shape))
        at += size
    vectors, *of_layers = matrices
    *convolutions, of_mean, of_most = (each.astype(np.float64) for each in of_layers)
    layers = zip(convolutions, _floats(head["biases"]), _floats(head["scales"]), strict=True)
    return Network(
        {word: place for place, word in enumerate(named)},
        vectors,
        tuple(Layer(*each) for each in layers),
        of_mean,
        of_most,
        (head["units"][0], head["units"][1]),
        head["bias"],
    )


def _floats(rows: Sequence[Sequence[float]]) -> list[Whole]:
    import numpy as np  # noqa: PLC0415

    return [np.array(row, np.float64) for row in rows]
