"""Times are integer microseconds UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from beliefledger.ledger import times


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1970-01-01", 0),
        ("1970-01-01T00:00:00.000001Z", 1),
        ("1969-12-31T23:59:59Z", -1_000_000),
        ("2026-03-01T09:30:00Z", 1_772_357_400_000_000),
        ("2026-03-01T10:30:00+01:00", 1_772_357_400_000_000),
        (" 2026-03-01 09:30 ", 1_772_357_400_000_000),
    ],
)
def test_iso_8601_is_read_to_the_microsecond(text, micros):
    assert times.parse(text) == micros


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "01/03/2026", "2026-02-30"])
def test_what_is_no_time_is_named_with_how_to_write_one(text):
    with pytest.raises(ValueError, match="is not a time: write 2026-03-01"):
        times.parse(text)


@pytest.mark.parametrize("micros", [0, 1, -1, 1_772_357_400_000_000, 253_402_300_799_999_999])
def test_a_time_survives_being_written(micros):
    assert times.parse(times.iso(micros)) == micros
    assert times.from_datetime(times.to_datetime(micros)) == micros


def test_a_whole_second_is_written_without_a_fraction():
    assert times.iso(1_772_357_400_000_000) == "2026-03-01T09:30:00Z"
    assert times.iso(1_772_357_400_000_001) == "2026-03-01T09:30:00.000001Z"


def test_a_datetime_is_utc_unless_it_says_otherwise():
    noon = datetime(2026, 3, 1, 12)  # noqa: DTZ001  without a zone, on purpose
    assert times.from_datetime(noon) == times.from_datetime(noon.replace(tzinfo=UTC))
    east = noon.replace(tzinfo=timezone(timedelta(hours=2)))
    assert times.from_datetime(noon) - times.from_datetime(east) == 2 * 3600 * times.SECOND


def test_the_system_clock_tells_microseconds():
    before = datetime.now(UTC)
    now = times.to_datetime(times.system_clock())
    assert before.replace(microsecond=0) <= now <= datetime.now(UTC) + timedelta(seconds=1)
