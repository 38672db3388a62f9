"""Times as callers write them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from ledger.errors import InvalidTurn
from ledger.times import Micros, from_datetime, parse

Moment = datetime | str | int
"""A time: a datetime (UTC where it has no zone), ISO 8601 text, or microseconds since 1970 UTC."""
Progress = Callable[[int, int], None]
"""(done, of how many)"""


def micros(moment: Moment | None, name: str) -> Micros | None:
    """Raises `InvalidTurn` naming the argument."""
    if moment is None or isinstance(moment, int):
        return moment
    if isinstance(moment, datetime):
        return from_datetime(moment)
    try:
        return parse(moment)
    except ValueError as problem:
        raise InvalidTurn(f"{name}: {problem}.") from problem
