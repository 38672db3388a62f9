"""Commands about whether an erasure is done: erasure certificate, acknowledge, write-off."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    By,
    Json,
    MaybeBy,
    named,
    note,
    opened,
)
from beliefledger.tools.cli.erasure import erasure

if TYPE_CHECKING:
    from beliefledger.erasure.certificate import Acknowledgement, Certificate, WrittenOff


Erasure = Annotated[
    str,
    typer.Argument(metavar="ERASURE", callback=named, help="Its id, as `erasure list` shows it."),
]


@erasure.command("certificate")
def certificate(
    ctx: typer.Context,
    erasure: Erasure,
    file: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", dir_okay=False, help="Write it there."),
    ] = None,
    json: Json = False,
) -> None:
    """The signed certificate of an erasure, for beliefledger-verify."""
    from beliefledger.erasure.certificate import text_of

    with opened(ctx) as memory:
        answer = memory.erasure.certificates.issue(erasure)
    text = text_of(answer)
    if file is not None:
        file.write_bytes(text.encode())
        note(f"The certificate is in {file}: check it with beliefledger-verify {file}")
    if json:
        typer.echo(text, nl=False)
    elif file is None:
        output.show(answer, json, _certificate)


def _certificate(answer: Certificate) -> Iterator[Any]:
    made = output.table(("", output.FIXED), ("", {}))
    made.show_header = False
    consumers = answer["consumers"]
    said = [each["consumer"] for each in consumers["acknowledged"]]
    rows = {
        "erasure": answer["erasure"],
        "reach": answer["reach"] + (f" {answer['of']}" if answer["of"] else ""),
        "basis": answer["basis"],
        "requested": f"{output.when(answer['requested_at'])} UTC,"
        f" position {answer['request']['position']:,}",
        "completed": f"{output.when(answer['completed_at'])} UTC,"
        f" position {answer['completion']['position']:,}",
        "bodies": f"{answer['bodies']:,}"
        + (f": {output.tally(answer['counts'])}" if answer["counts"] else ""),
        "views": output.tally({each["name"]: each["removed"] for each in answer["views"] or ()})
        + " (rows removed)",
        "probes": ", ".join(
            f"{each['name']} {each['found']:,} of {each['looked']:,}"
            for each in answer["probes"] or ()
        )
        + " (found)",
        "backups": answer["backup_horizon"]["text"],
        "acknowledged": ", ".join(said) or "by nobody",
        "written off": ", ".join(each["consumer"] for each in consumers["written_off"])
        or "none of them",
        "waits for": ", ".join(consumers["open"]) or "nobody",
        "state": answer["state"],
    }
    if answer["views"] is None:
        rows["views"] = rows["probes"] = "no receipts: it was recorded by an older version"
    for name, value in rows.items():
        made.add_row(name, output.cell(value))
    yield made
    made = output.table("what remains", ("count", output.RIGHT), "why")
    for each in answer["remains"]:
        number = "–" if each["count"] is None else f"{each['count']:,}"
        made.add_row(output.cell(each["what"]), number, output.cell(each["why"]))
    yield made
    yield "What it cannot prove:"
    for sentence in answer["cannot_prove"]:
        yield output.cell(f"- {sentence}")
    short = answer["erasure"][: output.SHORT_ID]
    yield f"As a file: beliefledger erasure certificate {short} -o FILE"


@erasure.command("acknowledge")
def acknowledge(
    ctx: typer.Context,
    erasure: Erasure,
    consumer: Annotated[
        str, typer.Option("--consumer", metavar="NAME", help="Which consumer has deleted it, too.")
    ],
    by: MaybeBy = None,
    json: Json = False,
) -> None:
    """Record that a consumer of the log has deleted what was erased."""
    with opened(ctx) as memory:
        optional: dict[str, Any] = {} if by is None else {"by": by}
        answer = memory.erasure.certificates.acknowledge(consumer, erasure, **optional)
    output.show(answer, json, _acknowledged)


def _acknowledged(answer: Acknowledgement) -> Iterator[Any]:
    left = ", ".join(answer.open)
    erasure = answer.erasure[: output.SHORT_ID] + (" before" if answer.already else "")
    yield output.cell(
        f"{answer.consumer} has acknowledged the erasure {erasure}."
        + (f" It waits for: {left}." if left else " Every consumer has: it is closed.")
    )


@erasure.command("write-off")
def write_off(
    ctx: typer.Context,
    consumer: Annotated[str, typer.Argument(metavar="CONSUMER", help="As `status` lists it.")],
    by: By,
    json: Json = False,
) -> None:
    """Record that a consumer is not run any more: no certificate waits for it."""
    with opened(ctx) as memory:
        answer = memory.erasure.certificates.write_off(consumer, by=by)
    output.show(answer, json, _given_up)


def _given_up(answer: WrittenOff) -> Iterator[Any]:
    again = " before" if answer.already else ""
    yield output.cell(
        f"{answer.consumer} was written off{again}, on {output.when(answer.at)} UTC: no certificate"
        " waits for it. What it may still have is not deleted by that."
    )
