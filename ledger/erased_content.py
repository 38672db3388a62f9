"""What was erased of the living: the events whose bodies are to be no more, by erasure."""

from __future__ import annotations

import threading
from collections.abc import Collection

from beliefledger.ledger import canonical, register
from beliefledger.ledger.keystore import ERASURE, Transaction, VaultDatabase
from beliefledger.ledger.times import Micros
from beliefledger.ledger.vault_secrets import VaultSecrets


class ErasedContent:
    """The erased content on record in one vault. Call `forget` when another process changed the
    vault."""

    def __init__(self, database: VaultDatabase, secrets: VaultSecrets) -> None:
        self._database = database
        self._secrets = secrets
        self._lock = threading.Lock()
        self._known: dict[str, frozenset[str]] = {}

    def forget(self) -> None:
        self._known.clear()

    def note(self, erasure: str, subject_ref: str, event_ids: Collection[str], now: Micros) -> None:
        """Register, durably, that the bodies of these events are to be no more: a log restored
        from a backup has them again, and this is how it is known."""
        row = (erasure, subject_ref, canonical.encode(sorted(event_ids)), now)

        def note(transaction: Transaction) -> None:
            self._secrets.renew(transaction)
            if not transaction.rows("SELECT 1 FROM vault.erasures WHERE erasure = ?", (erasure,)):
                transaction.run(f"INSERT INTO vault.erasures ({ERASURE}) VALUES (?, ?, ?, ?)", row)
                self._secrets.register.append_once(transaction, register.of_content(*row))

        self._database.write(note)
        with self._lock:
            self._known.pop(subject_ref, None)

    def by_erasure(self, subject_ref: str | None = None) -> dict[str, tuple[str, frozenset[str]]]:
        """By the id of each erasure of less than a subject (of this one): whose, and the ids of the
        events."""
        mine = "" if subject_ref is None else " WHERE subject_ref = ?"
        rows = self._database.rows(
            f"SELECT erasure, subject_ref, events FROM vault.erasures{mine}",
            () if subject_ref is None else (subject_ref,),
        )
        return {
            str(erasure): (str(ref), frozenset(canonical.decode(events)))
            for erasure, ref, events in rows
        }

    def has(self, subject_ref: str, event_id: str) -> bool:
        """Whether the body of an event of somebody living was erased."""
        known = self._known.get(subject_ref)
        if known is None or event_id not in known:  # another process may have erased it just now
            rows = self._database.rows(
                "SELECT events FROM vault.erasures WHERE subject_ref = ?", (subject_ref,)
            )
            known = frozenset().union(*(canonical.decode(events) for (events,) in rows))
            with self._lock:
                self._known[subject_ref] = known
        return event_id in known
