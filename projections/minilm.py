"""The forward pass of all-MiniLM-L6-v2 in numpy: as sentence-transformers, without torch.

Texts are computed together, sorted by their number of tokens. Their tokens lie one after another:
nothing is padded, and each text attends to itself alone. Wang et al., MiniLM, NeurIPS 2020.
"""

from __future__ import annotations

import json
import math
import mmap
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from tokenizers import Tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

DIMENSION = 384
LONGEST = 256
"""Tokens of a text that are looked at, the two that enclose it included."""
_LAYERS, _HEADS = 6, 12
_TOGETHER = 1024
"""Tokens computed at a time: what they need stays in the processor's cache."""
_FEW_TIMES = 8
"""So often layers are let go of after use: it takes 2 ms a time to map them again."""
_EPSILON = 1e-12
_BLOCK = 16384
"""Numbers of which `_gelu` computes every step before the next ones: 64 kB."""


class _Layer(NamedTuple):
    """The weights of one layer, as they are multiplied from the right."""

    attend: Floats
    attend_bias: Floats
    mix: Floats
    mix_bias: Floats
    mixed: tuple[Floats, Floats]
    widen: Floats
    widen_bias: Floats
    narrow: Floats
    narrow_bias: Floats
    narrowed: tuple[Floats, Floats]


