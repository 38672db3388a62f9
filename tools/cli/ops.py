"""Commands of whoever runs a ledger: ops rebuild, copy, upgrade."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    COULD_NOT,
    Json,
    no_ledger,
    note,
    noun,
    opened,
)

if TYPE_CHECKING:
    from beliefledger.answers import (
        RebuildAnswer,
    )


ops = noun("ops", "What whoever runs a ledger does: backups, the schedule, views, upgrades.")


@ops.command("rebuild")
def rebuild(
    ctx: typer.Context,
    view: Annotated[str | None, typer.Argument(help="One view; else all of them.")] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare each with what it replaces.")
    ] = False,
    json: Json = False,
) -> None:
    """Fold the views from the log anew."""
    with opened(ctx) as memory, output.progress("rebuilding") as progress:
        answer = memory.operations.rebuild(
            view, verify=verify, progress=lambda _name, done, total: progress(done, total)
        )
    output.show(answer, json, _rebuilt)
    wrong = [each for each in answer if each.same is False]
    for each in wrong:
        note(output.words(f"{each.name} differs: {each.first_difference}"))
    if wrong:
        raise typer.Exit(COULD_NOT)


def _rebuilt(answer: list[RebuildAnswer]) -> Iterator[Any]:
    made = output.table(
        ("view", output.FIXED), ("position", output.RIGHT), ("digest", output.FIXED), "compared"
    )
    for each in answer:
        compared = {None: "–", True: "same", False: "different"}[each.same]
        made.add_row(each.name, f"{each.position:,}", (each.digest or "–")[:16], compared)
    yield made


@ops.command("copy")
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
    from beliefledger.opening.place import NoLedger, place_of
    from beliefledger.operations.copy import copy

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


@ops.command("upgrade")
def upgrade(ctx: typer.Context, json: Json = False) -> None:
    """Bring an older ledger up to date; on a server, as the database's owner. Done again, nothing
    changes."""
    from beliefledger.opening import backends
    from beliefledger.opening.place import NoLedger, place_of
    from beliefledger.settings import Settings

    place, settings = place_of(str(ctx.obj)), Settings.read()
    try:
        before = backends.versions(place, settings)
    except NoLedger:
        no_ledger(str(ctx.obj))
    backends.upgrade(place, settings)
    after = backends.versions(place, settings)
    its = {"log": (before.log, after.log), "vault": (before.vault, after.vault)}
    answer = {
        "ledger": str(place),
        **{
            name: {
                "before": old.number,
                "after": new.number,
                "steps": old.steps_from(old.number) if old.number < new.number else [],
            }
            for name, (old, new) in its.items()
        },
    }

    def page(_answer: Any) -> Iterator[Any]:
        for name, (old, new) in its.items():
            if old.number == new.number:
                yield output.cell(f"The {name} of {place} is at version {new.number}.")
                continue
            yield output.cell(
                f"The {name} of {place} went from version {old.number} to {new.number}:"
            )
            for step in old.steps_from(old.number):
                yield output.cell(f"  {step}")

    output.show(answer, json, page)
