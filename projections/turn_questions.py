"""The questions that the view of turns answers: which wait, and what was said before one."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, func, select

from beliefledger.projections import tables
from beliefledger.projections.turns import TurnRow


def pending(
    connection: Connection,
    generation: int,
    limit: int,
    after: int = 0,
    subject_ref: str | None = None,
) -> list[TurnRow]:
    """The oldest turns that wait for their extraction."""
    query = _pending(generation, of_one=subject_ref is not None)
    given = {"after": after, "count": limit, "subject": subject_ref}
    return [TurnRow(*row) for row in connection.execute(query, given)]


@tables.of_generations
def _pending(generation: int, *, of_one: bool) -> Select[Any]:
    """Made once, as `_earlier` is."""
    table = tables.turns(generation)
    query: Select[Any] = (
        select(table)
        .where(table.c.state == "pending", table.c.position > bindparam("after"))
        .order_by(table.c.position)
        .limit(bindparam("count"))
    )
    return query.where(table.c.subject_ref == bindparam("subject")) if of_one else query


def turn(connection: Connection, generation: int, turn_id: str) -> TurnRow | None:
    """A turn; None for one that is not there, or whose words are erased."""
    table = tables.turns(generation)
    found = connection.execute(select(table).where(table.c.turn_id == turn_id)).first()
    return None if found is None else TurnRow(*found)


def turns_of(connection: Connection, generation: int, subject_ref: str) -> list[TurnRow]:
    """Every turn of a subject, oldest first."""
    table = tables.turns(generation)
    query = select(table).where(table.c.subject_ref == subject_ref).order_by(table.c.position)
    return [TurnRow(*row) for row in connection.execute(query)]


def pending_count(connection: Connection, generation: int) -> int:
    """How many turns wait for their extraction."""
    c = tables.turns(generation).c
    found = connection.scalar(select(func.count()).where(c.state == "pending"))
    return int(found or 0)


def earlier_turns(connection: Connection, generation: int, position: int, limit: int) -> list[int]:
    """The positions of the turns before one in its session, oldest first."""
    found = connection.scalars(_earlier(generation), {"at": position, "count": limit})
    return list(found)[::-1]


@tables.of_generations
def _earlier(generation: int) -> Select[Any]:
    """Made once: it is asked for every turn, and to make it costs more than to run it."""
    table = tables.turns(generation)
    here = table.alias("here")
    same = and_(
        table.c.subject_ref == here.c.subject_ref, table.c.session_tag == here.c.session_tag
    )
    return (
        select(table.c.position)
        .select_from(here.join(table, same))
        .where(here.c.position == bindparam("at"), table.c.position < bindparam("at"))
        .order_by(table.c.position.desc())
        .limit(bindparam("count"))
    )
