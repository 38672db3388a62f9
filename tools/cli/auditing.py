"""The command of `tools.auditing`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.app import COULD_NOT, Json, app, opened

if TYPE_CHECKING:
    from beliefledger.audit.counts import AuditAnswer

PANEL = "Running"


@app.command(rich_help_panel=PANEL)
def audit(
    ctx: typer.Context,
    as_of: Annotated[
        int | None, typer.Option("--as-of", metavar="POSITION", help="Count up to there alone.")
    ] = None,
    json: Json = False,
) -> None:
    """Count decisions, changes, reads and erasures over envelopes; say whether it adds up."""
    with opened(ctx) as memory, output.progress("counting") as progress:
        answer = memory.audit.counts(as_of, progress=progress)
    output.show(answer, json, _audit)
    if not answer.adds_up:
        raise typer.Exit(COULD_NOT)


def _audit(answer: AuditAnswer) -> Iterator[Any]:
    yield _counts(answer)
    if answer.decisions:
        made = output.table(
            ("outcome", output.FIXED), "reason", ("decisions", output.RIGHT), title="Decisions"
        )
        for outcome, reasons in answer.decisions.items():
            for reason, number in reasons.items():
                made.add_row(output.outcome(outcome), output.cell(reason), f"{number:,}")
        yield made
    if answer.erasures:
        made = output.table(
            ("reach", output.FIXED),
            ("requested", output.RIGHT),
            ("completed", output.RIGHT),
            title="Erasures",
        )
        for reach, each in answer.erasures.items():
            made.add_row(output.cell(reach), f"{each.requested:,}", f"{each.completed:,}")
        yield made
    made = output.table(("", output.FIXED), "what has to add up", ("", output.RIGHT), title="Sums")
    for one in answer.sums:
        told = output.cell(one.what)
        if one.detail:
            told.append(f"\n{output.words(one.detail)}", "red")
        mark = output.cell("yes", "green") if one.adds_up else output.cell("no", "red")
        numbers = f"{one.counted:,}"
        if one.counted != one.expected:
            numbers += f" of {one.expected:,}"
        made.add_row(mark, told, numbers)
    yield made


def _counts(answer: AuditAnswer) -> Any:
    bodies, loops = answer.bodies, answer.loops
    made = output.table(("", output.FIXED), ("", {}))
    made.show_header = False
    rows = {
        "position": f"{answer.position:,}, {output.count(answer.events, 'event')}",
        "turns": f"{answer.turns:,}",
        "candidates": f"{answer.candidates:,}, {answer.pending:,} not decided",
        "decisions": output.tally(
            {outcome: sum(each.values()) for outcome, each in answer.decisions.items()}
        ),
        "supersessions": output.tally(answer.supersessions),
        "loops": f"contested {loops.contested:,} · escalated {loops.escalated:,} · resolved"
        f" {sum(loops.resolved.values()):,}",
        "revocations": output.tally(answer.revocations),
        "reads": f"{answer.reads:,}",
        "legal holds": f"{answer.holds_in_force:,} in force",
        "bodies": f"{bodies.written:,} written, {bodies.kept:,} kept, {bodies.gone:,} gone:"
        f" {bodies.erased_subjects:,} of erased subjects, {bodies.erased_content:,} erased of the"
        f" living, {bodies.unexplained:,} unexplained",
    }
    if answer.acknowledged:
        rows["acknowledged"] = output.tally(answer.acknowledged)
    for name, value in rows.items():
        made.add_row(name, output.cell(value))
    return made
