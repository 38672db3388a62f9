"""Times are integer microseconds since 1970-01-01 UTC, everywhere inside."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated

from beliefledger.ledger.fields import A_TIME

Micros = Annotated[int, A_TIME]
"""Microseconds since 1970-01-01 UTC."""

Clock = Callable[[], Micros]
"""Tells the present time; injected, so that tests and demos can tell it themselves."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND: Micros = 1_000_000
DAY: Micros = 86_400 * SECOND


def system_clock() -> Micros:
    """The machine's wall clock."""
    return time.time_ns() // 1_000


def from_datetime(moment: datetime) -> Micros:
    """Convert exactly; a datetime without a zone is taken as UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(microseconds=1)


def to_datetime(moment: Micros) -> datetime:
    return EPOCH + timedelta(microseconds=moment)


def iso(moment: Micros) -> str:
    """`2026-03-01T09:30:00Z`, with a fraction only where there is one."""
    return to_datetime(moment).isoformat().replace("+00:00", "Z")


def parse(text: str) -> Micros:
    """Read an ISO 8601 date or time; a bare date is its first moment, no zone means UTC.

    Raises `ValueError` naming the text.
    """
    try:
        return from_datetime(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError):
        raise ValueError(
            f"{text!r} is not a time: write 2026-03-01 or 2026-03-01T09:30:00Z"
        ) from None
