"""Puts the best results of a search in a better order: with a cross-encoder or a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from beliefledger.ledger.errors import InvalidQuery
from beliefledger.projections.embedding import PairModel
from beliefledger.search.answers import ArmAnswer, FoundAnswer

Rerank = Callable[[str, Sequence[str]], Sequence[float]]
"""Scores of texts for a question, in their order: the higher, the better."""
READ = 30
"""So many of the best results are read anew; a search with a larger k reads them all."""
_BY = " reranked by "


def reranker(given: str | Rerank) -> Rerank:
    """The reranker: a cross-encoder by its directory or name, or what was given."""
    return _named(given) if isinstance(given, str) else given


@lru_cache(maxsize=4)
def _named(given: str) -> Rerank:
    return PairModel(given)


def ranker_with(ranker: str, by: Rerank | None) -> str:
    """The name of a ranker, for the record of a search, with that of the reranker."""
    if by is None:
        return ranker
    name = getattr(by, "name", None) or getattr(by, "__name__", None) or type(by).__name__
    return f"{ranker}{_BY}{name}"


def without_reranker(ranker: str) -> str:
    """What ranked the candidates before they were reranked."""
    return ranker.partition(_BY)[0]


def is_reranked(ranker: str) -> bool:
    return _BY in ranker


def reranked(by: Rerank, query: str, found: Sequence[FoundAnswer], k: int) -> list[FoundAnswer]:
    """The best `k` by a reranker's scores; of equals, the order of search. Raises `InvalidQuery`
    for a reranker that does not give each text a number."""
    scores = [float(each) for each in by(query, [each.text for each in found])] if found else []
    if len(scores) != len(found) or not all(map(math.isfinite, scores)):
        raise InvalidQuery(
            f"rerank: it gave {len(scores)} scores for {len(found)} texts; give each text one"
            " finite number."
        )
    order = sorted(range(len(found)), key=lambda place: -scores[place])
    return [
        found[place].model_copy(
            update={
                "rank": rank,
                "arms": {
                    **found[place].arms,
                    "reranker": ArmAnswer(rank=rank, score=round(scores[place], 4)),
                },
            }
        )
        for rank, place in enumerate(order[:k], 1)
    ]
