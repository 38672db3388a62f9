"""Vectors of words that are fitted to sentences."""

from __future__ import annotations

import json
import lzma

import numpy as np

from beliefledger.tools.bench import sentence_fit

NAMES = ["boat", "guitar", "piano", "river", "zebra"]
SENTENCES = ["A boat on the river.", "A guitar and a piano.", "The boat.", "The piano."] * 200


def _fitted() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(len(NAMES), 4)).astype(np.float32)
    water, music = np.eye(2, dtype=np.float32)
    told = np.stack([water, music, water, music] * 200)
    return vectors, sentence_fit.fitted(NAMES, vectors, SENTENCES, told)


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_words_of_like_sentences_come_near_and_the_others_stay(monkeypatch):
    monkeypatch.setattr(sentence_fit, "PASSES", 600)
    monkeypatch.setattr(sentence_fit, "RATE", 0.05)
    monkeypatch.setattr(sentence_fit, "HELD", 0.0)
    first, moved = _fitted()
    boat, guitar, piano, river, zebra = moved
    assert _cosine(boat, river) > 0.7
    assert _cosine(guitar, piano) > 0.7
    assert _cosine(boat, piano) < -0.5
    assert np.array_equal(zebra, first[-1]), "no sentence has it"


def test_the_same_vectors_are_made_again():
    assert np.array_equal(_fitted()[1], _fitted()[1])


def test_words_are_held_where_they_were(monkeypatch):
    monkeypatch.setattr(sentence_fit, "PASSES", 200)
    monkeypatch.setattr(sentence_fit, "RATE", 0.02)
    far = []
    for held in (0.0, 100.0):
        monkeypatch.setattr(sentence_fit, "HELD", held)
        first, moved = _fitted()
        far.append(float(np.linalg.norm(moved - first)))
    assert far[1] < far[0] / 4


def test_sentences_leave_out_what_answers_a_question(tmp_path):
    def said(*contents: str) -> list[dict[str, str]]:
        roles = ("user", "assistant") * len(contents)
        return [
            {"role": role, "content": each} for role, each in zip(roles, contents, strict=False)
        ]

    held = {
        "questions": [{"answer_session_ids": ["answer_1"]}],
        "sessions": {
            "answer_1#a": said("My dog is called Rex."),
            "talk#b": said(
                "I went out today. Hi.", "- **Some** advice for you\nx = 1; y = 2; {'a': 3, 'b': 4}"
            ),
        },
    }
    file = tmp_path / "haystacks.json.xz"
    with lzma.open(file, "wt") as opened:
        json.dump(held, opened)
    found = sentence_fit.sentences(file)
    assert sorted(found) == ["I went out today.", "Some advice for you"]
    assert sentence_fit.sentences(file, 2) == sentence_fit.sentences(file, 2)
