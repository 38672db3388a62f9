"""Commands about teams: teams add, remove, list, members."""

# Heavy imports stand in the commands, so that help is quick:

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    After,
    AsOf,
    By,
    Json,
    Limit,
    moment,
    note_nobody,
    noun,
    opened,
)

if TYPE_CHECKING:
    from rich.table import Table

    from beliefledger.curation.teams import MemberAnswer, TeamAnswer

teams = noun("teams", "Teams: who is in which, and so sees what is visible to it.")

Team = Annotated[str, typer.Argument(metavar="TEAM", help="What the team is called.")]
Member = Annotated[str, typer.Argument(metavar="MEMBER", help="A person.")]


@teams.command("add")
def teams_add(ctx: typer.Context, team: Team, member: Member, by: By, json: Json = False) -> None:
    """Make somebody a member of a team, which there is from its first member on."""
    with opened(ctx) as ledger:
        answer = ledger.teams.add(team, member, by=by)

    def page(answer: MemberAnswer) -> Iterator[Any]:
        since = output.when(answer.since)
        yield output.cell(f"{answer.member} is in the team {answer.team} since {since} UTC.")

    output.show(answer, json, page)


@teams.command("remove")
def teams_remove(
    ctx: typer.Context, team: Team, member: Member, by: By, json: Json = False
) -> None:
    """End somebody's membership. From now on they see nothing of what is visible to the team."""
    with opened(ctx) as ledger:
        answer = ledger.teams.remove(team, member, by=by)

    def page(answer: MemberAnswer) -> Iterator[Any]:
        yield output.cell(f"{answer.member} is no longer in the team {answer.team}.")

    output.show(answer, json, page)


@teams.command("list")
def teams_list(
    ctx: typer.Context,
    member: Annotated[str | None, typer.Option(help="Only the teams of this person.")] = None,
    as_of: AsOf = None,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """The teams that have members, and how many."""
    with opened(ctx) as ledger:
        answer = ledger.teams.list(member, as_of=moment(as_of), limit=limit, after=after)
        note_nobody(ledger, member, answer)
    output.show_page(answer, json, _teams, limit=limit, after=after)


def _teams(answer: Sequence[TeamAnswer]) -> Iterator[Any]:
    made = output.table("team", ("members", output.RIGHT))
    for each in answer:
        made.add_row(output.cell(each.team), f"{each.members:,}")
    return _counted(made, "team")


@teams.command("members")
def teams_members(
    ctx: typer.Context,
    team: Team,
    as_of: AsOf = None,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """Who is in a team, since when, and who put them into it."""
    with opened(ctx) as ledger:
        answer = ledger.teams.members(team, as_of=moment(as_of), limit=limit, after=after)
    output.show_page(answer, json, _members, limit=limit, after=after)


def _members(answer: Sequence[MemberAnswer]) -> Iterator[Any]:
    made = output.table("member", ("since", output.FIXED), "by")
    for each in answer:
        made.add_row(output.cell(each.member), output.when(each.since), output.cell(each.by))
    return _counted(made, "member")


def _counted(rows: Table, what: str) -> Iterator[Any]:
    """How many rows a table has, and the table if there are any."""
    yield output.count(rows.row_count, what) + ("" if rows.row_count else ".")
    if rows.row_count:
        yield rows
