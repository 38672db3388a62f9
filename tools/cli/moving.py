"""Commands that move a ledger: copy, migrate."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer

from tools.cli import output
from tools.cli.app import Json, app, no_ledger, opened

PANEL = "Running"


@app.command(rich_help_panel=PANEL)
def migrate(ctx: typer.Context, json: Json = False) -> None:
    """Bring a server's schema up to date, as the database's owner. Done again, nothing changes."""
    from tools.places import NoLedger, migrate, place_of

    place = place_of(str(ctx.obj))
    try:
        versions = migrate(place)
    except NoLedger:
        no_ledger(str(ctx.obj))
    if versions is None:
        with opened(ctx):
            pass
    before, after = versions or (None, None)
    answer = {"ledger": str(place), "before": before, "after": after}

    def page(_answer: Any) -> Iterator[Any]:
        if before is None:
            yield output.cell(f"{place} is a directory: there is nothing to do.")
        elif before == after:
            yield output.cell(f"{place} is at version {after}: there is nothing to do.")
        else:
            yield output.cell(f"{place} went from version {before} of its schema to {after}.")

    output.show(answer, json, page)


@app.command(rich_help_panel=PANEL)
def copy(
    source: Annotated[str, typer.Argument(metavar="SRC", help="The ledger: a directory or a URL.")],
    destination: Annotated[
        str, typer.Argument(metavar="DST", help="Where no ledger is, or a copy that was begun.")
    ],
    vault: Annotated[
        str | None,
        typer.Option(metavar="DIR|URL", help="Where the copy's vault goes, if not beside it."),
    ] = None,
    json: Json = False,
) -> None:
    """Copy a ledger to another directory or server, and compare. Begun again, it goes on."""
    from tools.copying import copy
    from tools.places import NoLedger, place_of

    try:
        with output.progress("copying") as progress:
            done = copy(source, destination, vault=vault, progress=progress)
    except NoLedger:
        no_ledger(source)
    names = {"source": str(place_of(source)), "destination": str(place_of(destination))}

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(
            f"{names['destination']} holds what {names['source']} holds:"
            f" {output.count(done.events, 'event')}, {done.bodies:,} with a body, of"
            f" {output.count(done.subjects, 'subject')} ({done.erased:,} erased),"
            f" {output.count(done.consumers, 'consumer')}."
        )
        if done.vectors:
            yield f"{output.count(done.vectors, 'vector')} came along."
        if done.already:
            yield f"{output.count(done.already, 'event')} had been copied before."
        if done.meanwhile:
            yield (
                f"{output.count(done.meanwhile, 'event')} came while it was copied. What still"
                f" comes after position {done.events:,} is not in it: run it again."
            )
        made = output.table("SHA-256 of", ("source", output.FIXED), ("copy", output.FIXED))
        for name, its in asdict(done.source).items():
            made.add_row(name, its[:32], asdict(done.copy)[name][:32])
        yield made

    counted = asdict(done)
    digests = {side: counted.pop(side) for side in ("source", "copy")}
    output.show({**names, **counted, "digests": digests}, json, page)
