"""Pages through the memories that are not closed, for jobs that look at each."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, func, select

from beliefledger.ledger.dataclass import dataclass
from beliefledger.projections import tables


@dataclass(frozen=True, slots=True)
class StandingMemory:
    """A memory that is not closed; past and quarantined ones too."""

    row_id: int
    subject_ref: str
    belief: str
    memory_id: str
    words_at: int
    type: str


def _wanted(
    query: Select[Any], generation: int, besides: str, type_: str | None, subject_ref: str | None
) -> Select[Any]:
    c = tables.belief_versions(generation).c
    query = query.where(c.closed.is_(None), c.type != besides)
    if type_ is not None:
        query = query.where(c.type == type_)
    return query if subject_ref is None else query.where(c.subject_ref == subject_ref)


def page(
    connection: Connection,
    generation: int,
    after: int,
    limit: int,
    *,
    besides: str,
    type_: str | None = None,
    subject_ref: str | None = None,
) -> list[StandingMemory]:
    """The next memories past a row, of any type but `besides` (or of `type_`)."""
    c = tables.belief_versions(generation).c
    query = select(c.row_id, c.subject_ref, c.belief, c.memory_id, c.words_at, c.type)
    query = _wanted(query, generation, besides, type_, subject_ref).where(c.row_id > after)
    rows = connection.execute(query.order_by(c.row_id).limit(limit))
    return [StandingMemory(*row) for row in rows]


def count(
    connection: Connection,
    generation: int,
    *,
    besides: str,
    type_: str | None = None,
    subject_ref: str | None = None,
) -> int:
    """How many memories `page` would give in all."""
    query = _wanted(select(func.count()), generation, besides, type_, subject_ref)
    return int(connection.scalar(query) or 0)


def by_type(connection: Connection, generation: int) -> dict[str, int]:
    """How many memories stand, of each type."""
    c = tables.belief_versions(generation).c
    query = select(c.type, func.count()).where(c.closed.is_(None)).group_by(c.type)
    return {row[0]: row[1] for row in connection.execute(query)}
