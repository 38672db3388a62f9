"""The dense index: exact cosines, whatever is left out of a search."""

from __future__ import annotations

import threading

import faiss
import numpy as np
import pytest

from beliefledger.projections.dense import FEW, FOUND_AT_MOST, KEPT_IN_NUMPY, NONE, Dense


def unit(random, count, size=16):
    return halved(random.normal(size=(count, size)))


def halved(vectors):
    """Of length 1, as they are kept."""
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float16).astype(np.float32)


@pytest.fixture
def random():
    return np.random.default_rng(5)


def clustered(random, count, centres=12, size=16):
    middle = unit(random, centres, size)
    vectors = middle[random.integers(0, centres, count)] + 0.15 * unit(random, count, size)
    return halved(vectors)


def test_whichever_thread_asks_works_alone(random):
    """OpenMP's own threads wait busily for more to do, and it keeps their number by the caller."""
    vectors, query = unit(random, 50), unit(random, 1)[0]
    index = Dense(16)
    index.add(list(range(50)), vectors)
    before, after = [], []

    def ask():
        before.append(faiss.omp_get_max_threads())
        index.cosines(query, np.ones(50, np.bool_))
        after.append(faiss.omp_get_max_threads())

    thread = threading.Thread(target=ask)
    faiss.omp_set_num_threads(2)  # as it is in a process where nobody said otherwise
    thread.start()
    thread.join()
    assert after == [1], before


def test_cosines_are_exact(random):
    vectors, query = unit(random, 50), unit(random, 1)[0]
    index = Dense(16)
    index.add(list(range(0, 100, 2)), vectors)  # every other text has a vector
    cosines = index.cosines(query, np.ones(100, np.bool_))
    assert np.allclose(cosines[::2], vectors @ query, atol=1e-6)
    assert (cosines[1::2] == NONE).all()
    assert (len(index), index.kind) == (50, "flat/1")


def test_a_mask_leaves_out_and_changes_no_bit_of_the_rest(random):
    vectors, query = unit(random, 77), unit(random, 1)[0]
    index = Dense(16)
    index.add(range(77), vectors)
    whole = index.cosines(query, np.ones(77, np.bool_))
    for _ in range(10):
        mask = random.random(77) < 0.4
        cosines = index.cosines(query, mask)
        assert np.array_equal(cosines[mask], whole[mask])
        assert (cosines[~mask] == NONE).all()
    assert (index.cosines(query, np.zeros(77, np.bool_)) == NONE).all()


def test_when_a_vector_came_changes_no_bit(random):
    vectors, query = unit(random, 40), unit(random, 1)[0]
    whole, bit_by_bit = Dense(16), Dense(16)
    whole.add(range(40), vectors)
    for number in random.permutation(40):
        bit_by_bit.add([int(number)], vectors[number : number + 1])
    mask = np.ones(40, np.bool_)
    assert np.array_equal(whole.cosines(query, mask), bit_by_bit.cosines(query, mask))


def test_opposites_are_found_too():
    index = Dense(2)
    index.add([0, 1], np.array([[1, 0], [-1, 0]], np.float32))
    assert list(index.cosines(np.array([1, 0], np.float32), np.ones(2, np.bool_))) == [1, -1]


@pytest.mark.parametrize("most", [1_000, 100])
def test_vectors_come_back_and_go(random, most):
    vectors = clustered(random, 200)
    index = Dense(16, most_exact=most)
    index.add(range(200), vectors)
    assert np.array_equal(index.vectors([7, 3, 199]), vectors[[7, 3, 199]])
    assert index.remove([3, 4, 5, 5_000]) == 3
    assert len(index) == 197
    cosines = index.cosines(vectors[3], np.ones(200, np.bool_))
    assert (cosines[[3, 4, 5]] == NONE).all()
    assert cosines[7] == pytest.approx(vectors[7] @ vectors[3], abs=1e-6)
    index.add([3], vectors[3:4])
    again = index.cosines(vectors[3], np.ones(200, np.bool_))[3]
    assert again == pytest.approx(vectors[3] @ vectors[3], abs=1e-5)


def test_an_empty_index_knows_nothing():
    index = Dense(4)
    index.add([], np.zeros((0, 4), np.float32))
    assert (index.cosines(np.ones(4, np.float32), np.ones(3, np.bool_)) == NONE).all()
    assert index.remove([1]) == 0
    assert index.exact


