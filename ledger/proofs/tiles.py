"""Where a tree is kept: tiles in the layout of c2sp.org/tlog-tiles, and the heads that were signed.

A tile holds up to 256 neighbouring hashes of one height: leaves at level 0, above it the roots of
full tiles. Tiles can always be computed again from the log, so they are written without being
synced; what was signed cannot, so a checkpoint is durable before anybody is told of it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from beliefledger.ledger import files
from beliefledger.ledger.errors import LogCorrupted, ProofsDamaged
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.proofs.merkle import HASH_BYTES, joined, parents, peaks_of
from beliefledger.ledger.proofs.notes import Checkpoint, NoteInvalid, Verifier, check
from beliefledger.ledger.store import EventStore

HEIGHT = 8
WIDTH = 1 << HEIGHT
SPOILT = "The checkpoint that was cosigned last is not kept as it was"


class Tile(NamedTuple):
    """The place of a tile: its level, its number in the level, and how many hashes it has."""

    level: int
    number: int
    width: int = WIDTH

    @property
    def path(self) -> str:
        """`tile/<L>/<N>[.p/<W>]`, where N 1234067 is written x001/x234/067."""
        digits = str(self.number)
        digits = digits.zfill(-(-len(digits) // 3) * 3)
        parts = [digits[at : at + 3] for at in range(0, len(digits), 3)]
        number = "/".join([*("x" + part for part in parts[:-1]), parts[-1]])
        partial = "" if self.width == WIDTH else f".p/{self.width}"
        return f"tile/{self.level}/{number}{partial}"

    @property
    def full(self) -> Tile:
        return Tile(self.level, self.number)


def hashes_of(data: bytes) -> list[bytes]:
    return [data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES)]


def tiles_of(size: int) -> Iterator[Tile]:
    """The tiles of a tree of this size, level by level; a partial one is the last of its level."""
    level = 0
    while size:
        full, width = divmod(size, WIDTH)
        for number in range(full):
            yield Tile(level, number)
        if width:
            yield Tile(level, full, width)
        level, size = level + 1, full


def edge_of(size: int) -> list[Tile]:
    """The last tile of each level where it is partial: what the root is computed from, and what
    the next leaf changes. Of width 0 where the last one is full."""
    tiles: list[Tile] = []
    while size:
        tiles.append(Tile(len(tiles), size // WIDTH, size % WIDTH))
        size //= WIDTH
    return tiles


Edge = list[list[bytes]]
"""The hashes in each tile of `edge_of`."""


def edge_root(edge: Edge) -> bytes:
    """The root of the tree whose edge this is."""
    return joined([peak for hashes in reversed(edge) for peak in peaks_of(hashes)])


def grow(size: int, edge: Edge, leaves: Sequence[bytes]) -> tuple[Edge, dict[Tile, bytes]]:
    """The edge when these leaves follow, and the tiles that are new or wider for it."""
    changed: dict[Tile, bytes] = {}
    grown = [list(hashes) for hashes in edge]
    more, level = list(leaves), 0
    while more:
        if level == len(grown):
            grown.append([])
        hashes = grown[level] + more
        number = (size >> HEIGHT * level) // WIDTH
        more = []
        while len(hashes) >= WIDTH:
            full, hashes = hashes[:WIDTH], hashes[WIDTH:]
            changed[Tile(level, number)] = b"".join(full)
            more.append(_root_of_full(full))
            number += 1
        if hashes:
            changed[Tile(level, number, len(hashes))] = b"".join(hashes)
        grown[level] = hashes
        level += 1
    return grown, changed


def _root_of_full(hashes: Sequence[bytes]) -> bytes:
    while len(hashes) > 1:
        hashes = parents(hashes)
    return hashes[0]


class TileReader(Protocol):
    """What can be read of a tree. Whoever reads a partial tile of a size that was published finds
    it, or the full one of the same place."""

    def tile(self, tile: Tile) -> bytes | None:
        """The bytes as they are kept, right or wrong; None when there are none."""
        ...

    def checkpoint(self) -> str | None:
        """The note that was published last."""
        ...

    def vkeys(self) -> list[str]:
        """The verifier keys of all keys that ever signed, the one in force last."""
        ...

    @property
    def keys_at(self) -> str:
        """Where the keys are kept, for error messages."""
        ...


class TileWriter(TileReader, Protocol):
    """The operations of the one process that extends the tree."""

    def leaves(self, store: EventStore, after: int, upto: int) -> list[bytes]:
        """The leaves of (after, upto], which the tree of `after` is extended by. Where the tiles
        are not to be taken from whoever extends it, they are computed at the same time."""
        ...

    def write(self, tiles: dict[Tile, bytes]) -> None:
        """Let the tiles of the leaves that were asked for be kept."""
        ...

    def mend(self, tiles: dict[Tile, bytes]) -> None:
        """Let these take the place of those that are missing or wrong."""
        ...

    def publish(self, checkpoint: Checkpoint, *, keep: bool) -> None:
        """Make it the latest, durably; with `keep` also a part of the history of checkpoints.

        Raises `LogCorrupted` when it is behind the latest, or of its size with another root.
        """
        ...

    def keep(self, passed: Sequence[Checkpoint]) -> None:
        """Let the history have these, too. Not durable at once."""
        ...

    def know(self, vkey: str) -> None:
        """Let this key be the one in force."""
        ...

    def drop_partial(self, tiles: Sequence[Tile]) -> None:
        """Remove the partial tiles in the places of these full ones."""
        ...


class TileStore(TileReader, Protocol):
    """A place for one tree. Safe to use from several threads and processes."""

    def extending(self) -> AbstractContextManager[TileWriter]:
        """Be the only one, over all processes, who extends the tree. What was published by others
        before is read by it."""
        ...

    def kept(self) -> list[str]:
        """The history of checkpoints, in order of size."""
        ...

    def kept_at(self, size: int) -> str | None: ...

    def cosigned(self) -> str | None:
        """The last checkpoint that the witness cosigned, as it is kept, right or wrong: see
        `read_cosigned`."""
        ...

    def keep_cosigned(self, text: str) -> None:
        """Keep it durably, unless a larger one is kept already, which is this tree's."""
        ...


