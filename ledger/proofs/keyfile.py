"""The file with the key that signs checkpoints: readable by its owner alone.

The name in it is the origin of the log, made once with the ledger; a key that takes over has the
same name. It lies beside the file until the log knows it (`prepare`, `adopt`), so that a change of
keys that is killed at any step is completed by the next `read`.
"""

from __future__ import annotations

import os
from pathlib import Path

from ledger.errors import KeyMissing
from ledger.proofs.notes import NoteInvalid, Signer

VARIABLE = "BELIEFLEDGER_SIGNING_KEY_FILE"


def new_origin() -> str:
    return f"beliefledger/{os.urandom(8).hex()}"


def create(path: Path, origin: str | None = None) -> Signer:
    """Make a key in a new file. Raises `FileExistsError`."""
    signer = Signer.generate(origin or new_origin())
    _write(path, signer)
    return signer


def read(path: Path, current: str | None = None) -> Signer:
    """The key of a file. `current` is the verifier key that the log knows last: the key that was
    prepared for it takes its place in the file, if that is still to be done.

    Raises `KeyMissing`, also for a file that others than its owner may read.
    """
    waiting = _beside(path)
    if current is not None and waiting.exists() and _read(waiting).vkey == current:
        adopt(path)
    return _read(path)


def prepare(path: Path, signer: Signer) -> None:
    """Write the next key beside the file. One that was prepared and never used is given up."""
    waiting = _beside(path)
    waiting.unlink(missing_ok=True)
    _write(waiting, signer)


def adopt(path: Path) -> None:
    """Let the prepared key take the place of the one in the file."""
    _beside(path).replace(path)
    _sync(path.parent)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.next")


def _read(path: Path) -> Signer:
    try:
        mode = path.stat().st_mode
        text = path.read_text("utf-8", errors="replace")
    except OSError as problem:
        raise KeyMissing(
            f"The signing key file {path} cannot be read: {problem}. Put the key back, or name its"
            f" place in {VARIABLE}."
        ) from problem
    if mode & 0o077:
        raise KeyMissing(
            f"The signing key file {path} can be read by others than its owner: chmod 600 it."
        )
    try:
        return Signer.parse(text.strip())
    except NoteInvalid as problem:
        raise KeyMissing(f"{path}: {problem}") from None


def _write(path: Path, signer: Signer) -> None:
    """In a new file that nobody sees half written."""
    unnamed = path.with_name(f"{path.name}.{os.urandom(8).hex()}")
    descriptor = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(signer.private_text + "\n")
            file.flush()
            os.fsync(file.fileno())
        path.hardlink_to(unnamed)
    finally:
        unnamed.unlink()
    _sync(path.parent)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
