"""The formula and its calibration, in integers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefledger.gate.confidence import Confidence, calibrated, repetition, score
from beliefledger.gate.policy import default_policy, load
from beliefledger.ledger.errors import PolicyInvalid

KNOTS = ((400_000, 200_000), (600_000, 200_000), (800_000, 900_000))


def test_repetition_is_worth_a_quarter_each_up_to_the_fifth_mention():
    assert [repetition(mentions) for mentions in range(8)] == [
        0, 0, 250_000, 500_000, 750_000, 1_000_000, 1_000_000, 1_000_000,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mentions", "cap", "r", "base", "c"),
    [
        (1, None, 0, 550_000, 550_000),
        (3, None, 500_000, 550_000, 650_000),
        (9, None, 1_000_000, 550_000, 750_000),
        (3, 600_000, 500_000, 550_000, 600_000),
        (3, 300_000, 500_000, 300_000, 300_000),
        (3, 0, 500_000, 0, 0),
    ],
)
def test_a_score_weighs_source_repetition_extractor_and_type(mentions, cap, r, base, c):
    scored = score(800_000, 600_000, 400_000, mentions, cap)
    assert scored == Confidence(800_000, r, 600_000, 400_000, base, c)


def test_a_score_is_rounded_down_and_never_more_than_one():
    assert score(1, 0, 0, 1).c == 0
    assert score(3, 0, 0, 1).c == 1
    full = score(1_000_000, 1_000_000, 1_000_000, 5)
    assert (full.base, full.c) == (800_000, 1_000_000)


def test_between_knots_it_is_rounded_down():
    knots = ((100, 10), (107, 20))
    assert [calibrated(at, knots) for at in range(99, 109)] == [
        10, 10, 11, 12, 14, 15, 17, 18, 20, 20,
    ]  # fmt: skip
    assert calibrated(9, knots) == 9


def test_without_knots_nothing_is_mapped():
    assert calibrated(123_456, ()) == 123_456


@pytest.mark.parametrize(
    ("stated", "observed"),
    [
        (0, 0),
        (150_000, 150_000),
        (300_000, 200_000),
        (400_000, 200_000),
        (500_000, 200_000),
        (700_000, 550_000),
        (800_000, 900_000),
        (1_000_000, 900_000),
    ],
)
def test_it_is_straight_between_knots_and_flat_outside(stated, observed):
    assert calibrated(stated, KNOTS) == observed


MILLIONTHS = st.integers(0, 1_000_000)


@given(
    st.lists(MILLIONTHS, min_size=2, max_size=8, unique=True).flatmap(
        lambda xs: st.tuples(
            st.just(sorted(xs)), st.lists(MILLIONTHS, min_size=len(xs), max_size=len(xs))
        )
    ),
    MILLIONTHS,
    MILLIONTHS,
)
def test_it_never_falls_and_lifts_nothing_out_of_what_was_observed(pairs, one, other):
    xs, ys = pairs
    knots = tuple(zip(xs, sorted(ys), strict=True))
    low, high = sorted((one, other))
    assert calibrated(low, knots) <= calibrated(high, knots) <= max(ys)
    if low < knots[0][0]:
        assert calibrated(low, knots) == min(low, *ys)
    else:
        assert min(ys) <= calibrated(low, knots)


def test_a_map_of_sure_statements_that_were_all_right_lifts_no_weak_one():
    knots = ((650_000, 970_000), (800_000, 970_000))
    assert score(900_000, 900_000, 200_000, 1, None, knots).c == 970_000
    assistants = score(300_000, 900_000, 150_000, 1, None, knots)  # below the threshold without
    assert assistants.c == assistants.base == 375_000


def test_a_score_is_mapped_before_it_is_capped():
    plain = score(900_000, 900_000, 200_000, 1)
    assert plain.c == plain.base == 650_000
    mapped = score(900_000, 900_000, 200_000, 1, None, KNOTS)
    assert mapped.c == mapped.base == 375_000
    assert (mapped.s, mapped.e, mapped.t) == (plain.s, plain.e, plain.t)
    assert score(900_000, 900_000, 200_000, 1, 300_000, KNOTS).c == 300_000


def test_a_policy_without_a_calibration_says_nothing_of_one():
    policy = default_policy()
    assert "calibration" not in policy.model_dump(mode="json")
    assert load({"calibration": []}).digest() == policy.digest()
    mapped = load({"calibration": [[0.5, 0.4], [0.8, 0.9]]})
    assert mapped.digest() != policy.digest()
    assert mapped.knots == ((500_000, 400_000), (800_000, 900_000))
    assert load(mapped.model_dump(mode="json")) == mapped


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        ([[0.5, 0.4]], "two pairs"),
        ([[0.5, 0.4], [0.5, 0.6]], "must rise"),
        ([[0.5, 0.6], [0.7, 0.4]], "never fall"),
        ([[0.5, 0.6], [0.7, 1.4]], r"calibration\.1\.1"),
        ([[0.5]], "calibration"),
    ],
)
def test_a_calibration_that_is_no_map_is_refused(pairs, why):
    with pytest.raises(PolicyInvalid, match=why):
        load({"calibration": pairs})
