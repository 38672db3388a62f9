"""`python -m beliefledger.tools.bench.soak [--minutes M] [--people N] [--plot FILE]`: whether a
ledger that stays open becomes larger or slower: a working day's calls in ten minutes.

One process has one ledger on SQLite open and calls it without a pause, in a random order that is
the same for the same seed: turns of several people, searches, contexts, questions about now and
the past, revocations, consent withdrawn and granted again, checkpoints, rebuilt views. Whoever has
said all they say is erased, and somebody new comes in their place, so that there is as much to ask
about at the end as at the beginning; only the log grows. What may not grow is asserted.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from random import Random
from statistics import linear_regression, mean, median, quantiles
from time import monotonic, perf_counter, process_time
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from beliefledger.gate.intake import TurnInput
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.projections.embedding import Words
from beliefledger.tools.bench.__main__ import show
from beliefledger.tools.bench.backends import own_environment
from beliefledger.tools.bench.growth import talk_of, vocabulary
from beliefledger.tools.bench.measure import Measured, Target, Tell, bytes_in
from beliefledger.tools.bench.searching import model_of

T = TypeVar("T")
MINUTES = 10
PEOPLE = 24
"""At any time."""
SESSIONS = 4
"""That somebody has before they are erased."""
RESULTS = Path("bench-soak.json")
_SEED = 17
_BY = "bench"
_SAMPLES = 200
"""In all."""
_WARMING = 0.2
"""Of the minutes, before them and not noted: until caches are full and the first people gone."""
_REBUILDS = 20
"""In all: each takes as long as the log is, so that they come by the clock."""
_WAITING = 12
"""Turns that are recorded before the queue is processed."""
_WITHDRAWN = 40
"""Calls after which consent that was withdrawn is granted again."""
_FEWEST = 30
"""Calls in a third of the time, below which no ratio of thirds is asserted."""
_QUESTIONS = (
    "where do I live?",
    "what do I use for backend work?",
    "who do I work for?",
    "what is my pet called?",
    "what do I like?",
)
_MIX = {
    "turn": 40,
    "search": 14,
    "context": 8,
    "beliefs": 8,
    "beliefs as of": 8,
    "history": 5,
    "explain": 5,
    "proof of inclusion": 3,
    "status": 3,
    "revoke": 2,
    "withdraw": 1,
    "checkpoint": 1,
}
"""How often something is called, beside the rest."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The process and its ledger at one moment."""

    minute: float
    events: int
    megabytes: float
    """Resident."""
    bytes_on_disk: int
    files: int
    """Open files, sockets and pipes."""
    threads: int


@dataclass(frozen=True, slots=True)
class Calls:
    """When each call of a kind began, in seconds from the start, and the milliseconds it took."""

    at: array[float] = field(default_factory=lambda: array("d"))
    wall: array[float] = field(default_factory=lambda: array("d"))
    cpu: array[float] = field(default_factory=lambda: array("d"))

    def between(self, begun: float, ended: float) -> tuple[list[float], list[float]]:
        """Wall and CPU time of the calls that began then."""
        chosen = [number for number, at in enumerate(self.at) if begun <= at < ended]
        return [self.wall[each] for each in chosen], [self.cpu[each] for each in chosen]


class _Person:
    """Somebody who is there now."""

    def __init__(self, turns: Iterator[TurnInput], since: int) -> None:
        self.turns = turns
        self.since = since
        """The position at which they came."""
        self.withdrawn = False


