"""Commands about the vectors that search compares meanings with: vectors status, build …"""

# Heavy imports stand in the commands, so that help is quick:

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    COULD_NOT,
    USAGE,
    By,
    Json,
    Subject,
    fail,
    noun,
    opened,
)

if TYPE_CHECKING:
    from beliefledger.search.vectors import (
        BuiltAnswer,
        DroppedAnswer,
        MigrationAnswer,
        RollbackAnswer,
        VectorsStatus,
    )


_MODEL = (
    "words-3, words-2, words-1, hashed-1, all-minilm-l6-v2, a directory, or a name in the "
    "library's cache."
)
vectors = noun(
    "vectors", "The vectors by which search compares meanings, and the model that makes them."
)


@vectors.command("status")
def vectors_status(ctx: typer.Context, subject: Subject = None, json: Json = False) -> None:
    """Which model is in force, and how many vectors there are of each."""
    with opened(ctx) as memory:
        answer = memory.vectors.status(subject)
    output.show(answer, json, _status)


def _status(answer: VectorsStatus) -> Iterator[Any]:
    adopted = "adopted" if answer.adopted else "by default"
    here = "" if answer.installed else f"; {answer.used} stands in for it here"
    yield output.cell(f"The model is {answer.model}, {adopted}{here}.")
    if answer.note:
        yield output.cell(answer.note, "yellow")
    if answer.rollback_to:
        yield output.cell(f"A rollback goes to {answer.rollback_to}.")
    whose = "" if answer.subject is None else f" of {answer.subject}"
    missing = "" if answer.missing is None else f", {answer.missing:,} without a vector of it"
    yield output.cell(f"Search looks through {output.count(answer.texts, 'text')}{whose}{missing}.")
    made = output.table("model", ("vectors", output.RIGHT), ("subjects", output.RIGHT), "")
    for each in answer.kept:
        force = "in force" if each.in_force else ""
        made.add_row(output.cell(each.model), f"{each.vectors:,}", f"{each.subjects:,}", force)
    if answer.kept:
        yield made


@vectors.command("build")
def vectors_build(
    ctx: typer.Context,
    subject: Subject = None,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help=f"Else the one in force: {_MODEL}")
    ] = None,
    json: Json = False,
) -> None:
    """Compute the vectors that are missing."""
    with opened(ctx) as memory, output.progress("computing vectors") as progress:
        answer = memory.vectors.build(subject, model=model, progress=progress)
    output.show(answer, json, _built)


def _built(answer: BuiltAnswer) -> Iterator[Any]:
    yield output.cell(
        f"{output.count(answer.computed, 'vector')} of {answer.model} computed; now all"
        f" {output.count(answer.texts, 'text')} of {output.count(answer.subjects, 'subject')}"
        " have theirs."
    )


@vectors.command("migrate")
def vectors_migrate(
    ctx: typer.Context,
    model: Annotated[str, typer.Option(metavar="MODEL", help=_MODEL)],
    by: By,
    queries: Annotated[
        int, typer.Option(min=0, help="Compare by the last so many recorded searches.")
    ] = 200,
    at_least: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Adopt it only if so much of what was found still is."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Build and compare alone.")] = False,
    json: Json = False,
) -> None:
    """Move to another model: build beside, compare, and put it in force for every process."""
    with opened(ctx) as memory, output.progress("building and comparing") as progress:
        answer = memory.vectors.migrate(
            model, by=by, queries=queries, at_least=at_least, dry_run=dry_run, progress=progress
        )
    output.show(answer, json, _migrated)
    if answer.refused:
        raise typer.Exit(COULD_NOT)


def _migrated(answer: MigrationAnswer) -> Iterator[Any]:
    yield from _built(answer.built)
    if answer.parity is None:
        yield "No search that found anything is on record to compare the models by."
    else:
        searches = output.count(answer.queries, "search", "searches")
        yield output.cell(
            f"Of what {answer.previous} finds, {answer.model} finds {answer.parity:.3f}, in the"
            f" mean of {searches}."
        )
    if answer.worst:
        made = output.table(
            ("overlap", output.RIGHT), ("k", output.RIGHT), ("whose", output.FIXED), "query"
        )
        for each in answer.worst:
            cells: list[Any] = [
                output.number(each.overlap),
                f"{each.k:,}",
                output.cell(each.subject),
            ]
            made.add_row(*cells, output.cell(each.query))
        yield made
    if answer.refused:
        yield output.cell(answer.refused, "yellow")
    elif answer.adopted:
        yield output.cell(f"{answer.model} is in force. Back again: beliefledger vectors rollback")
    else:
        yield output.cell(f"{answer.previous} stays in force.")


@vectors.command("rollback")
def vectors_rollback(ctx: typer.Context, by: By, json: Json = False) -> None:
    """Put the model in force again that was before the last move."""
    with opened(ctx) as memory:
        answer = memory.vectors.rollback(by=by)
    output.show(answer, json, _rolled_back)


def _rolled_back(answer: RollbackAnswer) -> Iterator[Any]:
    yield output.cell(
        f"{answer.model} is in force again, with {output.count(answer.vectors, 'vector')}; it was"
        f" {answer.previous}."
    )
    if not answer.vectors:
        yield output.cell("None are kept of it; to compute them: beliefledger vectors build")


@vectors.command("drop")
def vectors_drop(
    ctx: typer.Context,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Whose vectors to delete.")
    ] = None,
    damaged: Annotated[
        bool, typer.Option("--damaged", help="Instead, those that are not as they were kept.")
    ] = False,
    in_force: Annotated[
        bool, typer.Option("--in-force", help="Also if this model is in force.")
    ] = False,
    subject: Subject = None,
    json: Json = False,
) -> None:
    """Delete the vectors of a model that is not in force, or damaged ones."""
    if damaged == (model is not None) or (damaged and in_force):
        fail("vectors drop: say either --model or --damaged.", USAGE)
    with opened(ctx) as memory, output.progress("looking through vectors") as progress:
        if model is None:
            answer = memory.vectors.repair(subject, progress=progress)
        else:
            answer = memory.vectors.drop(model, subject=subject, in_force=in_force)
    output.show(answer, json, _dropped)


def _dropped(answer: DroppedAnswer) -> Iterator[Any]:
    what = "that were damaged" if answer.model is None else f"of {answer.model}"
    yield output.cell(f"{output.count(answer.vectors, 'vector')} {what} deleted.")
