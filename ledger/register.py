"""The vault's register: what the vault ever came to hold, entry after entry, in rows that stay.

An entry is made in the transaction of what it is about: a key, a tombstone, erased content of the
living, a principal. It holds a serial without gaps, the reference, the lookup by which somebody is
found, and what else of the row never changes. Two keyed hashes guard it:

- `chain` is over the entry and the chain before it, under a key from the vault's pepper. It says
  all that came so far, and stays the same when the master key is rotated: the log is told of it.
- `mac` is over the chain, under a key from the master key. A rotation writes it anew.

So nobody without the master key can make, change or move an entry. Whoever can write the vault can
cut its end off: that is noticed by what the log was told, see `ledger.commitments`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any, NamedTuple, TypeAlias

from beliefledger.ledger import canonical
from beliefledger.ledger.encryption import derive
from beliefledger.ledger.errors import LogCorrupted
from beliefledger.ledger.keystore import REGISTERED, Registered, Transaction, VaultContents, read

Rows: TypeAlias = Sequence[tuple[Any, ...]]

KEY, TOMBSTONE, CONTENT, PRINCIPAL = "key", "tombstone", "content", "principal"

_AT_ONCE = 2_000
"""So many rows are written by one statement."""
_LAST = "SELECT serial, chain FROM vault.register ORDER BY serial DESC LIMIT 1"
_HAS = "SELECT 1 FROM vault.register WHERE kind <> 'key' AND kind = ? AND ref = ?"


class Entry(NamedTuple):
    """What is registered. `detail` is what else of the row never changes, as text."""

    kind: str
    ref: str
    lookup: bytes | None
    detail: str


class End(NamedTuple):
    """How many entries there are, and the chain over all of them, in hex."""

    serial: int
    digest: str


def of_key(ref: str, tenant: str, lookup: bytes) -> Entry:
    return Entry(KEY, ref, lookup, tenant)


def of_tombstone(ref: str, lookup: bytes, erased_at: int) -> Entry:
    return Entry(TOMBSTONE, ref, lookup, str(erased_at))


def of_content(erasure: str, subject_ref: str, events: bytes, erased_at: int) -> Entry:
    digest = hashlib.sha256(events).hexdigest()
    return Entry(CONTENT, erasure, None, f"{subject_ref} {digest} {erased_at}")


def of_principal(ref: str, lookup: bytes) -> Entry:
    return Entry(PRINCIPAL, ref, lookup, "")


def entries(contents: VaultContents) -> Iterator[Entry]:
    """The register entries that these rows would have made."""
    for ref, tenant, _, lookup, _, _ in contents.keys:
        yield of_key(ref, tenant, lookup)
    for stone in contents.tombstones:
        yield of_tombstone(*stone)
    for content in contents.erasures:
        yield of_content(*content)
    for ref, lookup, _ in contents.principals:
        yield of_principal(ref, lookup)


class Register:
    """Writes entries, and tells whether they are as they were written: under the pepper and the
    master key of a vault."""

    def __init__(self, pepper: bytes, master: bytes) -> None:
        # BLAKE2b takes a key itself (RFC 7693), and a fifth of the time of an HMAC.
        self._chain = hashlib.blake2b(key=derive(pepper, "vault register"), digest_size=32)
        self._mac = hashlib.blake2b(key=derive(master, "vault register"), digest_size=32)

    def append(self, transaction: Transaction, new: Sequence[Entry]) -> None:
        if not new:
            return
        last = transaction.rows(_LAST)
        serial, before = (int(last[0][0]), bytes(last[0][1])) if last else (0, b"")
        rows = []
        for entry in new:
            serial += 1
            before = self.chain(before, serial, entry)
            rows.append(Registered(serial, *entry, before, self.mac(serial, before)))
        write(transaction, rows)

    def append_once(self, transaction: Transaction, entry: Entry) -> None:
        """Register an entry, unless it is registered already. Not for keys."""
        if not transaction.rows(_HAS, (entry.kind, entry.ref)):
            self.append(transaction, [entry])

    def chain(self, before: bytes, serial: int, entry: Entry) -> bytes:
        kind, ref, lookup, detail = entry
        said = [serial, kind, ref, None if lookup is None else lookup.hex(), detail]
        running = self._chain.copy()
        running.update(before + canonical.encode(said))
        return running.digest()

    def mac(self, serial: int, chain_: bytes) -> bytes:
        running = self._mac.copy()
        running.update(b"%d " % serial + chain_)
        return running.digest()

    def take_in(self, transaction: Transaction, contents: VaultContents) -> None:
        """Carry on with another vault's register, whose rows were taken in. What one has and the
        other has not is kept; entries that this one cannot take over as they are, it makes."""
        here, there = rows(transaction), contents.register
        after = len(here)
        if not _alike(here, there):
            known = {(each.kind, each.ref) for each in here}
            self.append(
                transaction,
                [entry_of(each) for each in there if (each.kind, each.ref) not in known],
            )
        else:
            write(transaction, there[after:])
        self._explain(transaction, contents)

    def _explain(self, transaction: Transaction, contents: VaultContents) -> None:
        """Enter what comes from a vault that had no register yet, and who was erased while the
        vault was copied. Anything else that has no entry stays without one, and `verify` tells."""
        lookups: dict[str, bytes | None] = {}
        known: set[tuple[str, str]] = set()
        for each in rows(transaction):
            known.add((each.kind, each.ref))
            if each.kind == KEY:
                lookups[each.ref] = each.lookup
        before = not contents.register
        self.append(
            transaction,
            [
                entry
                for entry in entries(contents)
                if (entry.kind, entry.ref) not in known
                and (before or (entry.kind == TOMBSTONE and lookups.get(entry.ref) == entry.lookup))
            ],
        )

    def rewrite(self, transaction: Transaction, new: Register, where: str) -> None:
        """Put every entry under another master key."""
        found = transaction.rows("SELECT serial, chain, mac FROM vault.register ORDER BY serial")
        made = []
        for serial, chain_, mac in found:
            if mac != self.mac(serial, chain_):
                raise LogCorrupted(f"Entry {serial} of the register in the vault {where} changed.")
            made.append((serial, new.mac(serial, chain_)))
        for start in range(0, len(made), _AT_ONCE):
            some = made[start : start + _AT_ONCE]
            marks = ", ".join(["(?, ?)"] * len(some))
            transaction.run(
                "UPDATE vault.register SET mac = made.column2"
                f" FROM (VALUES {marks}) AS made WHERE serial = made.column1",
                tuple(chain.from_iterable(some)),
            )


def repair(transaction: Transaction, contents: VaultContents) -> None:
    """Delete rows here of which a backup has others that the register vouches for, so that those
    can take their place. What is sealed in a key's or a principal's row says itself whose it is."""
    known = {entry_of(row) for row in rows(transaction)}
    here = read(transaction)

    def replace(
        table: str, column: str, mine: Rows, its: Rows, entry: Callable[..., Entry]
    ) -> None:
        vouched = {row[0]: row for row in its if entry(*row) in known}
        wrong = [
            (row[0],) for row in mine if row[0] in vouched and tuple(row) != tuple(vouched[row[0]])
        ]
        transaction.run(f"DELETE FROM vault.{table} WHERE {column} = ?", *wrong)

    def key(ref: str, tenant: str, _kek: str, lookup: bytes, *_sealed: bytes) -> Entry:
        return of_key(ref, tenant, lookup)

    def principal(ref: str, lookup: bytes, _name: bytes) -> Entry:
        return of_principal(ref, lookup)

    replace("keys", "subject_ref", here.keys, contents.keys, key)
    replace("principals", "principal_ref", here.principals, contents.principals, principal)
    replace("tombstones", "subject_ref", here.tombstones, contents.tombstones, of_tombstone)
    replace("erasures", "erasure", here.erasures, contents.erasures, of_content)


def write(transaction: Transaction, new: Sequence[Registered]) -> None:
    """Rows as they are."""
    for start in range(0, len(new), _AT_ONCE):
        some = new[start : start + _AT_ONCE]
        marks = ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * len(some))
        transaction.run(
            f"INSERT INTO vault.register ({REGISTERED}) VALUES {marks}",
            tuple(chain.from_iterable(some)),
        )


def rows(transaction: Transaction) -> list[Registered]:
    found = transaction.rows(f"SELECT {REGISTERED} FROM vault.register ORDER BY serial")
    return [Registered(*row) for row in found]


def end(found: Iterable[Sequence[object]]) -> End:
    """The end of the register, from the row of `SELECT serial, chain` of its last entry."""
    for serial, chain_ in found:
        assert isinstance(serial, int)
        assert isinstance(chain_, bytes)
        return End(serial, chain_.hex())
    return End(0, "")


def entry_of(row: Registered) -> Entry:
    return Entry(row.kind, row.ref, row.lookup, row.detail)


LAST = _LAST


def _alike(one: Sequence[Registered], other: Sequence[Registered]) -> bool:
    """Whether one of the two goes on from the other, whatever master key they are under."""
    return all(
        mine is None or its is None or mine[:-1] == its[:-1]
        for mine, its in zip_longest(one, other)
    )
