"""How fast a follower that is behind reads the log: rows to events with their bodies opened."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

from ledger.log import Log
from tools.bench.measure import Measured, Run, Target, seconds
from tools.bench.pipeline import built_ledger, copied_ledger
from tools.memory import open_memory

_TARGETS = {"SQLite": Target("≥", 100_000), "Postgres": Target("≥", 70_000)}


def decoding(run: Run) -> Iterator[Measured]:
    """Events a second of a subscription over the pipeline's log, on both backends."""
    for backend in run.backends:
        name, target = f"read and decode on {backend.name}", _TARGETS[backend.name]
        if backend.missing:
            yield Measured(name, "events/s", target=target, note=backend.missing)
            continue
        rows: list[float] = []
        delivered: list[float] = []
        opened: list[float] = []
        place: Path | str = built_ledger(run)
        if backend.name == "Postgres":
            place = copied_ledger(run)
        with open_memory(place, create=False) as memory:
            log, events = memory._log, memory._log.head().position
            for _ in run.rounds(f"reading {events:,} events on {backend.name}"):
                rows.append(events / seconds(_raw, log))
                delivered.append(events / seconds(_delivered, log))
                opened.append(events / seconds(_opened, log))
        yield Measured(
            name,
            "events/s",
            opened,
            target,
            note=f"a subscription, each of {events:,} bodies opened",
        )
        yield Measured(
            f"the same on {backend.name}, bodies left for later",
            "events/s",
            delivered,
            note="what is delivered is opened when it is asked for",
        )
        yield Measured(f"rows alone on {backend.name}", "events/s", rows)


def _raw(log: Log) -> None:
    deque(log.raw(), maxlen=0)


def _delivered(log: Log) -> None:
    deque(log.subscribe(follow=False), maxlen=0)


def _opened(log: Log) -> None:
    for each in log.subscribe(follow=False):
        each.event  # noqa: B018  it is opened by being asked for
