"""The forward pass in numpy computes what sentence-transformers does."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from beliefledger.projections import embedding
from beliefledger.projections.embedding import MiniLM, Transformer

pytest.importorskip("tokenizers")
WORDS = (
    "tea coffee Porto Lisbon the a she likes moved Straße 我喜欢茶 🎉 naïve café İstanbul كتاب"
    " e\u0301"
    " ﬁne [SEP] [MASK] ##ing supercalifragilistic x1y2 don't 3.14 \u200b\u00ad \x00"
).split(" ")
EDGES = ["", " ", "\n", "🎉", "a" * 5000, "tea", *("tea " * n for n in (253, 254, 255, 600))]


def texts(seed, count):
    chosen = random.Random(seed)
    lengths = [1, 3, 8, 20, 50, 120, 300]
    return [" ".join(chosen.choices(WORDS, k=chosen.choice(lengths))) for _ in range(count)]


@pytest.fixture(scope="module")
def model():
    return MiniLM()


def test_it_computes_what_sentence_transformers_does(model):
    pytest.importorskip("sentence_transformers")
    given = EDGES + texts(1, 40)
    expected = Transformer(str(embedding._weights())).embed(given)
    assert np.abs(model.embed(given) - expected).max() <= 1e-6
    alone = np.concatenate([model.embed([text]) for text in given[:30]])
    assert np.abs(alone - expected[:30]).max() <= 1e-6


def test_what_is_past_the_256th_token_is_not_looked_at(model):
    cut, longer, shorter = model.embed(["tea " * 254, "tea " * 254 + "Porto", "tea " * 253])
    assert np.abs(cut - longer).max() <= 1e-6
    assert np.abs(cut - shorter).max() > 1e-6


def test_threads_compute_side_by_side():
    fresh = MiniLM()
    given = [texts(seed, 2) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(fresh.embed, given))
    for vectors, expected in zip(found, map(fresh.embed, given), strict=True):
        assert np.abs(vectors - expected).max() <= 1e-6


def test_torch_is_not_imported():
    program = (
        "import sys; from beliefledger.projections.embedding import MiniLM;"
        " assert MiniLM().embed(['User likes tea']).shape == (1, 384);"
        " print({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "set()\n"


def test_gelu_is_exact_to_the_last_digits():
    from beliefledger.projections.minilm import _gelu

    x = np.linspace(-8, 8, 20_001, dtype=np.float32)
    expected = [each * (1 + math.erf(each / math.sqrt(2))) / 2 for each in x.tolist()]
    _gelu(x)
    assert np.abs(x - expected).max() <= 2e-6
