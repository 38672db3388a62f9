"""The port between the vault and a database, and what a copy of a vault is made of.

Statements are in the SQL that SQLite and Postgres both understand, over tables called `vault.…`
and with `?` for values: `meta`, `keys`, `tombstones`, `principals`, `erasures` and `register`,
whose columns are named below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, NamedTuple, Protocol, TypeVar

from beliefledger.ledger.dataclass import dataclass

T = TypeVar("T")

META = "name, value"
KEY = "subject_ref, tenant, kek_id, lookup, wrapped, sealed_id"
TOMBSTONE = "subject_ref, lookup, erased_at"
PRINCIPAL = "principal_ref, lookup, sealed_name"
ERASURE = "erasure, subject_ref, events, erased_at"
REGISTERED = "serial, kind, ref, lookup, detail, chain, mac"


class Registered(NamedTuple):
    """An entry of the register as it lies there: see `ledger.register`."""

    serial: int
    kind: str
    ref: str
    lookup: bytes | None
    detail: str
    chain: bytes
    mac: bytes


class Transaction(Protocol):
    """One write transaction on a vault's database."""

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]: ...

    def run(self, statement: str, *values: Sequence[object]) -> None:
        """Once with each of `values`."""
        ...


class VaultDatabase(Protocol):
    """The database of a vault. Safe to use from several threads. `str()` says where it is.

    Raises `BackendUnavailable`, `LogCorrupted`, and `CallerMistake` once it was closed.
    """

    @property
    def tenant(self) -> str | None:
        """The only tenant whose rows it shows; None when it shows everybody's."""
        ...

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """What is committed now."""
        ...

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` as one durable commit with no other writer beside it.

        Left by an error, nothing was written. Where it cannot be known whether the commit happened,
        `work` is run again: it has to look before it writes.
        """
        ...

    def changed(self, mark: int | None) -> bool:
        """Whether a key may have been destroyed elsewhere since this was asked last; `mark` is the
        log's count of erasures, where the caller knows it."""
        ...

    def scrub(self) -> None:
        """Leave no byte of a deleted key in the database's files. Done again, it does no harm."""
        ...

    def damage(self) -> str | None:
        """Damage to the database's own structure, where it can tell."""
        ...

    def rewired(self) -> str | None:
        """Which of its triggers and the like is missing or changed, or was never made here."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, repr=False)
class VaultContents:
    """The rows of a vault, wrapped and encrypted as they lie there: for copying a ledger."""

    meta: list[tuple[str, bytes]]
    keys: list[tuple[str, str, str, bytes, bytes, bytes]]
    """Reference, tenant, id of the master key, lookup, wrapped key, sealed id."""
    tombstones: list[tuple[str, bytes, int]]
    """Reference, lookup, when they were erased."""
    principals: list[tuple[str, bytes, bytes]]
    """Reference, lookup, sealed name."""
    erasures: list[tuple[str, str, bytes, int]] = field(default_factory=list)
    """Id of an erasure of less than a subject, whose, the ids of the events, when."""
    register: list[Registered] = field(default_factory=list)
    """Empty for a vault from before there was one."""


def read(transaction: Transaction) -> VaultContents:
    return VaultContents(
        transaction.rows(f"SELECT {META} FROM vault.meta ORDER BY 1"),
        transaction.rows(f"SELECT {KEY} FROM vault.keys ORDER BY 1"),
        transaction.rows(f"SELECT {TOMBSTONE} FROM vault.tombstones ORDER BY 1"),
        transaction.rows(f"SELECT {PRINCIPAL} FROM vault.principals ORDER BY 1"),
        transaction.rows(f"SELECT {ERASURE} FROM vault.erasures ORDER BY 1"),
        [
            Registered(*row)
            for row in transaction.rows(f"SELECT {REGISTERED} FROM vault.register ORDER BY 1")
        ],
    )


def refs(transaction: Transaction, table: str) -> set[str]:
    """Every reference in a table."""
    column = "principal_ref" if table == "principals" else "subject_ref"
    return {row[0] for row in transaction.rows(f"SELECT {column} FROM vault.{table}")}


def strangers(transaction: Transaction, contents: VaultContents, *, same: bool) -> int:
    """How many people are here of whom the contents know nothing; `same` is whether both have the
    same pepper. Whom its own hid would not be found again under another."""
    here = refs(transaction, "keys") | refs(transaction, "principals")
    if same:
        known = {row[0] for row in (*contents.keys, *contents.tombstones, *contents.principals)}
        return len(here - known)
    return len(here | refs(transaction, "tombstones"))


def fill(transaction: Transaction, contents: VaultContents) -> bool:
    """Insert what is missing and delete the keys of the erased; True if there were any."""
    buried = refs(transaction, "tombstones") | {each[0] for each in contents.tombstones}
    there = refs(transaction, "keys")
    transaction.run(
        f"INSERT INTO vault.tombstones ({TOMBSTONE}) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        *contents.tombstones,
    )
    gone = sorted(there & buried)
    transaction.run("DELETE FROM vault.keys WHERE subject_ref = ?", *((ref,) for ref in gone))
    transaction.run(
        f"INSERT INTO vault.keys ({KEY}) VALUES (?, ?, ?, ?, ?, ?)",
        *(each for each in contents.keys if each[0] not in there | buried),
    )
    transaction.run(
        f"INSERT INTO vault.principals ({PRINCIPAL}) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        *contents.principals,
    )
    transaction.run(
        f"INSERT INTO vault.erasures ({ERASURE}) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        *contents.erasures,
    )
    return bool(gone)
