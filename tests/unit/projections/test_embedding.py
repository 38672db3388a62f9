"""The model that turns texts into vectors, and the one of tests that needs no weights."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from time import process_time, sleep

import numpy as np
import pytest

from beliefledger.ledger.data_files import parsed
from beliefledger.ledger.errors import EmbedderMissing, EmbedderWrong
from beliefledger.projections import embedding, word_vectors
from beliefledger.projections.embedding import (
    WEIGHTS_SHA256,
    FormerWords,
    Hashed,
    MiniLM,
    SentenceWords,
    Transformer,
    Words,
)


@pytest.fixture(scope="module")
def model():
    return MiniLM()


def test_rows_are_unit_vectors_in_order_and_nothing_is_fetched(model, monkeypatch, capfd):
    def refuse(*_):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    vectors = model.embed(["User likes tea", "User lives in Porto", "User likes tea"])
    assert vectors.shape == (3, model.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[2] > 0.9999
    assert vectors[0] @ vectors[1] < 0.5
    assert "".join(capfd.readouterr()) == ""


def test_no_texts_need_no_model():
    fresh = MiniLM()
    assert fresh.embed([]).shape == (0, 384)
    assert fresh._network is None


def test_what_must_merge_is_near_enough(model):
    pairs = parsed((Path(__file__).parents[1] / "gate" / "rephrasings.yaml").read_bytes())["merge"]
    claims = [[part.strip() for part in line.split("|")][1::2] for line in pairs]
    ones, others = (model.embed([each[side] for each in claims]) for side in (0, 1))
    far = [each for each, a, b in zip(claims, ones, others, strict=True) if a @ b < 0.85]
    assert far == []


@pytest.mark.parametrize("missing", ["tokenizers", embedding.WHEEL])
def test_without_the_extra_it_says_what_to_install(missing, monkeypatch):
    find = embedding.find_spec
    monkeypatch.setattr(
        embedding, "find_spec", lambda name: None if name == missing else find(name)
    )
    with pytest.raises(EmbedderMissing, match=r"pip install 'beliefledger\[embeddings\]'"):
        MiniLM().embed(["User likes tea"])


def test_other_weights_are_refused(monkeypatch):
    monkeypatch.setattr(embedding, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(EmbedderWrong, match="SHA-256"):
        MiniLM().embed(["User likes tea"])


def test_computed_quickly_it_means_the_same(model):
    texts = [f"Ana said on day {n} that she {w} in Porto" for n in range(35) for w in ("is", "was")]
    assert len(texts) >= embedding._BATCH
    other = Transformer(str(embedding._weights()), quickly=True)
    plain, quick = model.embed(texts), other.embed(texts)
    assert np.sum(plain * quick, axis=1).min() >= 0.999


HASHED_SHA256 = "4a00bfe74b69c63cee09bff57179a5bf6bfcfb9ead768d4de10a0a4051e17224"
FORMS = ["I was moving house", "Grüne Straße 7, 我喜欢茶", "who are you", "tea tea tea"]


def _digest():
    kept = Hashed().embed(FORMS).round(4) + 0.0
    return hashlib.sha256(kept.astype(np.float32).tobytes()).hexdigest()


def test_hashed_vectors_are_the_same_in_every_process():
    """A change of these needs another name: vectors are kept under it."""
    here = "import test_embedding as t; print(t._digest())"
    digests = {
        subprocess.run(
            [sys.executable, "-c", here],
            cwd=Path(__file__).parent,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[3])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert digests == {_digest()} == {HASHED_SHA256}


def test_hashed_vectors_have_length_one_and_nothing_has_none():
    vectors = Hashed().embed([*FORMS[:2], "", "🎉 …", "the of and"])
    assert vectors.shape == (5, Hashed.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors[:2], axis=1), 1, atol=1e-6)
    assert not vectors[2:].any()
    assert Hashed().embed([]).shape == (0, Hashed.dimension)


@pytest.mark.parametrize(
    ("word", "form", "other"),
    [
        ("allergy", "allergic", "umbrella"),
        ("restaurant", "restaraunt", "bicycle"),
        ("Kubernetes", "kubernets", "piano"),
        ("photography", "photographer", "dinner"),
    ],
)
def test_hashed_vectors_bring_forms_of_a_word_near(word, form, other):
    a, b, c = Hashed().embed([word, form, other])
    assert a @ b > a @ c + 0.05


@pytest.mark.parametrize(
    ("words", "digest"),
    [
        (Words, "4db587f599d997223d506c0742fda7a44c6fdcf01340bb636fd96199bc98be6b"),
        (SentenceWords, "2a0ce54d1c75febd462097884db5d6313d0dd800c8b84bd5a468e2ef6ace8d9e"),
        (FormerWords, "d3558296bf40adf769a04396c5c96d9aaf17ece1195cacd76e95a35c245d8dee"),
    ],
)
def test_vectors_of_words_are_as_they_were_released(words, digest):
    """A change of these needs another name: vectors are kept under it."""
    kept = words().embed(FORMS).round(4) + 0.0
    assert hashlib.sha256(kept.astype(np.float32).tobytes()).hexdigest() == digest


def test_vectors_of_words_have_length_one_and_nothing_has_none():
    vectors = Words().embed([*FORMS[:2], "who is it?", "", "🎉 …"])
    assert vectors.shape == (5, Words.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors[:3], axis=1), 1, atol=1e-6)
    assert not vectors[3:].any()
    assert not SentenceWords().embed(["the of and"]).any(), "it has no stop words"
    assert Words().embed([]).shape == (0, Words.dimension)


ANSWERED = [
    ("where's home for me these days?", "signed for a 2 bed in antwerp"),
    ("can i drive to the wedding myself?", "my licence is suspended"),
    ("what should i wear to work tomorrow", "at the plant it's steel toes"),
    ("when do i have to get up", "alarm is at 6 now"),
    ("who has the kids while i work", "gran minds them till five"),
    ("what do i owe the bank", "still 4k left on the loan"),
    ("which way do i get to the office", "i take the 42 tram"),
    ("what can't i eat", "no gluten for me"),
    ("who do i report to", "rita is in charge of us now"),
    ("how's my knee", "it swells after every run"),
    ("when do we play next", "match is on sunday at ten"),
    ("what do my parents have for pets", "mum has two parrots"),
    ("how big is our garden", "we only have a balcony"),
    ("what instrument am i learning", "cello lessons with mr bell"),
    ("how long till my exam", "the bar is on 12 june"),
    ("what's on my reading pile", "halfway through Middlemarch"),
]


def test_a_question_is_nearest_to_what_answers_it_more_often_than_before():
    right = {}
    for model in (Words(), SentenceWords()):
        asked, told = (model.embed(each) for each in zip(*ANSWERED, strict=True))
        right[model.name] = int(((asked @ told.T).argmax(axis=1) == range(len(ANSWERED))).sum())
    assert right["words-3"] >= 10
    assert right["words-3"] > right["words-2"] + 3


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (
            "which energy company sends the bill?",
            "Our electricity comes from Octopus Energy",
            "I like tea",
        ),
        ("what do I take pictures with?", "Shooting with a Canon 80D", "My bank is Revolut"),
        ("who cuts my hair?", "Elena is my barber", "I moved to Porto"),
        ("Zorvex", "the Zorvex is mine", "the Quibblet is mine"),
        ("allergy", "allergic", "umbrella"),
    ],
)
def test_vectors_of_words_bring_other_words_for_a_thing_near(question, answer, other):
    a, b, c = Words().embed([question, answer, other])
    assert a @ b >= Words.floor
    assert a @ b > a @ c + 0.15


def test_vectors_of_words_are_quickly_there_and_quickly_computed():
    begun = process_time()
    model = Words()
    model.embed(["tea"])
    assert process_time() - begun < 0.03
    begun = process_time()
    for number in range(1_000):
        model.embed([f"I moved to Porto last week and my manager number {number} likes tea"])
    assert process_time() - begun < 0.2


def test_a_damaged_file_of_word_vectors_is_refused():
    content = files("beliefledger.projections").joinpath(word_vectors.FILE).read_bytes()
    assert len(content) < 2_500_000
    word_vectors.checked(content)
    with pytest.raises(EmbedderWrong, match="SHA-256"):
        word_vectors.checked(content[:-1] + b"?")


def test_word_vectors_are_packed_to_a_byte_for_each_number():
    rows = np.array([[0.5, -1.0, 0.25], [2.0, 0.0, 0.1]], np.float32)
    read = word_vectors.unpacked(word_vectors.packed(["tea", "caffé"], rows, 0.5))
    assert read.places == {"tea": 0, "caffé": 1}
    assert np.allclose(read.bytes * read.factors[:, None], rows, atol=2 / 127 / 2)
    assert read.embed(["Teas and teas"]) == pytest.approx(
        rows[:1] / np.linalg.norm(rows[0]), abs=0.01
    )
    assert np.linalg.norm(read._of_unknown("zorvex")) == pytest.approx(0.5, abs=1e-4)


def test_forgetting_words_changes_no_vector():
    before = Hashed().embed(FORMS)
    embedding.forget()
    assert not embedding._FEATURES
    assert np.array_equal(Hashed().embed(FORMS), before)


class Remembered(dict):
    place_of = dict.get
    found_at = dict.__setitem__


def test_weights_are_read_whole_once_as_long_as_their_file_is_the_same(monkeypatch, tmp_path):
    read, digest = [], hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *of: read.append(of) or digest(*of))
    places = Remembered()
    for _ in range(2):  # as two processes do
        model = MiniLM()
        model.places = places
        model.embed(["User likes tea"])
    assert len(read) == 1
    assert WEIGHTS_SHA256 in places[embedding.MINILM]
    monkeypatch.setattr(embedding, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(EmbedderWrong, match="SHA-256"):
        embedding._weights(places)
    assert WEIGHTS_SHA256 in places[embedding.MINILM]  # what is wrong is not remembered

    file = tmp_path / "model.safetensors"
    file.write_bytes(b"weights")
    before, times = embedding._state(file), file.stat()
    assert embedding._state(file) == before
    sleep(0.02)
    file.write_bytes(b"WEIGHTS")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert file.stat().st_mtime_ns == times.st_mtime_ns
    assert embedding._state(file) != before
