"""How long it takes until another process that waits has an event: from `record_turn` being called
to the event's delivery there, its commit included."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import NamedTuple

from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.tools.bench import child
from beliefledger.tools.bench.backends import Backend
from beliefledger.tools.bench.conversations import statements
from beliefledger.tools.bench.measure import Measured, Run, Target

_WARM = 10
_SETTLE_SECONDS = 0.5
_IDLE_SECONDS = (0.01, 0.03)
"""Between two turns, so that the follower is idle, and by chance, so that it is asked at any time
between two of its own looks."""
_TARGETS = {"p50": Target("≤", 5), "p99": Target("≤", 20)}


class _Sent(NamedTuple):
    """A turn, when it was handed in and when that was answered."""

    position: int
    called: float
    returned: float


_Delays = dict[str, list[float]]
"""For each percentile, that of each round, in ms."""


def followers(run: Run) -> Iterator[Measured]:
    """Percentiles of the delay to an idle follower in another process, on both backends."""
    for backend in run.backends:
        if backend.missing:
            for which, target in _TARGETS.items():
                yield Measured(_name(which, backend), "ms", target=target, note=backend.missing)
            continue
        place = backend.place("followed")
        with open_memory(place) as memory:
            memory.consent.grant(child.SUBJECT, "consent")
            called, durable = _delays(run, memory, place, backend, "subscribe")
            consumed, _ = _delays(run, memory, place, backend, "consume")
        for which, target in _TARGETS.items():
            yield Measured(_name(which, backend), "ms", called[which], target)
        for which in _TARGETS:
            yield Measured(
                f"{which} of it on {backend.name} after record_turn has returned",
                "ms",
                durable[which],
                note="below 0 where the follower has the turn before the writer is told",
            )
        for which in _TARGETS:
            yield Measured(
                f"{which} of it on {backend.name} to a named consumer", "ms", consumed[which]
            )


def _name(which: str, backend: Backend) -> str:
    return f"{which} of record_turn → another process has it, on {backend.name}"


def _delays(
    run: Run, memory: MemoryLedger, place: Path | str, backend: Backend, how: str
) -> tuple[_Delays, _Delays]:
    """From each turn's being handed in until it was delivered, and from that being answered."""
    count = run.sizes.followed_turns
    called: _Delays = {which: [] for which in _TARGETS}
    durable: _Delays = {which: [] for which in _TARGETS}
    with _following(place, how, _WARM + run.sizes.rounds * count) as arrivals:
        _send(memory, _WARM, 0)
        rounds = [
            _send(memory, count, 1 + number)
            for number in run.rounds(f"followers on {backend.name}, {how}")
        ]
        arrived = arrivals()
    for sent in rounds:
        _note(called, [arrived[each.position] - each.called for each in sent])
        _note(durable, [arrived[each.position] - each.returned for each in sent])
    return called, durable


def _note(delays: _Delays, seconds: Sequence[float]) -> None:
    percentiles = quantiles(seconds, n=100, method="inclusive")
    delays["p50"].append(percentiles[49] * 1e3)
    delays["p99"].append(percentiles[98] * 1e3)


@contextmanager
def _following(place: Path | str, how: str, count: int) -> Iterator[Callable[[], dict[int, float]]]:
    """A process that follows; gives what waits for it and tells when each position arrived."""
    with subprocess.Popen(
        [sys.executable, "-m", "beliefledger.tools.bench.follower", how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as follower:
        if follower.stdin is None or follower.stdout is None:
            raise RuntimeError("The follower has no pipes.")
        told = follower.stdout
        try:
            follower.stdin.write(f"{place}\n{count}\n")
            follower.stdin.flush()
            if told.readline() != "ready\n":
                raise RuntimeError("The follower did not start: see what it wrote to stderr.")
            time.sleep(_SETTLE_SECONDS)
            yield lambda: dict(json.loads(told.readline()))
        except BaseException:  # the child must not outlive it
            follower.kill()
            raise


def _send(memory: MemoryLedger, count: int, seed: int) -> list[_Sent]:
    sent, random = [], Random(seed)
    for content in statements(count, seed=seed):
        called = time.monotonic()
        position = memory.record_turn(child.SUBJECT, content).position
        sent.append(_Sent(position, called, time.monotonic()))
        time.sleep(random.uniform(*_IDLE_SECONDS))
    return sent
