"""How long it takes to compute the decay score of every memory anew, and to keep it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter
from random import Random
from statistics import median
from time import process_time

from sqlalchemy import func, select

from beliefledger.ledger.times import DAY, SECOND, system_clock
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.projections import tables
from beliefledger.projections.beliefs import COLUMNS, Version
from beliefledger.projections.rows import Row, insert_rows
from beliefledger.tools.bench.asof import version
from beliefledger.tools.bench.backends import Backend
from beliefledger.tools.bench.measure import Measured, Run, Target, seconds

_values = attrgetter(*COLUMNS)
_TYPES = ("fact", "preference", "event", "entity", "relation", "decision")
_OF_ONE = 100
"""Memories of each person."""
_SHOWN = 5
"""One memory in so many was shown."""
_TOGETHER = 20_000


def decay(run: Run) -> Iterator[Measured]:
    """The refresh that the schedule runs hourly: read, compute, write."""
    for backend in run.backends:
        yield _refreshed(run, backend)


def _refreshed(run: Run, backend: Backend) -> Measured:
    count = run.sizes.memories
    name = f"decay refresh on {backend.name}, for 1,000,000 memories"
    target = Target("≤", 3)
    if backend.missing:
        return Measured(name, "s", target=target, note=backend.missing)
    with open_memory(backend.place("decaying")) as memory:
        _fill(memory, run, count)
        taken, worked = [], []
        for _ in run.rounds(f"refreshing {count:,} scores on {backend.name}"):
            begun = process_time()
            taken.append(seconds(memory.operations.ageing.refresh) * 1_000_000 / count)
            worked.append((process_time() - begun) * 1_000_000 / count)
        with memory._core.projector.reading() as connection:
            c = tables.decay_scores.c
            kept, low, high = connection.execute(
                select(func.count(), func.min(c.score), func.max(c.score))
            ).one()
    if kept != count or not 0 <= low < high <= 1_000_000:
        raise AssertionError(f"{kept} scores from {low} to {high}")
    note = f"{count:,} memories, one in {_SHOWN} was shown"
    note += f"; {median(worked):.2f} s of this process's processor time"
    return Measured(name, "s", taken, target, note=note)


def _fill(memory: MemoryLedger, run: Run, count: int) -> None:
    """Put rows straight into the views' tables: as many memories as years of talk would make."""
    random, now = Random(17), system_clock()
    projector = memory._core.projector
    beliefs, access = tables.belief_versions(1), tables.access(1)
    for start in range(0, count, _TOGETHER):
        run.tell(f"writing {count:,} memories: {start:,}")
        rows: list[Row] = []
        shown: list[Row] = []
        for number in range(start, min(start + _TOGETHER, count)):
            said_at = now - random.randrange(700 * DAY)
            row = _memory(number, said_at, random)
            rows.append(_values(row))
            if number % _SHOWN == 0:
                at = min(now, said_at + random.randrange(90 * DAY))
                shown.append((row.memory_id, row.subject_ref, 1 + number % 9, at))
        with projector.home.filling([beliefs, access]) as connection:
            insert_rows(connection, beliefs, rows)
            insert_rows(connection, access, shown)
    with projector.home.filling([beliefs, access]) as connection:
        projector.home.settle(connection, [beliefs, access])


def _memory(number: int, said_at: int, random: Random) -> Version:
    position = number + 1
    return replace(
        version(f"{number // _OF_ONE:032x}", position, position << 10, f"{number:032x}", random),
        type=_TYPES[number % len(_TYPES)],
        said_at=said_at,
        valid_from=said_at,
        opened_at=said_at + SECOND,
    )
