"""A claim is kept once, in the slot that has a meaning of its own."""

from __future__ import annotations

import pytest

TOLD = [
    ("I have 5 exams this term", "has.exam"),
    ("we have 22 guests coming on sunday", "has.guest"),
    ("my budget is 400", "finance.budget"),
    ("my gp is Dr Shaw", "care.doctor"),
    ("my bank is Monzo now", "finance.bank"),
]
CALLED_OUT = [
    ("I live in Leeds eek", "Leeds"),
    ("i got a new job at Lidl yay", "Lidl"),
    ("my rent is 900 ugh", "900"),
    ("my dog is called Rex awww", "Rex"),
]


@pytest.mark.parametrize(("said", "attribute"), TOLD)
def test_a_claim_has_one_slot(somebody, said, attribute):
    somebody.remember(said)
    assert [each.attribute for each in somebody.beliefs()] == [attribute]


@pytest.mark.parametrize(("said", "value"), CALLED_OUT)
def test_what_is_called_out_is_no_part_of_a_value(somebody, said, value):
    somebody.remember(said)
    assert [each.value for each in somebody.beliefs()] == [value]
