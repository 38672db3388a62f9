"""An embedder that is not ours: what it returns is checked before it becomes vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from beliefledger.ledger.errors import EmbedderWrong

if TYPE_CHECKING:
    from beliefledger.projections.embedding import Embedder, Vectors


class CustomEmbedder:
    """Makes vectors of length 1 of what an embedder returns; a text of nothing stays zeros."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name = inner.name
        self.dimension = inner.dimension
        self.floor = inner.floor
        self.weight = inner.weight

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As `Embedder.embed`. Raises `EmbedderWrong` for what are not vectors of the texts."""
        import numpy as np  # noqa: PLC0415  (whoever embeds nothing need not wait for it)

        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        try:
            vectors = np.array(self._inner.embed(texts), np.float32)
        except (TypeError, ValueError) as problem:
            raise EmbedderWrong(f"{self.name} returned no rows of numbers: {problem}.") from problem
        wanted = (len(texts), self.dimension)
        if vectors.shape != wanted:
            raise EmbedderWrong(
                f"{self.name} returned an array of shape {vectors.shape}, not {wanted}."
            )
        if not np.isfinite(vectors).all():
            raise EmbedderWrong(f"{self.name} returned what is no number (NaN or infinity).")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(norms > 0, norms, 1)
        return vectors
