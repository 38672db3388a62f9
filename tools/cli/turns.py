"""Commands that put something in: remember, ingest, process."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    COULD_NOT,
    PUT,
    REFUSED_INPUT,
    USAGE,
    Json,
    Metadata,
    TheSubject,
    app,
    fail,
    json_object,
    note,
    opened,
)

if TYPE_CHECKING:
    from beliefledger.memory import MemoryLedger
    from beliefledger.tools.ingest import Ingested
    from beliefledger.tools.transcripts import Refused


TOLD = 20
"""How many refused lines are named on standard error; the JSON names all."""
Consent = Annotated[
    str | None,
    typer.Option(
        "--consent",
        metavar="BASIS",
        help="First record this lawful basis, e.g. consent or contract, for each subject who has"
        " none and never withdrew. Else $BELIEFLEDGER_CONSENT.",
    ),
]


def note_unheeded(memory: MemoryLedger, consent: str | None, subjects: Iterable[str]) -> None:
    """Say for whom `--consent` recorded nothing and there is no basis for ordinary memories."""
    for subject in dict.fromkeys(subjects) if consent is not None else ():
        if not any("ordinary" in each.categories for each in memory.consent.list(subject)):
            note(
                f"--consent records no basis for {subject}, who had one before or withdrew it. Only"
                f" this does: beliefledger consent grant --subject {shlex.quote(subject)}"
                f" --basis {consent}"
            )


@app.command(rich_help_panel=PUT)
def remember(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="What the subject said.")],
    subject: TheSubject,
    consent: Consent = None,
    session: Annotated[str | None, typer.Option(help="In which conversation.")] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When it was said; the same again is one turn."),
    ] = None,
    metadata: Metadata = None,
    json: Json = False,
) -> None:
    """Record one thing that a subject said, and decide about it at once."""
    with opened(ctx, create=True, consent=consent) as memory:
        receipt, decisions = memory.remember(
            subject, text, session=session, said_at=at, metadata=json_object(metadata)
        )
        turn = None if decisions or receipt.pending else memory.turn(receipt.turn_id)
        note_unheeded(memory, consent, [subject])
    answer = {
        **receipt.model_dump(),
        "decisions": decisions,
        "not_read": turn and turn.not_read,
        "skipped": turn and turn.skipped,
        "fallen": turn.fallen if turn else 0,
    }
    output.show(answer, json, remembered)
    if receipt.pending:
        raise typer.Exit(REFUSED_INPUT)


def _nothing_came(answer: dict[str, Any]) -> Iterator[str]:
    """Why there is no decision: that there was nothing to believe is said only of what was read."""
    if answer["pending"]:
        yield f"It could not be read: {answer['problem'] or 'another process is at it.'}"
        yield "Nothing is lost: it waits. Read it with beliefledger process."
    elif answer.get("not_read"):
        yield output.NOT_READ
    elif answer.get("skipped") == "declined":
        yield "The model declined to read it: nothing is known of what it says."
    elif answer.get("fallen"):
        said = output.count(answer["fallen"], "statement")
        yield f"Nothing was kept: {said} of the model did not fit its words."
    else:
        yield "Nothing in it to believe."


def remembered(answer: dict[str, Any]) -> Iterator[Any]:
    """What was recorded, and what was decided about it."""
    again = ", already" if answer["already"] else ""
    yield f"Recorded at position {answer['position']}{again}."
    if not answer["decisions"]:
        yield from _nothing_came(answer)
        return
    yield output.decided(answer["decisions"])
    yield from output.hints(answer["decisions"])


@app.command(rich_help_panel=PUT)
def ingest(
    ctx: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="JSON lines, a list of chat messages or a LongMemEval file; .gz too; - for input.",
        ),
    ],
    consent: Consent = None,
    subject: Annotated[
        str | None,
        typer.Option("--subject", "-s", help="Whose turns are those that name nobody. [user]"),
    ] = None,
    process: Annotated[
        bool, typer.Option("--process/--no-process", help="Decide about the turns, or only record.")
    ] = True,
    json: Json = False,
) -> None:
    """Record conversations from files, and decide about them. Again, it adds nothing."""
    from beliefledger.tools.ingest import DEFAULT_SUBJECT, Ingest

    for file in files:
        if str(file) != "-" and not file.is_file():
            fail(f"ingest: {file} is not a file.", USAGE)
    told = 0

    def tell(refused: Refused) -> None:
        nonlocal told
        told += 1
        if told <= TOLD:
            note(output.words(f"{refused.file}, {refused.place}: {refused.reason}"))

    with (
        opened(ctx, create=True, consent=consent) as memory,
        output.progress("ingesting") as progress,
    ):
        done = Ingest(
            memory,
            subject=subject or DEFAULT_SUBJECT,
            process=process,
            tell=tell,
            progress=progress,
        ).files(files)
    if told > TOLD:
        note(f"… and {output.count(told - TOLD, 'more refused line')}; --json names all.")
    for problem in done.unreadable:
        note(output.words(problem))
    if done.unnamed and subject is None:
        note(
            f"{output.count(done.unnamed, 'turn names', 'turns name')} no subject and went to"
            f" {DEFAULT_SUBJECT!r}; --subject says whose they are."
        )
    output.show(done.document() if json else done, json, _ingested)
    if done.unreadable:
        raise typer.Exit(COULD_NOT)
    if done.refused or done.unread:
        raise typer.Exit(REFUSED_INPUT)


def _ingested(done: Ingested) -> Iterator[Any]:
    rate = f", {done.turns / done.seconds:,.0f} turns/s" if done.seconds and done.turns else ""
    made = output.table(("", output.FIXED), ("", {}))
    made.show_header = False
    made.add_row(
        "turns",
        output.cell(
            f"{done.recorded:,} recorded · {done.already:,} already there ·"
            f" {len(done.refused):,} refused · of {output.count(done.subjects, 'subject')}"
        ),
    )
    failed = f"{done.failed:,} failed, " if done.failed else ""
    made.add_row("processed", f"{done.processed:,}, {failed}{done.pending:,} pending")
    made.add_row("decisions", output.tally(done.decisions))
    made.add_row("time", f"{done.seconds:.1f} s{rate}")
    yield made
    if done.unread:
        yield f"Could not be read: {done.problem}"
        if done.pending:
            yield "Nothing is lost: what waits is read by beliefledger process."
    if done.decisions.get("reject"):
        yield "Why some were refused: beliefledger decisions --outcome reject"


@app.command(rich_help_panel=PUT)
def process(
    ctx: typer.Context,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many turns.")] = None,
    json: Json = False,
) -> None:
    """Extract and decide the turns that wait."""
    with opened(ctx) as memory, output.progress("processing") as progress:
        answer = memory.process(limit=limit, progress=progress)

    def page(_answer: Any) -> Iterator[str]:
        yield (
            f"{output.count(answer.turns, 'turn')} processed,"
            f" {output.count(len(answer.decisions), 'decision')};"
            f" {answer.failed:,} failed, {answer.parked:,} parked, {answer.pending:,} pending."
        )
        if answer.problem:
            yield f"Could not be read: {answer.problem}"

    output.show(answer, json, page)
    if answer.failed:
        raise typer.Exit(REFUSED_INPUT)
