"""How long an event loop is held up while hundreds of its tasks use a ledger at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from time import perf_counter

from beliefledger.awaitable.memory import AsyncMemoryLedger
from beliefledger.awaitable.opener import open_memory_async
from beliefledger.tools.bench.backends import Backend
from beliefledger.tools.bench.conversations import statements
from beliefledger.tools.bench.measure import Measured, Run, Target

_PEOPLE = 25
_BEAT_SECONDS = 0.005
_TARGET = Target("≤", 25)


def tasks(run: Run) -> Iterator[Measured]:
    """p99 of the loop's delay while tasks record and search at once, on both backends."""
    for backend in run.backends:
        name = f"p99 of an event loop's delay, {run.sizes.tasks} tasks at once, on {backend.name}"
        if backend.missing:
            yield Measured(name, "ms", target=_TARGET, note=backend.missing)
            continue
        delays, rates = asyncio.run(_rounds(run, backend, backend.place("tasks")))
        yield Measured(name, "ms", delays, _TARGET)
        yield Measured(f"tasks a second, on {backend.name}", "/s", rates)


async def _rounds(run: Run, backend: Backend, place: Path | str) -> tuple[list[float], list[float]]:
    delays, rates = [], []
    async with open_memory_async(place, embedder="hashed-1", consent="consent") as memory:
        await asyncio.gather(*(memory.search(_person(at), "tea") for at in range(_PEOPLE)))
        for number in run.rounds(f"tasks of one loop on {backend.name}"):
            beat = asyncio.ensure_future(_beaten())
            began = perf_counter()
            await asyncio.gather(
                *(
                    _task(memory, _person(at % _PEOPLE), words)
                    for at, words in enumerate(statements(run.sizes.tasks, seed=number))
                )
            )
            rates.append(run.sizes.tasks / (perf_counter() - began))
            beat.cancel()
            delays.append(quantiles(await beat, n=100, method="inclusive")[98] * 1e3)
    return delays, rates


def _person(number: int) -> str:
    return f"person {number}"


async def _task(memory: AsyncMemoryLedger, subject: str, words: str) -> None:
    await memory.record_turn(subject, words)
    await memory.search(subject, words)


async def _beaten() -> list[float]:
    """How much later than it asked for it was woken, each time, until it is cancelled; in s."""
    late: list[float] = []
    while True:
        began = perf_counter()
        try:
            await asyncio.sleep(_BEAT_SECONDS)
        except asyncio.CancelledError:
            return late or [0.0]
        late.append(perf_counter() - began - _BEAT_SECONDS)
