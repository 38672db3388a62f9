"""Words typed without an apostrophe are read as if it stood there, where "is" is meant."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from beliefledger.gate.rules import RuleExtractor


class Said(NamedTuple):
    content: str
    turn_id: str = "now"
    role: str = "user"
    said_at: int = 1_700_000_000_000_000


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("dads a taxi driver", "User's dad is a taxi driver"),
        ("my dads a taxi driver", "User's dad is a taxi driver"),
        ("my brothers a plumber in Hull", "User's brother is a plumber in Hull"),
        ("my big sisters a teacher", "User's big sister is a teacher"),
        ("my sons 7", "User's son is 7"),
        ("wifes called Mair", "User's wife is called Mair"),
        ("husbands a chef", "User's husband is a chef"),
    ],
)
def test_somebody_near_is_told_of(said: str, claim: str) -> None:
    assert [each.claim for each in RuleExtractor().extract(Said(said))] == [claim]


@pytest.mark.parametrize(
    "said",
    [
        "my sons 7 toys",
        "my friends are a laugh",
        "mums called me twice",
        "my kids 5 and 7",
        "is my dads a taxi driver?",
        "brothers a band from Leeds",
    ],
)
def test_nobody_is_otherwise(said: str) -> None:
    found = RuleExtractor().extract(Said(said))
    assert not any(each.claim.startswith("User's") for each in found)
