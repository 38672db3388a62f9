"""Times as callers write them, turned into microseconds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from beliefledger.ledger.errors import CallerMistake, InvalidQuery
from beliefledger.ledger.times import Micros, from_datetime, parse

Moment = datetime | str | int
"""A time: a datetime (UTC where it has no zone), ISO 8601 text, or microseconds since 1970 UTC."""
LATEST = 2**53
"""Times stay below this, so that every JSON reader reads them exactly."""
YEARS = "times go from the year 1684 to the year 2255"
Progress = Callable[[int, int], None]
"""Called with how many are done, and of how many."""


def micros(
    moment: Moment | None, name: str, wrong: type[CallerMistake] = InvalidQuery
) -> Micros | None:
    """The time in microseconds. For what is none it raises `wrong`, which names the argument."""
    if moment is None:
        return None
    if isinstance(moment, bool) or not isinstance(moment, int | datetime | str):
        raise wrong(f"{name}: {moment!r} is not a time.")
    if isinstance(moment, int):
        found = moment
    elif isinstance(moment, datetime):
        found = from_datetime(moment)
    else:
        try:
            found = parse(moment)
        except ValueError as problem:
            raise wrong(f"{name}: {problem}.") from problem
    if abs(found) >= LATEST:
        raise wrong(f"{name}: {YEARS}.")
    return found
