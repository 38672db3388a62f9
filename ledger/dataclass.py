"""`dataclass` as the library has it, but quicker to define.

The library writes `__eq__`, `__hash__` and `__repr__` as text for each class and compiles it. That
of some hundred classes is a twentieth of what a command takes in all. Here these three are closures
over the class's fields; `__init__`, which editors and `inspect` look at, is the library's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """As `dataclasses.dataclass`, with the same options."""
        return _made(cls, options) if cls is not None else lambda given: _made(given, options)


_WRITTEN = {"order", "unsafe_hash"}
"""Options of classes whose methods the library writes after all."""


def _made(cls: type, options: dict[str, Any]) -> type:
    if _WRITTEN & options.keys():
        return dataclasses.dataclass(cls, **options)
    told, compared = options.get("repr", True), options.get("eq", True)
    own = set(vars(cls))
    made: Any = dataclasses.dataclass(cls, **{**options, "repr": False, "eq": False})
    if told and "__repr__" not in own:
        made.__repr__ = _repr([each.name for each in dataclasses.fields(made) if each.repr])
    if compared:
        values = _values(made, lambda each: each.compare)
        if "__eq__" not in own:
            made.__eq__ = _eq(values)
        if "__hash__" not in own:
            hashed = _values(made, lambda each: each.compare if each.hash is None else each.hash)
            made.__hash__ = _hash(hashed) if options.get("frozen") else None
    return made  # type: ignore[no-any-return]


def _values(made: Any, wanted: Callable[[Any], bool]) -> Callable[[Any], Any]:
    """Reads the fields of an object that are wanted."""
    names = [each.name for each in dataclasses.fields(made) if wanted(each)]
    return attrgetter(*names) if names else lambda _: ()


def _eq(values: Callable[[Any], Any]) -> Callable[[Any, object], Any]:
    def equals(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self is other or values(self) == values(other)

    return equals


def _hash(values: Callable[[Any], Any]) -> Callable[[Any], int]:
    def hashed(self: Any) -> int:
        return hash(values(self))

    return hashed


def _repr(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def tell(self: Any) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({told})"

    return tell
