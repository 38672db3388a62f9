from __future__ import annotations

import socket
from pathlib import Path

import numpy as np
import pytest
import yaml

from ledger.errors import EmbedderMissing, EmbedderWrong
from projections import embedding
from projections.embedding import MiniLM


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
    assert fresh._model is None


def test_what_must_merge_is_near_enough(model):
    pairs = yaml.safe_load((Path(__file__).parents[1] / "gate" / "rephrasings.yaml").read_text())[
        "merge"
    ]
    claims = [[part.strip() for part in line.split("|")][1::2] for line in pairs]
    ones, others = (model.embed([each[side] for each in claims]) for side in (0, 1))
    far = [each for each, a, b in zip(claims, ones, others, strict=True) if a @ b < 0.85]
    assert far == []


@pytest.mark.parametrize("missing", ["sentence_transformers", embedding.WHEEL])
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