class Soak:
    """One ledger under a mixed load, and what was noted of it."""

    def __init__(
        self, memory: MemoryLedger, place: Path, people: int, sessions: int, tell: Tell
    ) -> None:
        self._memory, self._place, self._tell = memory, place, tell
        self._random = Random(_SEED)
        self._words = vocabulary(self._random)
        self._sessions = sessions
        self._came = 0
        self._people: dict[str, _Person] = {}
        self._waiting = 0
        self._withdrawn: deque[tuple[int, str]] = deque()
        self._number = 0
        self._views = cycle([each.name for each in memory.status(digests=False).views])
        self.calls: dict[str, Calls] = {}
        self.samples: list[Sample] = []
        for number in range(people):
            tell(f"people come: {number} of {people}")
            self._come(number / people)
        memory.process()
        self._proved = self._position()
        memory.proofs.checkpoint()
        for subject in self._people:  # computes the vectors that are there by now
            memory.search(subject, _QUESTIONS[0])
        self._begun = monotonic()

    def run(self, seconds: float) -> None:
        """Call until the time is over, and note only that."""
        names, weights = zip(*_MIX.items(), strict=True)
        self.calls.clear()
        self.samples.clear()
        sampled = rebuilt = 0
        self._begun = monotonic()
        while (gone := monotonic() - self._begun) < seconds:
            if gone >= sampled * seconds / _SAMPLES:
                self._sample(gone)
                sampled += 1
            if gone >= (rebuilt + 0.5) * seconds / _REBUILDS:
                view = next(self._views)
                self._call("rebuild of a view", partial(self._memory.operations.rebuild, view))
                rebuilt += 1
            self._do(self._random.choices(names, weights)[0])
        self._sample(seconds)

    def _come(self, gone: float = 0.0) -> None:
        """Somebody new, who has said that much of what they say."""
        turns = talk_of(self._came, self._sessions, self._words, self._random, _SEED)
        self._came += 1
        said = list(islice(turns, 1 + int(gone * self._sessions * 12)))
        since = self._memory.record_turns(said)[0].position
        self._people[said[0].subject] = _Person(turns, since)

    def _do(self, what: str) -> None:
        """One call of a kind, about somebody."""
        self._number += 1
        while self._withdrawn and self._withdrawn[0][0] <= self._number:
            self._grant(self._withdrawn.popleft()[1])
        subject = self._random.choice(list(self._people))
        memory = self._memory
        match what:
            case "turn":
                self._turn(subject)
            case "search":
                self._call("search", lambda: memory.search(subject, self._question()))
            case "context":
                self._call("context", lambda: memory.context(subject, self._question()))
            case "beliefs as of":
                then = self._random.randint(self._people[subject].since, self._position())
                self._call("beliefs as of", lambda: memory.beliefs(subject, as_of=then))
            case "proof of inclusion":
                position = self._random.randint(1, self._proved)
                self._call("proof of inclusion", lambda: memory.proofs.inclusion(position))
            case "status":
                self._call("status", memory.status)
            case "checkpoint":
                self._proved = self._position()
                self._call("checkpoint", memory.proofs.checkpoint)
            case "withdraw":
                self._withdraw(subject)
            case _:
                self._about_one(what, subject)

    def _about_one(self, what: str, subject: str) -> None:
        """`beliefs`, and what is asked or done about one of them."""
        memory = self._memory
        believed = self._call("beliefs", lambda: memory.beliefs(subject))
        if what == "beliefs" or not believed:
            return
        one = self._random.choice(believed)
        work: dict[str, Callable[[], object]] = {
            "history": lambda: memory.history(one.belief_id),
            "explain": lambda: memory.explain(one.memory_id),
            "revoke": lambda: memory.revoke(one.memory_id, by=_BY),
        }
        self._call(what, work[what])

    def _turn(self, subject: str) -> None:
        """The next turn of somebody, recorded for later or remembered at once."""
        turn = next(self._people[subject].turns, None)
        if turn is None:
            self._leave(subject)
        elif turn.role == "user" and self._random.random() < 0.5:
            self._call(
                "remember",
                lambda: self._memory.remember(
                    subject, turn.content, session=turn.session, said_at=turn.said_at
                ),
            )
        else:
            self._call("record a turn", lambda: self._memory.record_turns([turn]))
            self._waiting += 1
        if self._waiting >= _WAITING:
            self._call(f"process {_WAITING} turns", self._memory.process)
            self._waiting = 0

    def _leave(self, subject: str) -> None:
        """Somebody is erased, and another one comes."""
        self._call("erase a person", lambda: self._memory.erase(subject, by=_BY))
        del self._people[subject]
        self._come()
        self._memory.process()
        self._waiting = 0

    def _withdraw(self, subject: str) -> None:
        if self._people[subject].withdrawn:
            return
        self._people[subject].withdrawn = True
        self._withdrawn.append((self._number + _WITHDRAWN, subject))
        self._call(
            "withdraw consent",
            lambda: self._memory.consent.withdraw(subject, basis="consent", by=_BY),
        )

    def _grant(self, subject: str) -> None:
        if subject in self._people:  # who was erased meanwhile has nothing to grant
            self._people[subject].withdrawn = False
            self._call("grant consent", lambda: self._memory.consent.grant(subject, "consent"))

    def _question(self) -> str:
        return self._random.choice(_QUESTIONS)

    def _position(self) -> int:
        return self._memory.status(digests=False).position

    def _call(self, kind: str, work: Callable[[], T]) -> T:
        calls = self.calls.setdefault(kind, Calls())
        calls.at.append(monotonic() - self._begun)
        busy, begun = process_time(), perf_counter()
        answer = work()
        calls.wall.append((perf_counter() - begun) * 1e3)
        calls.cpu.append((process_time() - busy) * 1e3)
        return answer

    def _sample(self, gone: float) -> None:
        told = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        kilobytes, threads = (
            int(re.search(rf"^{name}:\s+(\d+)", told, re.MULTILINE)[1])  # type: ignore[index]
            for name in ("VmRSS", "Threads")
        )
        sample = Sample(
            minute=gone / 60,
            events=self._position(),
            megabytes=kilobytes / 1_024,
            bytes_on_disk=bytes_in(self._place),
            files=sum(1 for _ in Path("/proc/self/fd").iterdir()),
            threads=threads,
        )
        self.samples.append(sample)
        self._tell(
            f"minute {sample.minute:.1f}: {sample.events:,} events, {sample.megabytes:.0f} MB"
        )


