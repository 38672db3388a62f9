"""The view of calls: which tool of the server was called by whom, and how it ended."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, Table, func, select

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.ops import ToolCalled
from beliefledger.ledger.times import Micros
from beliefledger.projections import tables
from beliefledger.projections.appended import AppendedView
from beliefledger.projections.rows import Row


class CallRow(NamedTuple):
    """Calls of one tool by one principal that ended alike."""

    principal: str
    tool: str
    outcome: str
    calls: int
    duration_micros: int
    model_tokens: int
    cost_micro_usd: int
    last_at: Micros


class CallsView(AppendedView):
    """`calls`, kept up with the log from envelopes alone."""

    name = "calls"
    types = frozenset({ToolCalled.NAME})

    def table(self, generation: int) -> Table:
        return tables.calls(generation)

    def row(self, event: Recorded) -> Row:
        facts = event.facts
        return (
            event.position,
            facts["door"],
            facts["tool"],
            facts["token_digest"],
            event.actor,
            facts["outcome"],
            facts["duration_micros"],
            facts["model_tokens"],
            facts["cost_micro_usd"],
            event.recorded_at,
        )


def last_uses(connection: Connection, generation: int) -> dict[str, Micros]:
    """When each token was last used, by its digest."""
    c = tables.calls(generation).c
    query = select(c.token, func.max(c.recorded_at)).group_by(c.token)
    return {row.token: row[1] for row in connection.execute(query)}


def sums(
    connection: Connection,
    generation: int,
    start: Micros | None = None,
    end: Micros | None = None,
    token: str | None = None,
) -> list[CallRow]:
    """The calls recorded in [start, end), with one token or any, by principal, tool, outcome."""
    c = tables.calls(generation).c
    alike = (c.principal, c.tool, c.outcome)
    query = (
        select(
            *alike,
            func.count(),
            func.sum(c.duration_micros),
            func.sum(c.model_tokens),
            func.coalesce(func.sum(c.cost_micro_usd), 0),
            func.max(c.recorded_at),
        )
        .group_by(*alike)
        .order_by(*alike)
    )
    if token is not None:
        query = query.where(c.token == token)
    if start is not None:
        query = query.where(c.recorded_at >= start)
    if end is not None:
        query = query.where(c.recorded_at < end)
    return [
        CallRow(*row[:3], *(int(each) for each in row[3:])) for row in connection.execute(query)
    ]
