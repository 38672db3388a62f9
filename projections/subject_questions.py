"""The questions about people one by one: how much there is of each, and which memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, func, select

from beliefledger.ledger.times import Micros
from beliefledger.projections import tables
from beliefledger.projections.questions import holds

Counts = dict[tuple[str, Any], int]
"""By a subject's reference and something that tells rows of theirs apart."""


def turns(connection: Connection, generation: int, subjects: Sequence[str]) -> Counts:
    """How many turns each subject has, by their state."""
    c = tables.turns(generation).c
    return _counted(connection, select(c.subject_ref, c.state, func.count()), c, subjects)


def decisions(connection: Connection, generation: int, subjects: Sequence[str]) -> Counts:
    """How many decisions there are about each subject, by whether they wait."""
    c = tables.decisions(generation).c
    return _counted(connection, select(c.subject_ref, c.waits, func.count()), c, subjects)


def memories(
    connection: Connection, generation: int, subjects: Sequence[str], valid_at: Micros
) -> Counts:
    """How many memories of each subject hold, by whether they are in quarantine."""
    table = tables.belief_versions(generation)
    c = table.c
    query = select(c.subject_ref, c.quarantined, func.count())
    query = query.where(c.closed.is_(None), holds(table, valid_at))
    return _counted(connection, query, c, subjects)


def _counted(connection: Connection, query: Select[Any], c: Any, subjects: Sequence[str]) -> Counts:
    told_apart = list(query.selected_columns)[:2]
    found: Counts = {}
    for start in range(0, len(subjects), 500):
        some = query.where(c.subject_ref.in_(subjects[start : start + 500]))
        for ref, which, number in connection.execute(some.group_by(*told_apart)):
            found[str(ref), which] = int(number)
    return found


def memory_ids(connection: Connection, generation: int, subject: str, upto: int) -> list[str]:
    """The memories of a subject that were written up to a position and whose words are left, in
    the order in which they were first written."""
    c = tables.belief_versions(generation).c
    query = select(c.memory_id).where(c.subject_ref == subject, c.opened <= upto)
    return list(dict.fromkeys(connection.scalars(query.order_by(c.row_id))))
