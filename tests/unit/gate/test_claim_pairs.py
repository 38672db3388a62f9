"""The pairs of tests/data/claims: true statements are let through, those that say more are not."""

from __future__ import annotations

import pytest

from beliefledger.tools.bench.statements import QUOTED, REFUSED, WRITTEN, verdicts


@pytest.fixture(scope="module")
def tune():
    return verdicts("tune")


def test_true_statements_are_let_through(tune):
    within, _more = tune
    let_through = [each for each in within if each.became != REFUSED]
    assert len(let_through) >= 0.97 * len(within), [e for e in within if e.became == REFUSED]
    assert sum(each.became == WRITTEN for each in within) >= 0.75 * len(within)


def test_nothing_that_says_more_is_let_through_as_it_is_written(tune):
    _within, more = tune
    assert [each for each in more if each.became == WRITTEN] == []
    # A quotation in its place is only taken where the value itself was said.
    assert sum(each.became == QUOTED for each in more) <= 8


def test_both_halves_are_of_a_size():
    sizes = [tuple(map(len, verdicts(half))) for half in ("tune", "test")]
    assert sum(within for within, _more in sizes) >= 150
    assert sum(more for _within, more in sizes) >= 80
