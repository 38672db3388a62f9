"""The names of months and of days, as they are written out."""

from __future__ import annotations

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NAMES = frozenset((*MONTHS, *DAYS))
_SHORTEST = 3


def day_named(word: str) -> str:
    """The day that a word is short for, "tues" and "Tuesdays", else the word in lower case."""
    low = word.lower()
    short = low.removesuffix("s")
    return next((day for day in DAYS if len(short) >= _SHORTEST and day.startswith(short)), low)
