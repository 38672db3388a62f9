"""Which time a question speaks of."""

from __future__ import annotations

import pytest

from beliefledger.ledger.times import DAY, iso, parse
from beliefledger.projections.question_dates import asked_time

NOW = "2026-11-22T12:00:00Z"  # a Sunday


def days(question: str, now: str = NOW) -> tuple[str, str] | None:
    """The first and the last day."""
    found = asked_time(question, parse(now))
    return None if found is None else (iso(found.start)[:10], iso(found.end - DAY)[:10])


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What did I do yesterday?", "2026-11-21", "2026-11-21"),
        ("What did I cook last night?", "2026-11-21", "2026-11-21"),
        ("Where was I ten days ago?", "2026-11-11", "2026-11-13"),
        ("Whom did I meet a week ago?", "2026-11-12", "2026-11-18"),
        ("What did I buy a couple of months ago?", "2026-09-08", "2026-10-08"),
        ("What did I read in the past three months?", "2026-08-24", "2026-11-22"),
        ("What did I do last weekend?", "2026-11-14", "2026-11-15"),
        ("Which film did I see last Friday?", "2026-11-20", "2026-11-20"),
        ("Where did I run last Sunday?", "2026-11-15", "2026-11-15"),
        ("What did I plan last month?", "2026-10-01", "2026-11-22"),
        ("Where did I go last year?", "2025-01-01", "2025-12-31"),
        ("Where did I go last spring?", "2026-03-01", "2026-05-31"),
        ("What did I knit last winter?", "2025-12-01", "2026-02-28"),
        ("What did I get for Christmas?", "2025-12-22", "2025-12-28"),
        ("Who came to Easter lunch?", "2026-04-02", "2026-04-08"),
        ("What did we cook for Thanksgiving?", "2025-11-24", "2025-11-30"),
    ],
)
def test_times_that_are_told_in_words(question: str, first: str, last: str) -> None:
    assert days(question) == (first, last)


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "How many days ago did I buy the smoker?",
        "What did I write in May 2023?",
        "What do I eat tonight?",
        "What happened 9999 years ago?",
    ],
)
def test_questions_that_tell_no_such_time(question: str) -> None:
    assert days(question) is None


def test_nothing_of_it_is_to_come() -> None:
    assert days("Who was at the Christmas dinner?", "2026-12-25T08:00:00Z") == (
        "2026-12-22",
        "2026-12-25",
    )


@pytest.mark.parametrize(
    ("now", "easter"),
    [("2024-12-01", "2024-03-31"), ("2025-12-01", "2025-04-20"), ("2027-12-01", "2027-03-28")],
)
def test_easter_is_computed(now: str, easter: str) -> None:
    found = asked_time("What did we do at Easter?", parse(now))
    assert found is not None
    assert iso(found.start + 3 * DAY)[:10] == easter
