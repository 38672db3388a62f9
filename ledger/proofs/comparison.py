"""Comparing the log with what was signed: whether it leads to a checkpoint, and if not, where it
was changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from beliefledger.ledger.proofs.notes import Checkpoint
from beliefledger.ledger.proofs.tiles import WIDTH, Edge, Tile, edge_root, grow, hashes_of
from beliefledger.ledger.store import EventStore

LEAVES_AT_ONCE = 64 * WIDTH
"""Leaves that are read at once to compute tiles again."""


def find_difference(
    store: EventStore, head: Checkpoint, history: Callable[[], Sequence[Checkpoint]]
) -> str | None:
    """Why the log does not lead to a head that was signed; None where it does.

    `history` gives the checkpoints in order of size. It is asked only where the log does not.
    """
    there = store.head().position
    if there < head.size:
        return f"position {there + 1} is missing"
    edge: Edge = []
    for start in range(0, head.size, LEAVES_AT_ONCE):
        end = min(start + LEAVES_AT_ONCE, head.size)
        edge, _tiles = grow(start, edge, store.leaf_hashes(start, end))
    if edge_root(edge) == head.root:
        return None
    good, bad = _narrow(store, head, history())
    if bad == good + 1:
        return f"position {bad} is not the event that was signed"
    return f"of the positions {good + 1} to {bad} one is not the event that was signed"


def tell_contradiction(
    store: EventStore, latest: Checkpoint, history: Sequence[Checkpoint], differing: Sequence[int]
) -> str:
    """Which event was changed: a checkpoint of the history says between which positions, and a
    leaf of the tiles, where it was not changed along, says which."""
    good, bad = _narrow(store, latest, history)
    named = next((position for position in differing if good < position <= bad), None)
    where = (
        f"position {named} is not the event that was signed"
        if named is not None
        else f"of the positions {good + 1} to {bad} one is not the event that was signed"
    )
    return f"The log contradicts its checkpoint of {latest.size} events: {where}."


def _narrow(
    store: EventStore, latest: Checkpoint, history: Sequence[Checkpoint]
) -> tuple[int, int]:
    """The sizes of the last checkpoint that the log leads to, and of the next."""
    good, edge = 0, list[list[bytes]]()
    for checkpoint in history:
        if checkpoint.size >= latest.size:
            continue
        edge, _tiles = grow(good, edge, store.leaf_hashes(good, checkpoint.size))
        if edge_root(edge) != checkpoint.root:
            return good, checkpoint.size
        good = checkpoint.size
    return good, latest.size


def first_difference(tile: Tile, there: bytes | None, data: bytes) -> list[int]:
    """The first position, if any, at which a tile of leaves that is there has another one."""
    if there is None or len(there) != len(data):
        return []
    pairs = enumerate(zip(hashes_of(there), hashes_of(data), strict=True), 1)
    return [tile.number * WIDTH + at for at, (old, new) in pairs if old != new][:1]
