"""Small files that only their owner may read, and that nobody sees half written."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def create(path: Path, text: str) -> None:
    """A new file, on the disk when this returns. Raises `FileExistsError`."""
    unnamed = path.with_name(f"{path.name}.{os.urandom(8).hex()}")
    try:
        _write(unnamed, text, durably=True)
        path.hardlink_to(unnamed)
    finally:
        unnamed.unlink(missing_ok=True)
    sync(path.parent)


def replace(path: Path, text: str, *, durably: bool = True, mode: int = 0o600) -> None:
    """A file in the place of one that may be there, on the disk when this returns; what is not
    durable may be empty after a loss of power. For one at a time: see `locked`."""
    unnamed = path.with_name(f".{path.name}.new")
    unnamed.unlink(missing_ok=True)  # of one that was killed
    _write(unnamed, text, durably=durably)
    if mode != 0o600:
        unnamed.chmod(mode)
    unnamed.replace(path)
    if durably:
        sync(path.parent)


def sync(directory: Path) -> None:
    """Let the names in it be on the disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Alone among all threads and processes that ask for this file, which is made where it is not
    there. It must not be asked for again within."""
    # Opened anew each time, so that it also keeps threads of one process apart.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write(path: Path, text: str, *, durably: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        if durably:
            file.flush()
            os.fsync(file.fileno())
