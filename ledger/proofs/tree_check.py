"""Holding the log against its tree: every tile, every checkpoint that is kept, every signature."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.proofs.notes import Checkpoint, NoteInvalid, Verifier, check
from beliefledger.ledger.proofs.terms import Term, handover, parsed, terms_of
from beliefledger.ledger.proofs.tiles import (
    HEIGHT,
    WIDTH,
    Edge,
    Tile,
    TileStore,
    edge_of,
    edge_root,
    grow,
    hashes_of,
)
from beliefledger.ledger.proofs.tree import Tree

_BEGINNING = 2.0
"""For how many seconds a key may be there that has signed nothing yet."""


@dataclass(frozen=True, slots=True)
class TreeFault:
    """A fault that the tree shows: at position `first`, or at one of `first` to `last`."""

    first: int | None
    last: int | None
    problem: str


@dataclass(frozen=True, slots=True)
class _Mark:
    """A checkpoint that the log has to lead to."""

    checkpoint: Checkpoint
    name: str
    unsigned: str | None
    """Why its signature is not good."""
    of_key: bool = False
    """Whether it is the last one that the key's file knows of."""


class TreeCheck:
    """Takes in the leaf hashes of the log in order, and holds them against what was signed.

    Where a tile and the log differ, the next checkpoint tells which of them was changed. `against`
    are checkpoints that were kept elsewhere, `keys` the only ones to be believed. Make it before
    asking for the log's head, so that what is appended meanwhile is no concern of it.
    """

    def __init__(
        self, tree: Tree, against: Sequence[Checkpoint] = (), keys: Sequence[Verifier] = ()
    ) -> None:
        self.found: TreeFault | None = None
        self.size = 0
        self.signed = 0
        """Up to which position a checkpoint was met."""
        self.checkpoints = 0
        self._edge: Edge = []
        self._other: Edge | None = None
        """The edge as the tile that differs would have it."""
        self._suspect: tuple[int, Tile] | None = None
        self._nowhere: str | None = None
        self._tiles: TileStore = tree.tiles
        self._key_file = tree.key
        self._terms, self.keys = _trusted(tree, keys)
        """The keys that count, and by whose word."""
        self._named = bool(self._terms)
        self._marks = sorted(self._gathered(against), key=lambda mark: mark.checkpoint.size)
        self._last_mark = max((mark.checkpoint.size for mark in self._marks), default=0)
        self._next = 0
        self._skip_empty()

    # What has to be met

    def _gathered(self, against: Sequence[Checkpoint]) -> Iterator[_Mark]:
        """In the order in which a tree that grows meanwhile has them: the latest comes last."""
        for each in against:
            yield self._mark(each, f"the checkpoint of {each.size} events that was kept elsewhere")
        if (cosigned := self._tiles.cosigned()) is not None:
            yield from self._read(cosigned, "the cosigned checkpoint")
        for text in self._tiles.kept():
            yield from self._read(text, "the checkpoint")
        if self._key_file is not None and (last := self._key_file.mark()) is not None:
            name = f"the checkpoint of {last.head.size} events that the key's file knows of"
            if last.place != self._key_file.place:
                name += f", which was of the ledger at {last.place}"
            yield replace(self._mark(last.head, name), of_key=True)
        self._latest: Checkpoint | None = None
        if (latest := self._tiles.checkpoint()) is not None:
            for mark in self._read(latest, "the latest checkpoint"):
                self._latest = mark.checkpoint
                yield mark

    def _read(self, text: str, name: str) -> Iterator[_Mark]:
        try:
            checkpoint = Checkpoint.parse(text)
        except NoteInvalid as problem:
            self._nowhere = self._nowhere or (
                f"{name} at {self._tiles} cannot be read: put it back from a backup ({problem})"
            )
            return
        yield self._mark(checkpoint, f"{name} of {checkpoint.size} events")

    def _mark(self, checkpoint: Checkpoint, name: str) -> _Mark:
        counting = [each.verifier for each in self._terms if each.covers(checkpoint.size)]
        try:
            by = check(checkpoint, counting)
            unsigned = None if by.name == checkpoint.origin else f"{name} is of another log"
        except NoteInvalid:
            unsigned = f"{name} is not signed by {_WHOSE[self.keys]}"
            retired = [each.verifier for each in self._terms if each.verifier not in counting]
            try:
                by = check(checkpoint, retired)
                unsigned += f": {by.vkey} had handed over before"
            except NoteInvalid:
                pass
        return _Mark(checkpoint, name, unsigned)

    def _skip_empty(self) -> None:
        while self._next < len(self._marks) and not self._marks[self._next].checkpoint.size:
            self._next += 1

    def _next_size(self) -> int | None:
        return self._marks[self._next].checkpoint.size if self._next < len(self._marks) else None

    # Taking in the log

    def feed(self, leaves: Sequence[bytes]) -> None:
        """The leaf hashes of the next positions."""
        at = 0
        while at < len(leaves) and self.found is None:
            until = self._next_size()
            end = len(leaves) if until is None else min(len(leaves), at + until - self.size)
            self._take(leaves[at:end])
            at = end
            if self.size == until:
                self._meet()

    def _take(self, leaves: Sequence[bytes]) -> None:
        start, before = self.size, self._edge
        self._edge, changed = grow(start, before, leaves)
        self.size += len(leaves)
        if self._suspect is not None:
            if self._other is not None:
                self._other, _tiles = grow(start, self._other, leaves)
            return
        for tile, data in (*changed.items(), *self._last_tiles()):
            if not self._is_kept(tile):
                continue
            there = self._tiles.tile(tile)
            if there == data:
                continue
            self._differs(tile, data, there)
            if self._suspect is not None and tile.level == 0 and there is not None:
                self._other = _as_in_tile(tile, hashes_of(there), start, before, leaves)
            return

    def _is_kept(self, tile: Tile) -> bool:
        """Whether the tile belongs to the tree as it was published last."""
        size = 0 if self._latest is None else self._latest.size
        if tile.width == WIDTH:
            return (tile.number + 1) << HEIGHT * (tile.level + 1) <= size
        return self.size == size and tile in edge_of(size)

    def _last_tiles(self) -> Iterator[tuple[Tile, bytes]]:
        """The partial tiles, once the log is taken in as far as the tree goes."""
        if self._latest is not None and self.size == self._latest.size:
            for tile in edge_of(self.size):
                if tile.width:
                    yield tile, b"".join(self._edge[tile.level])

    def _look_into_tile(self) -> None:
        """What the tile that is taken in by halves has in the places of those taken in."""
        latest = 0 if self._latest is None else self._latest.size
        number, width = divmod(self.size, WIDTH)
        data = self._tiles.tile(Tile(0, number, min(WIDTH, max(latest - number * WIDTH, 0))))
        there = [] if data is None else hashes_of(data)[:width]
        if len(there) == width and there != self._edge[0]:
            tile = Tile(0, number)
            self._differs(tile, b"".join(self._edge[0]), b"".join(there))
            self._other = [there, *self._edge[1:]]

    def _differs(self, tile: Tile, data: bytes, there: bytes | None) -> None:
        first = tile.number * WIDTH
        if there is None or len(there) != len(data):
            what = "missing" if there is None else "not as long as it has to be"
            at = (first << HEIGHT * tile.level) + 1
            self.found = TreeFault(at, at, f"the tile {tile.path} is {what}")
            return
        pairs = zip(hashes_of(there), hashes_of(data), strict=True)
        first += next(at for at, (old, new) in enumerate(pairs) if old != new)
        self._suspect = (first << HEIGHT * tile.level) + 1, tile

    # Meeting a checkpoint

    def _meet(self) -> None:
        root = edge_root(self._edge)
        unsigned = None
        while self._next_size() == self.size:
            mark = self._marks[self._next]
            self._next += 1
            if mark.checkpoint.root != root:
                self._contradicted(mark)
                return
            unsigned = unsigned or mark.unsigned
        if self._suspect is not None:
            at, tile = self._suspect
            self.found = TreeFault(
                at, at, f"the tile {tile.path} was changed; the event is as it was signed"
            )
        elif unsigned is not None:
            self.found = TreeFault(self.signed + 1, self.size, unsigned)
        else:
            self.signed = self.size
            self.checkpoints += 1

    def _contradicted(self, mark: _Mark) -> None:
        if self._suspect is None and mark.unsigned is None:
            self._look_into_tile()
        if self._suspect is not None and self._suspect[0] <= self.size:
            at, tile = self._suspect
            right = self._other is not None and edge_root(self._other) == mark.checkpoint.root
            also = "" if right else f"; nor is it the one of the tile {tile.path}"
            self.found = TreeFault(at, at, f"the event is not the one that was signed{also}")
            return
        if mark.unsigned is not None:
            problem = mark.unsigned
        elif self.size == self.signed + 1:
            problem = f"the event is not the one of {mark.name}"
        else:
            problem = (
                f"of the positions {self.signed + 1} to {self.size} one is not the event of"
                f" {mark.name}"
            )
        self.found = TreeFault(self.signed + 1, self.size, problem)

    # The end

    def _begins(self) -> bool:
        """Whether another thread or process has just made the key, and signs for the first time."""
        until = time.monotonic() + _BEGINNING
        while self._tiles.checkpoint() is None:
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True

    def has_passed(self, position: int) -> bool:
        """Whether what comes later tells nothing more of anything before a position."""
        return self.found is not None or self._next_size() is None or self.signed >= position

    def end(self, head: int) -> TreeFault | None:
        """What is wrong, if anything, once the whole log was taken in."""
        if self.found is not None:
            return self.found
        if self._suspect is not None:
            at, tile = self._suspect
            return TreeFault(at, at, f"the event is not the one of the tile {tile.path}")
        if self._last_mark > head:
            longest = next(
                each for each in self._marks[::-1] if each.checkpoint.size == self._last_mark
            )
            problem = longest.unsigned or (
                f"this position is missing: the log ends at {head}, and {longest.name} was signed"
            )
            return TreeFault(head + 1, head + 1, problem)
        if self._latest is None and self._nowhere is not None:
            return TreeFault(None, None, self._nowhere)
        latest = 0 if self._latest is None else self._latest.size
        # What only the key's file knows of, and the log leads to, a copy under the same key signed.
        published = max((m.checkpoint.size for m in self._marks if not m.of_key), default=0)
        if latest < published:
            return TreeFault(
                latest + 1,
                published,
                f"the latest checkpoint is of {latest} events, but one of {published} was signed",
            )
        nothing = self._latest is None and self._nowhere is None and self._named
        if nothing and not self._begins():
            self._nowhere = "there is a signing key, and nothing that it signed"
        return None if self._nowhere is None else TreeFault(None, None, self._nowhere)


