"""How scores are put together, and which texts are the best."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefledger.projections import ranking
from beliefledger.projections.ranking import Arm

scores_of = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.5, 1.0, 2.0]), min_size=1, max_size=15)


def arm(scores, weight=1.0, **more):
    return Arm(np.array(scores, np.float32), weight, **more)


@given(scores_of, st.data())
def test_equal_scores_have_equal_ranks(scores, data):
    """Competition ranks: one more than how many score higher; 0 for those that score nothing."""
    some = data.draw(st.lists(st.integers(0, len(scores) - 1), unique=True))
    ranks = arm(scores).ranks(np.array(some, np.int64))
    assert list(ranks) == [
        1 + sum(other > scores[each] for other in scores) if scores[each] else 0 for each in some
    ]


@given(st.integers(1, 12), st.data())
def test_worth_is_each_share_of_the_highest_times_its_weight(size, data):
    many = data.draw(
        st.lists(
            st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=size, max_size=size),
            min_size=1,
            max_size=4,
        )
    )
    weights = [1.0 + number / 2 for number in range(len(many))]
    expected = [
        sum(
            weight * ranking.SCORE * scores[each] / max(scores)
            for scores, weight in zip(many, weights, strict=True)
            if max(scores)
        )
        for each in range(size)
    ]
    arms = [arm(scores, weight) for scores, weight in zip(many, weights, strict=True)]
    assert np.allclose(ranking.worth(arms), expected, rtol=1e-5)


def test_a_stated_top_counts_as_one():
    assert list(ranking.worth([arm([1.0, 2.0], 3.0, top=4.0)])) == [
        0.75 * ranking.SCORE,
        1.5 * ranking.SCORE,
    ]


bounds = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20
)


@given(bounds, st.integers(1, 6))
def test_contenders_are_all_that_can_be_among_the_best(given_, count):
    """Whatever each comes to between its bounds, the best of all are the best of the contenders."""
    least = np.array([each[0] for each in given_], np.float32)
    most = least + np.array([each[1] for each in given_], np.float32)
    true = least + np.minimum(most - least, [each[2] for each in given_])
    kept = ranking.contenders(least, most, count)
    assert (most[kept] > 0).all()
    zeros = np.zeros(len(true), np.int64)
    places = np.arange(len(true))
    every = ranking.best(true, zeros, places, count)
    chosen = ranking.best(true[kept], zeros[kept], places[kept], count)
    assert [int(kept[each]) for each in chosen] == every


@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.sampled_from([5, 6])), max_size=12),
    st.integers(1, 13),
    st.randoms(use_true_random=False),
)
def test_best_are_the_highest_then_the_newest_then_the_first_in_the_log(texts, count, random):
    positions = list(range(len(texts)))
    random.shuffle(positions)
    expected = sorted(
        (each for each in range(len(texts)) if texts[each][0] > 0),
        key=lambda each: (-texts[each][0], -texts[each][1], positions[each]),
    )
    scores = np.array([each[0] for each in texts], np.float64)
    newest = np.array([each[1] for each in texts], np.int64)
    found = ranking.best(scores, newest, np.array(positions, np.int64), count)
    assert found == expected[:count]


def plain_mmr(relevance, vectors, count, diversity):
    """Choose one by one, by the definition; `vectors` has None for what is like nothing."""
    left, chosen = list(range(len(relevance))), []
    while left and len(chosen) < count:

        def worth(each):
            alike = [
                float(vectors[each] @ vectors[other])
                for other in chosen
                if vectors[each] is not None and vectors[other] is not None
            ]
            share = relevance[each] / relevance[0]
            return (1 - diversity) * share - diversity * max([0.0, *alike])

        best = max(left, key=lambda each: (round(worth(each), 5), -each))
        left.remove(best)
        chosen.append(best)
    return chosen


def test_diverse_is_mmr():
    random = np.random.default_rng(7)
    for size in (0, 1, 2, 3, 8, 20):
        for diversity in (0.05, 0.3, 0.77, 1.0):
            relevance = np.sort(random.random(size))[::-1] + 0.01
            known = [each for each in range(size) if random.random() < 0.8]
            vectors = random.normal(size=(size, 4)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            of = [vectors[each] if each in known else None for each in range(size)]
            for count in (1, 2, size + 1):
                chosen = ranking.diverse(relevance, known, vectors[known], count, diversity)
                assert chosen == plain_mmr(relevance, of, count, diversity)


def test_without_vectors_the_order_stays():
    relevance = np.array([3.0, 2.0, 1.0])
    nothing = np.zeros((0, 1), np.float32)
    assert ranking.diverse(relevance, [], nothing, 2, 0.9) == [0, 1]


def test_what_is_like_the_best_comes_later():
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    relevance = np.array([1.0, 0.9, 0.5])
    assert ranking.diverse(relevance, [0, 1, 2], vectors, 3, 0.5) == [0, 2, 1]
    assert ranking.diverse(relevance, [0, 1, 2], vectors, 3, 0.01) == [0, 1, 2]


def test_an_arm_counts_by_its_weight_and_its_highest_score():
    assert (ranking.RRF_K, ranking.SCORE) == (60, 10.0)
    assert arm([0.0, 4.0], 2.0).factor == 5.0
    assert arm([0.0, 4.0], 2.0, top=8.0).factor == 2.5
    assert arm([0.0, 0.0], 2.0).factor == 0.0
    assert arm([], 2.0).factor == 0.0
    assert arm([0.5], 2.0).factor == 40.0
    assert arm([1.0]).ranked is True


def test_worth_adds_up_and_leaves_the_arms_as_they_were():
    one, other = arm([1.0, 2.0], 2.0), arm([4.0, 0.0], 1.0)
    assert list(ranking.worth([one, other])) == [20.0, 20.0]
    assert list(one.scores) == [1.0, 2.0]
    assert ranking.worth(iter([one])).dtype == np.float32
    with pytest.raises(ValueError, match="no arm"):
        ranking.worth([])


def test_contenders_are_no_more_than_need_be():
    least = np.array([5.0, 4.0, 1.0, 0.0, 0.0], np.float32)
    most = np.array([6.0, 4.5, 4.0, 3.9, 0.0], np.float32)
    assert list(ranking.contenders(least, most, 2)) == [0, 1, 2]
    assert list(ranking.contenders(least, most, 1)) == [0]
    assert list(ranking.contenders(least, most, 4)) == [0, 1, 2, 3]
    assert list(ranking.contenders(least, most, 9)) == [0, 1, 2, 3]


def test_with_none_there_is_nothing_to_choose():
    nothing = np.zeros((0, 1), np.float32)
    assert ranking.diverse(np.zeros(0), [], nothing, 3, 0.5) == []
    assert ranking.diverse(np.array([2.0, 1.0]), [], nothing, 0, 0.5) == []


def test_cosines_tell_more_the_further_the_best_is_above_the_tenth() -> None:
    flat, apart = np.full(20, 0.5, np.float32), np.full(20, 0.2, np.float32)
    apart[3] = 0.5
    assert ranking.telling(flat) == 0
    assert ranking.telling(apart) == pytest.approx(1.5)
    apart[3] = 1.0
    assert ranking.telling(apart) == 2


def test_texts_without_a_vector_tell_nothing() -> None:
    assert ranking.telling(np.full(3, -2, np.float32)) == 0
