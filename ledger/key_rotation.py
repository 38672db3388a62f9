"""Replacing the master key: everything that it wraps is wrapped anew, in one transaction.

The new key lies durably in a file before that, so that no moment is without a key that opens the
vault. Of a key kept in a file, the new one is written beside it and takes its name afterwards; a
rotation that was killed in between is completed by whoever opens the vault next.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from beliefledger.ledger import canonical, files
from beliefledger.ledger.encryption import NotAuthentic, Sealer
from beliefledger.ledger.errors import KeyMissing, LogCorrupted
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.keystore import Transaction, VaultDatabase
from beliefledger.ledger.masterkey import MasterKey

T = TypeVar("T")

_NOTED = "SELECT value FROM vault.meta WHERE name = 'rotation'"
_AT_ONCE = 2_000
"""So many rows are replaced by one statement."""


class RotationNote(NamedTuple):
    """How a rotation is to be recorded in the log: the event's id, and who did it."""

    event_id: str
    actor: str


class Rotation(NamedTuple):
    """The ids of the master keys before and after, and how many subjects were wrapped."""

    note: RotationNote
    previous: str
    key: str
    subjects: int


# In the vault


def done(transaction: Transaction, new: MasterKey) -> Rotation | None:
    """The rotation to this key, where it has been committed and not been recorded."""
    noted = _read(transaction.rows(_NOTED))
    return noted if noted is not None and noted.key == new.id else None


def rewrap(
    transaction: Transaction,
    old: Sealer,
    previous: str,
    new: MasterKey,
    note: RotationNote,
    where: str,
) -> Rotation:
    """Open with the old key and seal under the new one: pepper, subjects' keys, names."""
    sealer = Sealer(new.key)

    def again(blob: bytes, name: str) -> bytes:
        bound_to = name.encode()
        try:
            return sealer.seal(old.open(blob, bound_to), bound_to)
        except NotAuthentic:
            raise LogCorrupted(
                f"What belongs to {name} in the vault {where} was changed."
            ) from None

    for name, value in transaction.rows("SELECT name, value FROM vault.meta WHERE name = 'pepper'"):
        transaction.run(
            "UPDATE vault.meta SET value = ? WHERE name = ?", (again(value, name), name)
        )
    keys = transaction.rows("SELECT subject_ref, wrapped FROM vault.keys")
    _replace(
        transaction,
        "UPDATE vault.keys SET kek_id = ?, wrapped = made.column2 FROM (VALUES {}) AS made"
        " WHERE subject_ref = made.column1",
        [(ref, again(wrapped, ref)) for ref, wrapped in keys],
        new.id,
    )
    names = transaction.rows("SELECT principal_ref, sealed_name FROM vault.principals")
    _replace(
        transaction,
        "UPDATE vault.principals SET sealed_name = made.column2 FROM (VALUES {}) AS made"
        " WHERE principal_ref = made.column1",
        [(ref, again(sealed, ref)) for ref, sealed in names],
    )
    rotation = Rotation(note, previous, new.id, len(keys))
    transaction.run("DELETE FROM vault.meta WHERE name = 'rotation'", ())
    transaction.run(
        "INSERT INTO vault.meta (name, value) VALUES ('rotation', ?)", (_told(rotation),)
    )
    return rotation


def _replace(
    transaction: Transaction, statement: str, rows: Sequence[tuple[str, bytes]], *first: object
) -> None:
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        marks = ", ".join(["(?, ?)"] * len(some))
        transaction.run(statement.format(marks), (*first, *chain.from_iterable(some)))


def unrecorded(database: VaultDatabase) -> Rotation | None:
    """The rotation that the log has no event of yet."""
    return _read(database.rows(_NOTED))


def forget(transaction: Transaction, rotation: Rotation) -> None:
    """The log has it now."""
    if _read(transaction.rows(_NOTED)) == rotation:
        transaction.run("DELETE FROM vault.meta WHERE name = 'rotation'", ())


def _told(rotation: Rotation) -> bytes:
    return canonical.encode(
        {
            "actor": rotation.note.actor,
            "event_id": rotation.note.event_id,
            "key": rotation.key,
            "previous": rotation.previous,
            "subjects": rotation.subjects,
        }
    )


def _read(rows: Sequence[tuple[Any, ...]]) -> Rotation | None:
    if not rows:
        return None
    try:
        said = canonical.decode(rows[0][0])
        note = RotationNote(said["event_id"], said["actor"])
        return Rotation(note, said["previous"], said["key"], said["subjects"])
    except (ValueError, KeyError, TypeError):
        raise LogCorrupted(
            "What the vault has noted of a rotation that the log was not told of cannot be read:"
            " restore the vault from a backup."
        ) from None


# In the key's file


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Nobody else replaces the key in this file, or completes that, in the meantime."""
    try:
        descriptor = os.open(file.parent, os.O_RDONLY)
    except OSError as problem:
        raise file_fault(f"{file.parent} cannot be opened", problem) from problem
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def prepare(file: Path) -> MasterKey:
    """The next key, durably in its own file beside this one: a new one, unless one is there that an
    earlier rotation left before it was under way."""
    path = beside(file)
    return prepared(path)


def prepared(path: Path) -> MasterKey:
    """The key in a file, which is made when it is not there; durable when this returns."""
    try:
        made = MasterKey.from_file(path) if path.exists() else MasterKey.create_file(path)
        files.sync(path.parent)
    except OSError as problem:
        raise file_fault(f"The key file {path} cannot be made", problem) from problem
    return made


def retire(file: Path, old: MasterKey) -> Path:
    """Keep the key that is in the file under another name, too."""
    path = file.with_name(f"{file.name}.{old.id}.retired")
    try:
        if not path.exists():
            path.hardlink_to(file)
        files.sync(path.parent)
    except OSError as problem:
        raise file_fault(f"The key file {path} cannot be made", problem) from problem
    return path


def take_over(file: Path) -> None:
    """The new key takes the place of the old one, of which nothing is left in the file's name."""
    try:
        beside(file).replace(file)
        files.sync(file.parent)
    except OSError as problem:
        what = f"The new master key is in {beside(file)} and cannot take the name {file}"
        raise file_fault(what, problem) from problem


def remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
        files.sync(file.parent)
    except OSError as problem:
        raise file_fault(f"The key file {file} cannot be removed", problem) from problem


def beside(file: Path) -> Path:
    """The file that holds the next key until the vault is wrapped under it."""
    return file.with_name(f"{file.name}.new")


def keys_in(file: Path | None) -> Iterator[MasterKey]:
    """The keys that may be in force by now where the key is in a file: the one in it, and the one
    that is about to take its place."""
    for each in () if file is None else (file, beside(file)):
        if each.exists():
            yield MasterKey.from_file(each)


def opened(
    file: Path | None, master: MasterKey, open_: Callable[[MasterKey], T]
) -> tuple[T, MasterKey]:
    """What the master key opens, and that key: the one in the file's neighbour where a rotation was
    killed after the vault went under it, which is completed then."""
    try:
        return open_(master), master
    except KeyMissing:
        if file is None or not file.exists():
            raise
        with alone(file):
            there = MasterKey.from_file(file)
            if there != master:  # another process completed it in the meantime
                return open_(there), there
            if not beside(file).exists():
                raise
            new = MasterKey.from_file(beside(file))
            try:
                found = open_(new)
            except KeyMissing:
                pass  # of a rotation that never came to the vault: the first error tells more
            else:
                take_over(file)
                return found, new
        raise
