"""The command about what fades: ops decay."""

# Heavy imports stand in the commands, so that help is quick:

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    USAGE,
    After,
    Json,
    Limit,
    Subject,
    fail,
    note_nobody,
    opened,
)
from beliefledger.tools.cli.ops import ops

if TYPE_CHECKING:
    from beliefledger.operations.ageing import DecayAnswer, ReconfirmAnswer


_BAR = 10


@ops.command("decay")
def decay(
    ctx: typer.Context,
    subject: Subject = None,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="As if asked then; by default now.")
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="freshness or decay; else the one that the policy says."),
    ] = None,
    reconfirm: Annotated[
        bool, typer.Option("--reconfirm", help="Only what to ask about again, worst first.")
    ] = False,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="First compute the kept scores of all memories.")
    ] = False,
    limit: Limit = None,
    after: After = None,
    json: Json = False,
) -> None:
    """How much is left of each memory since it was last said or shown, the least first."""
    if reconfirm and profile is not None:
        fail("ops decay: --reconfirm goes by the policy's profile: leave out --profile.", USAGE)
    with opened(ctx) as memory:
        if refresh:
            memory.operations.ageing.refresh()
        if reconfirm:
            asked = memory.operations.ageing.reconfirm(subject, at=at, limit=limit, after=after)
            note_nobody(memory, subject, asked)
            output.show_page(asked, json, _reconfirmed, limit=limit, after=after)
            return
        answer = memory.operations.ageing.decay(
            subject, at=at, profile=profile, limit=limit, after=after
        )
        note_nobody(memory, subject, answer)
    output.show_page(
        answer, json, lambda rows: _decayed(rows, whose=subject is None), limit=limit, after=after
    )


def _decayed(answer: Sequence[DecayAnswer], *, whose: bool) -> Iterator[Any]:
    if not answer:
        yield "Nothing is believed."
        return
    columns: list[Any] = [("id", output.FIXED), ("left", output.RIGHT), ("", output.FIXED)]
    columns += [("days", output.RIGHT), ("shown", output.RIGHT)]
    columns += [("whose", output.FIXED)] if whose else []
    made = output.table(*columns, "memory", title=f"By {answer[0].profile}")
    for each in answer:
        cells = [output.short(each.memory_id), output.number(each.score), _bar(each.score)]
        cells += [f"{each.days:,.0f}", f"{each.accesses:,}"]
        cells += [output.cell(each.subject)] if whose else []
        made.add_row(*cells, output.cell(each.text))
    yield made


def _bar(score: float) -> Any:
    full = round(score * _BAR)
    colour = "green" if score >= 0.6 else "yellow" if score >= 0.3 else "red"
    return output.cell("█" * full + "░" * (_BAR - full), colour)


def _reconfirmed(answer: Sequence[ReconfirmAnswer]) -> Iterator[Any]:
    if not answer:
        yield "Nothing that matters has faded."
        return
    made = output.table(
        ("whose", output.FIXED), ("left", output.RIGHT), ("days", output.RIGHT), "ask"
    )
    for each in answer:
        about = each.memory
        made.add_row(
            output.cell(about.subject),
            output.number(about.score),
            f"{about.days:,.0f}",
            output.cell(each.ask),
        )
    yield made
