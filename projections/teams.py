"""The view of teams: who was a member of which, and when. And the questions about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, Table, or_, select

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.subject import SubjectErased, TeamJoined, TeamLeft
from beliefledger.projections import tables
from beliefledger.projections.intervals import Intervals, TeamRow
from beliefledger.projections.view import FIRST_GENERATION


class TeamsView:
    """`teams`, kept up with the log from envelopes alone."""

    name = "teams"
    types = frozenset({TeamJoined.NAME, TeamLeft.NAME, SubjectErased.NAME})
    of_bodies = False

    def __init__(self) -> None:
        self.start(FIRST_GENERATION, empty=False)

    def tables(self, generation: int) -> Sequence[Table]:
        return (tables.teams(generation),)

    def start(self, generation: int, *, empty: bool) -> None:
        (self._table,) = self.tables(generation)
        self._rows = Intervals(self._table, TeamRow, empty=empty)

    def apply(self, event: Recorded, connection: Connection) -> None:
        member, at = event.subject_ref or "", event.position
        if event.type == SubjectErased.NAME:
            self.forget(member)
            return
        team = event.facts["team"]
        there = [
            row
            for row in self._rows.standing(
                connection,
                self._table.c.subject_ref == member,
                lambda row: row.subject_ref == member,
            )
            if row.team == team
        ]
        if event.type == TeamLeft.NAME:
            for row in there:
                self._rows.close(row, at)
        elif not there:
            self._rows.open(TeamRow(0, member, team, at), at)

    def forget(self, subject_ref: str) -> None:
        self._rows.forget(subject_ref)

    def flush(self, connection: Connection) -> None:
        self._rows.flush(connection)


def memberships(
    connection: Connection,
    generation: int,
    *,
    as_of: int | None = None,
    member: str | None = None,
    team: str | None = None,
) -> list[TeamRow]:
    """Who is in which team (a member, a team), in the order in which they joined; with a position,
    who was then."""
    table = tables.teams(generation)
    c = table.c
    query: Select[Any] = select(table).order_by(c.opened)
    if as_of is None:
        query = query.where(c.closed.is_(None))
    else:
        query = query.where(c.opened <= as_of, or_(c.closed.is_(None), c.closed > as_of))
    if member is not None:
        query = query.where(c.subject_ref == member)
    if team is not None:
        query = query.where(c.team == team)
    return [TeamRow(*row) for row in connection.execute(query)]


def joined(connection: Connection, generation: int) -> list[TeamRow]:
    """Every membership there is or was, in the order in which they began."""
    table = tables.teams(generation)
    return [TeamRow(*row) for row in connection.execute(select(table).order_by(table.c.opened))]


def mates(
    connection: Connection, generation: int, member: str, as_of: int | None = None
) -> frozenset[str]:
    """Whoever shares a team with somebody, themselves among them if they are in one."""
    teams = {row.team for row in memberships(connection, generation, as_of=as_of, member=member)}
    return frozenset(
        row.subject_ref
        for team in sorted(teams)
        for row in memberships(connection, generation, as_of=as_of, team=team)
    )
