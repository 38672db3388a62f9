"""Waiting before another try."""

from __future__ import annotations

from itertools import islice

from beliefledger.ledger import backoff


def test_delays_double_up_to_the_longest():
    assert list(islice(backoff.delays(1, 5, lambda: 0), 5)) == [1, 2, 4, 5, 5]


def test_chance_takes_up_to_a_half_away():
    assert list(islice(backoff.delays(1, 5, lambda: 1), 5)) == [0.5, 1, 2, 2.5, 2.5]
    assert all(2.5 <= each <= 5 for each in islice(backoff.delays(5, 5), 100))


def test_a_first_delay_beyond_the_longest_is_cut():
    assert next(backoff.delays(9, 5, lambda: 0)) == 5
