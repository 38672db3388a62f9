"""Vectors of one subject, compared with a query's. The only module that knows FAISS.

Up to `MOST_EXACT` vectors every one is compared. Beyond that they move to an inverted file, which
looks only where the query's neighbours lie; vectors can be added to both, and removed. Both hold
them as float16, as they are kept: that takes nothing from them, and half of the time. A `FEW` are
compared in numpy, which has the answer before FAISS is loaded; so are those that were kept, up to
`KEPT_IN_NUMPY`, for the first questions: many processes have no more.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from beliefledger.projections.embedding import Vectors
    from beliefledger.projections.index_state import State
    from beliefledger.projections.lexical import Mask, Scores

MOST_EXACT = 200_000
_LISTS_PER_ROOT = 4
"""Number of lists of the inverted file, as a factor of √n: FAISS's advice for up to a million
vectors."""
_LOOKED_THROUGH = 64
_TRAINED_ON = 40
"""Training vectors for each list, and training rounds."""
_TRAINED_TIMES = 5
KEPT_IN_NUMPY = 16_000
_FEW_TIMES = 8
"""So many questions in numpy take about as long as to load FAISS."""
_LANES = 16
_BLOCK = 500
"""Vectors that are made float32 at a time: they stay in the processor's cache."""
FEW = 1_000
"""So many texts get a cosine, however near they are."""
FOUND_AT_MOST = 500
"""How many nearest texts get a cosine when not all do: texts further away have nothing to do with
the query."""
NONE = np.float32(-2.0)
"""The cosine of a text without a vector."""
_CALLING = threading.local()


class Dense:
    """Vectors of numbered texts. Not safe in several threads at once: whoever has it takes turns.

    `most_exact` is how many are compared one by one.
    """

    def __init__(self, dimension: int, most_exact: int = MOST_EXACT) -> None:
        self.dimension = dimension
        self._most_exact, self._few = most_exact, min(FEW, most_exact)
        self._index: Any = _InNumpy(dimension)
        self._asked = 0
        """How often more than a few were compared in numpy."""
        self.exact = True

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def kind(self) -> str:
        """The kind of index, for the record of a search."""
        return "flat/1" if self.exact else "ivf/1"

    def add(self, numbers: Sequence[int], vectors: Vectors) -> None:
        """Add the vectors of these texts: float32 of shape (len(numbers), dimension)."""
        if len(numbers):
            ids, rows = np.asarray(numbers, np.int64), np.ascontiguousarray(vectors, np.float32)
            few = KEPT_IN_NUMPY if len(self) > FEW else self._few
            if isinstance(self._index, _InNumpy) and len(self) + len(ids) > few:
                self._load(self._index.ids, self._index.vectors)
            if not isinstance(self._index, _InNumpy):
                _faiss()
            self._index.add_with_ids(rows, ids)
            if self.exact and len(self) > self._most_exact:
                self._approximate()

    def remove(self, numbers: Sequence[int]) -> int:
        """Take the vectors of these texts out; returns how many were there."""
        return int(self._index.remove_ids(np.asarray(numbers, np.int64)))

    def vectors(self, numbers: Sequence[int] | NDArray[np.int64]) -> Vectors:
        """The vectors of texts that have one: float32 of shape (len(numbers), dimension)."""
        found: Vectors = self._index.reconstruct_batch(np.asarray(numbers, np.int64))
        return found

    def cosines(self, query: Vectors, mask: Mask) -> Scores:
        """The cosine of every text with a query's vector: float32 of the mask's shape; `NONE` for
        those that the mask leaves out, that have no vector, or (of more than a few) than which
        `FOUND_AT_MOST` others are nearer."""
        cosines = np.full(len(mask), NONE, np.float32)
        if isinstance(self._index, _InNumpy) and len(self) > FEW:
            self._asked += 1
            if self._asked > _FEW_TIMES:
                self._load(self._index.ids, self._index.vectors)
        if isinstance(self._index, _InNumpy):
            near = np.flatnonzero(mask[self._index.ids])
            found = self._index.products(query)[near]
            if len(self) > FEW:
                if len(near) > FOUND_AT_MOST:
                    near = near[np.argpartition(found, -FOUND_AT_MOST)[-FOUND_AT_MOST:]]
                found = _in_lanes(self._index.vectors[near].astype(np.float32), query)
            cosines[self._index.ids[near]] = found
            return cosines
        if not len(self):
            return cosines
        faiss = _faiss()
        row = np.ascontiguousarray(query.reshape(1, -1), np.float32)
        everything = bool(mask.all())
        bits = None if everything else np.packbits(mask, bitorder="little")
        chosen = None if bits is None else faiss.IDSelectorBitmap(bits)
        if not self.exact:
            parameters = faiss.SearchParametersIVF(sel=chosen, nprobe=_LOOKED_THROUGH)
        else:
            parameters = None if everything else faiss.SearchParameters(sel=chosen)
        count = len(self) if len(self) <= FEW else FOUND_AT_MOST
        found, ids = self._index.search(row, count, params=parameters)
        there = ids[0] >= 0
        cosines[ids[0][there]] = found[0][there]
        return cosines

    def state(self) -> State:
        """All of it, to be restored in another process. Precondition: it is exact."""
        if isinstance(self._index, _InNumpy):
            return {"ids": self._index.ids, "vectors": self._index.vectors.astype(np.float16)}
        faiss = _faiss()
        held = faiss.downcast_index(self._index.index)
        vectors = faiss.vector_to_array(held.codes).view(np.float16)
        return {
            "ids": faiss.vector_to_array(self._index.id_map),
            "vectors": vectors.reshape(-1, self.dimension),
        }

    def restore(self, state: State) -> None:
        """Have what another one had."""
        ids, vectors = state["ids"], state["vectors"]
        self._index, self.exact = _InNumpy(self.dimension), True
        if len(ids) > KEPT_IN_NUMPY:
            self._load(ids, vectors)
        else:
            self._index.add_with_ids(vectors if len(ids) > FEW else vectors.astype(np.float32), ids)

    def _load(self, ids: NDArray[np.int64], vectors: NDArray[Any]) -> None:
        """Have FAISS compare these. They lie there as they are here: to have them added one by one
        takes as long as all the rest of a first search."""
        faiss = _faiss()
        self._index = _exact(self.dimension)
        held = faiss.downcast_index(self._index.index)
        halves = vectors.astype(np.float16, copy=False)
        faiss.copy_array_to_vector(halves.reshape(-1).view(np.uint8), held.codes)
        faiss.copy_array_to_vector(ids, self._index.id_map)
        held.ntotal = self._index.ntotal = len(ids)
        self._index.construct_rev_map()

    def _approximate(self) -> None:
        """Move to an inverted file."""
        faiss = _faiss()
        held = self._index
        ids = faiss.vector_to_array(held.id_map)
        vectors: Vectors = held.index.reconstruct_n(0, held.ntotal)
        lists = int(_LISTS_PER_ROOT * np.sqrt(len(ids)))
        coarse = faiss.IndexFlatIP(self.dimension)
        half, product = faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
        index = faiss.IndexIVFScalarQuantizer(coarse, self.dimension, lists, half, product)
        index.by_residual = False  # as they are: nothing more is lost
        index.cp.seed = 1
        index.cp.niter = _TRAINED_TIMES
        index.cp.max_points_per_centroid = _TRAINED_ON
        index.train(vectors)
        index.add_with_ids(vectors, ids)
        index.set_direct_map_type(faiss.DirectMap.Hashtable)
        self._index, self.exact = index, False


