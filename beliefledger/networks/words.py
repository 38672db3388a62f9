"""The words of a sentence as the small networks know them, and the files of their weights. Pure.

A file is a line of JSON, the words in lines, and matrices of signed bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from beliefledger.ledger.late_patterns import compile_later

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.float64]
    """Whole numbers far below 2⁵³, which floats have exactly in any order of summation."""

NOTHING, UNKNOWN, CAPITAL = "<none>", "<unknown>", "^"
"""The words that stand for none, for one that is not known, and before one with a capital letter
that does not begin the sentence."""
ENDINGS = ("ing", "ed", "ly", "er", "est", "ness", "tion", "s", "nt")
"""An unknown word with one of these counts as `<ing>`, and so on."""
MOST_WORDS = 64
"""Of a sentence; what comes after them is not read."""
HIGHEST = 2047
"""What a layer hands to the next at most."""
_WORD = compile_later(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]")
_DIGITS = str.maketrans("123456789", "000000000")
_LONGEST_NUMBER = 4
_SPEAKER = frozenset(("i", "im", "ive", "id", "ill"))


class Layer(NamedTuple):
    """What a layer counts is multiplied by `scale` after `bias` is added."""

    weights: Whole
    """Of shape (inputs, outputs); of a convolution over three words, (3 × inputs, outputs): for
    the word before, the word, and the word after."""
    bias: Whole
    scale: Whole
    """One for each output."""


class File(NamedTuple):
    """What a file of weights has: the place of each word, matrices, and what is told beside."""

    places: dict[str, int]
    matrices: list[NDArray[np.int8]]
    head: Mapping[str, Any]


def words(sentence: str, most: int = MOST_WORDS) -> list[str]:
    """The words and marks of a sentence as a network knows them: in lower case, without
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
    return told[:most]


def unknown(word: str) -> str:
    """What an unknown word counts as."""
    ending = next((each for each in ENDINGS if word.endswith(each)), None)
    return UNKNOWN if ending is None else f"<{ending}>"


def place_of(places: Mapping[str, int], word: str) -> int:
    """The place of a word, or of what it counts as."""
    place = places.get(word)
    return places[unknown(word)] if place is None else place


def beside(rows: Whole, far: int = 1) -> Whole:
    """Each row with the one so far before it, and the one so far after it; zeros beyond the
    ends. Of shape (…, rows, numbers)."""
    import numpy as np  # noqa: PLC0415  (a tenth of a second, and most calls score nothing)

    *some, count, wide = rows.shape
    padded = np.zeros((*some, count + 2 * far, wide))
    padded[..., far : far + count, :] = rows
    around = padded[..., :count, :], rows, padded[..., 2 * far :, :]
    return np.concatenate(around, axis=-1)


def handed_on(sums: Whole, layer: Layer) -> Whole:
    """What a layer hands to the next, of what it counted."""
    import numpy as np  # noqa: PLC0415

    told: Whole = np.clip(np.rint((sums + layer.bias) * layer.scale), 0, HIGHEST)
    return told


def added(rows: Whole, layer: Layer, far: int = 1) -> Whole:
    """What a convolution found, with what a further one finds in it."""
    import numpy as np  # noqa: PLC0415

    told: Whole = np.minimum(rows + handed_on(beside(rows, far) @ layer.weights, layer), HIGHEST)
    return told


def packed(
    places: Mapping[str, int],
    matrices: Sequence[NDArray[Any]],
    layers: Sequence[Layer],
    **further: object,
) -> bytes:
    """The content of a file: of the layers, which come after the other matrices, the weights are
    among the matrices."""
    import numpy as np  # noqa: PLC0415

    named = "\n".join(places).encode()
    every = [*matrices, *(each.weights for each in layers)]
    head = {
        "shapes": [list(each.shape) for each in every],
        "bytes": len(named),
        "biases": [each.bias.astype(int).tolist() for each in layers],
        "scales": [each.scale.tolist() for each in layers],
        **further,
    }
    weights = b"".join(each.astype(np.int8).tobytes() for each in every)
    return json.dumps(head).encode() + b"\n" + named + weights


def unpacked(read: bytes) -> tuple[File, list[Layer]]:
    """A file that `packed` made, and its layers."""
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
    count = len(head["biases"])
    numbers = ([np.array(row, np.float64) for row in head[key]] for key in ("biases", "scales"))
    of_layers = (each.astype(np.float64) for each in matrices[len(matrices) - count :])
    layers = [Layer(*each) for each in zip(of_layers, *numbers, strict=True)]
    places = {word: place for place, word in enumerate(named)}
    return File(places, matrices[: len(matrices) - count], head), layers
