"""The time that a question speaks of in words: "yesterday", "two weeks ago", "last spring". Pure.

Days are those of UTC. How wide a time is follows from how it was told: "ten days ago" means that
day and those beside it, "two months ago" two weeks before and after.
"""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import Micros, from_datetime, to_datetime

_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "few": 3,
}  # fmt: skip
_MOST = 10_000
_DAYS = {"day": 1, "night": 1, "week": 7, "month": 30, "year": 365}
_WIDE = {"day": 1, "night": 1, "week": 3, "month": 15, "year": 120}
"""How many days before and after belong to it."""
_WEEKDAYS = [each.lower() for each in calendar.day_name]
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month in which each begins, north of the equator."""
_COUNT = rf"(?:(?:a|the)\s+)?(?P<count>\d+|{'|'.join(_NUMBERS)})(?:\s+of)?"
_UNIT = r"(?P<unit>day|night|week|month|year)s?"
_AGO = compile_later(rf"\b{_COUNT}\s+{_UNIT}\s+ago\b", re.IGNORECASE)
_HOW_MANY = compile_later(r"\bhow (?:many|long)\b[^?]{0,20}\bago\b", re.IGNORECASE)
_WITHIN = compile_later(
    rf"\b(?:past|last|these)\s+(?P<count>\d+|{'|'.join(_NUMBERS)})\s+{_UNIT}\b", re.IGNORECASE
)
_NEAR = compile_later(r"\b(?P<day>this morning|yesterday|last night)\b", re.IGNORECASE)
_NAMED = compile_later(
    rf"\b(?P<which>last|past|this|previous)\s+(?P<name>week|weekend|month|year"
    rf"|{'|'.join(_WEEKDAYS)}|{'|'.join(_SEASONS)})\b",
    re.IGNORECASE,
)
_FEAST = compile_later(
    r"\b(?P<feast>christmas|new year'?s(?: eve| day)?|valentine'?s(?: day)?|easter|halloween"
    r"|thanksgiving|(?:fourth|4th) of july|independence day)\b(?!\s+(?:card|cards|song|tree)\b)",
    re.IGNORECASE,
)
_FIXED = {
    "chr": (12, 25), "new": (1, 1), "val": (2, 14), "hal": (10, 31), "fou": (7, 4), "4th": (7, 4),
    "ind": (7, 4),
}  # fmt: skip
_AROUND = 3
"""Days about a feast on which one speaks of it."""


class AskedTime(NamedTuple):
    """A time from its first moment up to, and without, its end."""

    start: Micros
    end: Micros


def asked_time(question: str, now: Micros) -> AskedTime | None:
    """The time that a question speaks of, seen from `now`; None where it tells none in this way,
    or asks for it. Nothing of it is later than the end of that day."""
    if _HOW_MANY.search(question):
        return None
    try:
        days = _days(question, to_datetime(now).date())
    except OverflowError:  # before the year 1
        return None
    if days is None:
        return None
    first, last = days
    last = min(last, to_datetime(now).date())
    return AskedTime(_begin(first), _begin(last + timedelta(1))) if first <= last else None


def _begin(day: date) -> Micros:
    return from_datetime(datetime(day.year, day.month, day.day, tzinfo=UTC))


def _days(question: str, today: date) -> tuple[date, date] | None:
    """The first and the last day."""
    for pattern, read in (
        (_AGO, _ago), (_WITHIN, _within), (_NEAR, _near), (_NAMED, _named), (_FEAST, _feast),
    ):  # fmt: skip
        found = pattern.search(question)
        if found:
            return read(found, today)
    return None


def _number(found: re.Match[str]) -> int:
    told = found["count"].lower()
    return min(_MOST, int(told)) if told.isdecimal() else _NUMBERS[told]


def _ago(found: re.Match[str], today: date) -> tuple[date, date]:
    unit = found["unit"].lower()
    day, wide = today - timedelta(_number(found) * _DAYS[unit]), timedelta(_WIDE[unit])
    return day - wide, day + wide


def _within(found: re.Match[str], today: date) -> tuple[date, date]:
    return today - timedelta(_number(found) * _DAYS[found["unit"].lower()]), today


def _near(found: re.Match[str], today: date) -> tuple[date, date]:
    before = found["day"].lower() in {"yesterday", "last night"}
    day = today - timedelta(1 if before else 0)
    return day, day


def _named(found: re.Match[str], today: date) -> tuple[date, date]:
    """Last week and last month are those before this one, and whatever of this one is over: people
    mean either."""
    name, this = found["name"].lower(), found["which"].lower() == "this"
    monday = today - timedelta(today.weekday())
    if name == "week":
        return monday if this else monday - timedelta(7), today
    if name == "weekend":
        saturday = monday + timedelta(5 if this else -2)
        return saturday, saturday + timedelta(1)
    if name == "month":
        first = today.replace(day=1)
        return first if this else (first - timedelta(1)).replace(day=1), today
    if name == "year":
        year = today.year - (0 if this else 1)
        return date(year, 1, 1), date(year, 12, 31)
    if name in _WEEKDAYS:
        back = (today.weekday() - _WEEKDAYS.index(name)) % 7
        day = today - timedelta(back if this else back or 7)
        return day, day
    return _season(_SEASONS[name], today, this=this)


def _season(month: int, today: date, *, this: bool) -> tuple[date, date]:
    """The last that is over; `this`: the last that has begun."""
    for year in range(today.year, today.year - 3, -1):
        begun = date(year, month, 1)
        end = date(year + (month + 3 > 12), (month + 2) % 12 + 1, 1) - timedelta(1)
        if (begun if this else end) <= today:
            return begun, end
    raise OverflowError("There is no such season.")


def _feast(found: re.Match[str], today: date) -> tuple[date, date]:
    """The last one that is not still to come."""
    name = found["feast"].lower()
    for year in (today.year, today.year - 1):
        day = _day_of(name, year)
        if day <= today:
            break
    return day - timedelta(_AROUND), day + timedelta(_AROUND)


def _day_of(feast: str, year: int) -> date:
    if feast.startswith("easter"):
        return _easter(year)
    if feast.startswith("thanks"):
        first = date(year, 11, 1)
        return first + timedelta((3 - first.weekday()) % 7 + 21)
    month, day = _FIXED[feast[:3]]
    return date(year, month, day)


def _easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar (Meeus, Jones and Butcher)."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)
