"""Times as callers write them, turned into microseconds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time

from beliefledger.ledger.errors import CallerMistake, InvalidQuery
from beliefledger.ledger.times import Micros, from_datetime, parse

Moment = date | str | int
"""A time: a datetime (UTC where it has no zone), a date (its first moment), ISO 8601 text, or
microseconds since 1970 UTC."""
LATEST = 2**53
"""Times stay below this, so that every JSON reader reads them exactly."""
EARLIEST = 31_536_000_000_000
"""1971 in microseconds: what is smaller was meant as seconds or milliseconds."""
YEARS = "times go from the year 1684 to the year 2255"
Progress = Callable[[int, int], None]
"""Called with how many are done, and of how many."""


def micros(
    moment: Moment | None, name: str, wrong: type[CallerMistake] = InvalidQuery
) -> Micros | None:
    """The time in microseconds. For what is none it raises `wrong`, which names the argument; so it
    does for a number that can only be seconds or milliseconds."""
    if moment is None:
        return None
    if isinstance(moment, bool) or not isinstance(moment, int | date | str):
        raise wrong(
            f"{name}: {moment!r} is not a time: give a datetime, 2026-03-01 or"
            " 2026-03-01T09:30:00Z."
        )
    if isinstance(moment, int):
        if abs(moment) < EARLIEST:
            raise wrong(
                f"{name}: {moment} is no time in microseconds since 1970, it would be of that year."
                " Give a datetime, or seconds times 1,000,000."
            )
        found = moment
    elif isinstance(moment, date):
        whole = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
        found = from_datetime(whole)
    else:
        try:
            found = parse(moment)
        except ValueError as problem:
            raise wrong(f"{name}: {problem}.") from problem
    if abs(found) >= LATEST:
        raise wrong(f"{name}: {YEARS}.")
    return found
