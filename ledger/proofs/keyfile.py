"""The file of the key that signs checkpoints: readable by its owner alone.

The name in it is the origin of the log, made once with the ledger; a key that takes over has the
same name. It lies beside the file until the log knows it (`prepare`, `adopt`), so that a change of
keys that is killed at any step is completed by the next `read`.

Beside it lies what a ledger that was set back does not know any more: the head that was signed last
(`.head`), and the heads by which one key handed over to the next (`.handovers`).
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from beliefledger.ledger import files
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import LogCorrupted, SigningKeyMissing
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.proofs.notes import Checkpoint, NoteInvalid, Signer

VARIABLE = "BELIEFLEDGER_SIGNING_KEY_FILE"
MARK = ".head"
"""Behind the name of a key's file: where the head is that was signed last."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The head that was signed last, and for the tree of which place."""

    place: str
    head: Checkpoint


@dataclass(frozen=True, slots=True)
class KeyHandover:
    """The head that was signed by both of two keys, when one took over from the other."""

    old: str
    new: str
    head: Checkpoint


class KeyFile:
    """A signing key's file, and what is kept beside it for the tree at `place`."""

    def __init__(self, path: Path, place: str = "") -> None:
        self.path = path
        self.place = place
        self.mark_path = path.with_name(path.name + MARK)

    def signer(self, current: str | None = None) -> Signer | None:
        """The key, as `read` finds it; None where no file is."""
        return read(self.path, current) if self.path.exists() else None

    def mark(self) -> Mark | None:
        """Raises `LogCorrupted` when it cannot be read. An empty one is what a loss of power may
        leave of one: it was not synced."""
        text = _text(self.mark_path)
        if not text:
            return None
        try:
            fields = _object(json.loads(text))
            return Mark(str(fields["place"]), Checkpoint.parse(str(fields["head"])))
        except (ValueError, KeyError, TypeError) as problem:
            raise LogCorrupted(
                f"{self.mark_path}, the head that was signed last, cannot be read: {problem}."
            ) from problem

    def remember(self, head: Checkpoint, *, anew: bool = False) -> None:
        """Let this be the head that was signed last, unless a larger one was; `anew` in any case.

        Not synced: a checkpoint is, and one that is behind it is as good as none.
        """
        with _told(self.mark_path), self._alone():
            there = None if anew else self.mark()
            if there is None or (there.head.size <= head.size and there.head.text != head.text):
                made = {"place": self.place, "head": head.text}
                files.replace(self.mark_path, json.dumps(made) + "\n", durably=anew)

    def forget(self) -> None:
        """Know of no head, as before the first was signed."""
        with _told(self.mark_path):
            self.mark_path.unlink(missing_ok=True)

    def handovers(self, old: str | None, new: str) -> list[KeyHandover] | None:
        """Those by which one key leads to another; of a tree that knows no key, from the first on.
        None where they do not."""
        before = {each.new: each for each in self._handovers()}
        chain: list[KeyHandover] = []
        at = new
        while at != old and at in before:
            chain.insert(0, before.pop(at))
            at = chain[0].old
        return chain if at == old or old is None else None

    def hand_over(self, handover: KeyHandover) -> None:
        """Keep it, durably."""
        path = self._handovers_path
        with _told(path), self._alone():
            made = [
                {"old": each.old, "new": each.new, "head": each.head.text}
                for each in [*self._handovers(), handover]
            ]
            files.replace(path, json.dumps(made, indent=1) + "\n", durably=True)

    def _alone(self) -> AbstractContextManager[None]:
        """Only one at a time changes what is kept beside a key."""
        return files.locked(self.mark_path.with_name(f"{self.mark_path.name}.lock"))

    @property
    def _handovers_path(self) -> Path:
        return self.path.with_name(f"{self.path.name}.handovers")

    def _handovers(self) -> list[KeyHandover]:
        text = _text(self._handovers_path)
        if not text:
            return []
        try:
            every = [_object(each) for each in json.loads(text)]
            return [
                KeyHandover(str(each["old"]), str(each["new"]), Checkpoint.parse(str(each["head"])))
                for each in every
            ]
        except (ValueError, KeyError, TypeError) as problem:
            raise LogCorrupted(f"{self._handovers_path} cannot be read: {problem}.") from problem


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("it is no object")
    return value


def new_origin() -> str:
    return f"beliefledger/{os.urandom(8).hex()}"


def create(path: Path, origin: str | None = None) -> Signer:
    """Make a key in a new file. Raises `FileExistsError`."""
    signer = Signer.generate(origin or new_origin())
    files.create(path, signer.private_text + "\n")
    return signer


def read(path: Path, current: str | None = None) -> Signer:
    """The key of a file. `current` is the verifier key that the log knows last: the key that was
    prepared for it takes its place in the file, if that is still to be done.

    Raises `SigningKeyMissing`, also for a file that others than its owner may read.
    """
    if current is not None:
        with _told(path), _waiting(path) as waiting:
            if waiting is not None and _read(waiting).vkey == current:
                _adopt(path)
    return _read(path)


def prepare(path: Path, signer: Signer) -> None:
    """Write the next key beside the file. One that was prepared and never used is given up."""
    with _waiting(path) as waiting:
        if waiting is not None:
            waiting.unlink()
        files.create(_beside(path), signer.private_text + "\n")


def adopt(path: Path) -> None:
    """Let the prepared key take the place of the one in the file, unless a reader was first."""
    with _waiting(path) as waiting:
        if waiting is not None:
            _adopt(path)


def _adopt(path: Path) -> None:
    _beside(path).replace(path)
    files.sync(path.parent)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.next")


def _read(path: Path) -> Signer:
    try:
        mode = path.stat().st_mode
        text = path.read_text("utf-8", errors="replace")
    except OSError as problem:
        raise SigningKeyMissing(
            f"The signing key file {path} cannot be read: {problem}. Put the key back, or name its"
            f" place in {VARIABLE}."
        ) from problem
    if mode & 0o077:
        raise SigningKeyMissing(
            f"The signing key file {path} can be read by others than its owner: chmod 600 it."
        )
    try:
        return Signer.parse(text.strip())
    except NoteInvalid as problem:
        raise SigningKeyMissing(f"{path}: {problem}") from None


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise file_fault(f"{path} cannot be read", problem) from problem


@contextmanager
def _waiting(path: Path) -> Iterator[Path | None]:
    """The prepared key's file, if there is one: nobody else takes it away or adopts it meanwhile.
    For a moment: it must not be asked for again within."""
    waiting = _beside(path)
    while True:
        try:
            lock = os.open(waiting, os.O_RDONLY)
        except FileNotFoundError:
            yield None
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_still(lock, waiting):
                yield waiting
                return
        finally:
            os.close(lock)


def _is_still(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise file_fault(f"{path}, beside the signing key, cannot be written", problem) from problem
