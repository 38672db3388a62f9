"""The command that makes a context: what an agent puts before a model."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, cast

import typer

from beliefledger.settings import one_thread_each
from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    ASK,
    AsOf,
    Beside,
    Json,
    MaybeBy,
    Reader,
    SaidIn,
    TheSubject,
    ToAgent,
    app,
    json_object,
    note,
    note_empty,
    opened,
    seen_at,
)


@app.command(rich_help_panel=ASK)
def context(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What the model is asked.")],
    subject: TheSubject,
    max_tokens: Annotated[int, typer.Option(help="At most so many tokens.")] = 1_000,
    format: Annotated[
        str, typer.Option("--format", help="text, markdown, xml or messages.")
    ] = "markdown",
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="Who counts tokens: estimate, bytes (never too few), or a registered one."
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="At most so many results of the search.")] = 20,
    as_of: AsOf = None,
    session: Annotated[str | None, typer.Option(help="Asked in it: counts as shown there.")] = None,
    purpose: Annotated[
        str | None, typer.Option(help="For what, on the record; else the policy's.")
    ] = None,
    record: Annotated[
        bool, typer.Option("--record/--no-record", help="Whether to record what was shown.")
    ] = True,
    type: Annotated[str | None, typer.Option(help="Only memories of this type.")] = None,
    topic: Annotated[str | None, typer.Option(help="Only memories on this topic.")] = None,
    said_in: SaidIn = None,
    agent: ToAgent = None,
    metadata: Beside = None,
    reader: Reader = None,
    by: MaybeBy = None,
    json: Json = False,
) -> None:
    """What an agent puts before a model: constraints, a profile and what is relevant."""
    from beliefledger.filters import Where
    from beliefledger.ledger.vault import SYSTEM
    from beliefledger.search.context_text import Format
    from beliefledger.search.options import SearchOptions

    where = Where(said_in, agent, topic, type, json_object(metadata))
    one_thread_each()
    with opened(ctx) as memory:
        then = seen_at(memory, as_of)
        answer = memory.context(
            subject,
            query,
            max_tokens=max_tokens,
            purpose=purpose,
            as_of=then,
            session=session,
            format=cast("Format", format),
            tokenizer=tokenizer,
            k=k,
            record=record,
            by=SYSTEM if by is None else by,
            options=SearchOptions(reader=reader, where=where),
        )
        if then is not None:
            note_empty(memory, subject, answer.lines, then, "known")
    for each in answer.notes:
        note(each)

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(answer.content)

    if json:
        output.show(answer, json, page)
    elif answer.format == "messages":
        output.write_json(answer.messages)
    else:
        typer.echo(answer.content)
