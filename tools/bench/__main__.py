"""`python -m beliefledger.tools.bench [NAME…] [--quick] [--postgres URL] [--half HALF]`: measure.

Prints a table and writes `bench-results.json` here. Exits with 1 when a budget that is asserted
does not hold.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from rich.console import Console
from rich.table import Table

from beliefledger.tools.bench import (
    asof,
    backfilling,
    beside,
    clustering,
    commits,
    contradictions,
    decaying,
    deciding,
    decoding,
    doors,
    erasing,
    feeling,
    following,
    groups,
    load,
    needles,
    overtaking,
    pipeline,
    postgres,
    proving,
    quality,
    rebuilding,
    relaying,
    rest,
    retrieval,
    rotating,
    searching,
    statements,
    stories,
    storing,
    streaming,
    talks,
    tasks,
    turns,
    typing,
    updates,
    verifying,
)
from beliefledger.tools.bench.backends import Postgres, own_environment
from beliefledger.tools.bench.measure import (
    HALVES,
    Bench,
    Measured,
    Run,
    Sizes,
    Tell,
    ignore,
)

BENCHES: dict[str, Bench] = {
    "syncs": commits.syncs,
    "turn-rate": commits.turn_rate,
    "postgres-turn": postgres.postgres_turn,
    "groups": groups.groups,
    "followers": following.followers,
    "tasks": tasks.tasks,
    "feeling": feeling.feeling,
    "deciding": deciding.deciding,
    "recording": pipeline.recording,
    "pipeline": pipeline.pipeline,
    "storing": storing.storing,
    "decoding": decoding.decoding,
    "rebuild": rebuilding.rebuild,
    "as-of": asof.as_of,
    "typing": typing.typing,
    "contradictions": contradictions.contradictions,
    "backfill": backfilling.backfilling,
    "clustering": clustering.clustering,
    "decay": decaying.decay,
    "retrieval": retrieval.retrieval,
    "needles": needles.needles,
    "stories": stories.stories,
    "talks": talks.talks,
    "statements": statements.statements,
    "quality": quality.quality,
    "turns": turns.turns,
    "updates": updates.updates,
    "overtaking": overtaking.overtaking,
    "searching": searching.searching,
    "verifying": verifying.verifying,
    "rotating": rotating.rotating,
    "erasing": erasing.erasing,
    "proving": proving.proving,
    "doors": doors.doors,
    "rest": rest.rest,
    "streams": streaming.streams,
    "crowd": streaming.crowd,
    "load": load.load,
    "webhooks": relaying.webhooks,
    "nats": relaying.nats_relay,
    "beside": beside.beside,
}
RESULTS = Path("bench-results.json")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m beliefledger.tools.bench", description="Measure the budgets."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    parser.add_argument("--quick", action="store_true", help="small sizes: only see that it runs")
    parser.add_argument(
        "--postgres",
        metavar="URL",
        help="measure on this Postgres, whose user may make roles and schemas; by default one is"
        " started",
    )
    parser.add_argument(
        "--rival",
        metavar="PYTHON",
        type=Path,
        help="compare with szl-recall, and in `beside` with what else this Python has; by default"
        " that is left out",
    )
    parser.add_argument(
        "--half",
        choices=(*HALVES, "both"),
        default="tune",
        help="of the sets that quality is measured on; by default the one to tune on, so that"
        " nobody tunes on the other unawares",
    )
    parser.add_argument(
        "--failures",
        action="store_true",
        help="list what quality found wrong, and what is believed",
    )
    given = parser.parse_args()
    unknown = set(given.names) - set(BENCHES)
    if unknown:
        parser.error(f"no bench {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}")
    sizes = Sizes().quick() if given.quick else Sizes()
    halves = HALVES if given.half == "both" else (given.half,)
    failed: list[str] = []
    results = measure(
        given.names or list(BENCHES), sizes, given.postgres, given.rival, halves, failed.append
    )
    if given.failures:
        print("\n".join(failed))
    show(results)
    RESULTS.write_text(
        json.dumps([each.as_json() for each in results], indent=2, ensure_ascii=False) + "\n"
    )
    return 1 if any(each.holds is False for each in results) else 0


def measure(
    names: list[str],
    sizes: Sizes,
    postgres_url: str | None,
    rival: Path | None = None,
    halves: Sequence[str] = ("tune",),
    fail: Tell = ignore,
) -> list[Measured]:
    """Run these benches one after the other, saying on stderr what is being done."""
    results: list[Measured] = []
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as directory,
        closing(Postgres(postgres_url)) as server,
        Console(stderr=True).status("") as status,
    ):
        own_environment(Path(directory))
        for number, name in enumerate(names, 1):

            def tell(what: str, at: str = f"{number}/{len(names)} {name}") -> None:
                status.update(f"{at}: {what}")

            results += BENCHES[name](Run(Path(directory), sizes, tell, server, rival, halves, fail))
    return results


def show(results: list[Measured]) -> None:
    table = Table("budget", "value", "unit", "target", "holds", "min", "median", "max")
    for name in ("value", "min", "median", "max"):
        column = next(each for each in table.columns if each.header == name)
        column.justify, column.no_wrap = "right", True
    for each in results:
        value = _figure(each.value)
        table.add_row(
            each.name + (f"\n[dim]{each.note}[/dim]" if each.note else ""),
            "not measured" if each.value is None else value,
            each.unit,
            "–" if each.target is None else str(each.target),
            _HOLDS[each.holds],
            _figure(min(each.samples, default=None)),
            value,
            _figure(max(each.samples, default=None)),
        )
    Console(width=None if sys.stdout.isatty() else 140).print(table)


_HOLDS = {True: "[green]yes[/green]", False: "[red]no[/red]", None: "not asserted"}


def _figure(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 1_000 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
