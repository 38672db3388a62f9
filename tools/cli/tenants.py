"""Commands about tenants whose ledgers are at several places: tenant list, show, move."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import USAGE, Json, fail, no_ledger, note, noun, table_of

if TYPE_CHECKING:
    from beliefledger.operations.tenant_move import GivenUp, Moved, TenantShown

tenants = noun("tenant", "Tenants whose ledgers are at several places, and the table of them.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The tenant, as the table names it.")]


@tenants.command("list")
def tenant_list(ctx: typer.Context, json: Json = False) -> None:
    """Who is in the table of tenants, and where, without passwords."""
    from beliefledger.opening.place import place_of

    known = table_of(ctx).all()
    answer = [
        {"tenant": name, "ledger": str(place_of(each.ledger)), "server": each.server}
        for name, each in known.items()
    ]

    def page(answer: list[dict[str, Any]]) -> Iterator[Any]:
        made = output.table("tenant", "ledger", "server")
        for each in answer:
            made.add_row(*(output.cell(said or "–") for said in each.values()))
        yield made

    output.show(answer, json, page)


@tenants.command("show")
def tenant_show(ctx: typer.Context, name: Name, json: Json = False) -> None:
    """Where a tenant's ledger is, and whether it takes events there."""
    from beliefledger.operations.tenant_move import show

    answer = show(table_of(ctx), name)

    def page(answer: TenantShown) -> Iterator[Any]:
        served = f", served at {answer.server}" if answer.server else ""
        yield output.cell(f"{answer.tenant} is at {answer.ledger}{served}.")
        yield output.cell(f"{output.count(answer.events, 'event')}. {answer.state}")

    output.show(answer, json, page)


@tenants.command("move")
def tenant_move(
    ctx: typer.Context,
    name: Name,
    by: Annotated[str, typer.Option(help="Who does it; stays on record.")],
    to: Annotated[
        str | None,
        typer.Option(metavar="DIR|URL", help="Where no ledger is, or a move that was begun."),
    ] = None,
    abort: Annotated[
        bool, typer.Option("--abort", help="Give up a move that has not switched the table yet.")
    ] = False,
    json: Json = False,
) -> None:
    """Move a tenant's ledger to another directory or server while it is used. Nothing can be
    written for a moment; how long that was is told. Killed, it goes on when it is run again."""
    from beliefledger.opening.place import NoLedger
    from beliefledger.operations.tenant_move import give_up, move

    table = table_of(ctx)
    if abort:
        if to is not None:
            fail("tenant move: --abort takes no --to: it is where the move was going.", USAGE)
        output.show(give_up(table, name, by=by), json, _given_up)
        return
    if to is None:
        fail("tenant move: name where it is to go: --to DIR|URL.", USAGE)
    try:
        with output.progress("copying") as progress:
            moved = move(table, name, to, by=by, progress=progress, step=note)
    except NoLedger:
        no_ledger(table.ledger(name))
    output.show(moved, json, _moved)


def _moved(moved: Moved) -> Iterator[Any]:
    yield output.cell(
        f"{moved.tenant} is at {moved.destination} now: {output.count(moved.events, 'event')},"
        f" {moved.meanwhile:,} of them recorded while they were copied."
    )
    yield output.cell(f"The root of the tree is {moved.root} here and there.")
    if moved.pause_seconds is None:
        yield "The move was begun earlier: how long nothing could be written is not known."
    else:
        yield f"Nothing could be written for {moved.pause_seconds:.2f} seconds."
    yield output.cell(
        f"{moved.source} takes nothing any more. Delete it once all servers are here: what is"
        " erased from now on is not erased there."
    )


def _given_up(answer: GivenUp) -> Iterator[Any]:
    yield output.cell(f"{answer.tenant} stays at {answer.ledger}, which takes events again.")
    yield output.cell(
        f"Delete what was copied to {answer.left_over}: what is erased from now on is not erased"
        " there."
    )
