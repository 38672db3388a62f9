"""The indexes of search, opened when they are first needed."""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import TYPE_CHECKING

from beliefledger.opening.core import Core
from beliefledger.reading.queries import Queries
from beliefledger.search.models import Embedders

if TYPE_CHECKING:  # whoever searches nothing need not wait for numpy
    from beliefledger.search.indexes import Indexes
    from beliefledger.search.shown_texts import LeftTexts


class IndexesOnDemand:
    """Call it for the indexes. Opening them loads numpy and FAISS, so nobody waits for that who
    searches nothing."""

    def __init__(self, core: Core, queries: Queries, embedders: Embedders) -> None:
        self._core = core
        self._queries = queries
        self._embedders = embedders
        self._made: Indexes | None = None
        self._making = threading.Lock()

    def __call__(self) -> Indexes:
        with self._making:
            if self._made is None:
                from beliefledger.search.indexes import Indexes  # noqa: PLC0415
                from beliefledger.search.live_index import open_vectors  # noqa: PLC0415

                store = open_vectors(self._core.projector.home)
                self._made = Indexes(self._core, self._queries, store, self._embedders)
            return self._made

    def left_texts(self, subject_ref: str, but: Collection[int]) -> LeftTexts:
        """What may be indexed of a subject without what is at these positions; to be read once for
        both `erase_content` and `probe`."""
        from beliefledger.search.shown_texts import LeftTexts  # noqa: PLC0415

        return LeftTexts(self._core, subject_ref, but)

    def drop(self) -> None:
        """Forget what was indexed, if anything was: the tables it was read from are gone."""
        if self._made is not None:
            self._made.drop()

    def close(self) -> None:
        if self._made is not None:
            self._made.close()
