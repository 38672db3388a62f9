"""How much faster threads append together than one alone: group commit, on both backends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.codec import New, seal
from beliefledger.ledger.log import new_id
from beliefledger.ledger.store import Sealed
from beliefledger.ledger.times import system_clock
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.tools.bench.backends import Backend
from beliefledger.tools.bench.conversations import statements
from beliefledger.tools.bench.measure import Measured, Run, Target

_WRITERS = (1, 8, 32)
_TARGETS = {8: Target("≥", 1.8), 32: Target("≥", 3)}

_Work = Callable[[int], Callable[[], None]]
"""What one of so many writers does, from its number; made before the clock runs."""
_Rates = dict[int, list[float]]
"""For each number of writers, the rate of each round."""


def groups(run: Run) -> Iterator[Measured]:
    """Durable turns a second of 8 and of 32 threads, of the rate of one."""
    for backend in run.backends:
        if backend.missing:
            for writers, target in _TARGETS.items():
                yield Measured(_name(backend, writers), "×", target=target, note=backend.missing)
            continue
        turns: _Rates = {writers: [] for writers in _WRITERS}
        appends: _Rates = {writers: [] for writers in _WRITERS}
        with open_memory(backend.place("groups")) as memory:
            for number in range(max(_WRITERS)):
                memory.consent.grant(_person(number), "consent")
            for number in run.rounds(f"writers together on {backend.name}"):
                # Each number of writers comes first in some round.
                for at in range(len(_WRITERS)):
                    writers = _WRITERS[(at + number) % len(_WRITERS)]
                    each = -(-run.sizes.grouped_turns // writers)
                    turns[writers].append(_rate(_recording(memory, each, number), writers, each))
                    appends[writers].append(_rate(_appending(memory, each), writers, each))
        yield from _told(backend, turns, appends)


def _told(backend: Backend, turns: _Rates, appends: _Rates) -> Iterator[Measured]:
    for writers, target in _TARGETS.items():
        ratios = _ratios(turns, writers)
        yield Measured(_name(backend, writers), "×", ratios, target)
        yield Measured(
            f"store.append on {backend.name}: {writers} writers, of the rate of one",
            "×",
            _ratios(appends, writers),
        )
    for writers in _WRITERS:
        plural = "s" if writers > 1 else ""
        yield Measured(
            f"durable turns on {backend.name}, {writers} writer{plural}", "turns/s", turns[writers]
        )


def _name(backend: Backend, writers: int) -> str:
    return f"durable turns on {backend.name}: {writers} writers, of the rate of one"


def _ratios(rates: _Rates, writers: int) -> list[float]:
    return [many / one for many, one in zip(rates[writers], rates[1], strict=True)]


def _person(number: int) -> str:
    return f"person {number}"


def _rate(work: _Work, writers: int, each: int) -> float:
    """Appends a second of so many threads together."""
    begin = threading.Barrier(writers + 1)

    def write(job: Callable[[], None]) -> None:
        begin.wait()
        job()

    with ThreadPoolExecutor(writers) as threads:
        running = [threads.submit(write, work(number)) for number in range(writers)]
        begin.wait()
        begun = perf_counter()
        for one in running:
            one.result()
        return writers * each / (perf_counter() - begun)


def _recording(memory: MemoryLedger, each: int, seed: int) -> _Work:
    """`record_turn`, each writer for a person of its own."""

    def work(number: int) -> Callable[[], None]:
        said = statements(each, seed=1_000 * seed + number)

        def record() -> None:
            for content in said:
                memory.record_turn(_person(number), content)

        return record

    return work


def _appending(memory: MemoryLedger, each: int) -> _Work:
    """`store.append` of events that are sealed already."""
    log = memory._log

    def work(number: int) -> Callable[[], None]:
        ref = log.subject(_person(number)) or ""
        said = [TurnInput(_person(number), content) for content in statements(each, seed=number)]
        events = [
            seal(New(turn.event(b""), new_id(), new_id(), ref), 1, log.tenant, log.vault)
            for turn in said
        ]
        return lambda: _append_all(memory, events)

    return work


def _append_all(memory: MemoryLedger, events: Sequence[Sealed]) -> None:
    store = memory._log._store
    for sealed in events:
        store.append([sealed], {sealed.address.stream: 0}, system_clock, store.erasures)
