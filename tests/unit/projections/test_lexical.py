from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from projections import lexical
from projections.lexical import Lexical

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
