"""Looks for erased rows in the views, and counts what they hold of somebody."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, Table, func, select

from beliefledger.ledger import canonical

AUDITED = "decisions"
"""The table that outlives erasures: it names nobody and has no words."""
_POINTERS = ("words_at",)
_AT_WORDS = frozenset({"evidence", "turns"})
"""Tables whose `position` column is the position of a row's words."""


def rows_of(connection: Connection, tables: Sequence[Table], subject_ref: str) -> int:
    """How many rows the tables have of a subject."""
    return sum(
        connection.execute(
            select(func.count()).select_from(table).where(table.c.subject_ref == subject_ref)
        ).scalar_one()
        for table in tables
        if "subject_ref" in table.c
    )


def digest_of(connection: Connection, tables: Sequence[Table], subject_ref: str) -> str:
    """SHA-256 over the rows that the tables have of a subject, in order of their keys."""
    lines = [
        canonical.encode([_kind(table), *row])
        for table in tables
        if "subject_ref" in table.c
        for row in connection.execute(
            select(table)
            .where(table.c.subject_ref == subject_ref)
            .order_by(*table.primary_key.columns)
        )
    ]
    return canonical.digest(b"\n".join(lines))


def left(
    connection: Connection,
    tables: Sequence[Table],
    subject_ref: str,
    positions: Collection[int] | None,
) -> tuple[int, int]:
    """How many rows of a subject were looked at, and how many of them should be gone: with
    positions, those that point at one of these; without, all but those kept for an audit."""
    looked = found = 0
    for table in tables:
        if "subject_ref" not in table.c:
            continue
        columns = [name for name in _POINTERS if name in table.c]
        if _kind(table) in _AT_WORDS:
            columns.append("position")
        mine = table.c.subject_ref == subject_ref
        if positions is None:
            if _kind(table) != AUDITED:
                rows = connection.execute(select(func.count()).select_from(table).where(mine))
                count = rows.scalar_one()
                looked, found = looked + count, found + count
            continue
        for name in columns:
            pointed = connection.execute(select(table.c[name]).where(mine)).scalars().all()
            looked += len(pointed)
            found += sum(each in positions for each in pointed)
    return looked, found


def _kind(table: Table) -> str:
    """The table's name without its generation."""
    return table.name.rpartition("_")[0]
