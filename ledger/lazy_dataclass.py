"""The decorator `dataclass` of the standard library, made quicker for classes with slots.

The library compiles up to seven methods of each class when its module is imported. That took an
eighth of a search in a fresh process, which uses few of these classes. Here `__init__` is compiled
when the first object is made, and all classes share the other methods. Type checkers see the
library's decorator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414  for who imports it here
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, **options: Any
    ) -> Any:
        """As `dataclasses.dataclass`, to which everything else than classes with slots is left."""
        if not slots or options:
            return dataclasses.dataclass(cls, frozen=frozen, slots=slots, **options)
        return lambda cls: _made(cls, frozen=frozen)


_MADE = object()
"""Stands for what a field's factory is to make."""


def _made(cls: type, *, frozen: bool) -> type:
    """The class again, with slots and methods."""
    annotations = {
        name: each
        for name, each in vars(cls).get("__annotations__", {}).items()
        if not str(each).startswith("ClassVar")
    }
    inherited: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= base.__dict__.get("__dataclass_fields__", {})
    known = inherited | {name: _field(cls, name, annotations[name]) for name in annotations}
    own = {key: each for key, each in cls.__dict__.items() if key not in annotations}
    for key in ("__dict__", "__weakref__"):
        own.pop(key, None)
    content: dict[str, Any] = {
        **(_FROZEN if frozen else _OPEN),
        **own,
        "__slots__": tuple(name for name in annotations if name not in inherited),
        "__match_args__": tuple(known),
        "__dataclass_fields__": known,
    }
    made = type(cls)(cls.__name__, cls.__bases__, content)
    if "__init__" not in own:

        def first(self: Any, *given: Any, **named: Any) -> None:
            init = _init(made, known, frozen=frozen)
            made.__init__ = init  # type: ignore[misc]
            init(self, *given, **named)

        made.__init__ = first  # type: ignore[misc]
    return made


def _field(cls: type, name: str, annotation: Any) -> Field[Any]:
    default = cls.__dict__.get(name, MISSING)
    found: Field[Any] = (
        default if isinstance(default, Field) else dataclasses.field(default=default)
    )
    found.name, found.type, found.kw_only = name, annotation, False
    setattr(found, "_field_type", getattr(dataclasses, "_FIELD"))  # noqa: B009, B010  for `fields`
    return found


def _init(made: type, known: dict[str, Field[Any]], *, frozen: bool) -> Callable[..., None]:
    """The `__init__` that the library would have compiled."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_MADE": _MADE}
    taken, lines = ["self"], []
    for name, each in known.items():
        value, default = name, f"_default_{name}"
        if each.default_factory is not MISSING:
            names[default] = each.default_factory
            value = f"{default}() if {name} is _MADE else {name}" if each.init else f"{default}()"
            taken += [f"{name}=_MADE"] if each.init else []
        elif each.default is not MISSING:
            names[default] = each.default
            taken += [f"{name}={default}"] if each.init else []
            value = name if each.init else default
        elif each.init:
            taken.append(name)
        else:
            continue  # `__post_init__` sets it
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    text = f"def __init__({', '.join(taken)}):\n " + "\n ".join(lines or ["pass"])
    exec(text, names)  # noqa: S102  of the names of fields, as the library does it
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{made.__qualname__}.__init__"
    return init


# The methods that all of them share


@cache
def _getter(kind: Any) -> Callable[[Any], tuple[Any, ...]]:
    """What objects of a class are compared by."""
    from operator import attrgetter  # noqa: PLC0415

    names = [each.name for each in fields(kind) if each.compare]
    get = attrgetter(*names) if len(names) > 1 else None
    return get or (lambda self: tuple(getattr(self, name) for name in names))


def _equals(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    get = _getter(self.__class__)
    return get(self) == get(other)


def _hash(self: Any) -> int:
    return hash(_getter(self.__class__)(self))


def _repr(self: Any) -> str:
    shown = [each.name for each in fields(self) if each.repr]
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{self.__class__.__qualname__}({values})"


def _refuse(_self: Any, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


_OPEN: dict[str, Any] = {"__eq__": _equals, "__repr__": _repr, "__hash__": None}
_FROZEN: dict[str, Any] = _OPEN | {
    "__hash__": _hash,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__getstate__": _state,
    "__setstate__": _restore,
}
