"""The network of what is meant: its words, its file, and that it counts in whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

from beliefledger.gate.sentence_network import DILATIONS, network, packed, unpacked
from beliefledger.networks import words as network_words
from beliefledger.networks.words import HIGHEST, words

SAID = (
    "I live in Lisbon.",
    "haha yeah I'm basically the king of the 3 mile island",
    "My sister Ana moved to Porto in 2019, and she's a nurse now",
    "qwertyuiopas",
    "?!",
    "word " * 100,
)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I don't like it", ["i", "dont", "like", "it"]),
        ("Ana’s in Lisbon.", ["anas", "in", "^", "lisbon", "."]),
        ("well, I'm here", ["well", ",", "im", "here"]),
        ("at 5pm on 12/03/1999", ["at", "0pm", "on", "00", "/", "00", "/", "0000"]),
        ("we had 1234567 of them", ["we", "had", "0000", "of", "them"]),
        ("", []),
    ],
)
def test_words_are_told_as_the_network_knows_them(sentence, expected):
    assert words(sentence) == expected


def test_it_reads_no_more_than_so_many_words():
    assert len(words("word " * 1000)) == network_words.MOST_WORDS


@pytest.mark.parametrize("sentence", SAID)
def test_it_computes_what_whole_numbers_of_any_size_do(sentence):
    """So no sum was rounded, and its order makes no difference."""
    assert network().log_odds(sentence) == _by_hand(sentence)


def test_an_empty_sentence_has_a_score():
    assert network().log_odds("") == network().log_odds(" ")


def test_its_file_says_all_of_it():
    again = unpacked(packed(network()))
    assert [again.log_odds(each) for each in SAID] == [network().log_odds(each) for each in SAID]


def test_a_plain_statement_is_meant_and_a_joke_is_not():
    statement = network().log_odds("I work as a nurse in Porto")
    joke = network().log_odds("haha sure, and I am the queen of England")
    assert statement > 0 > joke


def _by_hand(sentence: str) -> float:
    told = network()
    places = [told.places.get(word) for word in words(sentence)]
    named = [
        told.places[network_words.unknown(word)] if place is None else place
        for word, place in zip(words(sentence), places, strict=True)
    ]
    rows = [
        [int(each) for each in told.vectors[place]]
        for place in named or [told.places[network_words.UNKNOWN]]
    ]
    for number, (layer, far) in enumerate(zip(told.layers, DILATIONS, strict=True)):
        weights = [[int(each) for each in row] for row in layer.weights]
        nothing = [0] * len(rows[0])
        after = []
        for at in range(len(rows)):
            seen = []
            for near in (at - far, at, at + far):
                seen += rows[near] if 0 <= near < len(rows) else nothing
            used = [(value, row) for value, row in zip(seen, weights, strict=True) if value]
            sums = [
                sum(value * row[out] for value, row in used) + int(layer.bias[out])
                for out in range(len(weights[0]))
            ]
            found = [
                min(max(round(float(each) * float(scale)), 0), HIGHEST)
                for each, scale in zip(sums, layer.scale, strict=True)
            ]
            if number:
                found = [min(HIGHEST, a + b) for a, b in zip(rows[at], found, strict=True)]
            after.append(found)
        rows = after
    sums = [sum(column) for column in zip(*rows, strict=True)]
    highest = [max(column) for column in zip(*rows, strict=True)]
    mean = sum(a * int(b) for a, b in zip(sums, told.of_mean, strict=True)) / len(rows)
    most = sum(a * int(b) for a, b in zip(highest, told.of_most, strict=True))
    return mean * told.units[0] + most * told.units[1] + told.bias


def test_numbers_are_whole():
    told = network()
    for layer in told.layers:
        assert np.array_equal(layer.weights, np.rint(layer.weights))
        assert np.array_equal(layer.bias, np.rint(layer.bias))
