"""What the log counts in integers, as it is told to people and programs: scores from 0 to 1, times
in ISO 8601.

The log itself keeps integers (`ledger.fields.Unit`), so that its bytes are the same for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from beliefledger.ledger.candidate import MILLION
from beliefledger.ledger.fields import (
    A_DEFINITION,
    A_FRACTION,
    A_SCORE,
    A_TIME,
    DEFINED_SCORES,
    Unit,
)
from beliefledger.ledger.times import iso

Teller = Callable[[Any], Any]


def _fraction(millionths: int) -> float:
    return millionths / MILLION


def _definition(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _fraction(value) if name in DEFINED_SCORES and value is not None else value
        for name, value in fields.items()
    }


_TELLERS: dict[Any, Teller] = {
    A_SCORE: _fraction,
    A_FRACTION: _fraction,
    A_TIME: iso,
    A_DEFINITION: _definition,
}


def told(kind: type[BaseModel], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a model in the units that people use. Those that it does not know are left as they
    are."""
    return _told(_tellers(kind), fields)


def _told(tellers: Mapping[str, Teller], fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if value is None or name not in tellers else tellers[name](value)
        for name, value in fields.items()
    }


@cache
def _tellers(kind: type[BaseModel]) -> dict[str, Teller]:
    """How each field is told that has a unit, or something with a unit in it."""
    hints = get_type_hints(kind, include_extras=True)
    found = {name: _teller(hints[name]) for name in kind.model_fields}
    return {name: teller for name, teller in found.items() if teller is not None}


def _teller(hint: Any) -> Teller | None:
    """None where there is no unit in it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        inner, *marks = arguments
        units = [mark for mark in marks if isinstance(mark, Unit)]
        return _TELLERS[units[0]] if units else _teller(inner)
    if origin in {Union, UnionType}:
        tellers = [each for each in map(_teller, arguments) if each is not None]
        return tellers[0] if tellers else None
    if origin is tuple and (each := _teller(arguments[0])) is not None:
        return lambda values: [each(value) for value in values]
    if isinstance(hint, type) and issubclass(hint, BaseModel) and (inner := _tellers(hint)):
        return lambda fields: _told(inner, fields)
    return None