def read_cosigned(tiles: TileStore) -> Checkpoint | None:
    """The last checkpoint that was cosigned, if one is kept. Whether the witness did cosign it is
    for whoever knows that to look at.

    Raises `NoteInvalid` for one that was spoilt: that cannot be read, or is not signed by a key of
    this tree, or is larger than the tree.
    """
    text = tiles.cosigned()
    if text is None:
        return None
    found = Checkpoint.parse(text)
    by = check(found, map(Verifier.parse, tiles.vkeys()))
    if by.name != found.origin:
        raise NoteInvalid(f"The cosigned checkpoint is one of {found.origin}.")
    latest = tiles.checkpoint()  # read after it, since the tree grows meanwhile
    size = 0 if latest is None else Checkpoint.parse(latest).size
    if found.size > size:
        raise NoteInvalid(f"The cosigned checkpoint is of {found.size} events, the tree of {size}.")
    return found


class DirectoryTiles:
    """A tree in files, as a web server could hand them out: `checkpoint` and `tile/…`, and beside
    them `checkpoints/` (the history, a file for each size), `keys`, `cosigned` and `lock`."""

    step = staticmethod(lambda _: None)
    """Called before each step of a write with its name: where tests let it fail."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def __str__(self) -> str:
        return str(self.path)

    def tile(self, tile: Tile) -> bytes | None:
        data = self._read(tile.path)
        if data is None and tile.width < WIDTH:
            full = self._read(tile.full.path)  # the partial one goes once it is there
            data = None if full is None else full[: tile.width * HASH_BYTES]
        return data

    def checkpoint(self) -> str | None:
        text = self._text("checkpoint")
        if text is None and (sizes := self._sizes()):
            return self.kept_at(sizes[-1])
        return text

    def vkeys(self) -> list[str]:
        return (self._text("keys") or "").split()

    @property
    def keys_at(self) -> str:
        return str(self.path / "keys")

    def kept(self) -> list[str]:
        texts = (self.kept_at(size) for size in self._sizes())
        return [text for text in texts if text is not None]

    def kept_at(self, size: int) -> str | None:
        return self._text(f"checkpoints/{size}") or None  # empty after a loss of power

    def _sizes(self) -> list[int]:
        try:
            names = [each.name for each in (self.path / "checkpoints").iterdir()]
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise file_fault(f"{self.path / 'checkpoints'} cannot be read", problem) from problem
        return sorted(int(name) for name in names if name.isdecimal())

    def cosigned(self) -> str | None:
        data = self._read("cosigned")
        return None if data is None else data.decode(errors="replace")

    def keep_cosigned(self, text: str) -> None:
        with self.extending():
            try:
                there = read_cosigned(self)
            except NoteInvalid:
                there = None
            if there is None or there.size <= Checkpoint.parse(text).size:
                self._replace("cosigned", text)

    @contextmanager
    def extending(self) -> Iterator[TileWriter]:
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with files.locked(self.path / "lock"):
                yield self
        except OSError as problem:
            raise file_fault(f"{self.path} cannot be written", problem) from problem

    def leaves(self, store: EventStore, after: int, upto: int) -> list[bytes]:
        return store.leaf_hashes(after, upto)

    def mend(self, tiles: dict[Tile, bytes]) -> None:
        self.write(tiles)

    def write(self, tiles: dict[Tile, bytes]) -> None:
        for tile, data in tiles.items():
            self.step("tile")
            path = f"{self.path}/{tile.path}"
            try:
                # Of no tree that was published yet: nobody minds when it is half written.
                _make(path, data)
            except FileExistsError:
                unnamed = Path(f"{path}.new")
                unnamed.unlink(missing_ok=True)
                _make(str(unnamed), data)
                unnamed.replace(path)

    def publish(self, checkpoint: Checkpoint, *, keep: bool) -> None:
        self.step("publish")
        latest = self.checkpoint()
        if latest is not None:
            check_goes_on(latest, checkpoint)
        if keep:
            self._replace(f"checkpoints/{checkpoint.size}", checkpoint.text)
        self._replace("checkpoint", checkpoint.text)
        self.step("published")

    def keep(self, passed: Sequence[Checkpoint]) -> None:
        for checkpoint in passed:
            self._replace(f"checkpoints/{checkpoint.size}", checkpoint.text, durably=False)

    def know(self, vkey: str) -> None:
        self._replace("keys", "".join(f"{each}\n" for each in [*self.vkeys(), vkey]))

    def drop_partial(self, tiles: Sequence[Tile]) -> None:
        for tile in tiles:
            directory = self.path / f"{tile.full.path}.p"
            if directory.exists():
                for partial in directory.iterdir():
                    partial.unlink()
                directory.rmdir()

    def _read(self, name: str) -> bytes | None:
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise file_fault(f"{self.path / name} cannot be read", problem) from problem

    def _text(self, name: str) -> str | None:
        data = self._read(name)
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError as problem:
            raise ProofsDamaged(
                f"{self.path / name} is not text: put it back from a backup."
            ) from problem

    def _replace(self, name: str, text: str, *, durably: bool = True) -> None:
        """Nobody sees it half written; what is not durable may be empty after a loss of power."""
        path = self.path / name
        try:
            files.replace(path, text, durably=durably)
        except FileNotFoundError:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            files.replace(path, text, durably=durably)


def _make(path: str, data: bytes) -> None:
    """A new file, in a directory that is made where it has to be. Raises `FileExistsError`."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        file = os.open(path, flags, 0o600)
    except FileNotFoundError:
        Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, flags, 0o600)
    try:
        if os.write(file, data) != len(data):
            raise OSError(errno.ENOSPC, f"{path} could not be written in full")
    finally:
        os.close(file)


def check_goes_on(latest: str, checkpoint: Checkpoint) -> None:
    """Raises `LogCorrupted` where publishing would show two heads of one size, or go back."""
    try:
        before = Checkpoint.parse(latest)
    except NoteInvalid as problem:
        raise LogCorrupted(f"The latest checkpoint cannot be read: {problem}") from problem
    if checkpoint.size < before.size:
        raise LogCorrupted(
            f"A checkpoint of {checkpoint.size} events came after one of {before.size}."
        )
    if checkpoint.size == before.size and checkpoint.root != before.root:
        raise LogCorrupted(f"There are two different trees of {checkpoint.size} events.")
