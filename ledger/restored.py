"""What another process kept by key, of which few values are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, TypeVar

Value = TypeVar("Value")


class Restored(MutableMapping[str, Value]):
    """A dict that makes each value of its kept parts once it is asked for. Whoever goes through all
    of it has all made, in the order in which they were kept. Nothing can be deleted."""

    def __init__(self, parts: Mapping[str, Any], again: Callable[[Any], Value]) -> None:
        self._parts, self._again = parts, again
        self._made: dict[str, Value] = {}

    def __getitem__(self, key: str) -> Value:
        if key not in self._made:
            self._made[key] = self._again(self._parts[key])
        return self._made[key]

    def __setitem__(self, key: str, value: Value) -> None:
        self._made[key] = value

    def __delitem__(self, key: str) -> None:
        raise TypeError(f"{key}: nothing is deleted from what was restored.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())

    def _whole(self) -> dict[str, Value]:
        if self._parts:
            before, again = self._made, self._again
            self._made = {
                key: before[key] if key in before else again(parts)
                for key, parts in self._parts.items()
            }
            self._made |= before
            self._parts = {}
        return self._made
