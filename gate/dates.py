"""Times that people name in passing: "last May", "3 June", "two weeks ago", "in 2019".

A small scan isolates the phrase; calendar dates are then read by `dateparser`, which knows many
spellings. Weeks, weekdays and distances are worked out here, because their meaning as a *range* is
what a memory needs. All times are microseconds since 1970-01-01 UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from beliefledger.gate.calendar_names import DAYS, MONTHS
from beliefledger.gate.literals import Guarded, lowered
from beliefledger.ledger.candidate import Precision, When
from beliefledger.ledger.late_patterns import compile_later

MICRO = 1_000_000


class FoundDate(NamedTuple):
    """A time and the code point offsets [start, end) of the words that name it."""

    when: When
    start: int
    end: int


_SHORT = "jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
TOMORROW = ("tomorrow", "tmrw", "tmr", "tmrrw", "tomoz", "2moro")
"""How people write it."""
_WEEKDAY = rf"{'|'.join(DAYS)}|mon|tues?|weds?|thurs?|fri|sat"
_MONTH = rf"(?:{'|'.join(MONTHS)}|(?:{_SHORT})\b\.?)"
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:19|20)\d\d"
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "a couple of": 2, "couple": 2,
    "a couple": 2,
}  # fmt: skip
_COUNT = (
    r"\d{1,3}|a\s+couple(?:\s+of)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|"
    r"twelve"
)

# Named groups say which rule reads the phrase; the first alternative that fits wins.
_PHRASE = compile_later(
    rf"""
    (?P<week_of>\b(?:the\s+)?week\s+(?:of|beginning|commencing|starting)\s+(?:on\s+)?
        (?:(?:{_WEEKDAY}),?\s+)?(?:the\s+)?(?:{_YEAR}-\d\d-\d\d\b
        |{_MONTH}\s+(?:the\s+)?{_ORDINAL}\b(?:,?\s+{_YEAR}\b)?
        |{_ORDINAL}\s+(?:of\s+)?{_MONTH}\b(?:,?\s+{_YEAR}\b)?))
    |(?P<iso>\b{_YEAR}-\d\d-\d\d\b)
    |(?P<slash>(?:\b(?:on|by|since|from|until|before|after|around)\s+(?:the\s+)?(?!24/7)(?:0?[1-9]|1[0-2])/
        (?:0?[1-9]|[12]\d|3[01])|(?<![\d/$])(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12]\d|3[01])/(?:{_YEAR}|\d\d))
        (?!\d|/|\s*(?:of|cups?|scale|inch)))
    |(?P<of_last>\b(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)\s+of\s+(?:last|this|next)\s+month\b)
    |(?P<month_day>\b{_MONTH}\s+(?:the\s+)?{_ORDINAL}\b(?!\s*(?:%|percent))(?:,?\s+{_YEAR}\b)?)
    |(?P<day_month>\b(?:the\s+)?{_ORDINAL}\s+(?:of\s+)?{_MONTH}\b(?:,?\s+{_YEAR}\b)?)
    |(?P<month_year>\b(?:(?:early|mid|late)[-\s]+)?{_MONTH},?\s+(?:of\s+)?{_YEAR}\b)
    |(?P<month_of>\b(?:(?:in|since|by|until|from|before|after|around)\s+)?{_MONTH}\s+
        (?:last|this|next)\s+year\b)
    |(?P<rel_month>\b(?:last|this|next|this\s+past|this\s+coming)\s+{_MONTH}(?!\w))
    |(?P<ago>\b(?:about\s+|around\s+|almost\s+|over\s+|exactly\s+)?(?:{_COUNT})\s+
        (?:minutes?|hours?|days?|weeks?|months?|years?|decades?)\s+(?:ago|back|earlier)\b)
    |(?P<some_ago>\b(?:a\s+few|several|some|many|a\s+while|(?:a\s+)?long\s+time)
        (?:\s*(?:minutes?|hours?|days?|weeks?|months?|years?|decades?))?\s+(?:ago|back)\b)
    |(?P<in_future>\bin\s+(?:about\s+)?(?:{_COUNT})\s+(?:days?|weeks?|months?|years?)(?:\s+time)?\b
        (?!\s+(?:of|and|or|when|with)\b))
    |(?P<unit>\b(?:last|this|next|this\s+past|this\s+coming|the\s+past)\s+
        (?:week(?:end)?|month|year|spring|summer|fall|autumn|winter|night|evening|
        (?:{_WEEKDAY})\b))
    |(?P<word>\b(?:the\s+day\s+before\s+yesterday|the\s+day\s+after\s+tomorrow|yesterday|
        {"|".join(TOMORROW)}|today|tonight|this\s+(?:morning|afternoon|evening))\b)
    |(?P<weekday>\b(?:on|by|until|till|til|before|since|this|from)\s+(?:{_WEEKDAY})(?!\w)
        (?!\s+(?:(?:and|&|or)\s+\w+day\s+)?(?:mornings|afternoons|evenings|nights|lunchtimes)\b))
    |(?P<in_month>\b(?:in|since|during|by|until|till|til|from|before|after|around)\s+(?:early\s+|mid[-\s]+|
        late\s+|the\s+(?:beginning|end|middle)\s+of\s+)?{_MONTH}(?!\w)(?!\s+\d))
    |(?P<year>\b(?:in|since|during|around|by|until|from|back\s+in|early|late|before|after)\s+
        (?:the\s+(?:summer|fall|autumn|winter|spring)\s+of\s+)?{_YEAR}\b(?!\s*(?:%|dollars|usd|people|steps|words)))
    """,
    re.I | re.X,
)
# Cheap looks before the costly one: for words of time, and for what tells of it beside a digit.
_HINT = Guarded(
    rf"yesterday|tomorrow|\btmr|tomoz|2moro|today|tonight|\bweds\b|\btues\b|\bthurs\b|\bago\b|\bback\b|\blast\b|\bnext\b|\bthis\b|past|"
    rf"{_MONTH[3:-1]}|day\b|\bin an?\b|couple|\bin (?:one|two|three|four|five|six)",
    re.I,
)
_DIGIT = compile_later(r"\d")
_BESIDE_DIGITS = compile_later(
    rf"{_YEAR}|\d/\d|\bearlier\b|\bin\s|\b(?:mon|tues?|wed|thurs?|fri|sat)\b", re.I
)
_ARRANGED = compile_later(
    r"\b(?:(?:postponed|rescheduled|moved|pushed|delayed|deferred|shifted|put\s+off|brought\s+forward)"
    r"\b[^.!?\n]{0,60}?\b(?:to|till|until)"
    r"|(?:booked|reserved|scheduled|rescheduled|arranged|planned|set\s+up|fixed)\b[^.!?\n]{0,60}?\bfor"
    r"|tickets\b[^.!?\n]{0,60}?\b(?:for|on)"
    r"|(?:signed\s+up|registered|enrolled|invited)\s+(?:for|to|in)\b[^.!?\n]{1,60}?\bon)"
    r"(?:\s+the)?\s*$",
    re.I,
)
"""What ends before a date that lies ahead, though the verb is a past one."""
_SHORT_DAYS = frozenset({"tues", "weds", "thurs"})
"""Short names of days that are no other word."""
_AMBIGUOUS = frozenset({"may", "march", "mar", "sat", "sun", "fri", "wed", "mon", "sept", "dec"})


def find_when(
    text: str, said_at: int, future: bool = False, *, past: bool = False
) -> FoundDate | None:
    """The first time that `text` names, read as said at `said_at`, or None.

    A month or weekday without a year is the nearest past one; the coming one when `future`, or when
    the words before it arrange something ("booked a table for June 3"). "By May" is the coming one,
    and "until May" unless what lasted till then is `past`.
    A "may" or "march" that is an ordinary word is not a month: it needs a preposition, a day, a
    year or "last" beside it, and a capital letter.
    """
    hinted = _HINT.search(text, lowered(text)) is not None
    if not hinted and not (_DIGIT.search(text) and _BESIDE_DIGITS.search(text)):
        return None
    for match in _PHRASE.finditer(text):
        kind = match.lastgroup or ""
        phrase = match.group()
        if not _is_time(kind, phrase):
            continue
        ahead = future or _ARRANGED.search(text, 0, match.start()) is not None
        when = _read(
            kind, " ".join(phrase.lower().split()), said_at // (86400 * MICRO), ahead, past
        )
        if when is not None:
            return FoundDate(when, match.start(), match.end())
    return None


def _is_time(kind: str, phrase: str) -> bool:
    """Whether words such as May or March are meant as times here."""
    if kind in ("month_day", "day_month", "in_month", "rel_month", "month_of"):
        for word in re.findall(r"[A-Za-z]+", phrase):
            if word.lower() in _AMBIGUOUS:
                sure = kind == "rel_month" or (kind == "month_of" and phrase.count(" ") > _IN_MAY)
                return word[0].isupper() or sure
    if kind == "weekday":
        word = phrase.rsplit(maxsplit=1)[-1]
        return word[0].isupper() or word.lower() in DAYS or word.lower() in _SHORT_DAYS
    return True


@lru_cache(maxsize=2048)
def _read(kind: str, phrase: str, today: int, future: bool, past: bool = False) -> When | None:
    """The range of a phrase said on day number `today` since 1970."""
    base = datetime.fromtimestamp(today * 86400, UTC)
    first, *rest = phrase.split(" ", 1)
    phrase = " ".join([_SHORTHAND.get(first, first), *rest])
    if kind == "word":
        return _word(phrase, base)
    if kind in ("ago", "in_future"):
        return _distance(phrase, base)
    if kind == "some_ago":
        return _vague(phrase, base)
    if kind == "unit":
        return _unit(phrase, base)
    if kind == "weekday":
        day = _weekday_number(phrase.rsplit(maxsplit=1)[-1])
        back = (base.weekday() - day) % 7 or 7
        ahead = (day - base.weekday()) % 7 or 7
        first = phrase.split(maxsplit=1)[0]
        open_ended = first in ("by", "this", "before") or (first == "until" and not past)
        ahead_meant = future or open_ended
        return _days(base + timedelta(days=ahead if ahead_meant else -back), 1, Precision.DAY)
    if kind in ("in_month", "rel_month"):
        return _month_named(phrase, base, future, past)
    if kind == "month_of":  # "May next year"
        *_, month, which, _ = phrase.split()
        return _month(base.year + _YEARS[which.lower()], _month_number(month) or 1)
    if kind == "week_of":
        return _week_of(phrase, today, future)
    if kind == "year":
        year = int(phrase[-4:])
        return _range(_day(year, 1, 1), _day(year + 1, 1, 1), Precision.APPROXIMATE)
    if kind == "of_last":
        return _day_of_month(phrase, base)
    return _calendar(kind, phrase, base, future)


_IN_MAY = 2
"""Spaces in "may next year": with one more, a month is meant."""
_SHORTHAND = {"til": "until", "till": "until"} | dict.fromkeys(TOMORROW, "tomorrow")
_YEARS = {"last": -1, "this": 0, "next": 1}


def _week_of(phrase: str, today: int, future: bool) -> When | None:
    """The week, from its Monday, of the date in "the week of March 3"."""
    date = _PHRASE.search(phrase, phrase.index("week") + 4)
    day = date and _read(date.lastgroup or "", date.group(), today, future)
    if not day or day.start is None:
        return None
    return _days(_monday(datetime.fromtimestamp(day.start // MICRO, UTC)), 7, Precision.WEEK)


def _calendar(kind: str, phrase: str, base: datetime, future: bool) -> When | None:
    """A date with a month, as dateparser reads it; the year, if missing, is the nearest."""
    clean = re.sub(
        r"\b(?:early|mid|late|the|of|on|by|since|from|until|before|after|around)\b[-\s]*",
        "",
        phrase,
    )
    clean = re.sub(r"\bsept\b", "sep", clean)
    import dateparser  # noqa: PLC0415  (who reads no date need not wait for it)

    parsed = dateparser.parse(
        clean,
        languages=["en"],
        settings={
            "RELATIVE_BASE": base.replace(tzinfo=None),
            "TIMEZONE": "UTC",
            "DATE_ORDER": "MDY",
            "PREFER_DAY_OF_MONTH": "first",
            "PREFER_DATES_FROM": "future" if future else "past",
            "PARSERS": ["absolute-time"],
        },
    )
    if parsed is None:
        return None
    day = parsed.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=UTC)
    if kind == "month_year":
        return _month(day.year, day.month)
    if not future and day > base and not re.search(r"\d{4}", clean):
        return None if (day.month, day.day) == (2, 29) else _at(day.replace(year=day.year - 1))
    return _at(day)


def _at(day: datetime) -> When:
    return _days(day, 1, Precision.DAY)


def _word(phrase: str, base: datetime) -> When:
    shift = {"yesterday": -1, "tomorrow": 1}.get(phrase, 0)
    if phrase.startswith("the day"):
        shift = -2 if "before" in phrase else 2
    return _days(base + timedelta(days=shift), 1, Precision.DAY)


def _distance(phrase: str, base: datetime) -> When | None:
    """ "Two weeks ago" is that week, "three days ago" that day, "a year ago" about that month."""
    match = re.search(rf"({_COUNT})\s+(minute|hour|day|week|month|year|decade)", phrase)
    if match is None:
        return None
    counted = match.group(1)
    count = int(counted) if counted.isdigit() else _COUNTS[counted]
    sign = 1 if phrase.startswith("in ") else -1
    unit = match.group(2)
    if unit in ("minute", "hour"):
        return _days(base, 1, Precision.DAY)
    if unit == "day":
        return _days(base + timedelta(days=sign * count), 1, Precision.DAY)
    if unit == "week":
        return _days(_monday(base) + timedelta(weeks=sign * count), 7, Precision.WEEK)
    if unit == "month":
        month = base.year * 12 + base.month - 1 + sign * count
        return _month(month // 12, month % 12 + 1)
    year = base.year + sign * count * (10 if unit == "decade" else 1)
    if not 1000 < year < 9000:
        return None
    return _range(_day(year, 1, 1), _day(year + 1, 1, 1), Precision.APPROXIMATE)


_VAGUE_DAYS = {"day": (2, 7), "week": (14, 42), "month": (60, 210), "year": (730, 2190)}


def _vague(phrase: str, base: datetime) -> When:
    match = re.search(r"(day|week|month|year)", phrase)
    if match is None:
        far, near = 3650 if "long" in phrase else 365, 14
    else:
        near, far = _VAGUE_DAYS[match.group(1)]
    return _range(base - timedelta(days=far), base - timedelta(days=near), Precision.APPROXIMATE)


_SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}


def _unit(phrase: str, base: datetime) -> When:
    """ "Last week" is the Monday-to-Monday before this one; "last Friday" is a day."""
    *lead, unit = phrase.split()
    which = " ".join(lead)
    step = {"last": -1, "the past": -1, "this past": -1, "next": 1, "this coming": 1}.get(which, 0)
    if unit in ("night", "evening"):
        return _days(base + timedelta(days=step), 1, Precision.DAY)
    if unit == "week":
        return _days(_monday(base) + timedelta(weeks=step), 7, Precision.WEEK)
    if unit == "weekend":
        if which == "this coming":
            step = 0
        if step < 0 and base.weekday() >= 5 and which != "last":
            step = 0
        saturday = _monday(base) + timedelta(weeks=step, days=5)
        return _days(saturday, 2, Precision.APPROXIMATE)
    if unit == "month":
        month = base.year * 12 + base.month - 1 + step
        return _month(month // 12, month % 12 + 1)
    if unit == "year":
        year = base.year + step
        return _range(_day(year, 1, 1), _day(year + 1, 1, 1), Precision.APPROXIMATE)
    if unit in _SEASONS:
        first = _SEASONS[unit]
        start = _day(base.year, first, 1)
        if step < 0 or (which == "this" and first == 12):
            while _plus_months(start, 3) > base:
                start = start.replace(year=start.year - 1)
        elif step > 0 and start < base:
            start = start.replace(year=start.year + 1)
        return _range(start, _plus_months(start, 3), Precision.APPROXIMATE)
    day = _weekday_number(unit)
    if step < 0:
        return _at(base - timedelta(days=(base.weekday() - day) % 7 or 7))
    ahead = (day - base.weekday()) % 7
    if which == "next":
        return _at(_monday(base) + timedelta(weeks=1, days=day))
    return _at(base + timedelta(days=ahead))


def _month_named(phrase: str, base: datetime, future: bool, past: bool) -> When | None:
    words = phrase.replace(".", "").replace("-", " ").split()
    number = _month_number(words[-1])
    if number is None:
        return None
    first = words[0]
    year = base.year
    open_ended = first == "by" or (first == "until" and not past)
    if first == "next" or (future and first not in ("last", "since")) or open_ended:
        year += number < base.month or (number == base.month and first == "next")
    elif first == "last" or words[:2] == ["this", "past"]:
        year -= number >= base.month
    elif first != "this":
        year -= number > base.month
    return _month(year, number)


def _month_number(word: str) -> int | None:
    for index, name in enumerate(MONTHS, start=1):
        if name.startswith(word[:3]):
            return index
    return None


def _weekday_number(word: str) -> int:
    return next(i for i, name in enumerate(DAYS) if name.startswith(word[:3]))


def _day_of_month(phrase: str, base: datetime) -> When | None:
    digits = re.search(r"\d+", phrase)
    number = int(digits.group()) if digits else 0
    step = -1 if "last" in phrase else 1 if "next" in phrase else 0
    month = base.year * 12 + base.month - 1 + step
    start = _day(month // 12, month % 12 + 1, 1)
    if not 1 <= number <= (_plus_months(start, 1) - start).days:
        return None
    return _at(start.replace(day=number))


def _monday(day: datetime) -> datetime:
    return day - timedelta(days=day.weekday())


def _day(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


def _plus_months(day: datetime, count: int) -> datetime:
    month = day.year * 12 + day.month - 1 + count
    return _day(month // 12, month % 12 + 1, 1)


def _month(year: int, month: int) -> When:
    start = _day(year, month, 1)
    return _range(start, _plus_months(start, 1), Precision.MONTH)


def _days(start: datetime, count: int, precision: Precision) -> When:
    return _range(start, start + timedelta(days=count), precision)


def _range(start: datetime, end: datetime, precision: Precision) -> When:
    return When(
        start=int(start.timestamp()) * MICRO, end=int(end.timestamp()) * MICRO, precision=precision
    )


def forget() -> None:
    """Empty the caches, which may hold words of an erased subject."""
    _read.cache_clear()
