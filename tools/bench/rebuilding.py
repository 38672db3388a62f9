"""How fast views are folded from the log anew, and beside what eventsourcing's own parts do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from beliefledger.opener import open_memory
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.tools.bench.library import Library
from beliefledger.tools.bench.measure import Measured, Run, Target, seconds
from beliefledger.tools.bench.pipeline import built_ledger, copied_ledger


def rebuild(run: Run) -> Iterator[Measured]:
    """Events of the log a second: all views at once, and one view by us and by the library."""
    every: list[float] = []
    ours: list[float] = []
    theirs: list[float] = []
    with open_memory(built_ledger(run)) as memory:
        library = Library(run.place("library"))
        run.tell("copying the log into the library's table")
        events = library.copy(memory._log)
        tagger = memory._core.tagger
        for number in run.rounds(f"rebuilding the views of {events:,} events"):
            every.append(events / seconds(memory.operations.rebuild))
            pair: list[tuple[list[float], Callable[[], object]]] = [
                (ours, partial(memory.operations.rebuild, BeliefsView.name)),
                (theirs, partial(library.feed, tagger, f"view-{number}")),
            ]
            for rates, work in pair if number % 2 else pair[::-1]:
                rates.append(events / seconds(work))
        library.close()
    note = f"a log of {events:,} events, made by the pipeline"
    yield Measured("rebuild of all views", "events/s", every, Target("≥", 50_000), note=note)
    yield Measured(
        "rebuild of belief_versions, of the library's rate for the same view",
        "×",
        [mine / its for mine, its in zip(ours, theirs, strict=True)],
        Target("≥", 2),
        note="its recorder and mapper, in transactions of 500",
    )
    yield Measured(
        "rebuild of all views, of the library's rate for that one view",
        "×",
        [mine / its for mine, its in zip(every, theirs, strict=True)],
    )
    yield Measured("rebuild of belief_versions", "events/s", ours)
    yield Measured("the library's recorder and mapper, belief_versions", "events/s", theirs)
    yield _on_postgres(run)


def _on_postgres(run: Run) -> Measured:
    """All views of the same log, kept in Postgres beside it."""
    name, target = "rebuild of all views on Postgres", Target("≥", 40_000)
    if run.postgres.missing:
        return Measured(name, "events/s", target=target, note=run.postgres.missing)
    with open_memory(copied_ledger(run), create=False) as memory:
        events = memory._log.head().position
        rates = [
            events / seconds(memory.operations.rebuild)
            for _ in run.rounds(f"rebuilding the views of {events:,} events on Postgres")
        ]
    return Measured(name, "events/s", rates, target, note=f"the same log of {events:,} events")
