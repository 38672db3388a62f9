"""What a bench hands back, and the timing that all of them share.

The machine is noisy and may be shared, so a budget is a ratio within one run, taken in interleaved
pairs over several rounds, and judged by its median.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Literal

from beliefledger.tools.bench.backends import Backend, Postgres

Tell = Callable[[str], None]
"""Shows what is being done."""


def ignore(_: str) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a value has to be."""

    sign: Literal["≥", "≤", "="]
    bound: float

    def met(self, value: float) -> bool:
        if self.sign == "≥":
            return value >= self.bound
        return value <= self.bound if self.sign == "≤" else value == self.bound

    def __str__(self) -> str:
        return f"{self.sign} {self.bound:,.10g}"


@dataclass(frozen=True, slots=True)
class Measured:
    """One figure, from a sample for each round. Without a target it is stated, not asserted."""

    name: str
    unit: str
    samples: Sequence[float] = ()
    target: Target | None = None
    asserted: bool = True
    note: str | None = None

    @property
    def value(self) -> float | None:
        """The median; None where nothing could be measured."""
        return median(self.samples) if self.samples else None

    @property
    def holds(self) -> bool | None:
        """None where nothing is asserted or nothing could be measured."""
        if self.target is None or self.value is None or not self.asserted:
            return None
        return self.target.met(self.value)

    def as_json(self) -> dict[str, Any]:
        written = {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "target": None if self.target is None else str(self.target),
            "holds": self.holds,
            "min": min(self.samples, default=None),
            "median": self.value,
            "max": max(self.samples, default=None),
        }
        return written | ({} if self.note is None else {"note": self.note})


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    rounds: int = 5
    synced_turns: int = 40
    checkpointed_turns: int = 1_000
    paired_commits: int = 200
    decisions: int = 2_000
    batches: int = 5
    people: int = 1_000
    turns: int = 52_000
    """Of the pipeline, in all rounds together: they make a log of about 200,000 events."""
    questions: int = 100
    """Of LongMemEval: each is a person."""
    questions_to_one: int = 1_000
    """About one conversation."""
    turns_of_one: int = 1_000_000
    """Of one conversation that is searched, at most."""
    subjects: int = 5_000
    versions: int = 200
    """Of each subject."""
    versions_of_one: int = 20_000
    asked: int = 200
    """Subjects asked about in each round."""
    grouped_turns: int = 1_000
    """Of all writers together."""
    followed_turns: int = 200
    tasks: int = 500
    """Of one event loop, at once."""
    rephrased: int = 10_000
    """Memories among which rephrasings are looked for."""
    memories: int = 1_000_000
    """That age."""
    searched: int = 50_000
    """Memories of one subject."""
    needles: int = 500
    stories: int = 60
    """Of each half."""
    labelled_turns: int = 300
    """Of each half, at most."""
    sentences: int = 1_000
    """Of each half, at most."""
    scripts: int = 1_000
    later: int = 2_500
    """Of what people may say later, of each half."""
    approximated: int = 220_000
    """Vectors in one index."""
    facts: int = 10_000
    """Stored in one call."""
    erased_events: int = 10_000
    """Of each person who is erased."""
    proved: int = 1_000_000
    """Events in a log whose tree is asked for proofs."""
    handed_over: int = 400
    """Turns whose events are delivered to a webhook, or relayed."""
    streamed: int = 100
    """Events that subscribers are told of in each round."""
    crowd_seconds: int = 5
    """So long many clients use one server, in each round."""
    load_seconds: int = 60
    """So long many agents use two servers."""
    beside: int = 10_000
    """Memories of one person, in each store that is compared."""
    beside_calls: int = 20
    """Of each kind, of each of those stores, in each round."""

    def quick(self) -> Sizes:
        """A sixtieth of it, to see that everything runs."""
        small = {each.name: max(1, getattr(self, each.name) // 60) for each in fields(self)}
        small |= {"rounds": 1, "synced_turns": 10, "people": 50, "tasks": 500}
        small |= {"turns_of_one": 8, "load_seconds": 3, "streamed": 5, "beside_calls": 2}
        return Sizes(**small | {"versions": 100, "versions_of_one": 1_000})


HALVES = ("tune", "test")
"""Of the sets that are measured: the one to tune on, and the one that is only measured."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the benches: where they may write, how much they do, whom they tell."""

    directory: Path
    sizes: Sizes
    tell: Tell
    postgres: Postgres
    rival: Path | None = None
    """A Python that has szl-recall, or others to compare with."""
    halves: Sequence[str] = ("tune",)
    """Of the sets that quality is measured on."""
    fail: Tell = ignore
    """Hears of each that was not right."""

    @property
    def backends(self) -> tuple[Backend, Backend]:
        """Both that a ledger can be kept in."""
        return (
            Backend("SQLite", self.place),
            Backend("Postgres", self.postgres.place, self.postgres.missing),
        )

    def place(self, name: str) -> Path:
        """A directory that is not there yet."""
        numbered = (self.directory / f"{name}-{number}" for number in range(10_000))
        return next(path for path in numbered if not path.exists())

    def rounds(self, what: str) -> Iterator[int]:
        """The numbers of the rounds, told as they begin."""
        for number in range(self.sizes.rounds):
            self.tell(f"{what}, round {number + 1} of {self.sizes.rounds}")
            yield number


Bench = Callable[[Run], Iterator[Measured]]


def bytes_in(place: Path) -> int:
    """Of all files below a directory. What is removed while it is looked through counts nothing:
    `os.walk` passes over a directory that is gone."""
    return sum(_size(Path(at, name)) for at, _, names in os.walk(place) for name in names)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # removed since it was listed
        return 0


def seconds(work: Callable[..., object], *given: object) -> float:
    """How long the work takes."""
    begun = perf_counter()
    work(*given)
    return perf_counter() - begun


def in_pairs(
    first: Callable[[], object], second: Callable[[], object], times: int
) -> tuple[list[float], list[float]]:
    """How long each call takes, the two interleaved and each in front every other time."""
    taken: tuple[list[float], list[float]] = ([], [])
    pair = (first, second)
    for number in range(times):
        for which in (0, 1) if number % 2 else (1, 0):
            taken[which].append(seconds(pair[which]))
    return taken