def test_past_its_bound_it_looks_only_where_neighbours_lie(random, monkeypatch):
    monkeypatch.setattr("beliefledger.projections.dense._LOOKED_THROUGH", 16)
    vectors = clustered(random, 4_000, centres=60)
    queries = clustered(np.random.default_rng(6), 30, centres=60)
    exact, fast, again = Dense(16), Dense(16, most_exact=2_000), Dense(16, most_exact=2_000)
    for index in (exact, fast, again):
        index.add(range(2_000), vectors[:2_000])
        assert index.exact
        for start in range(2_000, 4_000, 500):
            index.add(range(start, start + 500), vectors[start : start + 500])
        index.remove(range(100))
    assert (exact.kind, fast.kind, len(fast)) == ("flat/1", "ivf/1", 3_900)
    mask = random.random(4_000) < 0.8
    recalls = []
    for query in queries:
        true, found = exact.cosines(query, mask), fast.cosines(query, mask)
        assert np.array_equal(found, again.cosines(query, mask))
        assert (found[~mask] == NONE).all()
        there = found > NONE
        assert np.allclose(found[there], (vectors @ query)[there], atol=1e-5)
        top = set(np.argsort(-true)[:10].tolist())
        recalls.append(len(top & set(np.argsort(-found)[:10].tolist())) / 10)
    assert (found[:100] == NONE).all()
    assert np.mean(recalls) >= 0.9


def test_of_very_many_the_nearest_have_a_cosine(random):
    vectors, query = unit(random, FEW + 1), unit(random, 1)[0]
    index = Dense(16)
    index.add(range(len(vectors)), vectors)
    cosines = index.cosines(query, np.ones(len(vectors), np.bool_))
    nearest = np.argsort(-(vectors @ query))[:FOUND_AT_MOST]
    assert (cosines[nearest] > NONE).sum() >= FOUND_AT_MOST - 1  # of two equal ones either
    assert (cosines > NONE).sum() == FOUND_AT_MOST


def test_where_few_become_many_nothing_else_changes(random):
    """Few are compared in numpy, many by FAISS."""
    vectors, query = unit(random, FEW + 1), unit(random, 1)[0]
    index = Dense(16)
    index.add(range(0, 2 * FEW, 2), vectors[:FEW])
    assert index.remove([8]) == 1
    index.add([8], vectors[4:5])
    mask = random.random(2 * FEW + 2) < 0.5
    few = index.cosines(query, mask)
    index.add([2 * FEW], vectors[FEW:])
    assert index.remove([2 * FEW]) == 1
    many = index.cosines(query, mask)
    assert np.array_equal(few == NONE, many == NONE)
    assert np.allclose(few, many, atol=1e-6)
    assert np.array_equal(index.vectors([8, 0, 6]), vectors[[4, 0, 3]])


@pytest.mark.parametrize("count", [FEW, FEW + 1, KEPT_IN_NUMPY + 1])
def test_all_of_it_comes_back(random, count):
    """In numpy, in numpy as it was kept, and by FAISS."""
    vectors, query = unit(random, count), unit(random, 1)[0]
    index, again = Dense(16), Dense(16)
    index.add(range(5, count + 5), vectors)
    again.restore(index.state())
    mask = np.ones(count + 5, np.bool_)
    assert np.allclose(again.cosines(query, mask), index.cosines(query, mask), atol=1e-6)
    for each in (index, again):
        assert each.remove([7]) == 1
        each.add([2], vectors[:1])
    assert np.allclose(again.cosines(query, mask), index.cosines(query, mask), atol=1e-6)
    assert np.array_equal(again.vectors([2, 9]), vectors[[0, 4]])
    assert np.array_equal(again.state()["vectors"], index.state()["vectors"])


def test_what_was_kept_moves_to_faiss_once_it_is_asked_more(random):
    vectors, query = unit(random, FEW + 5), unit(random, 1)[0]
    index, again = Dense(16), Dense(16)
    index.add(range(FEW + 5), vectors)
    again.restore(index.state())
    again.add([FEW + 5], vectors[:1])
    index.add([FEW + 5], vectors[:1])
    mask = random.random(FEW + 6) < 0.7
    expected = index.cosines(query, mask)
    kinds = []
    for _ in range(12):
        assert np.allclose(again.cosines(query, mask), expected, atol=1e-6)
        kinds.append(type(again._index).__name__)
    assert (kinds[0], kinds[-1]) == ("_InNumpy", "IndexIDMap2")
    assert np.array_equal(again.vectors([3, FEW + 5]), vectors[[3, 0]])
