"""The command that runs jobs when they are due: ops schedule."""

# Heavy imports stand in the commands, so that help is quick:

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beliefledger.ledger import errors
from beliefledger.tools.cli import output
from beliefledger.tools.cli.common import (
    COULD_NOT,
    USAGE,
    Json,
    fail,
    note,
    opened,
)
from beliefledger.tools.cli.followers import Lease, closed_by_a_supervisor, ended_by_a_supervisor
from beliefledger.tools.cli.ops import ops

if TYPE_CHECKING:
    from beliefledger.answers import (
        JobAnswer,
    )
    from beliefledger.operations.scheduler import ScheduledJob


@ops.command("schedule")
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
        fail("ops schedule: say one of --once, --list and --every.", USAGE)
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
        ended_by_a_supervisor(ctx),
        opened(ctx) as memory,
        memory.operations.jobs.schedule(
            every=intervals, lease_seconds=lease_seconds, tell=tell
        ) as scheduling,
        closed_by_a_supervisor(scheduling),
    ):
        for each in memory.operations.jobs.scheduled():
            if each.off and each.job not in intervals:
                note(f"{each.job} is off. {each.off}")
        scheduling.run()


def _intervals(every: Sequence[str]) -> dict[str, float]:
    found = {}
    for pair in every:
        name, _, seconds = pair.partition("=")
        try:
            found[name.strip()] = float(seconds)
        except ValueError:
            fail(f"ops schedule: write --every JOB=SECONDS, not {pair!r}.", USAGE)
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
            "off" if each.off else output.when(each.next_due),
            output.cell("never") if each.last is None else _last(each.last),
        )
    yield made
    for each in answer:
        if each.off:
            yield output.cell(f"{each.job} is off. {each.off}", "yellow")


def _last(run: JobAnswer) -> Any:
    return output.cell(f"{output.when(run.ran_at)}, {_told(run)}", "red" if run.error else "")


def _span(seconds: float) -> str:
    for size, name in ((604_800, "week"), (86_400, "day"), (3_600, "hour")):
        if seconds % size == 0:
            return output.count(int(seconds // size), name)
    return f"{seconds:g} s"
