"""What an index has, as one string of bytes: JSON for what is small, arrays as they lie in memory.

The bytes are of this machine and this version, and are sealed before they are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

if TYPE_CHECKING:
    from numpy.typing import NDArray

State = dict[str, Any]
"""Values by name: arrays of numpy, and what JSON can say."""
_LENGTH = 8
_ALIGNED = 8
"""An array begins at a multiple of so many bytes."""


def under(name: str, state: State) -> State:
    """A part's state, under the part's name in the state of the whole."""
    return {f"{name}.{key}": value for key, value in state.items()}


def within(name: str, state: Mapping[str, Any]) -> State:
    """The state of the part with a name."""
    start = f"{name}."
    return {key[len(start) :]: value for key, value in state.items() if key.startswith(start)}


def packed(state: State) -> bytes:
    """The state as bytes."""
    arrays: dict[str, tuple[str, list[int]]] = {}
    parts: list[bytes] = []
    said: State = {}
    for name, value in state.items():
        if isinstance(value, np.ndarray):
            arrays[name] = value.dtype.str, list(value.shape)
            parts.append(value.tobytes())
            parts.append(bytes(-len(parts[-1]) % _ALIGNED))
        else:
            said[name] = value
    head = orjson.dumps([said, arrays], default=sorted)  # sets, which JSON has not
    head += b" " * (-len(head) % _ALIGNED)
    return b"".join([len(head).to_bytes(_LENGTH, "little"), head, *parts])


def unpacked(data: bytes) -> State:
    """The state again; its arrays are not to be changed."""
    start = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
    found, arrays = orjson.loads(memoryview(data)[_LENGTH:start])
    state: State = found
    for name, (kind, shape) in arrays.items():
        count = int(np.prod(shape, dtype=np.int64))
        each: NDArray[Any] = np.frombuffer(data, np.dtype(kind), count, start)
        state[name] = each.reshape(shape)
        start += each.nbytes + -each.nbytes % _ALIGNED
    return state
