"""The vault's notes about the log that it belongs to.

How far both were last known to agree, and up to where the log has been told of the register, are
only there to save looking: they bear a keyed hash, and a note without a good one is not followed.
"""

from __future__ import annotations

import hmac
from typing import Any, NamedTuple

from beliefledger.ledger import canonical
from beliefledger.ledger.encryption import derive
from beliefledger.ledger.keystore import Transaction, VaultContents, VaultDatabase

BEGUN, AGREED, COMMITTED = "log has begun", "agreed", "committed"
_KNOWN = {"pepper", "rotation", BEGUN, AGREED, COMMITTED}
_YES = b"\x01"
_HASH_BYTES = 32


class Agreed(NamedTuple):
    """An event of the log, and how many tombstones and erasures the vault had, when both agreed."""

    position: int
    event_id: str
    tombstones: int
    erasures: int

    @property
    def counts(self) -> tuple[int, int]:
        return self.tombstones, self.erasures


class Committed(NamedTuple):
    """How many entries of the register the log was last told of, and as which version of the
    tenant's ops stream."""

    serial: int
    version: int


def forget_notes(transaction: Transaction) -> None:
    """Delete the notes that only the old pepper can vouch for."""
    transaction.run(
        "DELETE FROM vault.meta WHERE name = ? OR name LIKE ?", (AGREED, f"{COMMITTED} %")
    )


class Notes:
    """The notes of one vault. A note whose keyed hash is wrong counts as missing."""

    def __init__(self, database: VaultDatabase, pepper: bytes) -> None:
        self._database = database
        self._key = derive(pepper, "vault notes")

    def keyed_hash(self, *parts: str) -> str:
        """128 bits that say nothing of the parts to whoever lacks the master key."""
        told = "\x1f".join(("of parts", *parts)).encode()
        return hmac.digest(self._key, told, "sha256")[:16].hex()

    def log_has_begun(self) -> bool:
        return bool(self._database.rows("SELECT 1 FROM vault.meta WHERE name = ?", (BEGUN,)))

    def note_log_begun(self) -> None:
        self._database.write(
            lambda transaction: transaction.run(
                "INSERT INTO vault.meta (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (BEGUN, _YES),
            )
        )

    def agreed(self) -> Agreed | None:
        said = self._said(AGREED)
        return None if said is None else Agreed(*said)

    def note_agreed(self, agreed: Agreed) -> None:
        self._note(AGREED, list(agreed))

    def committed(self, tenant: str) -> Committed | None:
        said = self._said(f"{COMMITTED} {tenant}")
        return None if said is None else Committed(*said)

    def note_committed(self, tenant: str, committed: Committed) -> None:
        self._note(f"{COMMITTED} {tenant}", list(committed))

    def _said(self, name: str) -> list[Any] | None:
        rows = self._database.rows("SELECT value FROM vault.meta WHERE name = ?", (name,))
        if not rows or not self._is_ours(name, rows[0][0]):
            return None
        said: list[Any] = canonical.decode(rows[0][0][_HASH_BYTES:])
        return said

    def _note(self, name: str, said: list[Any]) -> None:
        words = canonical.encode(said)
        value = self._hash(name, words) + words

        def note(transaction: Transaction) -> None:
            transaction.run("DELETE FROM vault.meta WHERE name = ?", (name,))
            transaction.run("INSERT INTO vault.meta (name, value) VALUES (?, ?)", (name, value))

        self._database.write(note)

    def _hash(self, name: str, words: bytes) -> bytes:
        return hmac.digest(self._key, name.encode() + b"\x00" + words, "sha256")

    def _is_ours(self, name: str, value: bytes) -> bool:
        return hmac.compare_digest(value[:_HASH_BYTES], self._hash(name, value[_HASH_BYTES:]))

    def wrong(self, contents: VaultContents) -> list[str]:
        """The notes that somebody changed."""
        found = []
        for name, value in contents.meta:
            if not isinstance(value, bytes):
                continue  # told with the other rows
            kind = COMMITTED if name.startswith(f"{COMMITTED} ") else name
            guarded = kind in {AGREED, COMMITTED} and not _is_of_before(value)
            if kind not in _KNOWN:
                found.append(f"there is a note {name!r} that nobody wrote")
            elif (kind == BEGUN and value != _YES) or (guarded and not self._is_ours(name, value)):
                found.append(f"the note {name!r} was changed")
        return found


def _is_of_before(value: bytes) -> bool:
    """Whether an older version wrote it, without a keyed hash before the words. A hash may begin
    with the same byte."""
    if value[:1] != b"[":
        return False
    try:
        return isinstance(canonical.decode(value), list)
    except ValueError:
        return False
