"""Commands of `tools.judging`."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.app import REFUSED_INPUT, USAGE, Json, MaybeBy, app, fail, note, opened

if TYPE_CHECKING:
    from beliefledger.audit.calibration import CalibrationAnswer
    from beliefledger.audit.checklist import ChecklistAnswer

PANEL = "Running"
BAR = 30


@app.command(rich_help_panel=PANEL)
def calibrate(
    ctx: typer.Context,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", dir_okay=False, help="Draw it, as .png or .svg."),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", dir_okay=False, help="Write the policy in force with the map, in YAML."
        ),
    ] = None,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Put that policy in force; needs --by.")
    ] = False,
    by: MaybeBy = None,
    json: Json = False,
) -> None:
    """Compare stated confidence with what became of each memory."""
    if adopt and by is None:
        fail("calibrate: --adopt needs --by NAME.", USAGE)
    with opened(ctx) as memory:
        with output.progress("reading") as progress:
            answer = memory.audit.calibrate(progress=progress)
        if plot is not None:
            memory.audit.plot_calibration(answer, plot)
        chosen = memory.audit.calibrated_policy(answer) if policy is not None or adopt else None
        if policy is not None and chosen is not None:
            import yaml

            fields = chosen.model_dump(mode="json")
            policy.write_text(
                yaml.safe_dump(fields, sort_keys=False, allow_unicode=True), encoding="utf-8"
            )
        if adopt and chosen is not None and by is not None:
            digest = memory.policy.adopt(chosen, by=by)
            answer = answer.model_copy(update={"adopted": memory.policy.current.calibration})
            note(f"{chosen.name} is in force with the map (digest {digest[:16]}…).")
    output.show(answer, json, _calibration)


def _calibration(answer: CalibrationAnswer) -> Iterator[Any]:
    told = output.tally({name: count for name, count in answer.outcomes.items() if count})
    yield output.cell(
        f"{output.count(answer.memories, 'statement')}: {answer.right:,} turned out right,"
        f" {answer.wrong:,} wrong, nobody said a word about {answer.unknown:,}."
        + (f" ({told})" if answer.bins else "")
    )
    if answer.bins:
        yield _reliability(answer)
        yield f"Brier score {answer.brier:.3f} · expected calibration error {answer.ece:.3f}"
    if answer.map is None:
        yield output.cell(f"No map: {answer.why}", "yellow")
        return
    made = output.table(("formula says", output.RIGHT), ("was right", output.RIGHT), title="Map")
    for stated, observed in answer.map:
        made.add_row(f"{stated:.3f}", f"{observed:.3f}")
    yield made
    yield _compared("the formula alone", answer.score_brier, answer.score_ece)
    yield _compared("with the map (each fifth by the others)", answer.map_brier, answer.map_ece)
    if answer.adopted != answer.map:
        yield "See what it would change, then adopt it:"
        yield "  beliefledger calibrate --policy FILE; beliefledger replay --all --policy FILE"
        yield "  beliefledger calibrate --adopt --by NAME"


def _compared(what: str, brier: float | None, ece: float | None) -> str:
    if brier is None or ece is None:
        return f"{what}: not to be told from so few"
    return f"{what}: Brier score {brier:.3f} · expected calibration error {ece:.3f}"


def _reliability(answer: CalibrationAnswer) -> Any:
    """The table, and in it the plot: how much was right, and where stated confidence would be."""
    from rich.text import Text

    made = output.table(
        ("stated", output.FIXED),
        ("n", output.RIGHT),
        ("mean", output.RIGHT),
        ("right", output.RIGHT),
        ("95 %", output.FIXED),
        ("right █, stated │", output.FIXED),
    )
    for each in answer.bins:
        bar = list("█" * round(each.observed * BAR) + "·" * (BAR - round(each.observed * BAR)))
        bar[min(BAR - 1, round(each.stated * BAR))] = "│"
        inside = each.at_least <= each.stated <= each.at_most
        made.add_row(
            f"{each.low:.1f}–{each.high:.1f}",
            f"{each.count:,}",
            output.number(each.stated),
            output.number(each.observed),
            f"{output.number(each.at_least)}–{output.number(each.at_most)}",
            Text("".join(bar), style="green" if inside else "yellow"),
        )
    return made


@app.command(rich_help_panel=PANEL)
def checklist(
    ctx: typer.Context,
    only: Annotated[
        str | None,
        typer.Argument(metavar="LIST", help="write, manage or end-to-end; else all three."),
    ] = None,
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Look at everything, not at samples; fold the views anew."),
    ] = False,
    backed_up: Annotated[
        bool,
        typer.Option("--backed-up", help="First record that a backup was made; needs --by."),
    ] = False,
    by: MaybeBy = None,
    json: Json = False,
) -> None:
    """The production checklists on this ledger: each line yes or no, with its evidence."""
    if backed_up and by is None:
        fail("checklist: --backed-up needs --by NAME.", USAGE)
    with opened(ctx) as memory, output.progress("checking") as progress:
        if backed_up and by is not None:
            note(
                f"A backup up to position {memory.operations.record_backup(by=by):,} is on record."
            )
        answer = memory.audit.checklist(only, deep=deep, progress=progress)
    output.show(answer, json, _checklist)
    if answer.no:
        raise typer.Exit(REFUSED_INPUT)


_MARKS = {"yes": ("yes", "green"), "no": ("no", "red"), "not applicable": ("–", "dim")}


def _checklist(answer: ChecklistAnswer) -> Iterator[Any]:
    for name in dict.fromkeys(line.list for line in answer.lines):
        made = output.table(("", output.FIXED), "question", "evidence", title=name)
        for line in answer.lines:
            if line.list == name:
                evidence = output.cell(line.evidence)
                if line.offending:
                    evidence.append(f" ({line.offending})", "red")
                if line.answer == "no":
                    evidence.append(f"\n{line.show}", "dim")
                made.add_row(
                    output.cell(*_MARKS[line.answer]), output.cell(line.question), evidence
                )
        yield made
    yield (
        f"{answer.yes} yes, {answer.no} no, {answer.not_applicable} not applicable,"
        f" at position {answer.position:,}."
    )
