"""Commands that look after a ledger: replay, rebuild, status, demo."""

# Heavy imports stand in the commands, so that help is quick:
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.tools.cli import output
from beliefledger.tools.cli.app import COULD_NOT, USAGE, Json, app, fail, named, note, opened

if TYPE_CHECKING:
    from beliefledger.answers import RebuildAnswer, ReplayAnswer, ReplaySummary, StatusAnswer

PANEL = "Running"
TOLD = ("outcome", "reason")
"""What is told of each decision that comes out different; the JSON has the rest."""


@app.command(rich_help_panel=PANEL)
def status(
    ctx: typer.Context,
    digests: Annotated[
        bool,
        typer.Option("--digests/--no-digests", help="Whether to digest the views; it takes time."),
    ] = True,
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
        rows["parked"] = f"{parked} set aside: beliefledger retry, retry --all"
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
            (view.digest or "–")[:16],
            (view.content_digest or "–")[:16],
            output.cell(stopped or "follows", "red" if stopped else "green"),
        )
    yield views
    if answer.consumers:
        yield _consumers(answer)
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


@app.command(rich_help_panel=PANEL)
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
        fail("replay: name a decision, or say --all.", USAGE)
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
        recorded = answer.recorded["c"] / 1e6 if name == "confidence" else answer.recorded[name]
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


@app.command(rich_help_panel=PANEL)
def rebuild(
    ctx: typer.Context,
    view: Annotated[str | None, typer.Argument(help="One view; else all of them.")] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare each with what it replaces.")
    ] = False,
    json: Json = False,
) -> None:
    """Fold the views from the log anew."""
    with opened(ctx) as memory, output.progress("rebuilding") as progress:
        answer = memory.operations.rebuild(
            view, verify=verify, progress=lambda _name, done, total: progress(done, total)
        )
    output.show(answer, json, _rebuilt)
    wrong = [each for each in answer if each.same is False]
    for each in wrong:
        note(output.words(f"{each.name} differs: {each.first_difference}"))
    if wrong:
        raise typer.Exit(COULD_NOT)


def _rebuilt(answer: list[RebuildAnswer]) -> Iterator[Any]:
    made = output.table(
        ("view", output.FIXED), ("position", output.RIGHT), ("digest", output.FIXED), "compared"
    )
    for each in answer:
        compared = {None: "–", True: "same", False: "different"}[each.same]
        made.add_row(each.name, f"{each.position:,}", (each.digest or "–")[:16], compared)
    yield made


@app.command(rich_help_panel=PANEL)
def demo(
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep its ledger here, to look around in.")
    ] = None,
) -> None:
    """A story of a few months, told in seconds: offline, in a temporary directory."""
    from beliefledger.tools.demo import tell

    tell(output.console(), keep)
