"""The networks of what is over: their files, and that they count in whole numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from beliefledger.networks.pairs import (
    DILATED,
    OF_SAID,
    OF_TOLD,
    log_odds,
    network,
    packed,
    small,
    unpacked,
)
from beliefledger.networks.words import HIGHEST

PAIRS = (
    ("User lives in Lisbon", "I moved to Porto last week"),
    ("User has 3 dogs, Rex and Milo", "sadly Rex died on 3 May"),
    ("qwertyuiopas", "?!"),
    ("", "sold it"),
    ("word " * 100, "word " * 100),
)


@pytest.fixture(params=[network, small], ids=["larger", "smaller"])
def own(request):
    return request.param()


def _odds(own, told, said):
    return float(own.log_odds([(own.read(told, OF_TOLD), own.read(said, OF_SAID))])[0])


@pytest.mark.parametrize(("told", "said"), PAIRS)
def test_it_computes_what_whole_numbers_of_any_size_do(own, told, said):
    """So no sum was rounded, and its order makes no difference."""
    assert _odds(own, told, said) == pytest.approx(_by_hand(own, told, said), rel=1e-9)


def test_its_file_says_all_of_it(own):
    again = unpacked(packed(own))
    texts = [(own.read(told, OF_TOLD), own.read(said, OF_SAID)) for told, said in PAIRS]
    assert again.log_odds(texts).tolist() == own.log_odds(texts).tolist()


def test_pairs_read_together_have_the_odds_that_they_have_alone(own):
    texts = [(own.read(told, OF_TOLD), own.read(said, OF_SAID)) for told, said in PAIRS]
    assert own.log_odds(texts).tolist() == [_odds(own, told, said) for told, said in PAIRS]
    assert own.log_odds([]).shape == (0,)


def test_of_a_longer_text_as_much_is_read_as_of_its_beginning(own):
    told, said = own.read("word " * 1000, 1000), own.read("sold it", OF_SAID)
    assert own.log_odds([(told, said)])[0] == _odds(own, "word " * 1000, "sold it")


def test_it_reads_no_more_than_so_many_words(own):
    assert len(own.read("word " * 1000, OF_TOLD).places) == OF_TOLD


@pytest.mark.parametrize(
    ("told", "over", "stands"),
    [
        ("User lives in Lisbon", "we moved to Porto last week", "it rains in Lisbon"),
        ("User has a dog", "sadly our dog died", "the dog is asleep on my feet"),
        ("User plays the piano on Sundays", "sold the piano", "the piano is out of tune"),
        ("User's boss is Jens", "Ola took over from Jens", "Jens brought cake today"),
    ],
)
def test_what_changed_is_over_and_what_is_only_mentioned_stands(told, over, stands):
    assert log_odds(told, over) > 0 > log_odds(told, stands)
    assert _odds(small(), told, over) > _odds(small(), told, stands) + 2, "it is less sure"


def test_odds_are_those_of_the_larger_one_unless_another_is_asked():
    told, said = PAIRS[0]
    assert log_odds(told, said) == _odds(network(), told, said)


def _by_hand(own, told, said):
    texts = own.read(told, OF_TOLD), own.read(said, OF_SAID)
    vectors = [[_whole(own.vectors[place]) for place in text.places] for text in texts]
    placed = [[_whole(own.near[place]) for place in text.places] for text in texts]
    same = [[one != 0 and one == other for other in texts[0].stems] for one in texts[1].stems]
    near = [
        [
            _times(one, other) + int(own.same) * both
            for other, both in zip(placed[0], row, strict=True)
        ]
        for one, row in zip(placed[1], same, strict=True)
    ]
    columns = [list(each) for each in zip(*near, strict=True)]
    shared = [[any(each) for each in zip(*same, strict=True)], [any(each) for each in same]]
    seen = []
    for number, rows, mark in ((0, columns, 1), (1, near, 0)):
        marks = _whole(own.marks[mark])
        seen.append(
            [
                [a + both * b for a, b in zip(vector, marks, strict=True)]
                + vectors[1 - number][row.index(max(row))]
                + [max(-HIGHEST, min(HIGHEST, round(max(row) * own.nearness)))]
                for vector, row, both in zip(vectors[number], rows, shared[number], strict=True)
            ]
        )
    layers = own.layers
    first = _more(_handed(_convolved(seen[0], layers.told, 1), layers.told), layers.told_again, 1)
    known = _pooled([first], layers.of_told)
    second = [
        [
            _within((Fraction(total) + int(bias)) * Fraction(scale) + each * Fraction(of_told))
            for total, bias, scale, each, of_told in zip(
                row, layers.said.bias, layers.said.scale, known, layers.of_told.scale, strict=True
            )
        ]
        for row in _convolved(seen[1], layers.said, 1)
    ]
    second = _more(second, layers.said_again, 1)
    second = _more(second, layers.said_wide, DILATED)
    hidden = _handed([_pooled([second, first], layers.hidden)], layers.hidden)[0]
    total = _times(hidden, _whole(layers.out.weights[:, 0])) + int(layers.out.bias[0])
    return float(total * Fraction(layers.out.scale[0]))


def _whole(row):
    return [int(each) for each in row]


def _times(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


def _within(each):
    return max(0, min(HIGHEST, round(each)))


def _convolved(rows, layer, far):
    nothing = [0] * len(rows[0])
    columns = [_whole(each) for each in layer.weights.T]
    told = []
    for at in range(len(rows)):
        places = (at - far, at, at + far)
        seen = [each for p in places for each in (rows[p] if 0 <= p < len(rows) else nothing)]
        told.append([_times(seen, column) for column in columns])
    return told


def _handed(sums, layer):
    return [
        [
            _within((Fraction(total) + int(bias)) * Fraction(scale))
            for total, bias, scale in zip(row, layer.bias, layer.scale, strict=True)
        ]
        for row in sums
    ]


def _more(rows, layer, far):
    further = _handed(_convolved(rows, layer, far), layer)
    return [
        [min(HIGHEST, a + b) for a, b in zip(own, more, strict=True)]
        for own, more in zip(rows, further, strict=True)
    ]


def _pooled(parts, layer):
    found = []
    for rows in parts:
        columns = list(zip(*rows, strict=True))
        found += [Fraction(sum(column), len(rows)) for column in columns]
        found += [Fraction(max(column)) for column in columns]
    return [
        sum(a * int(b) for a, b in zip(found, column, strict=True)) for column in layer.weights.T
    ]