@dataclass(frozen=True, slots=True)
class Third:
    """Milliseconds of one kind of call, in a third of the time."""

    calls: int
    p50: float
    p95: float
    cpu_p50: float
    """Of the process's CPU time, in all threads."""


@dataclass(frozen=True, slots=True)
class Line:
    """One kind of call, in the first third and in the last."""

    kind: str
    calls: int
    first: Third | None
    """None where there was no call then."""
    last: Third | None

    @property
    def enough(self) -> bool:
        both = (self.first, self.last)
        return all(each is not None and each.calls >= _FEWEST for each in both)


def lines(calls: dict[str, Calls], seconds: float) -> list[Line]:
    return [
        Line(kind, len(each.at), _third(each, 0, seconds / 3), _third(each, 2 * seconds / 3, 1e9))
        for kind, each in calls.items()
    ]


def _third(calls: Calls, begun: float, ended: float) -> Third | None:
    wall, cpu = calls.between(begun, ended)
    if not wall:
        return None
    p95 = quantiles(wall, n=20, method="inclusive")[-1] if len(wall) > 1 else wall[0]
    return Third(len(wall), median(wall), p95, median(cpu))


def flatness(samples: Sequence[Sample], told: Sequence[Line]) -> Iterator[Measured]:
    """What may not grow: over the second half, and from the first third to the last."""
    half = [each for each in samples if each.minute >= samples[-1].minute / 2]
    events = [each.events / 1_000 for each in half]
    slope = linear_regression(events, [each.megabytes for each in half]).slope
    yield Measured(
        "soak: memory, for each 1,000 events of the second half",
        "MB",
        [slope],
        Target("≤", 0.1),
        note=f"{half[0].megabytes:.0f} MB at the half, {half[-1].megabytes:.0f} at the end",
    )
    sizes = [each.bytes_on_disk / each.events for each in half]
    slope = linear_regression(events, sizes).slope * (events[-1] - events[0]) / mean(sizes)
    yield Measured(
        "soak: bytes on disk for each event, change over the second half",
        "share",
        [slope],
        Target("≤", 0.05),
        note=f"{sizes[0]:,.0f} at the half, {sizes[-1]:,.0f} at the end",
    )
    third = samples[-1].minute / 3
    first = [each for each in samples if each.minute <= third]
    last = [each for each in samples if each.minute >= 2 * third]
    for name, now, then in (
        ("open files", max(e.files for e in last), max(e.files for e in first)),
        ("threads", max(e.threads for e in last), max(e.threads for e in first)),
    ):
        yield Measured(
            f"soak: {name}, most of the last third beyond most of the first",
            name,
            [now - then],
            Target("≤", 4),
            note=f"{then} and {now}",
        )
    for line in told:
        if line.first is None or line.last is None:
            continue
        whole = line.kind == "rebuild of a view"
        yield Measured(
            f"soak: {line.kind}, p50 of the last third, of the first's",
            "×",
            [line.last.cpu_p50 / line.first.cpu_p50],
            None if whole else Target("≤", 1.25),
            asserted=line.enough,
            note="CPU; of one view after the other, and as long as the log is"
            if whole
            else "CPU"
            if line.enough
            else f"CPU; not asserted: fewer than {_FEWEST} calls in a third",
        )


