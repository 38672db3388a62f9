"""The lexical index scores as the formula of BM25+ says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefledger.projections import lexical
from beliefledger.projections.lexical import Lexical

texts = st.lists(st.lists(st.sampled_from("abcdef"), max_size=12), max_size=12)
queries = st.lists(st.sampled_from("abcdefz"), max_size=5, unique=True)


def built(all_texts, **given_):
    index = Lexical(**given_)
    for number, each in enumerate(all_texts):
        assert index.add(each) == number
    return index


def reference(all_texts, query, mask, b):
    """BM25+ by its formula, of the texts that the mask leaves."""
    left = [text for text, there in zip(all_texts, mask, strict=True) if there]
    average = max(1.0, sum(map(len, left)) / len(left)) if left else 1.0
    scores = []
    for text, there in zip(all_texts, mask, strict=True):
        score = 0.0
        for term in query:
            times = text.count(term)
            if not there or not times:
                continue
            having = sum(term in each for each in left)
            idf = math.log(1 + (len(left) - having + 0.5) / (having + 0.5))
            long = lexical.K1 * (1 - b + b * len(text) / average)
            score += idf * (lexical.DELTA + times * (lexical.K1 + 1) / (times + long))
        scores.append(score)
    return scores


@given(texts, queries, st.data(), st.sampled_from([0.0, lexical.B, 1.0]))
def test_scores_are_those_of_the_formula(all_texts, query, data, b):
    size = len(all_texts)
    mask = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    scores = built(all_texts, b=b).scores(query, np.array(mask, np.bool_))
    assert scores.dtype == np.float32
    assert np.allclose(scores, reference(all_texts, query, mask, b), rtol=1e-4)


@given(texts, texts, queries)
def test_what_the_mask_leaves_out_changes_no_score(seen, hidden, query):
    alone = built(seen).scores(query, np.ones(len(seen), np.bool_))
    index = built([*hidden, *seen])
    mask = np.arange(len(index)) >= len(hidden)
    scores = index.scores(query, mask)
    assert np.array_equal(scores[mask], alone)
    assert not scores[~mask].any()
    assert len(index) == len(mask)


@given(texts, texts, queries)
def test_texts_may_be_added_after_a_search(first, more, query):
    index = built(first)
    index.scores(query, np.ones(len(first), np.bool_))
    for each in more:
        index.add(each)
    every = np.ones(len(first) + len(more), np.bool_)
    assert np.array_equal(index.scores(query, every), built([*first, *more]).scores(query, every))


def test_rarer_terms_and_shorter_texts_count_more():
    index = built([["a", "b"], ["a", "c"], ["a"], ["a", "d", "d", "d", "d", "d"]])
    every = np.ones(4, np.bool_)
    rare, common = index.scores(["b"], every), index.scores(["a"], every)
    assert rare[0] > common[0] > 0
    assert common[2] > common[0] > common[3]
    assert list(np.flatnonzero(rare)) == [0]


def test_nothing_is_found_in_nothing():
    assert Lexical().scores(["a"], np.ones(0, np.bool_)).shape == (0,)
    index = built([["a"], []])
    assert not index.scores(["a"], np.zeros(2, np.bool_)).any()
    assert not index.scores([], np.ones(2, np.bool_)).any()
    assert index.parts(["a"], np.array([False, True])) == []


def test_the_constants_are_those_of_the_version():
    """Another constant is another ranking: it needs another version."""
    assert (lexical.VERSION, lexical.K1, lexical.B, lexical.DELTA) == ("bm25+/1", 1.2, 0.4, 1.0)


def test_a_score_worked_out_by_hand():
    """Two of three texts have the term, once among two and twice among four; on average 3."""
    index = built([["a", "x"], ["a", "a", "y", "y"], ["z", "z", "z"]])
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    first = idf * (1 + 1 * 2.2 / (1 + 1.2 * (0.6 + 0.4 * 2 / 3)))
    second = idf * (1 + 2 * 2.2 / (2 + 1.2 * (0.6 + 0.4 * 4 / 3)))
    every = np.ones(3, np.bool_)
    assert np.allclose(index.scores(["a"], every), [first, second, 0], rtol=1e-6)
    [part] = index.parts(["nowhere", "a"], every)
    assert (list(part.texts), part.idf, part.values.dtype) == ([0, 1], idf, np.float32)


def test_texts_of_less_than_a_word_on_average_count_as_of_one():
    index = built([["a"], [], [], []])
    idf = math.log(1 + (4 - 1 + 0.5) / (1 + 0.5))
    assert np.allclose(index.scores(["a"], np.ones(4, np.bool_))[0], idf * 2, rtol=1e-6)


def test_scores_of_several_terms_add_up():
    index = built([["a", "b"], ["b"]])
    every = np.ones(2, np.bool_)
    both = index.scores(["a", "b"], every)
    assert np.array_equal(both, index.scores(["a"], every) + index.scores(["b"], every))
    assert np.array_equal(lexical.added(index.parts(["b", "a"], every), 3)[:2], both)
    assert lexical.added([], 2).dtype == np.float32


def test_the_most_there_is_counts_terms_that_are_nowhere():
    index = built([["a"], ["b"], ["b"]])
    every = np.ones(3, np.bool_)
    parts = index.parts(["a", "b", "z"], every)
    a, b, nowhere = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5), math.log(1 + 3.5 / 0.5)
    assert lexical.most(parts, 3, 3) == pytest.approx(2 * (a + b + nowhere))
    assert lexical.most(parts, 2, 3) == pytest.approx(2 * (a + b))
    assert lexical.most([], 2, 3) == pytest.approx(4 * nowhere)
