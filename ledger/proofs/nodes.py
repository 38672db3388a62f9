"""The nodes of a tree, read out of its tiles."""

from __future__ import annotations

from beliefledger.ledger.proofs.merkle import (
    HASH_BYTES,
    ProofInvalid,
    consistency_proof,
    parents,
    root_at,
    verify_consistency,
)
from beliefledger.ledger.proofs.notes import Checkpoint
from beliefledger.ledger.proofs.tiles import (
    HEIGHT,
    WIDTH,
    Edge,
    Tile,
    TileReader,
    edge_of,
    hashes_of,
)

_KEPT_TILES = 256
"""How many are kept in memory with the hashes above them, some 30 kB each."""


class Nodes:
    """The nodes of the tree of a checkpoint, out of its tiles; what was computed is kept, as far
    as a few MB go.

    Raises `ProofInvalid` where the tiles do not lead to the root that was signed.
    """

    def __init__(self, tiles: TileReader, latest: Checkpoint) -> None:
        self.latest = latest
        self._tiles = tiles
        self._pyramids: dict[tuple[int, int], list[list[bytes]]] = {}

    def root(self, size: int) -> bytes:
        """The root of the first `size` leaves, which the signed tree goes on from."""
        root = root_at(size, self)
        proof = consistency_proof(size, self.latest.size, self)
        verify_consistency(size, self.latest.size, root, self.latest.root, proof)
        return root

    def __call__(self, level: int, index: int) -> bytes:
        at, inner = divmod(level, HEIGHT)
        number = index >> (HEIGHT - inner)
        pyramid = self._pyramids.get((at, number))
        if pyramid is None:
            if len(self._pyramids) >= _KEPT_TILES:
                self._pyramids.clear()
            pyramid = self._pyramids[at, number] = self._pyramid(at, number)
        return pyramid[inner][index - (number << (HEIGHT - inner))]

    def _pyramid(self, level: int, number: int) -> list[list[bytes]]:
        """The hashes of a tile, and those above them within it, height by height."""
        width = min(WIDTH, (self.latest.size >> HEIGHT * level) - number * WIDTH)
        data = self._tiles.tile(Tile(level, number, width))
        if data is None or len(data) != width * HASH_BYTES:
            raise ProofInvalid(f"The tile {Tile(level, number, width).path} is not there.")
        heights = [hashes_of(data)]
        while len(heights) < HEIGHT:
            heights.append(parents(heights[-1]))
        return heights


def read_edge(tiles: TileReader, size: int) -> Edge | None:
    """None where a tile is missing or torn."""
    edge: Edge = []
    for tile in edge_of(size):
        data = tiles.tile(tile) if tile.width else b""
        if data is None or len(data) != tile.width * HASH_BYTES:
            return None
        edge.append(hashes_of(data))
    return edge
