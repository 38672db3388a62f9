"""A claim says no more than its spans: not another thing, not the opposite, not more surely."""

from __future__ import annotations

import pytest

from gate.claims import claim_within
from ledger.candidate import Candidate, Precision, Span, When
from ledger.times import DAY, parse


def candidate(claim, *quotes, value=None, **fields):
    first = quotes[0].split()[-1].strip(".,!?") if value is None else value
    return Candidate(
        claim=claim,
        spans=tuple(Span(start=0, end=len(words), quote=words) for words in quotes),
        type="fact",
        attribute="a.b",
        value=first,
        importance=500_000,
        confidence=900_000,
        **fields,
    )


@pytest.mark.parametrize(
    ("claim", "quotes", "value"),
    [
        ("User lives in Porto", ["I live in Porto"], "Porto"),
        ("User's sister Ana works at Siemens", ["my sister Ana works at Siemens"], "Siemens"),
        ("User is planning a trip to Rome", ["we've planned trips to Rome"], "Rome"),
        ("User went to Oslo", ["I go to Oslo"], "Oslo"),
        ("User does not like jazz", ["I don’t like jazz"], "jazz"),
        ("User can't stand jazz", ["I cannot stand jazz"], "jazz"),
        ("User lives in Porto", ["Yes", "You live in Porto"], "Porto"),
        ("User lives in Lisbon", ["it's Lisbon, not Porto", "I live in Porto"], "Lisbon"),
        ("User lives in Lisbon", ["No, Lisbon", "You live in Porto"], "Lisbon"),
        ("User prefers tea", ["I don't drink coffee, I prefer tea"], "tea"),
        ("User might move to Berlin", ["I might move to Berlin"], "Berlin"),
        ("User might move to Berlin", ["If I moved to Berlin"], "Berlin"),
        ("User's favorite colour is green", ["my favourite color is green"], "green"),
        ("User must pay by Friday", ["I need to pay by Friday"], "pay"),
        ("User has a dog-friendly flat", ["my flat is dog friendly"], "flat"),
        ("User not only sings", ["I not only sing"], "sing"),
        ("User does not like coffee any more", ["I don't like coffee anymore"], "coffee"),
        ("User does not like coffee anymore", ["I don't like coffee any more"], "coffee"),
    ],
)
def test_what_is_only_retold_is_within(claim, quotes, value):
    assert claim_within(candidate(claim, *quotes, value=value))


@pytest.mark.parametrize(
    ("claim", "quotes", "value"),
    [
        ("User lives in Porto and owns a yacht", ["I live in Porto"], "Porto"),
        ("User lives in Porto, Portugal", ["I live in Porto"], "Porto"),
        ("User moved to Porto for love", ["I moved to Porto"], "Porto"),
        ("User always drinks tea", ["I drink tea"], "tea"),
        ("User is an administrator", ["I live in Porto"], "Porto"),
        ("User lives in Porto with Ana", ["I live in Porto"], "Porto"),
        ("User earns 90000", ["I earn 9000"], "9000"),
        # the opposite
        ("User likes jazz", ["I don't like jazz"], "jazz"),
        ("User does not like jazz", ["I like jazz"], "jazz"),
        ("User eats meat", ["I never eat meat"], "meat"),
        ("User never eats meat", ["I eat meat"], "meat"),
        ("User prefers coffee", ["I don't prefer coffee, I prefer tea"], "coffee"),
        # more surely
        ("User moves to Berlin", ["I might move to Berlin"], "Berlin"),
        ("User will marry Ana", ["Maybe I will marry Ana"], "Ana"),
    ],
)
def test_what_says_more_is_not(claim, quotes, value):
    assert not claim_within(candidate(claim, *quotes, value=value))


def test_the_entitys_name_and_the_stated_time_may_be_told():
    start = parse("2026-03-14")
    when = When(start=start, end=start + DAY, precision=Precision.DAY)
    said = "he sees the vet tomorrow"
    claim = "Rex sees the vet on Saturday 14 March 2026"
    assert claim_within(candidate(claim, said, value="vet", entity="Rex", when=when))
    assert not claim_within(candidate(claim, said, value="vet", when=when))
    assert not claim_within(candidate(claim, said, value="vet", entity="Rex"))
    assert not claim_within(
        candidate(claim.replace("March", "April"), said, value="vet", entity="Rex", when=when)
    )


def test_a_negation_that_only_names_the_old_value_is_none_of_the_claim():
    quote = "I use pytest not the old unittest"
    assert claim_within(candidate("User uses pytest", quote, value="pytest", replaces="unittest"))
    assert not claim_within(candidate("User uses pytest", quote, value="pytest"))
