"""What turns pass on to their neighbours, and how much they count."""

from __future__ import annotations

import numpy as np
import pytest

from beliefledger.projections.lexical import Part
from beliefledger.projections.turn_context import (
    BACK,
    ONWARD,
    PASSED_WHOLE,
    in_context,
    of_asked_agents,
    prior,
    shares,
)

BEFORE = np.array([-1, 0, 1], np.int64)
AFTER = np.array([1, 2, -1], np.int64)
EVERYTHING = np.ones(3, np.bool_)


def passed(first: int, *lengths: int) -> list[float]:
    """The scores of three turns one after the other, when one of them has a term worth 1."""
    part = Part(np.array([first], np.int32), np.ones(1, np.float32), 1.0)
    share = shares(np.array(lengths, np.float32))
    return [float(each) for each in in_context([part], BEFORE, AFTER, EVERYTHING, share)]


@pytest.mark.parametrize("role", ["user", "other"])
def test_people_count_the_same(role: str) -> None:
    assert prior(role, 3) == prior("user", 3)


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_agents_count_half(role: str) -> None:
    assert prior(role, 3) == prior("user", 3) / 2


def test_asked_agents_count_as_people_do() -> None:
    priors = np.array([prior("assistant", 3), prior("user", 3)], np.float32)
    asked = of_asked_agents(priors, np.array([True, False]))
    assert asked == pytest.approx([prior("user", 3)] * 2)


def test_short_turns_pass_everything_on() -> None:
    assert passed(0, PASSED_WHOLE, 5, 5) == pytest.approx([1, ONWARD, ONWARD**2])
    assert passed(2, 5, 5, 5) == pytest.approx([BACK**2, BACK, 1])


def test_a_long_turn_passes_on_less() -> None:
    assert passed(0, 4 * PASSED_WHOLE, 5, 5) == pytest.approx([1, ONWARD / 4, ONWARD**2 / 4])


def test_what_goes_through_a_long_turn_gets_less() -> None:
    assert passed(0, 5, 2 * PASSED_WHOLE, 5) == pytest.approx([1, ONWARD, ONWARD**2 / 2])
