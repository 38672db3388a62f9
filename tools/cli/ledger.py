"""Commands about a ledger as a whole: init, status, demo."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    KEEP,
    PUT,
    Json,
    app,
    opened,
)

if TYPE_CHECKING:
    from beliefledger.answers import (
        StatusAnswer,
    )


@app.command(rich_help_panel=PUT)
def init(ctx: typer.Context, json: Json = False) -> None:
    """Make a ledger. Where there is one already, nothing changes.

    On a server this is for the database's owner, who then grants each login its rights.
    """
    from beliefledger.opening.backends import preparing, rights
    from beliefledger.opening.place import place_of
    from beliefledger.settings import Settings

    place, settings = place_of(str(ctx.obj)), Settings.read()
    with preparing(place, settings) as made, opened(ctx, create=True) as memory:
        status = memory.status(digests=False)
        key_file = memory.made_key_file
    grants = rights(place, settings)
    answer = {
        "ledger": status.ledger,
        "position": status.position,
        "policy": status.policy,
        "master_key": status.master_key,
        "key_file": None if key_file is None else str(key_file),
        "made": made,
        "grants": grants,
    }

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(f"The ledger {status.ledger} is ready, at position {status.position}.")
        if made:
            yield output.cell(f"Made: {', '.join(made)}.")
        if grants:
            yield "To let a login work with it, but not change history:"
        for grant in grants:
            yield output.cell(f"  {grant}")
        for warning in status.warnings:
            yield output.cell(f"Warning: {warning}", "yellow")

    output.show(answer, json, page)


@app.command(rich_help_panel=KEEP)
def status(
    ctx: typer.Context,
    digests: Annotated[
        bool,
        typer.Option("--digests/--no-digests", help="Whether to digest the views; it reads all."),
    ] = False,
    json: Json = False,
) -> None:
    """How the ledger is: positions, what waits, how far the views are."""
    with opened(ctx) as memory:
        answer = memory.status(digests=digests)
    output.show(answer, json, _status)


def _status(answer: StatusAnswer) -> Iterator[Any]:
    made = output.table(("", output.FIXED), ("", {}))
    made.show_header = False
    rows = {
        "ledger": answer.ledger,
        "position": f"{answer.position:,}, recorded {output.when(answer.recorded_at)} UTC",
        "subjects": f"{answer.subjects:,}",
        "turns": output.tally(answer.turns),
        "pending": output.count(answer.pending_turns, "turn"),
        "decisions": output.tally(answer.outcomes),
        "waiting": f"{answer.waiting:,} for a person",
        "policy": f"{answer.policy['name']} ({answer.policy['digest'][: output.SHORT_ID]})",
        "extractor": answer.extractor,
        "master key": answer.master_key,
    }
    if answer.parked_turns:
        parked = output.count(answer.parked_turns, "turn")
        rows["parked"] = f"{parked} set aside: beliefledger ops retry --all"
    for name, value in rows.items():
        made.add_row(name, output.cell(value))
    yield made
    views = output.table(
        ("view", output.FIXED),
        ("position", output.RIGHT),
        ("lag", output.RIGHT),
        ("digest", output.FIXED),
        ("content digest", output.FIXED),
        "state",
    )
    for view in answer.views:
        stopped = "" if view.stopped_at is None else f"stopped at {view.stopped_at}: {view.reason}"
        views.add_row(
            view.name,
            f"{view.position:,}",
            f"{view.lag:,}",
            (view.digest or "–")[:12],
            (view.content_digest or "–")[:12],
            output.cell(stopped or "follows", "red" if stopped else "green"),
        )
    yield views
    if answer.consumers:
        yield _consumers(answer)
        for each in answer.consumers:
            if each.last_problem is not None:
                at = output.when(each.last_problem_at)
                told = f"{each.name}: deliveries failed, last noted at {at} UTC"
                yield output.cell(f"{told}: {each.last_problem}", "yellow")
    if answer.jobs:
        yield _jobs(answer)
    for warning in answer.warnings:
        yield output.cell(f"Warning: {warning}", "yellow")


def _jobs(answer: StatusAnswer) -> Any:
    made = output.table(
        ("job", output.FIXED),
        ("last run, UTC", output.FIXED),
        ("took", output.RIGHT),
        "what it did",
    )
    for each in answer.jobs:
        told = output.tally(each.counts) if each.error is None else f"failed: {each.error}"
        made.add_row(
            output.cell(each.job),
            output.when(each.ran_at),
            f"{each.seconds:.2f} s",
            output.cell(told, "red" if each.error else ""),
        )
    return made


def _consumers(answer: StatusAnswer) -> Any:
    made = output.table(
        ("consumer", output.FIXED),
        ("position", output.RIGHT),
        ("lag", output.RIGHT),
        ("epoch", output.RIGHT),
        "run by",
    )
    for each in answer.consumers:
        made.add_row(
            output.cell(each.name),
            f"{each.position:,}",
            f"{each.lag:,}",
            f"{each.epoch:,}",
            output.cell(each.holder or "nobody", "" if each.holder else "yellow"),
        )
    return made


@app.command(rich_help_panel=KEEP)
def demo(
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep its ledger here, to look around in.")
    ] = None,
) -> None:
    """A story of a few months, told in seconds: offline, in a temporary directory."""
    from beliefledger.tools.demo import tell

    tell(output.console(), keep)
