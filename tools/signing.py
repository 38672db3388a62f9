"""The tree of a ledger with the key that signs it: where its file lies, and when it is made."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ledger.errors import BackendUnavailable, KeyMissing
from ledger.proofs import keyfile
from ledger.proofs.notes import Signer
from ledger.proofs.tiles import TileStore
from ledger.proofs.tree import Tree
from ledger.store import EventStore
from tools.settings import SIGNING_KEY_FILE, Settings

KEY_FILE = "signing.key"


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """Where the signing key is. Beside a master key that several ledgers may share, each has its
    own, told apart by its origin."""

    file: Path | None = None
    directory: Path | None = None

    def path(self, origin: str) -> Path | None:
        if self.file is not None or self.directory is None:
            return self.file
        return self.directory / f"signing-{origin.rpartition('/')[2]}.key"


def key_place(settings: Settings, directory: Path | None) -> KeyPlace:
    """What the environment names, else beside the master key's file, else in the ledger's own
    directory, where there is one."""
    if settings.signing_key_file is not None:
        return KeyPlace(file=settings.signing_key_file)
    if settings.master_key_file is not None:
        return KeyPlace(directory=settings.master_key_file.parent)
    return KeyPlace(file=None if directory is None else directory / KEY_FILE)


class Signing:
    """Opens the tree when it is first wanted, and again after another process changed its key.

    Safe to use from several threads.
    """

    def __init__(self, store: EventStore, tiles: Callable[[], TileStore], place: KeyPlace) -> None:
        self._store = store
        self._make_tiles = tiles
        self._place = place
        self._lock = threading.Lock()
        self._tree: Tree | None = None

    def tree(self) -> Tree:
        """The tree, whose key is made now if it was never signed. Raises `KeyMissing` for a key
        file that cannot be used; without one, a tree that is there can be read."""
        with self._lock:
            if self._tree is None:
                tiles = self._make_tiles()
                self._tree = Tree(self._store, tiles, self._signer(tiles))
            return self._tree

    @property
    def tiles(self) -> TileStore:
        """Where the tree is kept. No key is made for it."""
        return self._make_tiles()

    def tree_if_signed(self) -> Tree | None:
        """The tree, unless nothing was ever signed; nothing is made."""
        tiles = self._make_tiles()
        return self.tree() if tiles.vkeys() or tiles.checkpoint() is not None else None

    def renew(self) -> None:
        """Read the key again when the tree is next wanted."""
        with self._lock:
            self._tree = None

    def key_path(self) -> Path:
        """Where the key lies. Raises `KeyMissing` where there is no place for it."""
        path = self._place.path(self.tree().origin)
        if path is None:
            raise KeyMissing(
                f"There is no place for a signing key: name one in {SIGNING_KEY_FILE}."
            )
        return path

    def rotate(self) -> None:
        """Let a new key sign from now on. Killed at any step, whoever opens the ledger next goes on
        with the key that is in force by then."""
        path = self.key_path()
        with _alone(path):
            self.renew()  # another process may have changed it just now
            tree = self.tree()
            tree.extend()  # with the key in force, or there is nothing to hand over
            signer = tree.signer
            assert signer is not None  # or it could not extend
            new = Signer.generate(signer.name)
            keyfile.prepare(path, new)
            tree.rotate(new)
            keyfile.adopt(path)

    def _signer(self, tiles: TileStore) -> Signer | None:
        known = tiles.vkeys()
        if known:
            path = self._place.path(known[-1].partition("+")[0])
            return None if path is None or not path.exists() else keyfile.read(path, known[-1])
        if self._place == KeyPlace() or tiles.checkpoint() is not None:
            return None
        with tiles.extending() as writer:
            if writer.vkeys():  # another process was first
                return self._signer(tiles)
            signer = self._made()
            writer.know(signer.vkey)
        return signer

    def _made(self) -> Signer:
        origin = keyfile.new_origin()
        path = self._place.path(origin)
        assert path is not None
        try:
            return keyfile.read(path) if path.exists() else keyfile.create(path, origin)
        except FileExistsError:
            return keyfile.read(path)
        except OSError as problem:
            raise BackendUnavailable(f"The key file {path} cannot be made: {problem}.") from problem


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Of all processes only one prepares a key at a time: the next would overwrite the first's."""
    lock = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
