"""Distilling vectors of words: small, with the real model."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from beliefledger.projections import word_vectors
from beliefledger.projections.embedding import FormerWords, MiniLM, SentenceWords
from beliefledger.tools.bench import distil_words

COUNTS = {
    "the": 9_000_000,
    "coffee": 60_000,
    "tea": 50_000,
    "river": 40_000,
    "boat": 30_000,
    "guitar": 20_000,
    "violin": 10_000,
    "teas": 500,
    "zzyzx": 10,
}
WHOLE = ["coffee", "lake", "piano"]


def _made() -> bytes:
    return distil_words.written(
        *distil_words.distilled(COUNTS, WHOLE, forms=9, most=20, dimension=4)
    )


def test_the_same_bytes_are_made_again_and_forms_of_a_word_are_one():
    content = _made()
    assert _made() == content
    read = word_vectors.unpacked(content)
    stems = ["boat", "coffe", "guitar", "lake", "piano", "river", "tea", "violin", "zzyzx"]
    assert sorted(read.places) == stems, "no stop word"
    assert read.dimension == 4
    drinks, strings, water = read.embed(["tea coffee", "guitar violin", "river boat"])
    tea, violin = read.embed(["teas", "violin"])
    assert tea @ drinks > max(tea @ strings, tea @ water)
    assert violin @ strings > max(violin @ drinks, violin @ water)


def test_what_ships_is_what_the_model_says_of_its_words():
    """Words that are near for the file are near for MiniLM, and the other way round."""
    some = "tea coffee espresso bus train tram doctor nurse guitar violin garden soup".split()
    upper = np.triu_indices(len(some), 1)
    ours, theirs = (each.embed(some) for each in (SentenceWords(), MiniLM()))
    told, known = (ours @ ours.T)[upper], (theirs @ theirs.T)[upper]
    assert np.corrcoef(told, known)[0, 1] > 0.8


def test_sentences_are_read_in_their_order():
    some = ["a boat on the river", "tea"]
    assert np.allclose(distil_words.read(some), MiniLM().embed(some), atol=1e-6)


def test_what_ships_compares_sentences_as_the_model_does():
    """Better than the vectors before them, which were not fitted to any."""
    some = [
        "I moved to Porto in May.", "Where do you live these days?", "We opened a bakery.",
        "My sister plays the cello.", "The train was late again.", "I need a new laptop.",
        "She teaches music at a school.", "Our shop is closed on Mondays.",
    ]  # fmt: skip
    upper = np.triu_indices(len(some), 1)
    near = [(each.embed(some) @ each.embed(some).T)[upper] for each in (SentenceWords(), MiniLM())]
    before = (FormerWords().embed(some) @ FormerWords().embed(some).T)[upper]
    assert np.corrcoef(*near)[0, 1] > np.corrcoef(before, near[1])[0, 1]


def test_another_list_of_words_is_refused(tmp_path, monkeypatch, capsys):
    other = tmp_path / "frequencies.txt"
    other.write_text("the 9\ntea 1\n")
    monkeypatch.setattr(sys, "argv", ["distil_words", str(other), str(other)])
    with pytest.raises(SystemExit):
        distil_words.main()
    assert "SHA-256" in capsys.readouterr().err
    assert distil_words.counted("the 9\ntea 1\n") == {"the": 9, "tea": 1}
