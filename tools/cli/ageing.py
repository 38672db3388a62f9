"""Commands of `tools.ageing`: how much is left of memories, and what runs on a schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.ledger import errors
from beliefledger.tools.cli import output
from beliefledger.tools.cli.app import COULD_NOT, USAGE, Json, Subject, app, fail, opened
from beliefledger.tools.cli.following import Lease, ended_by_a_supervisor

if TYPE_CHECKING:
    from beliefledger.answers import JobAnswer
    from beliefledger.operations.ageing import DecayAnswer, ReconfirmAnswer
    from beliefledger.operations.scheduler import ScheduledJob

PANEL = "Running"
_BAR = 20


@app.command(rich_help_panel="Queries")
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
    json: Json = False,
) -> None:
    """How much is left of each memory since it was last said or shown, the least first."""
    if reconfirm and profile is not None:
        fail("decay: --reconfirm goes by the policy's profile: leave out --profile.", USAGE)
    with opened(ctx) as memory:
        if refresh:
            memory.operations.ageing.refresh()
        if reconfirm:
            output.show(memory.operations.ageing.reconfirm(subject, at=at), json, _reconfirmed)
            return
        answer = memory.operations.ageing.decay(subject, at=at, profile=profile)
    output.show(answer, json, lambda rows: _decayed(rows, whose=subject is None))


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


@app.command(rich_help_panel=PANEL)
def schedule(
    ctx: typer.Context,
    once: Annotated[
        str | None, typer.Option(metavar="JOB", help="Run this job now, and end.")
    ] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="The jobs: when next, and what the last run did.")
    ] = False,
    every: Annotated[
        list[str] | None,
        typer.Option(metavar="JOB=SECONDS", help="Run a job so often instead; again for another."),
    ] = None,
    lease_seconds: Lease = 10.0,
    json: Json = False,
) -> None:
    """Run jobs when they are due, until interrupted. Of several, one does; another takes over."""
    if sum((once is not None, listing, bool(every))) > 1:
        fail("schedule: say one of --once, --list and --every.", USAGE)
    if listing:
        with opened(ctx) as memory:
            answer = memory.operations.jobs.scheduled()
        output.show(answer, json, _scheduled)
        return
    if once is not None:
        with opened(ctx) as memory:
            ran = memory.operations.jobs.run(once)
        output.show(ran, json, lambda run: [output.cell(_ran(run))])
        if ran.outcome != "done":
            raise typer.Exit(COULD_NOT)
        return
    intervals = _intervals(every or [])

    def tell(what: str, run: JobAnswer | None, why: str) -> None:
        if json:
            document = {"state": what, "run": output.jsonable(run), "reason": why or None}
            output.write_json(document, lines=True)
        else:
            output.console().print(output.cell(_sentence(what, run, why)))

    with (
        opened(ctx) as memory,
        memory.operations.jobs.schedule(
            every=intervals, lease_seconds=lease_seconds, tell=tell
        ) as scheduling,
        ended_by_a_supervisor(),
    ):
        scheduling.run()


def _intervals(every: Sequence[str]) -> dict[str, float]:
    found = {}
    for pair in every:
        name, _, seconds = pair.partition("=")
        try:
            found[name.strip()] = float(seconds)
        except ValueError:
            fail(f"schedule: write --every JOB=SECONDS, not {pair!r}.", USAGE)
    return found


def _sentence(what: str, run: JobAnswer | None, why: str) -> str:
    if run is not None:
        return _ran(run)
    return {
        "runs": "Running the schedule.",
        "waits": f"Waiting to take over: {why}",
        "retries": f"Trying again: {why}",
    }[what]


def _ran(run: JobAnswer) -> str:
    return f"{output.when(run.ran_at)} {run.job}: {_told(run)} ({run.seconds:.2f} s)"


def _told(run: JobAnswer) -> str:
    if run.error is None:
        return output.tally(run.counts)
    known = getattr(errors, run.error, None)  # an error of ours says what to do about it
    said = "" if known is None else f". {' '.join((known.__doc__ or '').split())}"
    return f"failed: {run.error}{said}"


def _scheduled(answer: Sequence[ScheduledJob]) -> Iterator[Any]:
    made = output.table(
        ("job", output.FIXED), ("every", output.RIGHT), ("next due, UTC", output.FIXED), "last run"
    )
    for each in answer:
        made.add_row(
            each.job,
            _span(each.every_seconds),
            output.when(each.next_due),
            output.cell("never") if each.last is None else _last(each.last),
        )
    yield made


def _last(run: JobAnswer) -> Any:
    return output.cell(f"{output.when(run.ran_at)}, {_told(run)}", "red" if run.error else "")


def _span(seconds: float) -> str:
    for size, name in ((604_800, "week"), (86_400, "day"), (3_600, "hour")):
        if seconds % size == 0:
            return output.count(int(seconds // size), name)
    return f"{seconds:g} s"
