"""The pepper of a vault, which the master key opens, and all that is computed with it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, NamedTuple

from beliefledger.ledger import register
from beliefledger.ledger.encryption import NotAuthentic, Sealer, new_key
from beliefledger.ledger.errors import KeyMissing, LogCorrupted, MasterKeyReplaced
from beliefledger.ledger.keystore import Transaction, VaultDatabase, read
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.register import Register
from beliefledger.ledger.vault_notes import Notes

_PEPPER = "SELECT value FROM vault.meta WHERE name = 'pepper'"


class OpenedKey(NamedTuple):
    """The opened row of a living subject; `master_key` is the id of the key that wraps theirs."""

    key: bytes
    sealed_id: bytes
    master_key: str

    def fingerprint(self) -> str:
        return hashlib.sha256(b"fingerprint" + self.key).hexdigest()


class VaultSecrets:
    """Opens the pepper of a vault, making it in a new one.

    Raises `KeyMissing` when the master key is not the one that the vault was made with, before
    anything is written.
    """

    pepper: bytes
    register: Register
    notes: Notes

    def __init__(self, database: VaultDatabase, master: MasterKey) -> None:
        self._database = database
        self.newer: Callable[[], Iterable[MasterKey]] = tuple
        """Where a key may be that took the place of this one since the vault was opened."""
        self.master = master
        self.wrapper = Sealer(master.key)
        """Seals what stands under the master key."""
        rows = database.rows(_PEPPER) or database.write(self._make_pepper)
        self.use(self.open_pepper(rows[0][0]), rows[0][0])
        if not database.rows(register.LAST):
            database.write(self._fill_register)

    def use(self, pepper: bytes, sealed: bytes) -> None:
        self.pepper, self._sealed = pepper, sealed
        self.register = Register(pepper, self.master.key)
        self.notes = Notes(self._database, pepper)

    def _fill_register(self, transaction: Transaction) -> None:
        """Enter what an older version left without a register. Done again, it changes nothing."""
        if not transaction.rows(register.LAST):
            self.renew(transaction)
            self.register.append(transaction, list(register.entries(read(transaction))))

    def _make_pepper(self, transaction: Transaction) -> list[tuple[Any, ...]]:
        if not transaction.rows(_PEPPER):
            if transaction.rows("SELECT 1 FROM vault.keys LIMIT 1"):
                raise LogCorrupted(f"The vault {self._database} has keys and lost its pepper.")
            made = self.wrapper.seal(new_key(), b"pepper")
            transaction.run("INSERT INTO vault.meta (name, value) VALUES ('pepper', ?)", (made,))
        return transaction.rows(_PEPPER)

    def open_pepper(self, sealed: bytes) -> bytes:
        try:
            return self.wrapper.open(sealed, b"pepper")
        except NotAuthentic:
            raise KeyMissing(
                f"The master key {self.master.id} does not open the vault {self._database}."
            ) from None

    def renew(self, transaction: Transaction) -> None:
        """A copy may have been restored into the vault since it was opened."""
        rows = transaction.rows(_PEPPER)
        if not rows:
            raise LogCorrupted(f"The vault {self._database} lost its pepper.")
        if rows[0][0] != self._sealed:
            self.use(self._opened_anew(rows[0][0]), rows[0][0])

    def _opened_anew(self, sealed: bytes) -> bytes:
        """The pepper of a vault that this master key did open, and which the one that took its
        place opens now. Raises `MasterKeyReplaced` where that is not to be found."""
        for master in chain((self.master,), self.newer()):
            wrapper = Sealer(master.key)
            try:
                pepper = wrapper.open(sealed, b"pepper")
            except NotAuthentic:
                continue
            self.master, self.wrapper = master, wrapper
            return pepper
        raise MasterKeyReplaced(
            f"The vault {self._database} is not under the master key {self.master.id} any more."
        )

    def rotated(self, what: str) -> None:
        """Go on under another master key where something does not open because all of it is under
        that by now. Raises `LogCorrupted` where it was changed, and `MasterKeyReplaced`."""
        rows = self._database.rows(_PEPPER)
        if not rows or rows[0][0] == self._sealed:
            raise LogCorrupted(f"{what} in the vault {self._database} was changed.")
        self.use(self._opened_anew(rows[0][0]), rows[0][0])

    def lookup(self, *parts: str) -> bytes:
        return hmac.digest(self.pepper, "\x1f".join(parts).encode(), "sha256")

    def change_master(self, new: MasterKey) -> None:
        """Go on under another master key, which the pepper was sealed under just now."""
        self.master, self.wrapper = new, Sealer(new.key)
        self.use(self.pepper, self._database.rows(_PEPPER)[0][0])

    def read_from(self, database: VaultDatabase) -> None:
        """Use another way to the same database."""
        self._database = database
        self.notes = Notes(database, self.pepper)
