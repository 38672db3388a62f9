"""Commands about turns that a model reads: ops extract, retry."""

# Heavy imports stand in the commands, so that help is quick:

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    REFUSED_INPUT,
    USAGE,
    After,
    Json,
    Limit,
    MaybeBy,
    Subject,
    fail,
    named,
    note,
    opened,
)
from beliefledger.tools.cli.ops import ops


@ops.command("extract")
def extract(
    ctx: typer.Context,
    subject: Subject = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many turns.")] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Extract with this model, whoever serves it.")
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="Where the model is served."),
    ] = None,
    extractor: Annotated[
        str | None,
        typer.Option("--extractor", metavar="NAME", help="Who asks it: claude, openai, …"),
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="By Message Batches: half the price, within a day.")
    ] = False,
    resume: Annotated[
        str | None,
        typer.Option("--resume", metavar="BATCH", help="Take up a batch that was sent before."),
    ] = None,
    json: Json = False,
) -> None:
    """Extract and decide the turns that wait, with a model where one is set or named."""
    with opened(ctx) as memory, output.progress("extracting") as progress:
        if model or base_url or extractor:
            memory.operations.extraction.use_model(model, base_url, extractor=extractor)
        answer = memory.operations.extraction.extract(
            subject=subject, limit=limit, batch=batch, resume=resume, progress=progress, tell=note
        )
        parked = memory.status(digests=False).parked_turns

    def page(_answer: Any) -> Iterator[str]:
        yield (
            f"{output.count(answer.turns, 'turn')} extracted,"
            f" {output.count(len(answer.decisions), 'decision')};"
            f" {answer.failed:,} failed, {answer.parked:,} parked, {answer.pending:,} pending."
        )
        if answer.problem:
            yield f"Could not be read: {answer.problem}"
        if parked:
            yield f"{output.count(parked, 'turn')} set aside: beliefledger ops retry"

    output.show(answer, json, page)
    if answer.failed:
        raise typer.Exit(REFUSED_INPUT)


@ops.command("retry")
def retry(
    ctx: typer.Context,
    turn: Annotated[
        str | None, typer.Argument(metavar="[TURN]", help="The id of a parked turn.")
    ] = None,
    subject: Subject = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Take up every turn that is parked.")
    ] = False,
    by: MaybeBy = None,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """Tell of the turns that were set aside; take up one, a subject's, or all of them again."""
    named(turn)
    if everything and (turn or subject):
        fail("Name a turn or a subject, or take up --all.", USAGE)
    tells = turn is None and subject is None and not everything
    if (limit is not None or after is not None) and not tells:
        fail("ops retry: --limit and --after are for the list; leave out what to take up.", USAGE)
    with opened(ctx) as memory:
        if tells:
            listed = memory.operations.extraction.parked(limit=limit, after=after)
            output.show_page(listed, json, _parked, limit=limit, after=after)
            return
        who = {} if by is None else {"by": by}
        answer = memory.operations.extraction.retry(turn, subject=subject, **who)
    output.show(
        answer,
        json,
        lambda _answer: [
            f"{output.count(answer.turns, 'turn waits', 'turns wait')} again:"
            " beliefledger ops extract, or process."
        ],
    )


def _parked(answers: Any) -> Iterator[Any]:
    if not answers:
        yield "No turn is parked."
        return
    made = output.table(
        ("turn", output.FIXED),
        "subject",
        ("tries", output.RIGHT),
        "set aside for",
        "extractor",
        "what went wrong",
    )
    for each in answers:
        made.add_row(
            output.short(each.turn_id),
            output.cell(each.subject or "(erased)"),
            f"{each.attempts:,}",
            "its " + each.reason,
            output.cell(each.extractor),
            output.cell(each.detail or each.error),
        )
    yield made
    yield "Take up one with beliefledger ops retry TURN, all with --all."