def show_lines(told: Sequence[Line], console: Console) -> None:
    """The table: p50 and p95 of each kind of call, in the first third and in the last."""
    headers = ("p50 first", "p50 last", "p95 first", "p95 last", "CPU first", "CPU last")
    table = Table("call", "calls", *headers, title="milliseconds")
    for column in table.columns:
        column.no_wrap = True
    for column in table.columns[1:]:
        column.justify = "right"
    for line in told:
        pairs = [
            "–" if third is None else f"{getattr(third, name):,.3g}"
            for name in ("p50", "p95", "cpu_p50")
            for third in (line.first, line.last)
        ]
        table.add_row(line.kind, f"{line.calls:,}", *pairs)
    console.print(table)


def draw(samples: Sequence[Sample], calls: dict[str, Calls], file: Path) -> None:
    """Memory, bytes for each event, and p50 of each kind of call, over time."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - of the extra "calibration"

    figure = Figure(figsize=(8, 8), layout="constrained")
    memory, disk, latency = figure.subplots(3, 1, sharex=True, height_ratios=(1, 1, 2.5))
    minutes = [each.minute for each in samples]
    memory.plot(minutes, [each.megabytes for each in samples])
    memory.set(ylabel="memory, MB", ylim=(0, None))
    disk.plot(minutes, [each.bytes_on_disk / each.events for each in samples])
    disk.set(ylabel="bytes an event", ylim=(0, None))
    width = samples[-1].minute * 60 / 20
    for kind, each in calls.items():
        bins = [each.between(n * width, (n + 1) * width)[0] for n in range(20)]
        marked = [((n + 0.5) * width / 60, median(wall)) for n, wall in enumerate(bins) if wall]
        latency.plot(*zip(*marked, strict=True), ".-", label=kind)
    latency.set(yscale="log", xlabel="minutes", ylabel="p50 of a call, ms")
    figure.legend(loc="outside right lower", fontsize="small")
    figure.savefig(file)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m beliefledger.tools.bench.soak")
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--people", type=int, default=PEOPLE, help="who are there at any time")
    parser.add_argument("--sessions", type=int, default=SESSIONS, help="until somebody is erased")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it, as .png or .svg")
    given = parser.parse_args()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        own_environment(directory)
        status = stack.enter_context(Console(stderr=True).status("soaking"))
        place = directory / "ledger"
        # Nearly all of the time would be a model's: it computes each text's vector anew.
        stack.enter_context(model_of(Words.name))
        memory = stack.enter_context(open_memory(place, consent="consent"))
        soak = Soak(memory, place, given.people, given.sessions, status.update)
        soak.run(given.minutes * 60 * _WARMING)
        soak.run(given.minutes * 60)
    told = lines(soak.calls, given.minutes * 60)
    results = list(flatness(soak.samples, told))
    show_lines(told, Console(width=None if sys.stdout.isatty() else 140))
    show(results)
    written = {
        "lines": [asdict(each) for each in told],
        "samples": [asdict(each) for each in soak.samples],
        "results": [each.as_json() for each in results],
    }
    RESULTS.write_text(json.dumps(written, indent=2, ensure_ascii=False) + "\n")
    if given.plot is not None:
        draw(soak.samples, soak.calls, given.plot)
    return 1 if any(each.holds is False for each in results) else 0


if __name__ == "__main__":
    sys.exit(main())
