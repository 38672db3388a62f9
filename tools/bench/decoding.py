"""How fast a follower that is behind reads the log: rows to events with their bodies opened."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

from beliefledger.ledger.events.belief import MemoryAdmitted
from beliefledger.ledger.log import Log
from beliefledger.ledger.subscription import FOLLOW_PAGE
from beliefledger.opener import open_memory
from beliefledger.tools.bench.measure import Measured, Run, Target, seconds
from beliefledger.tools.bench.pipeline import built_ledger, copied_ledger

_TARGETS = {"SQLite": Target("≥", 100_000), "Postgres": Target("≥", 70_000)}


def decoding(run: Run) -> Iterator[Measured]:
    """Events a second of a subscription over the pipeline's log, on both backends."""
    for backend in run.backends:
        name, target = f"read and decode on {backend.name}", _TARGETS[backend.name]
        if backend.missing:
            yield Measured(name, "events/s", target=target, note=backend.missing)
            continue
        rows: list[float] = []
        opened: list[float] = []
        one_type: list[float] = []
        later: list[float] = []
        place: Path | str = built_ledger(run)
        if backend.name == "Postgres":
            place = copied_ledger(run)
        with open_memory(place, create=False) as memory:
            log, events = memory._log, memory._log.head().position
            for _ in run.rounds(f"reading {events:,} events on {backend.name}"):
                rows.append(events / seconds(_raw, log))
                opened.append(events / seconds(_opened, log))
                one_type.append(events / seconds(_one_type, log))
                later.append(events / seconds(_later, log))
        yield Measured(
            name,
            "events/s",
            opened,
            target,
            note=f"a subscription, each of {events:,} bodies opened",
        )
        yield Measured(
            f"the same by a follower of one type on {backend.name}",
            "events/s",
            one_type,
            note=f"of all events, of which it opens {MemoryAdmitted.NAME} alone",
        )
        yield Measured(
            f"envelopes alone on {backend.name}",
            "events/s",
            later,
            note="bodies left for later, as views read them; no follower gets this",
        )
        yield Measured(f"rows alone on {backend.name}", "events/s", rows)


def _raw(log: Log) -> None:
    deque(log.raw(), maxlen=0)


def _opened(log: Log) -> None:
    """A subscription to everything: each event has its body opened when it is delivered."""
    deque(log.subscribe(follow=False), maxlen=0)


def _one_type(log: Log) -> None:
    deque(log.subscribe(types=[MemoryAdmitted.NAME], follow=False), maxlen=0)


def _later(log: Log) -> None:
    deque(log.pages_to(size=FOLLOW_PAGE, later=True), maxlen=0)
