"""What callers keep beside a turn or a memory: a small JSON object, part of the body as words."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any

import orjson
from pydantic import JsonValue

from beliefledger.ledger.errors import InvalidTurn

Metadata = dict[str, Any]
LARGEST = 4_096
"""Bytes of its JSON in UTF-8."""
_DEEPEST = 16
_BEYOND = 2**53
_OBJECTS = (dict, MappingProxyType, Mapping)
"""Any mapping; to ask whether it is one of the first two takes a tenth of the time."""


def check_metadata(given: object) -> None:
    """Raises `InvalidTurn` for what is no JSON object, and for a larger one."""
    if not isinstance(given, _OBJECTS):
        raise InvalidTurn(f"metadata is a JSON object, not {type(given).__name__}.")
    if not given:
        return
    _check(given, "metadata", 0)
    try:
        size = len(orjson.dumps(dict(given)))
    except (orjson.JSONEncodeError, UnicodeEncodeError):
        raise InvalidTurn("metadata is not valid Unicode text.") from None
    if size > LARGEST:
        raise InvalidTurn(f"metadata has {size:,} bytes as JSON; at most {LARGEST:,} go in.")


def _check(value: object, where: str, depth: int) -> None:
    if depth > _DEEPEST:
        raise InvalidTurn(f"metadata is nested deeper than {_DEEPEST} levels.")
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, int):
        if abs(value) >= _BEYOND:
            raise InvalidTurn(f"{where}: whole numbers stay below 2^53; write it as text.")
    elif isinstance(value, float):
        if not isfinite(value):
            raise InvalidTurn(f"{where}: {value} is no number of JSON.")
    elif isinstance(value, Mapping):
        for name, each in value.items():
            if not isinstance(name, str) or not name:
                raise InvalidTurn(f"{where}: names are text and not empty.")
            _check(each, f"{where}.{name}", depth + 1)
    elif isinstance(value, list | tuple):
        for each in value:
            _check(each, where, depth + 1)
    else:
        raise InvalidTurn(f"{where}: {type(value).__name__} is not of JSON.")


def has(there: Mapping[str, JsonValue], wanted: Mapping[str, JsonValue]) -> bool:
    """Whether metadata has each of these, with an equal value. True and 1 are not equal."""
    return all(
        name in there
        and orjson.dumps(there[name], option=_SORTED) == orjson.dumps(value, option=_SORTED)
        for name, value in wanted.items()
    )


_SORTED = orjson.OPT_SORT_KEYS
