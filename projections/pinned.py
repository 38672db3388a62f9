"""What belongs into every context of a subject, whatever is asked: constraints, and a profile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, select

from beliefledger.ledger.times import Micros
from beliefledger.projections import tables
from beliefledger.projections.beliefs import Version
from beliefledger.projections.questions import holds, open_then

CONSTRAINT = "constraint"
PROFILE = ("fact", "preference")
"""The types of which a profile is made."""
IMPORTANT = 700_000
"""The least importance (millionths) of what goes into a profile."""
MOST_CONSTRAINTS = 25
MOST_OF_PROFILE = 6


def pinned(
    connection: Connection,
    generation: int,
    subject_ref: str,
    *,
    position: int,
    valid_at: Micros,
    floor: int,
    scopes: Sequence[str],
) -> tuple[list[Version], list[Version]]:
    """The constraints that hold, and the most important facts and preferences, each best first, as
    recorded up to a position. What is for one session alone is in neither."""
    table = tables.belief_versions(generation)
    c = table.c
    there = and_(
        c.subject_ref == subject_ref,
        open_then(table, position),
        holds(table, valid_at),
        c.quarantined.is_(False),
        c.confidence >= floor,
        c.visibility_scope.in_(scopes),
        c.visibility_scope != "session",
    )
    constraints = _best(connection, table, [there, c.type == CONSTRAINT], MOST_CONSTRAINTS)
    important = [there, c.type.in_(PROFILE), c.importance >= IMPORTANT]
    return constraints, _best(connection, table, important, MOST_OF_PROFILE)


def _best(
    connection: Connection, table: Any, where: Sequence[ColumnElement[bool]], most: int
) -> list[Version]:
    c = table.c
    query: Select[Any] = (
        select(table)
        .where(*where)
        .order_by(c.importance.desc(), c.confidence.desc(), c.opened.desc(), c.row_id.desc())
        .limit(most)
    )
    rows = [Version(*row) for row in connection.execute(query)]
    for row in rows:  # what was recorded after the position is not known at it
        row.closed = row.closed_at = row.closed_by = None
    return rows