class Network:
    """The model in a directory. Threads may share it: no weight changes after it was made.

    The weights are mapped from their file, so that only what is used takes up memory. At first one
    layer at a time is in memory: a command asks a few times, and who asks more keeps what it uses.
    """

    def __init__(self, directory: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.no_padding()
        mapped, tensors = read(directory / "model.safetensors")
        first = "embeddings."
        self._words = tensors[first + "word_embeddings.weight"]
        self._places = (
            tensors[first + "position_embeddings.weight"][:LONGEST]
            + tensors[first + "token_type_embeddings.weight"][0]
        )
        self._norm = _norm(tensors, first + "LayerNorm")
        self._layers = []
        for at in range(_LAYERS):
            self._layers.append(_layer(tensors, f"encoder.layer.{at}."))
            _let_go(mapped)  # some of it was copied
        self._mapped = mapped
        self._asked = 0

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row of length 1 for each text, in their order."""
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        encoded = self._tokenizer.encode_batch_fast(list(texts))
        tokens = [each.ids for each in encoded]
        for rows in _batches([len(each) for each in tokens]):
            vectors[rows] = self._computed([tokens[row] for row in rows])
        return vectors

    def _computed(self, tokens: Sequence[Sequence[int]]) -> Floats:
        """Of texts sorted by length. A run is of texts that are equally long."""
        runs = [(size, len(list(each))) for size, each in groupby(map(len, tokens))]
        x: Floats = self._words[np.concatenate(tokens)]
        x += np.concatenate([np.tile(self._places[:size], (many, 1)) for size, many in runs])
        x = _normed(x, self._norm)
        for layer in self._layers:
            x = _normed(x + _attended(x, layer, runs), layer.mixed)
            wide: Floats = x @ layer.widen
            wide += layer.widen_bias
            _gelu(wide)
            narrow: Floats = np.matmul(wide, layer.narrow)
            narrow += layer.narrow_bias
            narrow += x
            x = _normed(narrow, layer.narrowed)
            if self._asked < _FEW_TIMES:
                _let_go(self._mapped)
        self._asked += 1
        pooled: Floats = np.concatenate([part.mean(axis=1) for part in _parts(x, runs)])
        pooled /= np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), _EPSILON)
        return pooled


def _let_go(mapped: mmap.mmap) -> None:
    """What is in memory of a file goes, and comes again when it is used. Where a system cannot be
    told so, it stays."""
    if hasattr(mmap, "MADV_DONTNEED"):  # Windows has it not
        mapped.madvise(mmap.MADV_DONTNEED)


def read(file: Path) -> tuple[mmap.mmap, dict[str, Floats]]:
    """A safetensors file, mapped, and its tensors: a length, a header in JSON, then the numbers."""
    with file.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    begin = 8 + int.from_bytes(mapped[:8], "little")
    header = json.loads(mapped[8:begin])
    tensors = {}
    for name, told in header.items():
        if name != "__metadata__" and told["dtype"] == "F32":
            at, end = told["data_offsets"]
            flat = np.frombuffer(mapped, "<f4", (end - at) // 4, begin + at)
            tensors[name] = flat.reshape(told["shape"])
    return mapped, tensors


def _layer(tensors: dict[str, Floats], name: str) -> _Layer:
    def weight(part: str) -> Floats:
        return tensors[f"{name}{part}.weight"].T

    def bias(part: str) -> Floats:
        return tensors[f"{name}{part}.bias"]

    parts = [f"attention.self.{part}" for part in ("query", "key", "value")]
    scale = np.float32(1 / math.sqrt(DIMENSION / _HEADS))
    scales = (scale, np.float32(1), np.float32(1))
    pairs = list(zip(parts, scales, strict=True))
    mix, widen, narrow = "attention.output.dense", "intermediate.dense", "output.dense"
    return _Layer(
        attend=np.concatenate([weight(part).T * times for part, times in pairs]).T,
        attend_bias=np.concatenate([bias(part) * times for part, times in pairs]),
        mix=weight(mix),
        mix_bias=bias(mix),
        mixed=_norm(tensors, f"{name}attention.output.LayerNorm"),
        widen=weight(widen),
        widen_bias=bias(widen),
        narrow=weight(narrow),
        narrow_bias=bias(narrow),
        narrowed=_norm(tensors, f"{name}output.LayerNorm"),
    )


def _norm(tensors: dict[str, Floats], name: str) -> tuple[Floats, Floats]:
    return tensors[f"{name}.weight"], tensors[f"{name}.bias"]


def _batches(sizes: Sequence[int]) -> Iterator[list[int]]:
    """The rows in the order of their sizes, so many at a time that they are computed quickly."""
    batch: list[int] = []
    tokens = 0
    for row in sorted(range(len(sizes)), key=sizes.__getitem__):
        if batch and tokens + sizes[row] > _TOGETHER:
            yield batch
            batch, tokens = [], 0
        batch.append(row)
        tokens += sizes[row]
    if batch:
        yield batch


def _parts(x: Floats, runs: Sequence[tuple[int, int]]) -> Iterator[Floats]:
    """The runs, each of shape (texts, tokens, numbers of a token)."""
    at = 0
    for size, many in runs:
        yield x[at : at + size * many].reshape(many, size, -1)
        at += size * many


def _attended(x: Floats, layer: _Layer, runs: Sequence[tuple[int, int]]) -> Floats:
    """What each token takes from the tokens of its text: softmax(Q·Kᵀ)·V for each head."""
    qkv = x @ layer.attend
    qkv += layer.attend_bias
    taken = np.empty_like(x)
    width = DIMENSION // _HEADS
    for part, out in zip(_parts(qkv, runs), _parts(taken, runs), strict=True):
        many, size, _ = part.shape
        heads = part.reshape(many, size, 3, _HEADS, width)
        queries, keys, values = (heads[:, :, which].transpose(0, 2, 1, 3) for which in range(3))
        scores = queries @ keys.transpose(0, 1, 3, 2)
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        out[:] = (scores @ values).transpose(0, 2, 1, 3).reshape(out.shape)
    mixed = taken @ layer.mix
    mixed += layer.mix_bias
    return mixed


def _normed(x: Floats, norm: tuple[Floats, Floats]) -> Floats:
    """Layer normalisation, in place."""
    weight, bias = norm
    x -= x.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", x, x)[:, None] / np.float32(x.shape[1])
    x /= np.sqrt(variance + np.float32(_EPSILON))
    x *= weight
    x += bias
    return x


_ABOVE = (
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
)
_BELOW = (
    -1.45660718464996e-05,
    -2.13374055278905e-04,
    -1.68282697438203e-03,
    -7.37332916720468e-03,
    -1.42647390514189e-02,
)
"""erf(x) = x · _ABOVE(x²) / _BELOW(x²) up to 4, to the last digits of a float32: as in Eigen."""


def _gelu(x: Floats) -> None:
    """GELU in place: x · (1 + erf(x / √2)) / 2."""
    flat = x.reshape(-1)
    for at in range(0, len(flat), _BLOCK):
        part = flat[at : at + _BLOCK]
        scaled = part * np.float32(math.sqrt(0.5))
        np.clip(scaled, -4, 4, out=scaled)
        square = scaled * scaled
        scaled *= _polynomial(_ABOVE, square)
        scaled /= _polynomial(_BELOW, square)
        scaled += np.float32(1)
        scaled *= np.float32(0.5)
        part *= scaled


def _polynomial(factors: Sequence[float], x: Floats) -> Floats:
    value = x * np.float32(factors[0])
    for factor in factors[1:-1]:
        value += np.float32(factor)
        value *= x
    value += np.float32(factors[-1])
    return value
