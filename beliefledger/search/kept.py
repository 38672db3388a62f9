"""Indexes that were kept: how one is taken up again by a fresh process, and when it is kept anew.

One is taken up only if it is of this log, of these views and of this version, and nothing of the
subject was erased since. What happened since then is followed as in the process that kept it.
"""

from __future__ import annotations

from beliefledger.gate.standing import Rights
from beliefledger.ledger.data_files import digest
from beliefledger.ledger.gc_pause import gc_paused
from beliefledger.ledger.log import Log
from beliefledger.projections import lexical, search_requests
from beliefledger.projections.embedding import Embedder
from beliefledger.projections.index import SubjectIndex
from beliefledger.projections.index_queries import IndexedGenerations
from beliefledger.projections.index_state import State, under, within
from beliefledger.projections.kept_indexes import KeptIndexes
from beliefledger.reading.queries import Queries
from beliefledger.search.live_index import VIEWS, LiveIndex

FORMAT = 5
"""Of what is kept; a change of what is indexed, or how, has to move it."""
WORDS = ("beliefledger.gate", "beliefledger.gate.rules", "beliefledger.projections")
"""Whose words and patterns say what is withheld, and what texts are about: one that was kept with
others may have what is withheld now."""
LEAST_KEPT = 100
"""Texts. Fewer are read again about as fast."""
_GROWN, _LEAST_NEW = 20, 50
"""It is kept again once a part of this many is new, and at least so much: texts, rows, recalls."""
_SHOWN_AT_ONCE = 10
"""About so many results has a recall."""


def take_up(
    log: Log, queries: Queries, kept: KeptIndexes, live: LiveIndex, model: Embedder
) -> None:
    """Let an empty index have what was kept, if that still holds. Precondition: its lock is
    held."""
    live.kept = 0
    with gc_paused():
        _take_up(log, queries, kept, live, model)


def _take_up(
    log: Log, queries: Queries, kept: KeptIndexes, live: LiveIndex, model: Embedder
) -> None:
    index, ref = live.index, live.index.subject_ref
    state = kept.load(index.keys, model.name, live.standing.purpose)
    if state is None or state["version"] != _version(model):
        return
    standing, theirs = within("standing", state), state["erasures"][1]
    position = standing["position"]
    if log.event_id_at(position) != state["last_event"] or log.erasures_of(ref) != theirs:
        return
    with queries.states(*VIEWS) as (_, states):
        generations = IndexedGenerations(*(each.generation for each in states))
    if state["generations"] != list(generations):
        return
    index.restore(state, model.dimension)
    live.generations, live.kept = generations, _size(index)
    live.taken_up = len(index)
    live.standing.fold.restore(standing)
    covered, approvals, grants, prohibited = state["rights"]
    live.standing.rights = Rights(
        live.standing.purpose,
        frozenset(covered),
        approvals,
        frozenset(grants),
        frozenset(prohibited),
    )


def keep(log: Log, kept: KeptIndexes, live: LiveIndex, model: Embedder) -> None:
    """Keep an index, if it is worth it and grew since it last was. Precondition: its lock is held.

    What was erased meanwhile is in no file afterwards: whoever erases deletes what is kept after
    the request is on record, and this looks for requests after it has kept.
    """
    index, dense = live.index, live.index.dense
    size = _size(index)
    whole = dense is not None and dense.exact and not index.waiting
    new = size - (live.kept or 0)
    if not whole or len(index) < LEAST_KEPT or new < max(_LEAST_NEW, size // _GROWN):
        return
    fold, rights, generations = live.standing.fold, live.standing.rights, live.generations
    if generations is None or index.erasures is None:
        return
    state: State = (
        index.state()
        | under("standing", fold.state())
        | {
            "version": _version(model),
            "last_event": log.event_id_at(fold.position),
            "generations": generations,
            "rights": (rights.covered, rights.approvals, rights.grants, rights.prohibited),
        }
    )
    kept.keep(index.keys, index.model, live.standing.purpose, state)
    live.kept = size
    if log.erasures_of(index.subject_ref) != index.erasures.theirs:
        kept.forget(index.subject_ref)
        kept.rewrite()


def _size(index: SubjectIndex) -> int:
    return len(index.texts) + len(index.rows) + len(index.shown) // _SHOWN_AT_ONCE


def _version(model: Embedder) -> list[object]:
    versions = FORMAT, lexical.VERSION, search_requests.VERSION, model.dimension
    return [*versions, digest(*WORDS)]
