"""Who is found by a lookup: in a vault's rows, and in its register, which knows it when a row was
changed or lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from beliefledger.ledger import names
from beliefledger.ledger.errors import LogCorrupted
from beliefledger.ledger.register import KEY, PRINCIPAL, TOMBSTONE

_WHO = """
SELECT 'here', subject_ref FROM vault.keys WHERE lookup = ?
UNION ALL SELECT 'tombstone', subject_ref FROM vault.tombstones WHERE lookup = ?
UNION ALL SELECT kind, ref FROM vault.register WHERE lookup = ?
"""
"""One question, so that the answer is of one moment."""
_PRINCIPAL = """
SELECT 'here', principal_ref FROM vault.principals WHERE lookup = ?
UNION ALL SELECT kind, ref FROM vault.register WHERE lookup = ?
"""
_BURIED = """
SELECT 1 FROM vault.tombstones WHERE subject_ref = ?
UNION ALL SELECT 1 FROM vault.register
    WHERE kind <> 'key' AND kind = 'tombstone' AND ref = ?
"""
_LIVING = """
SELECT (SELECT max(serial) FROM vault.register),
    (SELECT count(*) FROM vault.keys WHERE tenant = ?)
"""
_SINCE = """
SELECT max(serial), sum(CASE WHEN kind = 'key' AND detail = ? THEN 1 ELSE 0 END),
    sum(CASE WHEN kind = 'tombstone' THEN 1 ELSE 0 END)
FROM vault.register WHERE serial > ?
"""
_ALL_BURIED = """
SELECT subject_ref FROM vault.tombstones
UNION SELECT ref FROM vault.register WHERE kind <> 'key' AND kind = 'tombstone'
"""


class Queryable(Protocol):
    """A vault's database, or a transaction on it."""

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]: ...


class Who(NamedTuple):
    """The reference of somebody living, and those that they had when they were erased."""

    ref: str | None
    erased: list[str]


def who(asked: Queryable, lookup: bytes, where: str) -> Who:
    """Raises `LogCorrupted` where the register has a key that the vault has not."""
    found = asked.rows(_WHO, (lookup, lookup, lookup))
    here = [str(ref) for kind, ref in found if kind == "here"]
    erased = {str(ref) for kind, ref in found if kind == TOMBSTONE}
    lost = {str(ref) for kind, ref in found if kind == KEY} - erased
    if not here and lost:
        raise _lost(f"the key of subject {min(lost)}", where)
    return Who(here[0] if here else None, sorted(erased))


def person(asked: Queryable, lookup: Callable[[str], bytes], real_id: str, where: str) -> Who:
    """Who has this id, in any of its forms. Raises as `who` does, and `InvalidTurn` for an id that
    nobody has and nobody new may have."""
    for form in names.forms(real_id):
        found = who(asked, lookup(form), where)
        if found.ref is not None or found.erased:
            return found
    names.check_subject(real_id)
    return Who(None, [])


def principal(asked: Queryable, lookup: bytes, where: str) -> str | None:
    """Raises `LogCorrupted` as `who` does."""
    found = asked.rows(_PRINCIPAL, (lookup, lookup))
    here = [str(ref) for kind, ref in found if kind == "here"]
    lost = [str(ref) for kind, ref in found if kind == PRINCIPAL]
    if not here and lost:
        raise _lost(f"the name of principal {min(lost)}", where)
    return here[0] if here else None


class Living:
    """How many living subjects each tenant has: counted once, then whoever came since."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}

    def count(self, asked: Queryable, tenant: str) -> int:
        """How many there are now. A register tells who came; everybody is counted again where it
        tells of an erasure."""
        serial, number = self._known.get(tenant, (0, 0))
        last, new, gone = asked.rows(_SINCE, (tenant, serial))[0] if serial else (0, 0, True)
        if gone:
            [(last, new)] = asked.rows(_LIVING, (tenant,))
            number = 0
        self._known[tenant] = int(last or serial), number + int(new or 0)
        return self._known[tenant][1]


def is_buried(asked: Queryable, subject_ref: str) -> bool:
    return bool(asked.rows(_BURIED, (subject_ref, subject_ref)))


def buried(asked: Queryable) -> set[str]:
    return {row[0] for row in asked.rows(_ALL_BURIED)}


def of_tombstone(
    asked: Queryable, subject_ref: str, lookup: bytes, computed: Callable[[], bytes | None]
) -> bytes:
    """The lookup that a tombstone is to have, given that of the key's row: whatever became of that,
    the person is to be refused. `computed` is from their id, None where that does not open."""
    if asked.rows(
        "SELECT 1 FROM vault.register WHERE lookup = ? AND kind = 'key' AND ref = ?",
        (lookup, subject_ref),
    ):
        return lookup
    anew = computed()
    if anew is not None:
        return anew
    entered = asked.rows(
        "SELECT lookup FROM vault.register WHERE kind = 'key' AND ref = ?", (subject_ref,)
    )
    return bytes(entered[0][0]) if entered else lookup


def _lost(what: str, where: str) -> LogCorrupted:
    return LogCorrupted(
        f"The vault {where} has lost {what}, or what they are found by was changed: run"
        " `beliefledger proof verify`, and restore the vault from a backup."
    )
