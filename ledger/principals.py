"""Who acts: the names of principals, sealed under the master key and found by a keyed hash."""

from __future__ import annotations

import os

from beliefledger.ledger import lookups, register
from beliefledger.ledger.encryption import NotAuthentic
from beliefledger.ledger.keystore import PRINCIPAL, Transaction, VaultDatabase
from beliefledger.ledger.lookups import Queryable
from beliefledger.ledger.vault_secrets import VaultSecrets

SYSTEM = "system"
"""The actor of what the ledger does by itself."""


class Principals:
    """The principals of one vault."""

    def __init__(self, database: VaultDatabase, secrets: VaultSecrets) -> None:
        self._database = database
        self._secrets = secrets

    def find_or_make(self, name: str) -> tuple[str, bool]:
        """The reference of someone who acts, and whether it was made just now."""
        if name == SYSTEM:
            return SYSTEM, False
        known = self._find(self._database, name)
        if known is not None:
            return known, False
        made = os.urandom(16).hex()

        def look_or_make(transaction: Transaction) -> str:
            self._secrets.renew(transaction)
            known = self._find(transaction, name)
            if known is not None:
                return known
            lookup = self._secrets.lookup("principal", name)
            transaction.run(
                f"INSERT INTO vault.principals ({PRINCIPAL}) VALUES (?, ?, ?)",
                (made, lookup, self._secrets.wrapper.seal(name.encode(), made.encode())),
            )
            self._secrets.register.append(transaction, [register.of_principal(made, lookup)])
            return made

        ref = self._database.write(look_or_make)
        return ref, ref == made

    def _find(self, asked: Queryable, name: str) -> str | None:
        return lookups.principal(
            asked, self._secrets.lookup("principal", name), str(self._database)
        )

    def name(self, principal_ref: str) -> str:
        """The name of a principal; the reference itself if it is unknown."""
        if principal_ref == SYSTEM:
            return SYSTEM
        rows = self._database.rows(
            "SELECT sealed_name FROM vault.principals WHERE principal_ref = ?", (principal_ref,)
        )
        if not rows:
            return principal_ref
        try:
            return self._secrets.wrapper.open(rows[0][0], principal_ref.encode()).decode()
        except NotAuthentic:
            self._secrets.rotated("A principal's name")
        return self.name(principal_ref)
