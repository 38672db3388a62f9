"""Little lives, told turn by turn, and what comes first where somebody asks about them."""

from __future__ import annotations

import re

import pytest

from beliefledger.opener import open_memory
from beliefledger.projections.embedding import MINILM, Words, installed
from beliefledger.tools.bench.lives import lives, missed, tell

EVERY = lives()


@pytest.mark.parametrize("model", [Words.name, MINILM])
@pytest.mark.parametrize("life", EVERY, ids=lambda life: life.name)
def test_what_comes_first_is_what_is_asked(life, model, tmp_path):
    if model == MINILM and not installed():
        pytest.skip("the extra `embeddings` is not installed")
    with open_memory(tmp_path, embedder=model) as memory:
        tell(memory, life)
        assert set(missed(memory, life)) <= set(life.left.get(model, ()))


@pytest.mark.parametrize("life", EVERY, ids=lambda life: life.name)
def test_a_context_tells_every_member_of_a_set(life, tmp_path):
    with open_memory(tmp_path, embedder=Words.name) as memory:
        tell(memory, life)
        for question in (each for each in life.questions if each.every):
            for words in question.asks:
                content = memory.context(life.name, words, record=False).content
                assert all(re.search(each, content, re.IGNORECASE) for each in question.every)