def _as_in_tile(
    tile: Tile, there: Sequence[bytes], start: int, before: Edge, leaves: Sequence[bytes]
) -> Edge:
    """The edge after these leaves, with those that a tile of leaves has in their places."""
    first = tile.number * WIDTH
    known = [*(before[0] if before else []), *leaves]
    begins = start - (len(before[0]) if before else 0)  # the first leaf of what is known
    known[first - begins : first - begins + len(there)] = there
    whole, _tiles = grow(begins, [[], *before[1:]] if before else [], known)
    return whole


_WHOSE = {
    "pinned": "a key that was given",
    "key file": "this ledger's key",
    "listed": "this ledger's key",
}


def _trusted(tree: Tree, pinned: Sequence[Verifier]) -> tuple[list[Term], str]:
    """The keys whose signatures count, the one in force first, and by whose word: what the tree
    says its keys are is believed neither against those that are given nor against the one at
    hand."""
    listed, history = tree.verifiers(), parsed(tree.tiles.kept())
    if pinned:
        return list(_given(listed, pinned, history)), "pinned"
    signer = tree.signer
    if signer is None:
        return terms_of(listed, history), "listed"
    if signer.verifier not in listed[-1:]:
        # A ledger that was set back: what it will be told again by the file.
        known = listed[-1].vkey if listed else None
        chain = (tree.key.handovers(known, signer.vkey) if tree.key is not None else None) or []
        listed = [*(listed if chain else []), *(Verifier.parse(each.new) for each in chain)]
        history += [each.head for each in chain]
        listed = listed if signer.verifier in listed[-1:] else [signer.verifier]
    return terms_of(listed, history), "key file"


def _given(
    listed: Sequence[Verifier], pinned: Sequence[Verifier], history: Sequence[Checkpoint]
) -> Iterator[Term]:
    """Those that were given, each up to where it handed over to the next one of the tree."""
    for each in dict.fromkeys(pinned):
        if each not in listed[:-1]:
            yield Term(each)
            continue
        both = handover(each, listed[listed.index(each) + 1], history)
        yield Term(each, 0 if both is None else both.size)