class _InNumpy:
    """An index as FAISS has them. Vectors are float32, or float16 where many were kept: to make all
    of them float32 takes longer than to compare them."""

    def __init__(self, dimension: int) -> None:
        self.ids = np.zeros(0, np.int64)
        self.vectors: NDArray[Any] = np.zeros((0, dimension), np.float32)

    @property
    def ntotal(self) -> int:
        return len(self.ids)

    def add_with_ids(self, vectors: NDArray[Any], ids: NDArray[np.int64]) -> None:
        if not len(self.ids):
            self.ids, self.vectors = ids, vectors
            return
        self.ids = np.concatenate([self.ids, ids])
        self.vectors = np.concatenate([self.vectors, vectors.astype(self.vectors.dtype)])

    def remove_ids(self, ids: NDArray[np.int64]) -> int:
        stay = ~np.isin(self.ids, ids)
        self.ids, self.vectors = self.ids[stay], self.vectors[stay]
        return len(stay) - len(self.ids)

    def reconstruct_batch(self, ids: NDArray[np.int64]) -> Vectors:
        order = np.argsort(self.ids)
        found = self.vectors[order[np.searchsorted(self.ids, ids, sorter=order)]]
        return found.astype(np.float32)

    def products(self, query: Vectors) -> Scores:
        """With each vector by itself: what else is there changes no bit."""
        found = np.zeros(len(self.ids), np.float32)
        for start in range(0, len(found), _BLOCK):
            some = slice(start, start + _BLOCK)
            vectors = self.vectors[some].astype(np.float32, copy=False)
            np.einsum("ij,j->i", vectors, query, out=found[some])
        return found


def _in_lanes(vectors: Vectors, query: Vectors) -> Scores:
    """The product of each vector with a query's, added up in sixteen lanes, as FAISS adds them on
    processors with AVX-512: there no digit of a score changes once FAISS compares them."""
    room = -len(query) % _LANES
    if room:
        vectors, query = np.pad(vectors, ((0, 0), (0, room))), np.pad(query, (0, room))
    products = vectors.reshape(len(vectors), -1, _LANES) * query.reshape(-1, _LANES)
    sums: Scores = products.sum(axis=1)
    while sums.shape[1] > 1:
        half = sums.shape[1] // 2
        sums = sums[:, :half] + sums[:, half:]
    return sums[:, 0]


@cache
def _imported() -> Any:
    """On first use: it takes a fifth of a second."""
    import faiss  # noqa: PLC0415

    return faiss


def _faiss() -> Any:
    """FAISS, which works in the calling thread alone: more are slower for indexes of one person,
    and wait for each other busily. OpenMP keeps how many it may use for each thread that calls."""
    faiss = _imported()
    if not getattr(_CALLING, "alone", False):
        faiss.omp_set_num_threads(1)
        _CALLING.alone = True
    return faiss


def _exact(dimension: int) -> Any:
    faiss = _faiss()
    half, product = faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    return faiss.IndexIDMap2(faiss.IndexScalarQuantizer(dimension, half, product))
