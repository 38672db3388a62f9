"""Commands about everybody's data: subjects, export person, events and schema, import; and the
schemas of events."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    ASK,
    PUT,
    REFUSED_INPUT,
    USAGE,
    By,
    Json,
    Note,
    app,
    fail,
    named,
    note,
    noun,
    opened,
)

if TYPE_CHECKING:
    from beliefledger.exports.imports import ImportAnswer
    from beliefledger.reading.subjects import SubjectsPage

export = noun("export", "All that is held about somebody, or all events, to be handed out.")

schemas = noun("schema", "What documents look like that other programs read, as JSON Schema.")

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="Write it there."),
]


@app.command(rich_help_panel=ASK)
def subjects(
    ctx: typer.Context,
    limit: Annotated[
        int, typer.Option(min=1, max=1_000, metavar="N", help="At most so many people.")
    ] = 100,
    after: Annotated[
        str | None,
        typer.Option(
            metavar="CURSOR", callback=named, help="Go on there: the `next` of a page before."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Who is known: how much there is of each person, and when something last happened."""
    with opened(ctx) as memory:
        answer = memory.subjects(limit=limit, after=after)
    output.show(answer, json, _subjects)


def _subjects(answer: SubjectsPage) -> Iterator[Any]:
    if not answer.subjects:
        yield "Nobody is known, or nobody past that cursor."
        return
    made = output.table(
        "subject",
        ("turns", output.RIGHT),
        ("memories", output.RIGHT),
        ("apart", output.RIGHT),
        ("decisions", output.RIGHT),
        ("waiting", output.RIGHT),
        ("last activity", output.FIXED),
        ("held", output.FIXED),
    )
    for each in answer.subjects:
        made.add_row(
            output.cell(each.subject),
            f"{each.turns:,}",
            f"{each.memories:,}",
            f"{each.quarantined:,}",
            f"{each.decisions:,}",
            f"{each.waiting:,}",
            output.when(each.last_activity),
            "yes" if each.held else "",
        )
    yield made
    if answer.next is not None:
        yield "There are more:"
        yield output.command(f"beliefledger subjects --after {answer.next}")


@export.command("person")
def export_person(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Whose data it is.")],
    by: By,
    html: Annotated[
        bool, typer.Option("--html", help="As a page that people read, instead of JSON.")
    ] = False,
    file: Output = None,
    withhold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT",
            help="Leave out actors (who recorded and decided) or hold_reasons; for each, again.",
        ),
    ] = None,
    note: Note = None,
    json: Json = False,
) -> None:
    """Everything held about a person, for a request for access. It goes on record."""
    if json and html and file is None:
        fail("export person: a page is not JSON: leave out --html or --json, or add -o.", USAGE)
    with opened(ctx) as memory, _opened(file) as out:
        exported = memory.export(subject, by=by, note=note, withholding=withhold or ())
        out.writelines(exported.html() if html else exported.json())
    if file is not None:
        answer = {"subject": subject, "file": str(file), **exported.exported.model_dump()}
        output.show(answer, json, _exported)


@export.command("events")
def export_events(
    ctx: typer.Context,
    by: By,
    after: Annotated[
        int, typer.Option(min=0, metavar="N", help="Only events past this position.")
    ] = 0,
    file: Output = None,
    json: Annotated[
        bool, typer.Option("--json", help="It always is JSON, one document for each line.")
    ] = False,
) -> None:
    """All events of the ledger, one for each line, with their words. It goes on record."""
    with opened(ctx) as memory, _opened(file) as out:
        out.writelines(memory.exports.events(by=by, after=after))
    if file is not None:
        output.show({"file": str(file), "after": after}, json, _exported)


def _exported(answer: dict[str, Any]) -> Iterator[Any]:
    yours = " Only you may read it: keep it so." if Path(answer["file"]).is_file() else ""
    yield output.cell(f"Written to {answer['file']}.{yours}")


@export.command("schema")
def export_schema(json: Json = False) -> None:  # noqa: ARG001 (it is always JSON)
    """The JSON Schema of what `export person` writes."""
    from beliefledger.exports.person import schema

    output.write_json(schema())


@schemas.command("events")
def schema_events(
    types: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TYPE]...", help="Of these alone, e.g. memory.*; else of all."),
    ] = None,
    json: Json = False,  # noqa: ARG001 (it is always JSON)
) -> None:
    """The JSON Schema of events as `ops tail` and `export events` write them."""
    from beliefledger.exports.event_schema import schema

    output.write_json(schema(types or ("*",)))


@app.command("import", rich_help_panel=PUT)
def import_(
    ctx: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="JSON of `export person`; - for standard input."),
    ],
    by: By,
    subject: Annotated[
        str | None, typer.Option("--subject", "-s", help="Whom it is about here, if another name.")
    ] = None,
    remark: Note = None,
    json: Json = False,
) -> None:
    """Take over what another ledger believed of a person. Again, it adds nothing."""
    if str(file) != "-" and not file.is_file():
        fail(f"import: {file} is not a file.", USAGE)
    given = sys.stdin.buffer.read() if str(file) == "-" else file
    with opened(ctx, create=True) as memory:
        answer = memory.exports.import_person(given, by=by, subject=subject, note=remark)
    for each in answer.not_taken:
        note(output.words(f"Not taken over: {each.text} ({each.outcome}, {each.reason})"))
    output.show(answer, json, _imported)
    if answer.not_taken:
        raise typer.Exit(REFUSED_INPUT)


def _imported(answer: ImportAnswer) -> Iterator[Any]:
    yield output.cell(
        f"{answer.subject}: {output.count(answer.memories, 'memory', 'memories')} in the export;"
        f" {answer.written:,} taken over, {answer.already:,} there already,"
        f" {len(answer.not_taken):,} not taken over."
    )


@contextmanager
def _opened(file: Path | None) -> Iterator[TextIO]:
    """A file of the caller's own, else standard output. Open it before anything is handed out."""
    from beliefledger.exports.exports import text_file

    if file is None:
        with suppress(AttributeError):  # a stream of a test has no encoding to set
            sys.stdout.reconfigure(encoding="utf-8", errors="strict")  # type: ignore[union-attr]
        yield sys.stdout
        return
    with ExitStack() as closing:
        try:
            opened_file = closing.enter_context(text_file(file))
        except OSError as problem:
            fail(
                f"export: {file} cannot be written: {problem.strerror}. Name a file in a directory"
                " that is there and that you may write to."
            )
        yield opened_file
