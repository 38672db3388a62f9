"""The whole range that a time means by its precision."""

from __future__ import annotations

import pytest

from beliefledger.ledger.times import parse
from beliefledger.projections.graph import span
from beliefledger.projections.links import relation_name


def at(text):
    return parse(text)


@pytest.mark.parametrize(
    ("precision", "begins", "ends", "wide"),
    [
        ("exact", "2026-02-24T15:00:00Z", None, None),
        ("day", "2026-02-24T15:00:00Z", "2026-02-24T16:00:00Z", ("2026-02-24", "2026-02-25")),
        ("day", "2026-02-24", "2026-02-25", ("2026-02-24", "2026-02-25")),
        ("day", "2026-02-24", None, ("2026-02-24", "2026-02-25")),
        ("week", "2026-02-23", "2026-03-02", ("2026-02-23", "2026-03-02")),
        ("week", "2026-02-25", "2026-02-26", ("2026-02-23", "2026-03-02")),
        ("week", "2026-03-01", None, ("2026-02-23", "2026-03-02")),
        ("week", "1969-12-31", None, ("1969-12-29", "1970-01-05")),
        ("month", "2026-02-10", "2026-02-11", ("2026-02-01", "2026-03-01")),
        ("month", "2025-12-31", "2026-01-01", ("2025-12-01", "2026-01-01")),
        ("month", "2024-02-01", "2024-03-01", ("2024-02-01", "2024-03-01")),
        ("approximate", "2026-02-24", "2026-02-25", ("2026-02-23", "2026-02-26")),
    ],
)
def test_a_time_is_as_wide_as_its_precision(precision, begins, ends, wide):
    found = span(at(begins), ends and at(ends), precision)
    if wide is None:
        assert found == (at(begins), at(begins) + 1)
    else:
        assert found == (at(wide[0]), at(wide[1]))


def test_a_time_that_nobody_knows_has_no_range():
    assert span(None, None, "day") is None
    assert span(at("2026-01-01"), at("2026-01-02"), "unknown") is None


@pytest.mark.parametrize(
    ("attribute", "name"),
    [
        ("relation.reports-to", "reports-to"),
        ("relation.works-with.carla", "works-with"),
        ("relation.mom.name", "mom"),
        ("Reports To", "reports-to"),
        ("mentors", "mentors"),
        ("relation", "relation"),
    ],
)
def test_the_relation_that_an_attribute_names(attribute, name):
    assert relation_name(attribute) == name
