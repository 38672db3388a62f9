"""How soon somebody with many events cannot be read any more, and is out of every view; and how
long one of their memories takes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import median
from time import perf_counter

from beliefledger.gate.intake import TurnInput
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.tools.bench.backends import Backend
from beliefledger.tools.bench.conversations import conversations
from beliefledger.tools.bench.measure import Measured, Run, Target, seconds

_EVENTS_A_TURN = 4
_COMMITS = 20
_BATCH = 500


def erasing(run: Run) -> Iterator[Measured]:
    """Each round erases another person of 10,000 events, in a ledger that has several."""
    for backend in run.backends:
        yield from _erased(run, backend)


def _erased(run: Run, backend: Backend) -> Iterator[Measured]:
    events = run.sizes.erased_events
    unreadable = f"unreadable after the request, beyond two commits, on {backend.name}"
    clean = f"every view clean of them, on {backend.name}"
    note = f"a subject of about {events:,} events"
    if backend.missing:
        yield Measured(unreadable, "ms", target=Target("≤", 10), note=backend.missing)
        yield Measured(clean, "s", target=Target("≤", 1), note=backend.missing)
        return
    beyond, views, whole, less = [], [], [], []
    with open_memory(backend.place("erasing")) as memory:
        people = [f"person {number}" for number in range(run.sizes.rounds)]
        for number, person in enumerate(people):
            run.tell(f"{person} of {len(people)} speaks, on {backend.name}")
            _speak(memory, person, events // _EVENTS_A_TURN, number)
        memory.consent.grant("somebody else", "consent")
        for number in run.rounds(f"erasing on {backend.name}"):
            commit = median(
                seconds(memory.record_turn, "somebody else", f"round {number} turn {each}")
                for each in range(_COMMITS)
            )
            [one] = memory.beliefs(people[number], limit=1)
            less.append(
                seconds(partial(memory.erase, people[number], memory=one.memory_id, by="system"))
            )
            begun, gone, cleaned = _erase(memory, people[number])
            beyond.append((gone - begun - 2 * commit) * 1_000)
            views.append(cleaned - begun)
            whole.append(perf_counter() - begun)
    yield Measured(unreadable, "ms", beyond, Target("≤", 10), note=note)
    yield Measured(clean, "s", views, Target("≤", 1), note=note)
    yield Measured(f"the whole erasure, on {backend.name}", "s", whole, note=note)
    yield Measured(f"of one memory alone, on {backend.name}", "s", less, note=note)


def _speak(memory: MemoryLedger, person: str, count: int, seed: int) -> None:
    memory.consent.grant(person, "consent")
    turns = [
        TurnInput(subject=person, content=each.content, role=each.role, said_at=each.said_at)
        for each in conversations(1, count, seed=40 + seed)
    ]
    for start in range(0, len(turns), _BATCH):
        memory.record_turns(turns[start : start + _BATCH])
    memory.process()
    memory.status()


def _erase(memory: MemoryLedger, person: str) -> tuple[float, float, float]:
    """When the request began to be written, when the key was gone, when the views were clean."""
    moments: dict[str, float] = {}
    eraser, vault, upkeep = memory._log.eraser, memory._log.vault, memory._views
    request, destroy, forget = eraser.request, vault.destroy, upkeep.forget

    def requesting(*given: object, **named: object) -> object:
        moments["begun"] = perf_counter()
        return request(*given, **named)  # type: ignore[arg-type]

    def destroying(*given: object, **named: object) -> object:
        found = destroy(*given, **named)  # type: ignore[arg-type]
        moments["gone"] = perf_counter()
        return found

    def forgetting(*given: object, **named: object) -> object:
        found = forget(*given, **named)  # type: ignore[arg-type]
        moments["clean"] = perf_counter()
        return found

    eraser.request, vault.destroy, upkeep.forget = requesting, destroying, forgetting  # type: ignore[method-assign, assignment]
    try:
        memory.erase(person, by="system")
    finally:
        eraser.request, vault.destroy, upkeep.forget = request, destroy, forget  # type: ignore[method-assign]
    return moments["begun"], moments["gone"], moments["clean"]
