"""The tree over all events: extended beside the log, by one at a time, and asked for proofs.

A position is counted from 1, its leaf from 0. What was signed is believed, tiles are not: a tile
that does not lead to the signed root is computed again from the log, and where the log itself
does not lead there it was changed.

What was signed last is also known beside the key, where whoever may write the ledger need not be
able to write: a tree that is behind that was set back, and goes on only where the log leads there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from beliefledger.ledger.errors import CallerMistake, LogCorrupted, SigningKeyMissing
from beliefledger.ledger.proofs.checkpoints import Checkpoints
from beliefledger.ledger.proofs.comparison import (
    LEAVES_AT_ONCE,
    find_difference,
    first_difference,
    tell_contradiction,
)
from beliefledger.ledger.proofs.keyfile import VARIABLE, KeyFile, KeyHandover
from beliefledger.ledger.proofs.merkle import (
    EMPTY_ROOT,
    ProofInvalid,
    consistency_proof,
    inclusion_proof,
    verify_consistency,
    verify_inclusion,
)
from beliefledger.ledger.proofs.nodes import Nodes, read_edge
from beliefledger.ledger.proofs.notes import (
    Checkpoint,
    NoteInvalid,
    Signer,
    Verifier,
    check,
    issue,
    with_signatures,
)
from beliefledger.ledger.proofs.tiles import (
    WIDTH,
    Edge,
    Tile,
    TileStore,
    TileWriter,
    edge_of,
    edge_root,
    grow,
)
from beliefledger.ledger.store import EventStore

PAGE = 1_000
"""Events in one step of a backlog, and between checkpoints of the history."""
_PAGES = 16
"""How many of them are taken in under one lock, and their tiles written once."""
T = TypeVar("T")


class Tree:
    """The tree of one log. Safe to use from several threads and processes.

    Without a signer it can be read and not extended. With the file of its key it goes on when
    another process changed the key, and refuses to sign what is behind what was signed.
    """

    def __init__(
        self,
        store: EventStore,
        tiles: TileStore,
        signer: Signer | None = None,
        key: KeyFile | None = None,
    ) -> None:
        self._store = store
        self.tiles = tiles
        self._signer = signer
        self.key = key
        self._checkpoints = Checkpoints(tiles)
        self._seen: _LastPublished | None = None
        self._nodes: Nodes | None = None

    # Heads

    @property
    def origin(self) -> str:
        """The name of the log in its checkpoints.

        Raises `SigningKeyMissing` for a tree that was never signed and has nobody to sign it.
        """
        verifiers = self.verifiers()
        return verifiers[-1].name if verifiers else self._need_signer().name

    @property
    def signer(self) -> Signer | None:
        """The key at hand, in force or not."""
        known = self.tiles.vkeys()
        if self.key is not None and (self._signer is None or known[-1:] != [self._signer.vkey]):
            self._signer = self.key.signer(known[-1] if known else None)
        return self._signer

    def verifiers(self) -> list[Verifier]:
        """All keys that ever signed, the one in force last."""
        return self._checkpoints.verifiers()

    def latest(self) -> Checkpoint | None:
        """The checkpoint published last. Raises `LogCorrupted` when it is not rightly signed."""
        return self._checkpoints.latest()

    def checkpoints(self) -> list[Checkpoint]:
        """The history of checkpoints: one about every 1,000 positions, and those asked for."""
        return self._checkpoints.kept()

    def kept(self, size: int) -> Checkpoint | None:
        """The checkpoint of this size, where it is in the history or the latest."""
        return self._checkpoints.of_size(size)

    # Extending

    def extend(self, *, keep: bool = False, upto: int | None = None) -> Checkpoint:
        """Take in what was appended since, up to a position or to the head, and sign it.

        With `keep` the checkpoint stays in the history. With nothing new it is the latest one.
        Raises `LogCorrupted` when the log does not go on from what was signed, or the tree was set
        back and the log with it, and `SigningKeyMissing` without the key in force.
        """
        while True:
            with self.tiles.extending() as writer:
                head = self._store.head().position
                latest = self._step(writer, head, upto, keep=keep)
            if self.key is not None:
                self.key.remember(latest)
            if latest.size >= head or (upto is not None and latest.size >= upto):
                return latest

    def sign(self, text: str) -> str:
        """The signature line, by the key in force, over a text about this log.

        Raises `SigningKeyMissing` without that key, and `LogCorrupted` as `extend` does.
        """
        signer = self._need_signer()
        known = self.tiles.vkeys()
        if known and known[-1] != signer.vkey:
            with self.tiles.extending() as writer:
                signer = self._authorise(writer)
        self._hold_against_mark(self.latest(), signer)
        return signer.sign(text)

    def begin(self, writer: TileWriter) -> Checkpoint:
        """Sign the empty tree, if nothing was ever signed.

        Raises `LogCorrupted` when the tree was taken away and the log does not lead to what was
        signed, and `SigningKeyMissing` when the key signs another log.
        """
        signer = self._need_signer()
        if self.key is not None:
            self._may_begin(self.key)
        self._authorise(writer)
        latest = self._checkpoints.latest(writer)
        if latest is None:
            latest = issue(signer.name, 0, EMPTY_ROOT, signer)
            writer.publish(latest, keep=False)
        return latest

    def check(self) -> None:
        """Raises what `extend` would where there is something to sign, without signing it."""
        latest, head = self.latest(), self._store.head().position
        size = 0 if latest is None else latest.size
        if head < size:
            raise LogCorrupted(_too_short(head, size))
        if head == size:
            return
        signer, known = self._need_signer(), self.tiles.vkeys()
        if known[-1:] != [signer.vkey]:
            self._handed_over(known, latest is None, signer)
        if not known and self.key is not None:
            self._may_begin(self.key)
        self._hold_against_mark(latest, signer)

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
            if self._authorise(writer) is not old:
                raise SigningKeyMissing("Another process has changed the key just now: try again.")
            latest = self._checkpoints.latest(writer)
            assert latest is not None
            # With the signatures it has: one key may have handed over to the other at this size.
            both = with_signatures(latest, [each.sign(latest.body) for each in (old, new)])
            if self.key is not None:
                self.key.hand_over(KeyHandover(old.vkey, new.vkey, both))
            writer.publish(both, keep=True)
            writer.know(new.vkey)
        if self.key is not None:
            self.key.remember(both)
        self._signer = new
        return both

    def _step(self, writer: TileWriter, head: int, upto: int | None, *, keep: bool) -> Checkpoint:
        """Take in some pages, or what is left, and publish the head."""
        signer = self._authorise(writer)
        latest = self._checkpoints.latest(writer)
        self._hold_against_mark(latest, signer)
        size = latest.size if latest else 0
        upto = head if upto is None else min(head, upto)
        if head < size:
            raise LogCorrupted(_too_short(head, size))
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
        self._checkpoints.know(checkpoint)
        self._seen = _LastPublished(checkpoint, signer, edge, leaves[-1] if leaves else b"")
        return checkpoint

    def _need_signer(self) -> Signer:
        signer = self._signer or self.signer
        if signer is None:
            if self.key is not None:
                raise SigningKeyMissing(
                    f"The signing key {self.key.path} is missing: put it back, or name its place in"
                    f" {VARIABLE}."
                )
            raise SigningKeyMissing(
                f"There is no key to sign checkpoints with: name its file in {VARIABLE}."
            )
        return signer

    def _authorise(self, writer: TileWriter) -> Signer:
        """The key in force: another must not sign, even by mistake; the first one may."""
        signer = self._need_signer()
        latest, seen = writer.checkpoint(), self._seen
        if seen is not None and seen.checkpoint.text == latest and seen.signer is signer:
            return signer  # a change of keys would have published another
        known = writer.vkeys()
        if known and known[-1] != signer.vkey and self.key is not None:
            # Another process may have changed the key.
            signer = self._signer = self.key.signer(known[-1]) or signer
        if known[-1:] == [signer.vkey]:
            return signer
        chain = self._handed_over(known, latest is None, signer)
        if not known:
            self._hold_against_mark(None, signer)
        self._hand_over_again(writer, chain)
        if not known and not chain:
            writer.know(signer.vkey)
        return signer

    def _handed_over(self, known: list[str], unsigned: bool, signer: Signer) -> list[KeyHandover]:
        """How this key came to sign after those that the tree knows. Raises `SigningKeyMissing`."""
        chain: list[KeyHandover] | None = [] if unsigned and not known else None
        if self.key is not None and (known or unsigned):
            chain = self.key.handovers(known[-1] if known else None, signer.vkey)
        if chain is None:
            raise SigningKeyMissing(_other_key(known[-1] if known else "nobody known", signer))
        return chain

    def _hand_over_again(self, writer: TileWriter, chain: Sequence[KeyHandover]) -> None:
        """Let a tree that was set back know which keys took over, where the log leads to the heads
        that were signed by both."""
        latest = self._checkpoints.latest(writer)
        for each in chain:
            head = each.head
            try:
                check(head, [Verifier.parse(each.old)])
                check(head, [Verifier.parse(each.new)])
            except NoteInvalid as problem:
                raise LogCorrupted(f"The handover to {each.new}: {problem}") from problem
            if latest is not None and latest.size > head.size:
                raise LogCorrupted(
                    f"The latest checkpoint, of {latest.size} events, is signed by a key that had"
                    f" handed over to {each.new} at {head.size}."
                )
            wrong = self._difference(head)
            if wrong is not None:
                raise SigningKeyMissing(
                    f"The ledger was set back to before its signing key handed over to {each.new}"
                    f" at {head.size} events, and does not lead there: {wrong}. Restore a backup"
                    f" that was made after the rotation; or put the key {each.old} back, if a copy"
                    f" of its file is left, and name it in {VARIABLE}."
                )
        for number, each in enumerate(chain):
            if not number and not writer.vkeys():
                writer.know(each.old)
            writer.publish(each.head, keep=True)
            writer.know(each.new)

    # What is known beside the key

    def _hold_against_mark(self, latest: Checkpoint | None, signer: Signer) -> None:
        """A tree that is behind the head that was signed last was set back: it goes on where the
        log leads to that head all the same."""
        if self.key is None or (mark := self.key.mark()) is None:
            return
        head, size = mark.head, -1 if latest is None else latest.size
        if head.origin != signer.name:
            raise SigningKeyMissing(
                f"{self.key.mark_path} is of the log {head.origin}, and this one is {signer.name}:"
                f" name a file of its own for it in {VARIABLE}."
            )
        if latest is not None and size >= head.size:
            if size == head.size and latest.root != head.root:
                raise LogCorrupted(
                    f"There are two different trees of {size} events: the latest checkpoint, and"
                    f" the one that was signed last ({self.key.mark_path})."
                )
            return
        wrong = self._difference(head)
        if wrong is not None:
            state = "there is no checkpoint" if latest is None else f"the latest is of {size}"
            raise LogCorrupted(
                f"A checkpoint of {head.size} events was signed ({self.key.mark_path}), {state},"
                f" and the log does not lead there: {wrong}. Restore the newest backup. Only if"
                f" what was signed is to be given up, take {self.key.mark_path} away."
            )

    def _may_begin(self, key: KeyFile) -> None:
        """A key that signed at another place is this log's only if the log is the same."""
        mark = key.mark()
        if mark is None or mark.place == key.place:
            return
        head, place = mark.head, mark.place
        wrong = self._difference(head) if head.size else "that one is empty"
        if wrong is not None:
            raise SigningKeyMissing(
                f"The key in {key.path} signs the ledger at {place}, which had {head.size} events"
                f" when it last did, and this is another: {wrong}. Name a file of its own for this"
                f" ledger in {VARIABLE}. If this is that ledger, moved, then its tree is lost and"
                " its log was changed: restore the newest backup."
            )

    def _difference(self, head: Checkpoint) -> str | None:
        return find_difference(self._store, head, self.checkpoints)

    def _edge(
        self, writer: TileWriter, latest: Checkpoint | None, end: int
    ) -> tuple[Edge, list[bytes]]:
        """The edge of the tree that was signed last, and the leaves after it, when the log goes on
        from there: of what this process signed itself the last leaf is compared with the log, of
        what it finds the last tile."""
        if latest is None or latest.size == 0:
            return [], writer.leaves(self._store, 0, end)
        size, seen = latest.size, self._seen
        if (
            seen is not None
            and seen.checkpoint == latest
            and self._store.leaf_hashes(size - 1, size) == [seen.leaf]
        ):
            return seen.edge, writer.leaves(self._store, size, end)
        tile = Tile(0, (size - 1) // WIDTH, (size - 1) % WIDTH + 1)
        leaves = self._store.leaf_hashes(tile.number * WIDTH, size)
        edge = read_edge(writer, size)
        if edge is None or edge_root(edge) != latest.root or writer.tile(tile) != b"".join(leaves):
            self._mend(writer, latest)
            edge = read_edge(writer, size)
            assert edge is not None
        return edge, writer.leaves(self._store, size, end)

    # Reading

    def root(self, size: int) -> bytes:
        """The root of the tree of the first `size` events, which is part of the latest one."""
        return self._answer(size, lambda nodes: nodes.root(size))

    def inclusion(self, position: int, size: int) -> list[bytes]:
        """The proof that the tree of `size` events has the event at this position."""
        if not 1 <= position <= size:
            raise CallerMistake(f"There is no position {position} in a tree of {size} events.")

        def proved(nodes: Nodes) -> list[bytes]:
            [leaf] = self._store.leaf_hashes(position - 1, position)
            proof = inclusion_proof(position - 1, size, nodes)
            verify_inclusion(position - 1, size, leaf, proof, nodes.root(size))
            return proof

        return self._answer(size, proved)

    def consistency(self, old: int, new: int) -> list[bytes]:
        """The proof that the tree of `new` events begins with that of `old`."""
        if not 0 <= old <= new:
            raise CallerMistake(f"A tree of {new} events does not go on from one of {old}.")

        def proved(nodes: Nodes) -> list[bytes]:
            proof = consistency_proof(old, new, nodes)
            verify_consistency(old, new, nodes.root(old), nodes.root(new), proof)
            return proof

        return self._answer(new, proved)

    def _answer(self, size: int, ask: Callable[[Nodes], T]) -> T:
        """The answer out of tiles that lead to the latest root: mended first, if they do not."""
        latest = self.latest()
        if latest is None or not 0 <= size <= latest.size:
            signed = latest.size if latest else 0
            raise CallerMistake(
                f"The tree has {signed} events so far, not {size}: extend it by a checkpoint first."
            )
        nodes = self._nodes
        if nodes is None or nodes.latest != latest:
            nodes = self._nodes = Nodes(self.tiles, latest)
        try:
            return ask(nodes)
        except ProofInvalid:
            with self.tiles.extending() as writer:
                self._mend(writer, self._checkpoints.latest(writer) or latest)
        try:
            self._nodes = Nodes(self.tiles, latest)
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
            latest = self._checkpoints.latest(writer)
            return self._mend(writer, latest) if latest else 0

    def _mend(self, writer: TileWriter, latest: Checkpoint) -> int:
        mended: dict[Tile, bytes] = {}
        edge: Edge = []
        differing: list[int] = []
        last = set(edge_of(latest.size))
        for start in range(0, latest.size, LEAVES_AT_ONCE):
            end = min(start + LEAVES_AT_ONCE, latest.size)
            edge, tiles = grow(start, edge, self._store.leaf_hashes(start, end))
            for tile, data in tiles.items():
                if tile.width < WIDTH and tile not in last:
                    continue  # at the edge of this page alone
                there = writer.tile(tile)
                if there != data:
                    mended[tile] = data
                    if tile.level == 0:
                        differing += first_difference(tile, there, data)
        if edge_root(edge) != latest.root:
            raise LogCorrupted(
                tell_contradiction(self._store, latest, self.checkpoints(), differing)
            )
        writer.mend(mended)
        return len(mended)


class _LastPublished(NamedTuple):
    """The checkpoint that this process published last, who signed it, the edge of its tree and its
    last leaf."""

    checkpoint: Checkpoint
    signer: Signer
    edge: Edge
    leaf: bytes


def _too_short(head: int, size: int) -> str:
    return (
        f"The log ends at position {head}, and a checkpoint of {size} events was signed: position"
        f" {head + 1} is missing."
    )


def _other_key(known: str, signer: Signer) -> str:
    return (
        f"This ledger's checkpoints are signed by {known}, and the key here is {signer.vkey}: name"
        f" the right file in {VARIABLE}, or restore a backup that was made after that key took"
        " over."
    )
