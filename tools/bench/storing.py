"""How long it takes to store facts that a program knows, and to decide about each."""

from __future__ import annotations

from collections.abc import Iterator

from beliefledger.curation.storing import MemoryInput
from beliefledger.opener import open_memory
from beliefledger.tools.bench.measure import Measured, Run, Target, seconds

_TARGET = Target("≤", 10)
_SUBJECTS = 10


def storing(run: Run) -> Iterator[Measured]:
    """Seconds of one `store_many` of facts in slots of their own, on both backends."""
    for backend in run.backends:
        name = f"10,000 facts stored in one call on {backend.name}"
        if backend.missing:
            yield Measured(name, "s", target=_TARGET, note=backend.missing)
            continue
        taken = []
        with open_memory(
            backend.place("storing"), embedder="hashed-1", consent="consent"
        ) as memory:
            memory.store_many(_facts(_SUBJECTS, "first"))
            for number in run.rounds(f"storing facts on {backend.name}"):
                facts = _facts(run.sizes.facts, f"round {number}")
                taken.append(seconds(memory.store_many, facts))
        yield Measured(name, "s", taken, _TARGET)


def _facts(count: int, what: str) -> list[MemoryInput]:
    return [
        MemoryInput(f"person {at % _SUBJECTS}", f"value {at}", attribute=f"{what} {at}")
        for at in range(count)
    ]
