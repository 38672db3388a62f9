"""Times named in passing, and words that only look like times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefledger.gate.dates import find_when

SAID_AT = int(datetime(2023, 5, 24, 12, tzinfo=UTC).timestamp()) * 1_000_000  # a Wednesday

PAST = [
    ("I visited Rome last May", "last May", "2022-05-01", "2022-06-01", "month"),
    ("in May", "in May", "2023-05-01", "2023-06-01", "month"),
    ("in May next year", "in May next year", "2024-05-01", "2024-06-01", "month"),
    ("in may next year", "in may next year", "2024-05-01", "2024-06-01", "month"),
    ("March last year", "March last year", "2022-03-01", "2022-04-01", "month"),
    ("in late April", "in late April", "2023-04-01", "2023-05-01", "month"),
    ("since January 2021", "January 2021", "2021-01-01", "2021-02-01", "month"),
    ("on March 15th", "March 15th", "2023-03-15", "2023-03-16", "day"),
    ("on 15 March", "15 March", "2023-03-15", "2023-03-16", "day"),
    ("on the 3rd of June", "the 3rd of June", "2022-06-03", "2022-06-04", "day"),
    ("May 5th, 2021", "May 5th, 2021", "2021-05-05", "2021-05-06", "day"),
    ("on 2023-02-11", "2023-02-11", "2023-02-11", "2023-02-12", "day"),
    ("it came on 1/20", "on 1/20", "2023-01-20", "2023-01-21", "day"),
    ("yesterday", "yesterday", "2023-05-23", "2023-05-24", "day"),
    ("the day before yesterday", "the day before yesterday", "2023-05-22", "2023-05-23", "day"),
    ("this morning", "this morning", "2023-05-24", "2023-05-25", "day"),
    ("last Sunday", "last Sunday", "2023-05-21", "2023-05-22", "day"),
    ("on Monday", "on Monday", "2023-05-22", "2023-05-23", "day"),
    ("three days ago", "three days ago", "2023-05-21", "2023-05-22", "day"),
    ("last week", "last week", "2023-05-15", "2023-05-22", "week"),
    ("in the week of March 3", "the week of March 3", "2023-02-27", "2023-03-06", "week"),
    (
        "week of Monday, the 6th of March",
        "week of Monday, the 6th of March",
        "2023-03-06",
        "2023-03-13",
        "week",
    ),
    ("the week of 2022-06-01", "the week of 2022-06-01", "2022-05-30", "2022-06-06", "week"),
    ("about two weeks ago", "about two weeks ago", "2023-05-08", "2023-05-15", "week"),
    ("a couple of months ago", "a couple of months ago", "2023-03-01", "2023-04-01", "month"),
    ("the 15th of last month", "the 15th of last month", "2023-04-15", "2023-04-16", "day"),
    ("last month", "last month", "2023-04-01", "2023-05-01", "month"),
    ("last weekend", "last weekend", "2023-05-20", "2023-05-22", "approximate"),
    ("in 2019", "in 2019", "2019-01-01", "2020-01-01", "approximate"),
    ("last summer", "last summer", "2022-06-01", "2022-09-01", "approximate"),
    ("a year ago", "a year ago", "2022-01-01", "2023-01-01", "approximate"),
    ("a few years ago", "a few years ago", "2017-05-25", "2021-05-24", "approximate"),
]

COMING = [
    ("a dentist appointment on 3 June", "3 June", "2023-06-03", "2023-06-04", "day"),
    ("by Friday", "by Friday", "2023-05-26", "2023-05-27", "day"),
    ("next Tuesday", "next Tuesday", "2023-05-30", "2023-05-31", "day"),
    ("tomorrow", "tomorrow", "2023-05-25", "2023-05-26", "day"),
    ("in two weeks", "in two weeks", "2023-06-05", "2023-06-12", "week"),
    ("in March", "in March", "2024-03-01", "2024-04-01", "month"),
    ("next month", "next month", "2023-06-01", "2023-07-01", "month"),
    ("the week of 5 June", "the week of 5 June", "2023-06-05", "2023-06-12", "week"),
]


@pytest.mark.parametrize(
    ("text", "words", "start", "end", "precision", "future"),
    [(*case, False) for case in PAST] + [(*case, True) for case in COMING],
)
def test_a_time_and_its_range(
    text: str, words: str, start: str, end: str, precision: str, future: bool
) -> None:
    found = find_when(text, SAID_AT, future)
    assert found is not None
    assert found.when.start is not None
    assert found.when.end is not None
    assert (
        text[found.start : found.end], day(found.when.start), day(found.when.end),
        found.when.precision.value,
    ) == (words, start, end, precision)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "coming", "gone"),
    [
        ("until June", "2023-06-01", "2022-06-01"),
        ("by March", "2024-03-01", "2024-03-01"),
        ("until Friday", "2023-05-26", "2023-05-19"),
    ],
)
def test_an_end_is_in_the_past_where_what_ended_is(text: str, coming: str, gone: str) -> None:
    for past, start in ((False, coming), (True, gone)):
        found = find_when(text, SAID_AT, past=past)
        assert found is not None
        assert found.when.start is not None
        assert day(found.when.start) == start


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("We booked a table for June 3", "2023-06-03"),
        ("I reserved the hall for the 3rd of June", "2023-06-03"),
        ("Joana postponed the wedding to September 12", "2023-09-12"),
        ("we've rescheduled the dentist to June 20", "2023-06-20"),
        ("my flight got moved to December 1", "2023-12-01"),
        ("they pushed the launch back to March 3", "2024-03-03"),
        ("she put off the exam until July 1", "2023-07-01"),
        ("I bought tickets for the concert on October 5", "2023-10-05"),
        ("got tickets for August 9", "2023-08-09"),
        ("I signed up for the marathon on November 8", "2023-11-08"),
        ("we were invited to a wedding on June 17", "2023-06-17"),
        # What only happened then, or was done then, did so.
        ("I booked it on March 3", "2023-03-03"),
        ("We moved to Porto in June", "2022-06-01"),
        ("I signed up on April 4", "2023-04-04"),
        ("We moved the sofa on May 2", "2023-05-02"),
        ("I booked a table. It was lovely on June 3", "2022-06-03"),
    ],
)
def test_what_was_arranged_is_ahead(text: str, begins: str) -> None:
    found = find_when(text, SAID_AT)
    assert found is not None
    assert found.when.start is not None
    assert day(found.when.start) == begins


def day(micros: int) -> str:
    moment = datetime.fromtimestamp(micros / 1_000_000, UTC)
    assert (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return moment.date().isoformat()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It may rain",
        "You may second that",
        "They march on",
        "in march order",
        "I work 24/7",
        "I paid $300 for 12 chairs",
        "a 1/48 scale model",
        "half a second",
        "my back hurts",
        "chapter 3",
        "31 February",
        "the sun sat low",
        "2 may be enough",
    ],
)
def test_words_that_are_no_time(text: str) -> None:
    assert find_when(text, SAID_AT) is None


@given(st.text(max_size=200), st.integers(0, 4_000_000_000_000_000), st.booleans())
def test_any_text_can_be_looked_at(text: str, said_at: int, future: bool) -> None:
    found = find_when(text, said_at, future)
    if found is not None:
        assert 0 <= found.start < found.end <= len(text)
        assert found.when.start is not None
        assert found.when.end is not None
        assert found.when.start < found.when.end
