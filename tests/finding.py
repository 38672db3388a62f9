"""Looks for many byte strings in many files at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

_ANCHOR = 4
"""Bytes that a word begins with, by which it is looked up."""


def changed_since(files: Iterable[Path], before: dict[Path, int]) -> list[Path]:
    """The files that were made or written since `times` was asked of them."""
    return [path for path, at in times(files).items() if before.get(path) != at]


def times(files: Iterable[Path]) -> dict[Path, int]:
    """When each was written last: a server makes and deletes files as it runs."""
    found = {}
    for path in files:
        try:
            found[path] = path.stat().st_mtime_ns
        except FileNotFoundError:
            continue
    return found


def found_in(files: Iterable[Path], wanted: Sequence[bytes]) -> list[str]:
    """Which words are in which file."""
    found = []
    for path in files:
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue
        found += [f"{word[:40]!r} in {path.name}" for word in held(data, wanted)]
    return found


def held(data: bytes, wanted: Sequence[bytes]) -> list[bytes]:
    """The words that are anywhere in the data."""
    words = set(wanted)
    short = [word for word in words if len(word) < _ANCHOR]
    begins: dict[bytes, list[bytes]] = defaultdict(list)
    for word in words.difference(short):
        begins[word[:_ANCHOR]].append(word)
    found = {word for word in short if word in data}
    for at in _candidates(data, list(begins)):
        for word in begins.get(data[at : at + _ANCHOR], ()):
            if data.startswith(word, at):
                found.add(word)
    return sorted(found)


def _candidates(data: bytes, anchors: Sequence[bytes]) -> list[int]:
    """Where the first two bytes are those of an anchor, and the two after them those of one."""
    if len(data) < _ANCHOR or not anchors:
        return []
    heads, tails = np.zeros(1 << 16, bool), np.zeros(1 << 16, bool)
    for anchor in anchors:
        heads[int.from_bytes(anchor[:2], "big")] = tails[int.from_bytes(anchor[2:], "big")] = True
    each = np.frombuffer(data, np.uint8).astype(np.uint16)
    pairs = (each[:-1] << 8) | each[1:]
    return np.flatnonzero(heads[pairs[:-2]] & tails[pairs[2:]]).tolist()
