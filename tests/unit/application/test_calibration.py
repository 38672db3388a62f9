"""The figures of a calibration, from their formulas."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beliefledger.audit.calibration import brier, ece, isotonic, reliability, simplified, wilson
from beliefledger.gate.confidence import calibrated

MILLIONTHS = st.integers(0, 1_000_000)
PAIRS = st.lists(st.tuples(MILLIONTHS, st.booleans()), min_size=2, max_size=60)


def test_bins_are_ten_of_equal_width_and_one_belongs_to_the_last():
    pairs = [(0, False), (99_999, True), (100_000, True), (1_000_000, True), (900_000, False)]
    told = [(each.low, each.count, each.observed) for each in reliability(pairs)]
    assert told == [(0.0, 2, 0.5), (0.1, 1, 1.0), (0.9, 2, 0.5)]


@pytest.mark.parametrize(
    ("right", "of", "interval"),
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
    [
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_the_interval_is_the_published_one(right, of, interval):
    assert wilson(right, of) == pytest.approx(interval, abs=5e-5)


def test_brier_and_ece():
    pairs = [(800_000, True), (800_000, False), (300_000, False)]
    assert brier(pairs) == pytest.approx((0.04 + 0.64 + 0.09) / 3, abs=1e-4)
    assert ece(pairs) == pytest.approx((2 * 0.3 + 1 * 0.3) / 3, abs=1e-4)
    assert (brier([]), ece([])) == (None, None)
    assert (brier([(1_000_000, True)]), ece([(1_000_000, True)])) == (0, 0)


@settings(deadline=None)  # the first one imports scikit-learn
@given(PAIRS)
def test_a_map_never_falls_and_never_says_quite_0_or_1(pairs):
    knots = isotonic(pairs)
    edge = round(1_000_000 / (len(pairs) + 2))
    assert len(knots) <= 8
    assert [x for x, _ in knots] == sorted({x for x, _ in knots})
    assert [y for _, y in knots] == sorted(y for _, y in knots)
    assert all(edge - 1 <= y <= 1_000_001 - edge for _, y in knots)


def test_pairs_that_fall_are_pooled():
    pairs = [(400_000, True), (600_000, False)] * 20
    assert {y for _, y in isotonic(pairs)} == {500_000}


def test_simplifying_keeps_the_ends_and_drops_what_changes_least():
    knots = [(0, 0), (100_000, 1), (200_000, 2), (300_000, 500_000), (1_000_000, 900_000)]
    stated = [50_000, 150_000, 250_000, 600_000]
    assert simplified(knots, stated, most=4) == (knots[0], knots[2], knots[3], knots[4])
    assert simplified(knots, stated, most=2) == (knots[0], knots[4])
    assert simplified(knots, stated, most=9) == tuple(knots)
    assert calibrated(150_000, simplified(knots, stated, most=4)) == 1
