"""Commands about legal holds: erasure hold place, list, lift."""

# Heavy imports stand in the commands, so that help is quick:

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    After,
    By,
    Json,
    Limit,
    Subject,
    noun,
    opened,
)
from beliefledger.tools.cli.erasure import erasure

if TYPE_CHECKING:
    from beliefledger.erasure.holds import HoldAnswer


hold = noun(
    "hold", "Legal holds: while one is in force, nothing of the person is erased.", within=erasure
)


@hold.command("place")
def hold_place(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(help="Of whom nothing may be erased.")],
    reason: Annotated[str, typer.Option(help="Why; goes on record.")],
    by: By,
    name: Annotated[
        str | None, typer.Option(help="What to call it, such as a file number; else a new one.")
    ] = None,
    json: Json = False,
) -> None:
    """Forbid erasing anything of somebody until the hold is lifted."""
    with opened(ctx) as ledger:
        placed = ledger.erasure.holds.place(subject, reason, by=by, hold=name)

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(f"Nothing of {subject} is erased until the hold {placed} is lifted.")

    output.show({"subject": subject, "hold": placed}, json, page)


@hold.command("list")
def hold_list(
    ctx: typer.Context,
    subject: Subject = None,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """The legal holds in force: of whom, why, and by whom."""
    with opened(ctx) as ledger:
        answer = ledger.erasure.holds.list(subject, limit=limit, after=after)
    output.show_page(answer, json, _holds, limit=limit, after=after)


def _holds(answer: Sequence[HoldAnswer]) -> Iterator[Any]:
    if not answer:
        yield "No legal hold is in force."
        return
    made = output.table(
        ("hold", output.FIXED), "of", "reason", "placed by", ("since", output.FIXED)
    )
    for each in answer:
        made.add_row(
            output.cell(each.hold),
            output.cell(each.subject),
            output.cell(each.reason),
            output.cell(each.by),
            output.when(each.placed_at),
        )
    yield made


@hold.command("lift")
def hold_lift(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="HOLD", help="As `erasure hold list` names it.")],
    by: By,
    subject: Annotated[
        str | None, typer.Option("--subject", "-s", help="Whose, where several have one of it.")
    ] = None,
    json: Json = False,
) -> None:
    """End a legal hold."""
    with opened(ctx) as ledger:
        ledger.erasure.holds.lift(name, by=by, subject=subject)

    def page(_answer: Any) -> Iterator[Any]:
        yield output.cell(f"The hold {name} is lifted.")

    output.show({"hold": name, "lifted": True}, json, page)
