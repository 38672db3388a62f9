"""The tree of a ledger with the key that signs it: where its file lies, and when it is made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from beliefledger.ledger import files
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import CopyUnfinished, LedgerError, SigningKeyMissing
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.proofs import keyfile
from beliefledger.ledger.proofs.keyfile import KeyFile
from beliefledger.ledger.proofs.notes import Checkpoint, Signer
from beliefledger.ledger.proofs.tiles import DirectoryTiles, TileStore
from beliefledger.ledger.proofs.tree import Tree
from beliefledger.ledger.store import EventStore
from beliefledger.settings import SIGNING_KEY_FILE, Settings

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

    def signed_for(self, place: str) -> Path | None:
        """The key that a tree at this place was signed with, as is remembered beside it, or that is
        there for whichever comes first."""
        if self.file is not None or self.directory is None:
            return self.file
        for mark in sorted(self.directory.glob(f"signing-*.key{keyfile.MARK}")):
            file = KeyFile(mark.with_name(mark.name.removesuffix(keyfile.MARK)))
            found = file.mark()
            if found is not None and found.place == place:
                return file.path
        return None


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
        self._read_only: str | None = None

    def only_read(self, why: str) -> None:
        """From now on make no key and sign nothing, by a `CopyUnfinished` that says why."""
        self._read_only = why

    def tree(self) -> Tree:
        """The tree, whose key is made now if it was never signed. Raises `SigningKeyMissing` for a
        key file that cannot be used, and `LogCorrupted` where the tree was taken away and the log
        changed; without a key, a tree that is there can be read."""
        with self._lock:
            if self._tree is None:
                tiles = self._make_tiles()
                if self._read_only is not None:
                    if tiles.checkpoint() is None:
                        raise CopyUnfinished(self._read_only)
                    self._tree = Tree(self._store, tiles)
                else:
                    self._tree = self._there(tiles) or self._begun(tiles)
            return self._tree

    @property
    def tiles(self) -> TileStore:
        """Where the tree is kept. No key is made for it."""
        return self._make_tiles()

    def tree_if_signed(self) -> Tree | None:
        """The tree, unless nothing was ever signed; nothing is made."""
        tiles = self._make_tiles()
        return self.tree() if tiles.vkeys() or tiles.checkpoint() is not None else None

    def tree_to_verify(self) -> Tree | None:
        """The tree, unless nothing tells that anything was ever signed: a key that is there, or
        what is remembered beside it, does. Nothing is made."""
        tree = self.tree_if_signed()
        if tree is not None:
            return tree
        tiles = self._make_tiles()
        path = self._place.signed_for(_name(tiles))
        if path is None:
            return None
        file = KeyFile(path, _name(tiles))
        if not path.exists() and file.mark() is None:
            return None
        return Tree(self._store, tiles, file.signer(), file)

    def warnings(self) -> tuple[str, ...]:
        """Why what was appended last cannot be signed here, or what was signed is not there any
        more, as far as the key and the last head tell; nothing is made."""
        if self._read_only is not None:
            return ()
        try:
            tree = self.tree_to_verify()
            if tree is not None:
                tree.check()
        except LedgerError as problem:
            return (str(problem),)
        return ()

    def restored(self) -> Checkpoint | None:
        """Give up what the key signed after the head that a restored ledger has: it goes on from
        there. Returns the head that is given up, if it was a later one."""
        tiles = self._make_tiles()
        path = self._place.signed_for(_name(tiles))
        vkeys = tiles.vkeys()
        if vkeys:
            path = self._place.path(vkeys[-1].partition("+")[0])
        if path is None or not path.exists():
            return None
        file = KeyFile(path, _name(tiles))
        mark, text = file.mark(), tiles.checkpoint()
        head = None if text is None else Checkpoint.parse(text)
        if mark is None:
            return None
        if head is None:
            file.forget()
        else:
            file.remember(head, anew=True)
        return mark.head if head is None or mark.head.size > head.size else None

    def key_path(self) -> Path:
        """Where the key lies. Raises `SigningKeyMissing` where there is no place for it."""
        path = self._place.path(self.tree().origin)
        if path is None:
            raise SigningKeyMissing(
                f"There is no place for a signing key: name one in {SIGNING_KEY_FILE}."
            )
        return path

    def rotate(self) -> None:
        """Let a new key sign from now on. Killed at any step, whoever opens the ledger next goes on
        with the key that is in force by then."""
        path = self.key_path()
        # The next to prepare a key would overwrite the first's.
        with files.locked(path.with_name(f"{path.name}.lock")):
            tree = self.tree()
            tree.extend()  # with the key in force by now, or there is nothing to hand over
            signer = tree.signer
            assert signer is not None  # or it could not extend
            new = Signer.generate(signer.name)
            keyfile.prepare(path, new)
            tree.rotate(new)
            keyfile.adopt(path)

    def _there(self, tiles: TileStore) -> Tree | None:
        """The tree, if anybody ever signed it."""
        known = tiles.vkeys()
        if not known:
            unknown = tiles.checkpoint() is not None or self._place == KeyPlace()
            return Tree(self._store, tiles) if unknown else None
        path = self._place.path(known[-1].partition("+")[0])
        if path is None:
            return Tree(self._store, tiles)
        file = KeyFile(path, _name(tiles))
        return Tree(self._store, tiles, file.signer(known[-1]), file)

    def _begun(self, tiles: TileStore) -> Tree:
        with tiles.extending() as writer:
            if writer.vkeys():  # another process was first
                tree = head = None
            else:
                path, signer = self._made(_name(tiles))
                file = KeyFile(path, _name(tiles))
                tree = Tree(self._store, tiles, signer, file)
                head = tree.begin(writer)
        if tree is None or head is None:
            tree = self._there(tiles)
            assert tree is not None
            return tree
        file.remember(head)
        return tree

    def _made(self, place: str) -> tuple[Path, Signer]:
        origin = keyfile.new_origin()
        path = self._place.signed_for(place) or self._place.path(origin)
        assert path is not None
        try:
            if path.exists() or KeyFile(path).mark() is not None:
                return path, keyfile.read(path)  # one that signed before is not made anew
            return path, keyfile.create(path, origin)
        except FileExistsError:
            return path, keyfile.read(path)
        except OSError as problem:
            raise file_fault(f"The key file {path} cannot be made", problem) from problem


def _name(tiles: TileStore) -> str:
    """The same however the place is written."""
    return str(tiles.path.resolve()) if isinstance(tiles, DirectoryTiles) else str(tiles)
