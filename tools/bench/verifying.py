"""How fast a log is verified, and what its tree and proofs cost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from time import process_time

from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.tools.bench.measure import Measured, Run, Target, seconds
from beliefledger.tools.bench.pipeline import built_ledger, copied_ledger

_TARGETS = {"SQLite": Target("≥", 100_000), "Postgres": None}


def verifying(run: Run) -> Iterator[Measured]:
    """Events a second of `verify` over the pipeline's log with its tree, on both backends."""
    for backend in run.backends:
        name, target = f"verify on {backend.name}", _TARGETS[backend.name]
        if backend.missing:
            yield Measured(name, "events/s", target=target, note=backend.missing)
            continue
        rates: list[float] = []
        cpu: list[float] = []
        place: Path | str = built_ledger(run)
        if backend.name == "Postgres":
            place = copied_ledger(run)
        with open_memory(place, create=False) as memory:
            if memory.proofs.tree.signer is not None:
                memory.proofs.checkpoint()
            events = memory._log.head().position
            for _ in run.rounds(f"verifying {events:,} events on {backend.name}"):
                begun = process_time()
                rates.append(events / seconds(_whole, memory))
                cpu.append((process_time() - begun) / events * 1e6)
        yield Measured(
            name,
            "events/s",
            rates,
            target,
            note=f"{events:,} events, their tiles and checkpoints; the database looks at itself"
            " meanwhile, on another core",
        )
        yield Measured(f"CPU of {name}, both threads", "µs/event", cpu)
    yield from _proofs(run)


def _whole(memory: MemoryLedger) -> None:
    answer = memory.proofs.verify()
    if not answer.ok:
        raise RuntimeError(f"Wrong at position {answer.position}: {answer.problem}.")


def _proofs(run: Run) -> Iterator[Measured]:
    """Milliseconds of one proof, each of an event somewhere in the log."""
    chance = random.Random(7)
    with open_memory(built_ledger(run), create=False) as memory:
        events = memory.proofs.checkpoint().size
        taken = []
        for _ in run.rounds("proving inclusion"):
            positions = [chance.randint(1, events) for _ in range(100)]
            taken.append(seconds(_prove, memory, positions) / len(positions) * 1e3)
    yield Measured(
        "proof of inclusion, through the front door",
        "ms",
        taken,
        Target("≤", 2),
        note=f"in a log of {events:,} events",
    )


def _prove(memory: MemoryLedger, positions: list[int]) -> None:
    for position in positions:
        memory.proofs.inclusion(position)
