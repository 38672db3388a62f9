"""Holding what a vault has against its register, and against itself. Pure."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from typing import NamedTuple

from beliefledger.ledger.encryption import NotAuthentic, Sealer
from beliefledger.ledger.keystore import Registered, VaultContents
from beliefledger.ledger.register import (
    CONTENT,
    KEY,
    PRINCIPAL,
    TOMBSTONE,
    Entry,
    Register,
    entry_of,
    of_content,
    of_key,
    of_principal,
    of_tombstone,
)

_NAMES = {
    KEY: "the key of subject",
    TOMBSTONE: "the tombstone of subject",
    CONTENT: "what was erased by",
    PRINCIPAL: "the name of principal",
}
_TYPES: dict[str, set[tuple[type, ...]]] = {
    "meta": {(str, bytes)},
    "keys": {(str, str, str, bytes, bytes, bytes)},
    "tombstones": {(str, bytes, int)},
    "principals": {(str, bytes, bytes)},
    "erasures": {(str, str, bytes, int)},
    "register": {
        (int, str, str, bytes, str, bytes, bytes),
        (int, str, str, type(None), str, bytes, bytes),
    },
}
"""SQLite keeps a value of any type in any column."""


class VaultContext(NamedTuple):
    """The keys that a vault is under, and the id of its master key."""

    master_key: str
    wrapper: Sealer
    pepper: bytes
    register: Register

    def lookup(self, *parts: str) -> bytes:
        return hmac.digest(self.pepper, "\x1f".join(parts).encode(), "sha256")


class VaultChecked(NamedTuple):
    """What is wrong with a vault, each in words; the chain after each entry of its register, in
    hex; and of what kind and whose they are."""

    problems: tuple[str, ...]
    chains: tuple[str, ...]
    registered: frozenset[tuple[str, str]]


def problems(contents: VaultContents, under: VaultContext) -> Iterator[str]:
    """Everything that is wrong: first with the register, then with the rows that it explains."""
    strange = list(_strange(contents))
    if strange:
        yield from strange
        return
    yield from _register(contents.register, under.register)
    entered: dict[tuple[str, str], Entry] = {}
    for row in contents.register:
        if entered.setdefault((row.kind, row.ref), entry_of(row)) != entry_of(row):
            yield f"entry {row.serial} of the register is another of {_named(row.kind, row.ref)}"
    there: set[tuple[str, str]] = set()

    def explained(entry: Entry) -> Iterator[str]:
        there.add((entry.kind, entry.ref))
        name = _named(entry.kind, entry.ref)
        known = entered.get((entry.kind, entry.ref))
        if known is None:
            yield f"{name} is not in the register"
        elif known.lookup != entry.lookup:
            yield f"{name} has another lookup than the register"
        elif known.detail != entry.detail:
            yield f"{name} is not what the register has"

    for ref, tenant, master_key, lookup, wrapped, sealed_id in contents.keys:
        yield from explained(of_key(ref, tenant, lookup))
        yield from _key(under, ref, tenant, master_key, lookup, wrapped, sealed_id)
        if (TOMBSTONE, ref) in entered:
            yield f"{_named(KEY, ref)} is there again, and was destroyed"
    for stone in contents.tombstones:
        yield from explained(of_tombstone(*stone))
    for content in contents.erasures:
        yield from explained(of_content(*content))
    for ref, lookup, sealed_name in contents.principals:
        yield from explained(of_principal(ref, lookup))
        yield from _principal(under, ref, lookup, sealed_name)
    for kind, ref in entered:
        if (kind, ref) not in there and (kind != KEY or (TOMBSTONE, ref) not in entered):
            yield f"{_named(kind, ref)} is in the register and nowhere else"


def _strange(contents: VaultContents) -> Iterator[str]:
    for table, types in _TYPES.items():
        for row in getattr(contents, table):
            if tuple(map(type, row)) not in types:
                yield f"the row of {row[0]} in {table} has a value of another type"


def _register(rows: list[Registered], register: Register) -> Iterator[str]:
    before, expected = b"", 1
    for row in rows:
        if row.serial != expected:
            yield f"entry {expected} of the register is missing"
        name = f"entry {row.serial} of the register, {_named(row.kind, row.ref)},"
        if register.chain(before, row.serial, entry_of(row)) != row.chain:
            yield f"{name} was changed, or the one before it"
        elif register.mac(row.serial, row.chain) != row.mac:
            yield f"{name} is not under the master key"
        before, expected = row.chain, row.serial + 1


def _key(
    under: VaultContext,
    ref: str,
    tenant: str,
    master_key: str,
    lookup: bytes,
    wrapped: bytes,
    sealed_id: bytes,
) -> Iterator[str]:
    if master_key != under.master_key:
        yield f"{_named(KEY, ref)} is filed under another master key than it is wrapped by"
    key = _opened(under.wrapper.open, wrapped, ref.encode())
    if key is None:
        yield f"{_named(KEY, ref)} was changed"
        return
    real_id = _opened(Sealer(key).open, sealed_id, b"real id")
    if real_id is None:
        yield f"the id of subject {ref} was changed"
    elif under.lookup(tenant, real_id.decode()) != lookup:
        yield f"{_named(KEY, ref)} has a lookup that is not of their id"


def _principal(under: VaultContext, ref: str, lookup: bytes, sealed_name: bytes) -> Iterator[str]:
    name = _opened(under.wrapper.open, sealed_name, ref.encode())
    if name is None:
        yield f"{_named(PRINCIPAL, ref)} was changed"
    elif under.lookup("principal", name.decode()) != lookup:
        yield f"{_named(PRINCIPAL, ref)} has a lookup that is not of it"


def _opened(open_: Callable[[bytes, bytes], bytes], blob: bytes, bound_to: bytes) -> bytes | None:
    try:
        return open_(blob, bound_to)
    except NotAuthentic:
        return None


def _named(kind: str, ref: str) -> str:
    return f"{_NAMES.get(kind, kind)} {ref}"
