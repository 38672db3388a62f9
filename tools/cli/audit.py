"""Commands by which an auditor looks at a ledger: audit counts, replay, checklist, calibrate."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    COULD_NOT,
    REFUSED_INPUT,
    USAGE,
    Json,
    MaybeBy,
    fail,
    named,
    note,
    noun,
    opened,
)

if TYPE_CHECKING:
    from beliefledger.answers import (
        ReplayAnswer,
        ReplaySummary,
    )
    from beliefledger.audit.calibration import CalibrationAnswer
    from beliefledger.audit.checklist import ChecklistAnswer
    from beliefledger.audit.counts import AuditAnswer


BAR = 30
TOLD = ("outcome", "reason")
"""What is told of each decision that comes out different; the JSON has the rest."""
audit = noun(
    "audit",
    "What an auditor asks: counts that add up, decisions made again, checklists, calibration.",
)


@audit.command("counts")
def counts(
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


@audit.command("replay")
def replay(
    ctx: typer.Context,
    decision: Annotated[
        str | None,
        typer.Argument(callback=named, help="A decision's id; its first characters do."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every decision of the log.")] = False,
    policy: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", exists=True, dir_okay=False, help="As this policy would have decided."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Make decisions again from what the log holds: same, different, or inputs destroyed."""
    if every == (decision is not None):
        fail("audit replay: name a decision, or say --all.", USAGE)
    different: bool
    with opened(ctx) as memory:
        if decision is not None:
            answer = memory.audit.replay(decision, policy=policy)
            different = answer.verdict == "different"
            output.show(answer, json, _replayed)
        else:
            with output.progress("replaying") as progress:
                summary = memory.audit.replay_all(policy=policy, progress=progress)
            different = summary.different > 0
            output.show(summary, json, _summary)
    if different and policy is None:
        raise typer.Exit(COULD_NOT)


def _replayed(answer: ReplayAnswer) -> Iterator[Any]:
    yield output.cell(
        f"Decision {answer.decision_id[: output.SHORT_ID]} at position {answer.position}:"
        f" {answer.verdict}."
    )
    if answer.again is None:
        return
    made = output.table(("", output.FIXED), "recorded", "again")
    for name in ("outcome", "reason", "confidence", "mentions"):
        recorded = answer.recorded["c"] if name == "confidence" else answer.recorded[name]
        made.add_row(name, _plain(recorded), _plain(answer.again[name]))
    yield made
    if set(answer.differs) - {"outcome", "reason", "c", "mentions"}:
        yield output.cell(f"Different: {', '.join(answer.differs)}. --json has all of it.")


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return output.cell(" → ".join(str(each) for each in value))
    return output.cell(f"{value:.4g}" if isinstance(value, float) else value)


def _summary(answer: ReplaySummary) -> Iterator[Any]:
    yield (
        f"{output.count(answer.decisions, 'decision')} made again: {answer.same:,} same,"
        f" {answer.different:,} different, {answer.inputs_destroyed:,} with inputs destroyed."
    )
    if not answer.differing:
        return
    made = output.table(("decision", output.FIXED), ("position", output.RIGHT), "differs")
    for each in answer.differing[:50]:
        told = "; ".join(
            f"{name}: {_plain(was)} → {_plain(now)}"
            for name, (was, now) in each.differs.items()
            if name in TOLD
        )
        told = told or f"only in {', '.join(each.differs)}; --json has it"
        made.add_row(output.short(each.decision_id), f"{each.position:,}", output.cell(told))
    yield made
    if len(answer.differing) > 50:
        yield f"… and {len(answer.differing) - 50:,} more; --json has all."


@audit.command("checklist")
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
        fail("audit checklist: --backed-up needs --by NAME.", USAGE)
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


@audit.command("calibrate")
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
        fail("audit calibrate: --adopt needs --by NAME.", USAGE)
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
        yield "  beliefledger audit calibrate --policy FILE"
        yield "  beliefledger audit replay --all --policy FILE"
        yield "  beliefledger audit calibrate --adopt --by NAME"


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
