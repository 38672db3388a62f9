"""Answers as CSV (RFC 4180), for who asks for `text/csv`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

MEDIA = "text/csv"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def wanted(accept: str) -> bool:
    """Whether a client asks for CSV rather than JSON, by the header `Accept`."""
    return weight(accept, MEDIA) > weight(accept, "application/json")


def weight(accept: str, media: str) -> float:
    """How much a client wants a media type, by the header `Accept`: 0 where it is not named."""
    found = 0.0
    for each in accept.split(","):
        kind, *options = (part.strip() for part in each.lower().split(";"))
        said = next((part[2:] for part in options if part.startswith("q=")), "1")
        if kind == media:
            with suppress(ValueError):
                found = float(said)
    return found


def csv_of(columns: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A line of names, then one for each row. What is no text, number or time is JSON in its cell.
    A text that a spreadsheet would take for a formula begins with an apostrophe."""
    written = io.StringIO()
    names = list(columns)
    writer = csv.writer(written)
    writer.writerow(names)
    for row in rows:
        writer.writerow(_cell(row.get(name)) for name in names)
    return written.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        value = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return str(value)
