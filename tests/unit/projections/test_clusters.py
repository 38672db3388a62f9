"""Rows of a matrix put together with the first leader that is near enough."""

from __future__ import annotations

import numpy as np
import pytest

from beliefledger.projections import clusters


def unit(rows):
    made = np.asarray(rows, np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def told(found):
    return [each.members for each in found]


def test_each_row_joins_the_first_leader_that_is_near_enough():
    vectors = unit([[1, 0], [0, 1], [1, 0.1], [0.1, 1], [1, 1]])
    found, apart = clusters.greedy(vectors, 0.9)
    assert told(found) == [[0, 2], [1, 3], [4]]
    assert [each.leader for each in found] == [0, 1, 4]
    assert found[0].similarity == pytest.approx(995_037, abs=2)
    assert apart == []


def test_the_first_leader_counts_not_the_nearest():
    vectors = unit([[1, 0], [0.8, 0.6], [0.95, 0.3]])
    found, _ = clusters.greedy(vectors, 0.85)
    assert told(found) == [[0, 2], [1]]


def test_rows_of_different_kinds_or_that_do_not_agree_stay_apart_and_are_told():
    vectors = unit([[1, 0], [1, 0], [1, 0.01], [1, 0.02]])
    found, apart = clusters.greedy(
        vectors, 0.85, kinds=[1, 2, 1, 1], agree=lambda members, row: row != 2 or 0 not in members
    )
    assert told(found) == [[0, 3], [1], [2]]
    assert [(each.row, each.leader) for each in apart] == [(1, 0), (2, 0)]


def test_agreement_is_asked_about_every_member():
    asked = []

    def agree(members, row):
        asked.append((tuple(members), row))
        return True

    clusters.greedy(unit([[1, 0]] * 3), 0.85, agree=agree)
    assert asked == [((0,), 1), ((0, 1), 2)]


@pytest.mark.parametrize("threshold", [0.5, 0.85, 1.0])
def test_blocks_give_what_one_row_after_the_other_gives(threshold, monkeypatch):
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(40, 16))
    vectors = unit(centres[rng.integers(40, size=700)] + rng.normal(size=(700, 16)) * 0.25)
    kinds = rng.integers(2, size=700).tolist()
    monkeypatch.setattr(clusters, "_BLOCK", 37)
    found, _ = clusters.greedy(vectors, threshold, kinds=kinds)
    plain: list[list[int]] = []
    for row in range(700):
        for members in plain:
            near = np.rint(vectors[members[0]] @ vectors[row] * 1e6) >= round(threshold * 1e6)
            if kinds[members[0]] == kinds[row] and near:
                members.append(row)
                break
        else:
            plain.append([row])
    assert told(found) == plain


def test_nothing_is_nothing():
    assert clusters.greedy(np.zeros((0, 384), np.float32), 0.85) == ([], [])
