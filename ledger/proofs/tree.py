"""The tree over all events: extended beside the log, by one at a time, and asked for proofs.

A position is counted from 1, its leaf from 0. What was signed is believed, tiles are not: a tile
that does not lead to the signed root is computed again from the log, and where the log itself
does not lead there it was changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from ledger.errors import CallerMistake, KeyMissing, LogCorrupted
from ledger.proofs.keyfile import VARIABLE
from ledger.proofs.merkle import (
    EMPTY_ROOT,
    HASH_BYTES,
    ProofInvalid,
    consistency_proof,
    inclusion_proof,
    parents,
    root_at,
    verify_consistency,
    verify_inclusion,
)
from ledger.proofs.notes import Checkpoint, NoteInvalid, Signer, Verifier, check, issue
from ledger.proofs.tiles import (
    HEIGHT,
    WIDTH,
    Edge,
    Tile,
    TileReader,
    TileStore,
    TileWriter,
    edge_of,
    edge_root,
    grow,
    hashes_of,
)
from ledger.store import EventStore

PAGE = 1_000
"""Events in one step of a backlog, and between checkpoints of the history."""
_PAGES = 16
"""How many of them are taken in under one lock, and their tiles written once."""
_KEPT_TILES = 256
"""How many are kept in memory with the hashes above them, some 30 kB each."""
_MENDING = 64 * WIDTH
"""Leaves that are read at once to compute tiles again."""

T = TypeVar("T")


class Tree:
    """The tree of one log. Safe to use from several threads and processes.

    Without a signer it can be read and not extended.
    """

    def __init__(self, store: EventStore, tiles: TileStore, signer: Signer | None = None) -> None:
        self._store = store
        self.tiles = tiles
        self._signer = signer
        self._seen: _Seen | None = None
        self._verified: Checkpoint | None = None
        self._nodes: _Nodes | None = None

    # Heads

    @property
    def origin(self) -> str:
        """The name of the log in its checkpoints.

        Raises `KeyMissing` for a tree that was never signed and has nobody to sign it.
        """
        verifiers = self.verifiers()
        return verifiers[-1].name if verifiers else self._need_signer().name

    @property
    def signer(self) -> Signer | None:
        """The key at hand, in force or not."""
        return self._signer

    def verifiers(self) -> list[Verifier]:
        """All keys that ever signed, the one in force last."""
        return _verifiers(self.tiles)

    def latest(self) -> Checkpoint | None:
        """The checkpoint published last. Raises `LogCorrupted` when it is not rightly signed."""
        return self._latest(self.tiles)

    def checkpoints(self) -> list[Checkpoint]:
        """The history of checkpoints: one about every 1,000 positions, and those asked for."""
        verifiers = self.verifiers()
        return [_checked(text, verifiers) for text in self.tiles.kept()]

    def kept(self, size: int) -> Checkpoint | None:
        """The checkpoint of this size, where it is in the history or the latest."""
        text = self.tiles.kept_at(size)
        if text is not None:
            return _checked(text, self.verifiers())
        latest = self.latest()
        return latest if latest is not None and latest.size == size else None

    def _latest(self, tiles: TileReader) -> Checkpoint | None:
        text = tiles.checkpoint()
        if text is None:
            return None
        verified = self._verified
        if verified is None or verified.text != text:
            verified = self._verified = _checked(text, _verifiers(tiles))
        return verified

    # Extending

    def extend(self, *, keep: bool = False, upto: int | None = None) -> Checkpoint:
        """Take in what was appended since, up to a position or to the head, and sign it.

        With `keep` the checkpoint stays in the history. With nothing new it is the latest one.
        Raises `LogCorrupted` when the log does not go on from what was signed, and `KeyMissing`
        without the key in force.
        """
        while True:
            with self.tiles.extending() as writer:
                head = self._store.head().position
                latest = self._step(writer, head, upto, keep=keep)
            if latest.size >= head or (upto is not None and latest.size >= upto):
                return latest

    def sign(self, text: str) -> str:
        """The signature line, by the key in force, over a text about this log.

        Raises `KeyMissing` without that key.
        """
        signer = self._need_signer()
        known = self.tiles.vkeys()
        if known and known[-1] != signer.vkey:
            raise KeyMissing(_other_key(known[-1], signer))
        return signer.sign(text)

    def rotate(self, new: Signer) -> Checkpoint:
        """Let another key sign from now on; the checkpoint that says so is signed by both.

        The new key has to have the origin for its name, or it is a `CallerMistake`.
        """
        old = self._need_signer()
        if new.name != old.name:
            raise CallerMistake(f"The new signing key is of {new.name}, not of {old.name}.")
        if new.vkey in self.tiles.vkeys():
            raise CallerMistake("The new signing key has signed before: make another one.")
        self.extend()
        with self.tiles.extending() as writer:
            self._authorise(writer, old)
            latest = self._latest(writer)
            assert latest is not None
            both = issue(latest.origin, latest.size, latest.root, old, new)
            writer.publish(both, keep=True)
            writer.know(new.vkey)
        self._signer = new
        return both

    def _step(self, writer: TileWriter, head: int, upto: int | None, *, keep: bool) -> Checkpoint:
        """Take in some pages, or what is left, and publish the head."""
        signer = self._need_signer()
        self._authorise(writer, signer)
        latest = self._latest(writer)
        size = latest.size if latest else 0
        upto = head if upto is None else min(head, upto)
        if head < size:
            raise LogCorrupted(
                f"The log ends at position {head}, and a checkpoint of {size} events was signed:"
                f" position {head + 1} is missing."
            )
        end = max(min(upto, size + _PAGES * PAGE), size)
        edge, leaves = self._edge(writer, latest, end)
        if latest is not None and end == size:
            if keep and self.tiles.kept_at(size) is None:
                writer.publish(latest, keep=True)
            return latest
        tiles: dict[Tile, bytes] = {}
        passed: list[Checkpoint] = []
        for start in range(size, end, PAGE) or [size]:
            stop = min(start + PAGE, end)
            edge, changed = grow(start, edge, leaves[start - size : stop - size])
            tiles |= changed
            passed.append(issue(signer.name, stop, edge_root(edge), signer))
        checkpoint, last = passed[-1], edge_of(end)
        before = passed[-2].size if len(passed) > 1 else size
        if end // PAGE == before // PAGE:  # the history has one of these thousand
            passed.pop()
        writer.write({at: data for at, data in tiles.items() if at.width == WIDTH or at in last})
        writer.publish(checkpoint, keep=keep and end >= upto)
        writer.keep(passed)
        writer.drop_partial([tile for tile in tiles if tile.width == WIDTH])
        self._verified = checkpoint
        self._seen = _Seen(checkpoint, signer, edge, leaves[-1] if leaves else b"")
        return checkpoint

    def _need_signer(self) -> Signer:
        if self._signer is None:
            raise KeyMissing(
                f"There is no key to sign checkpoints with: name its file in {VARIABLE}."
            )
        return self._signer

    def _authorise(self, writer: TileWriter, signer: Signer) -> None:
        """A key that is not in force must not sign, even by mistake; the first one is."""
        latest, seen = writer.checkpoint(), self._seen
        if seen is not None and seen.checkpoint.text == latest and seen.signer is signer:
            return  # a change of keys would have published another
        known = writer.vkeys()
        if not known and latest is None:
            writer.know(signer.vkey)
        elif not known or known[-1] != signer.vkey:
            raise KeyMissing(_other_key(known[-1] if known else "nobody known", signer))

    def _edge(
        self, writer: TileWriter, latest: Checkpoint | None, end: int
    ) -> tuple[Edge, list[bytes]]:
        """The edge of the tree that was signed last, and the leaves after it, when the log goes on
        from there: of what this process signed itself the last leaf is compared with the log, of
        what it finds the last tile."""
        if latest is None or latest.size == 0:
            return [], self._store.leaf_hashes(0, end)
        size, seen = latest.size, self._seen
        if seen is not None and seen.checkpoint == latest:
            last, *leaves = self._store.leaf_hashes(size - 1, end)
            if last == seen.leaf:
                return seen.edge, leaves
        tile = Tile(0, (size - 1) // WIDTH, (size - 1) % WIDTH + 1)
        leaves = self._store.leaf_hashes(tile.number * WIDTH, end)
        edge = _read_edge(writer, size)
        if (
            edge is None
            or edge_root(edge) != latest.root
            or writer.tile(tile) != b"".join(leaves[: tile.width])
        ):
            self._mend(writer, latest)
            edge = _read_edge(writer, size)
            assert edge is not None
        return edge, leaves[tile.width :]

    # Reading

    def root(self, size: int) -> bytes:
        """The root of the tree of the first `size` events, which is part of the latest one."""
        return self._answer(size, lambda nodes: nodes.root(size))

    def inclusion(self, position: int, size: int) -> list[bytes]:
        """The proof that the tree of `size` events has the event at this position."""
        if not 1 <= position <= size:
            raise CallerMistake(f"There is no position {position} in a tree of {size} events.")

        def proved(nodes: _Nodes) -> list[bytes]:
            [leaf] = self._store.leaf_hashes(position - 1, position)
            proof = inclusion_proof(position - 1, size, nodes)
            verify_inclusion(position - 1, size, leaf, proof, nodes.root(size))
            return proof

        return self._answer(size, proved)

    def consistency(self, old: int, new: int) -> list[bytes]:
        """The proof that the tree of `new` events begins with that of `old`."""
        if not 0 <= old <= new:
            raise CallerMistake(f"A tree of {new} events does not go on from one of {old}.")

        def proved(nodes: _Nodes) -> list[bytes]:
            proof = consistency_proof(old, new, nodes)
            verify_consistency(old, new, nodes.root(old), nodes.root(new), proof)
            return proof

        return self._answer(new, proved)

    def _answer(self, size: int, ask: Callable[[_Nodes], T]) -> T:
        """The answer out of tiles that lead to the latest root: mended first, if they do not."""
        latest = self.latest()
        if latest is None or not 0 <= size <= latest.size:
            signed = latest.size if latest else 0
            raise CallerMistake(
                f"The tree has {signed} events so far, not {size}: extend it by a checkpoint first."
            )
        nodes = self._nodes
        if nodes is None or nodes.latest != latest:
            nodes = self._nodes = _Nodes(self.tiles, latest)
        try:
            return ask(nodes)
        except ProofInvalid:
            with self.tiles.extending() as writer:
                self._mend(writer, self._latest(writer) or latest)
        try:
            self._nodes = _Nodes(self.tiles, latest)
            return ask(self._nodes)
        except ProofInvalid as problem:
            raise LogCorrupted(
                f"The log does not lead to its checkpoint of {latest.size} events: {problem}"
            ) from problem

    # Mending

    def mend(self) -> int:
        """Compare every tile with the log and write those anew that are missing or wrong; returns
        how many. Raises `LogCorrupted`, naming the position, when the log was changed."""
        with self.tiles.extending() as writer:
            latest = self._latest(writer)
            return self._mend(writer, latest) if latest else 0

    def _mend(self, writer: TileWriter, latest: Checkpoint) -> int:
        mended: dict[Tile, bytes] = {}
        edge: Edge = []
        differing: list[int] = []
        last = set(edge_of(latest.size))
        for start in range(0, latest.size, _MENDING):
            end = min(start + _MENDING, latest.size)
            edge, tiles = grow(start, edge, self._store.leaf_hashes(start, end))
            for tile, data in tiles.items():
                if tile.width < WIDTH and tile not in last:
                    continue  # at the edge of this page alone
                there = writer.tile(tile)
                if there != data:
                    mended[tile] = data
                    if tile.level == 0:
                        differing += _first_difference(tile, there, data)
        if edge_root(edge) != latest.root:
            raise LogCorrupted(self._contradicted(latest, differing))
        writer.write(mended)
        return len(mended)

    def _contradicted(self, latest: Checkpoint, differing: list[int]) -> str:
        """Which event was changed: a checkpoint of the history says between which positions, and
        a leaf of the tiles, where it was not changed along, says which."""
        good, bad = self._narrowed(latest)
        named = next((position for position in differing if good < position <= bad), None)
        where = (
            f"position {named} is not the event that was signed"
            if named is not None
            else f"of the positions {good + 1} to {bad} one is not the event that was signed"
        )
        return f"The log contradicts its checkpoint of {latest.size} events: {where}."

    def _narrowed(self, latest: Checkpoint) -> tuple[int, int]:
        """The sizes of the last checkpoint that the log leads to, and of the next."""
        good, edge = 0, list[list[bytes]]()
        kept = [checkpoint for checkpoint in self.checkpoints() if checkpoint.size < latest.size]
        for checkpoint in kept:
            edge, _tiles = grow(good, edge, self._store.leaf_hashes(good, checkpoint.size))
            if edge_root(edge) != checkpoint.root:
                return good, checkpoint.size
            good = checkpoint.size
        return good, latest.size


class _Seen(NamedTuple):
    """The checkpoint that this process published last, who signed it, the edge of its tree and its
    last leaf."""

    checkpoint: Checkpoint
    signer: Signer
    edge: Edge
    leaf: bytes


class _Nodes:
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


def _read_edge(tiles: TileReader, size: int) -> Edge | None:
    """None where a tile is missing or torn."""
    edge: Edge = []
    for tile in edge_of(size):
        data = tiles.tile(tile) if tile.width else b""
        if data is None or len(data) != tile.width * HASH_BYTES:
            return None
        edge.append(hashes_of(data))
    return edge


def _other_key(known: str, signer: Signer) -> str:
    return (
        f"This ledger's checkpoints are signed by {known}, and the key here is {signer.vkey}: name"
        f" the right file in {VARIABLE}."
    )


def _first_difference(tile: Tile, there: bytes | None, data: bytes) -> list[int]:
    """The first position, if any, at which a tile of leaves that is there has another one."""
    if there is None or len(there) != len(data):
        return []
    pairs = enumerate(zip(hashes_of(there), hashes_of(data), strict=True), 1)
    return [tile.number * WIDTH + at for at, (old, new) in pairs if old != new][:1]


def _verifiers(tiles: TileReader) -> list[Verifier]:
    try:
        return [Verifier.parse(vkey) for vkey in tiles.vkeys()]
    except NoteInvalid as problem:
        raise LogCorrupted(f"{tiles}: {problem}") from problem


def _checked(text: str, verifiers: list[Verifier]) -> Checkpoint:
    try:
        checkpoint = Checkpoint.parse(text)
        check(checkpoint, verifiers)
    except NoteInvalid as problem:
        raise LogCorrupted(str(problem)) from problem
    if checkpoint.size == 0 and checkpoint.root != EMPTY_ROOT:
        raise LogCorrupted("The checkpoint of no events has another root.")
    return checkpoint
