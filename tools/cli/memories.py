"""The commands store, update and correct: memories that are written or changed one by one."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    PUT,
    REFUSED_INPUT,
    TAKE,
    USAGE,
    By,
    Json,
    MaybeBy,
    Metadata,
    Subject,
    app,
    fail,
    json_object,
    named,
    opened,
)
from beliefledger.tools.cli.turns import Consent, note_unheeded, remembered

if TYPE_CHECKING:
    from beliefledger.answers import DecisionAnswer
    from beliefledger.curation.storing import MemoryInput


@app.command(rich_help_panel=PUT)
def store(
    ctx: typer.Context,
    attribute: Annotated[
        str | None, typer.Argument(help="What is known, e.g. favourite colour.")
    ] = None,
    value: Annotated[str | None, typer.Argument(help="What it is, e.g. red.")] = None,
    subject: Subject = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", metavar="FILE", help="Store each line of JSON of a file; - for input."
        ),
    ] = None,
    type: Annotated[str, typer.Option(help="Of which type.")] = "fact",
    text: Annotated[
        str | None, typer.Option(help='The claim as people read it. [attribute "is" value]')
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(min=0, max=1, help="How sure; else as the gate computes it.")
    ] = None,
    valid_from: Annotated[
        str | None, typer.Option(metavar="TIME", help="Since when it is so.")
    ] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When it was said.")] = None,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Stored again under it, it is one memory.")
    ] = None,
    metadata: Metadata = None,
    consent: Consent = None,
    by: MaybeBy = None,
    json: Json = False,
) -> None:
    """Store what is known without words to extract it from; the gate decides as always."""
    from beliefledger.ledger.vault import SYSTEM

    if file is not None:
        if attribute is not None:
            fail("store: give either --file or an attribute and a value.", USAGE)
        memories = _of_file(file, subject)
    elif attribute is None or value is None or subject is None:
        fail("store: give --subject, an attribute and a value, or --file.", USAGE)
    else:
        from beliefledger.curation.storing import Details, MemoryInput

        memories = [
            MemoryInput(
                subject,
                value,
                attribute,
                type=type,
                text=text,
                confidence=confidence,
                valid_from=valid_from,
                said_at=at,
                idempotency_key=key,
                details=Details(metadata=json_object(metadata)),
            )
        ]
    with opened(ctx, create=True, consent=consent) as memory:
        answer = memory.store_many(memories, by=by or SYSTEM)
        unkept = [each for each in answer if each.reason == "permission.no_consent"]
        note_unheeded(memory, consent, [each.subject for each in unkept if each.subject])
    output.show(answer, json, _stored)


def _of_file(file: Path, subject: str | None) -> list[MemoryInput]:
    import orjson

    from beliefledger.curation.storing import memory_of
    from beliefledger.ledger.errors import InvalidTurn

    if str(file) != "-" and not file.is_file():
        fail(f"store: {file} is not a file.", USAGE)
    read = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    memories = []
    for number, line in enumerate(read.splitlines(), 1):
        if not line.strip():
            continue
        try:
            memories.append(memory_of(orjson.loads(line), subject))
        except orjson.JSONDecodeError:
            fail(f"store: line {number} of {file} is not JSON. Nothing was stored.", USAGE)
        except InvalidTurn as problem:
            fail(f"store: line {number} of {file}: {problem.detail} Nothing was stored.", USAGE)
    return memories


Memory = Annotated[
    str,
    typer.Argument(metavar="MEMORY", callback=named, help="Its id; its first characters do."),
]


@app.command(rich_help_panel=TAKE)
def update(
    ctx: typer.Context,
    memory_id: Memory,
    by: By,
    value: Annotated[str | None, typer.Option(help="What it is from now on.")] = None,
    text: Annotated[str | None, typer.Option(help="The claim in other words.")] = None,
    topic: Annotated[str | None, typer.Option(help="Another topic.")] = None,
    importance: Annotated[
        float | None, typer.Option(min=0, max=1, help="How important it is.")
    ] = None,
    confidence: Annotated[float | None, typer.Option(min=0, max=1, help="How sure it is.")] = None,
    valid_from: Annotated[
        str | None, typer.Option(metavar="TIME", help="Since when the value is so. [now]")
    ] = None,
    expires_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it is over by itself.")
    ] = None,
    metadata: Metadata = None,
    json: Json = False,
) -> None:
    """Change a memory; the old one stays in its history."""
    with opened(ctx) as memory:
        answer = memory.update(
            memory_id,
            value=value,
            text=text,
            topic=topic,
            importance=importance,
            confidence=confidence,
            valid_from=valid_from,
            expires_at=expires_at,
            metadata=None if metadata is None else json_object(metadata),
            by=by,
        )
    output.show(answer, json, _updated)


def _updated(answer: DecisionAnswer) -> Iterator[Any]:
    yield output.decided([answer])
    yield from output.hints([answer])


@app.command(rich_help_panel=TAKE)
def correct(
    ctx: typer.Context,
    memory_id: Memory,
    words: Annotated[str, typer.Argument(help="What the person says is right, or wrong.")],
    value: Annotated[
        str | None, typer.Option(help="The right value, where nobody has to read the words.")
    ] = None,
    session: Annotated[str | None, typer.Option(help="In which conversation.")] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When it was said.")] = None,
    json: Json = False,
) -> None:
    """Take the words of the person who says that a memory about them is wrong."""
    with opened(ctx) as memory:
        receipt, decisions = memory.correct(
            memory_id, words, value=value, session=session, said_at=at
        )
    output.show({**receipt.model_dump(), "decisions": decisions}, json, remembered)
    if receipt.pending:
        raise typer.Exit(REFUSED_INPUT)


MOST_ROWS = 20
"""Of more, the counts are told alone."""


def _stored(answer: Sequence[DecisionAnswer]) -> Iterator[Any]:
    counts: dict[str, int] = {}
    for each in answer:
        counts[each.outcome] = counts.get(each.outcome, 0) + 1
    yield f"{output.count(len(answer), 'memory', 'memories')} stored: {output.tally(counts)}."
    if len(answer) <= MOST_ROWS:
        yield output.decided(answer)
    yield from output.hints(answer)
