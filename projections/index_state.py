"""What an index has, as bytes: JSON for what is small, arrays as they lie in memory, and dicts as
rows that are parsed one by one, once they are asked for.

The bytes are of this machine and this version, and are sealed before they are kept.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

if TYPE_CHECKING:
    from numpy.typing import NDArray

State = dict[str, Any]
"""Values by name: arrays of numpy, dicts with strings as keys, and what else JSON can say."""
LAYOUT = 8
"""Of the bytes; they are not to be read as those of another."""
_LENGTH = 8
_PARTS = ("keys", "order", "ends", "values")
"""The arrays of rows."""


def under(name: str, state: State) -> State:
    """A part's state, under the part's name in the state of the whole."""
    return {f"{name}.{key}": value for key, value in state.items()}


def within(name: str, state: Mapping[str, Any]) -> State:
    """The state of the part with a name."""
    start = f"{name}."
    return {key[len(start) :]: value for key, value in state.items() if key.startswith(start)}


class Rows(Mapping[str, Any]):
    """Values by key, in the order in which they were kept; each is parsed when it is asked for."""

    def __init__(
        self,
        keys: NDArray[np.bytes_],
        order: NDArray[np.int64],
        ends: NDArray[np.int64],
        values: NDArray[np.uint8],
    ) -> None:
        """`order` sorts the keys; each of the values, which are joined by commas, has an end."""
        self._keys, self._order, self._ends, self._values = keys, order, ends, values

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return (each.decode() for each in self._keys.tolist())

    def items(self) -> ItemsView[str, Any]:
        """All of them, parsed at once."""
        values = orjson.loads(b"[" + self._values.tobytes() + b"]")
        return dict(zip(self, values, strict=True)).items()

    def __getitem__(self, key: str) -> Any:
        sought, keys = key.encode(), self._keys
        if len(sought) <= keys.itemsize:
            at = int(np.searchsorted(keys, sought, sorter=self._order))
            place = int(self._order[at]) if at < len(keys) else -1
            if place >= 0 and keys[place] == sought:
                start = int(self._ends[place - 1]) + 1 if place else 0
                return orjson.loads(self._values.data[start : int(self._ends[place])])
        raise KeyError(key)


def packed(state: State) -> list[memoryview]:
    """The state as bytes, to be joined."""
    said: State = {}
    arrays: dict[str, NDArray[Any]] = {}
    rows: list[str] = []
    for name, value in state.items():
        if isinstance(value, np.ndarray):
            arrays[name] = np.ascontiguousarray(value)
        elif isinstance(value, dict):
            rows.append(name)
            arrays |= under(name, _as_rows(value))
        else:
            said[name] = value
    shapes = {name: (each.dtype.str, each.shape) for name, each in arrays.items()}
    head = orjson.dumps([said, shapes, rows], default=sorted)  # sets, which JSON has not
    data = [each.reshape(-1).view(np.uint8).data for each in arrays.values()]
    return [memoryview(len(head).to_bytes(_LENGTH, "little")), memoryview(head), *data]


def _as_rows(values: Mapping[str, Any]) -> State:
    keys = np.array([each.encode() for each in values], np.bytes_)
    said = [orjson.dumps(each) for each in values.values()]
    arrays = (
        keys,
        np.argsort(keys, kind="stable"),
        np.cumsum([len(each) + 1 for each in said], dtype=np.int64) - 1,
        np.frombuffer(b",".join(said), np.uint8),
    )
    return dict(zip(_PARTS, arrays, strict=True))


def cut(data: Iterable[memoryview], size: int) -> Iterator[bytes]:
    """The same bytes in pieces of a size; the last may be shorter."""
    piece = bytearray()
    for each in data:
        for start in range(0, len(each), size):
            piece += each[start : start + size]
            if len(piece) >= size:
                yield bytes(piece[:size])
                del piece[:size]
    if piece:
        yield bytes(piece)


def unpacked(pieces: Iterable[bytes]) -> State:
    """The state again, of pieces that may be cut anywhere. Each array has memory of its own, so
    that no byte is copied twice, and whatever is let go of is free. Raises `EOFError`."""
    stream = _Stream(pieces)
    head = stream.read(int.from_bytes(stream.read(_LENGTH), "little"))
    said, shapes, rows = orjson.loads(head)
    state: State = said
    for name, (kind, shape) in shapes.items():
        array = state[name] = np.empty(shape, np.dtype(kind))
        stream.fill(array.reshape(-1).view(np.uint8).data)
    for name in rows:
        state[name] = Rows(*(state.pop(f"{name}.{part}") for part in _PARTS))
    return state


class _Stream:
    """Reads on in pieces."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = memoryview(b"")

    def read(self, size: int) -> bytes:
        found = bytearray(size)
        self.fill(memoryview(found))
        return bytes(found)

    def fill(self, into: memoryview) -> None:
        at = 0
        while at < len(into):
            if not self._rest:
                self._rest = memoryview(next(self._pieces, b""))
                if not self._rest:
                    raise EOFError
            some = self._rest[: len(into) - at]
            into[at : at + len(some)] = some
            at, self._rest = at + len(some), self._rest[len(some) :]
