"""`python -m beliefledger.tools.bench.growth [--events N …] [--minutes M] [--plot FILE]`: how costs
grow with the log, from ten thousand events to a million.

One ledger grows from size to size. At each, what people ask of it is measured in CPU time of the
process, about one person whose own history stays as it is, and what goes through the whole log is
measured too. The exponent is the slope of a line through the logarithms of cost and size: 0 is a
cost that does not grow, 1 one that grows as the log does.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from itertools import count, islice
from math import log10
from pathlib import Path
from random import Random
from resource import RUSAGE_CHILDREN, getrusage
from statistics import linear_regression, median
from time import monotonic, process_time

from rich.console import Console
from rich.table import Table

from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.times import DAY, SECOND
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.tools.bench.backends import own_environment
from beliefledger.tools.bench.conversations import BEGIN, statements
from beliefledger.tools.bench.measure import bytes_in

SIZES = (10_000, 100_000, 1_000_000)
FULL = 10_000_000
MINUTES = 30
RESULTS = Path("bench-growth.json")
SESSION, USER, AGENT = 12, 234, 2_227
"""Turns of a session, and characters of a turn, as half of LongMemEval's sessions have at least."""
SESSIONS = 40
"""Of each person."""
_ASKED = "person 0"
_BATCH = 600
_LEAST_PEOPLE = 2
"""Beside whoever speaks: one is asked about, one is erased."""
_ROUNDS = 5
_EARLY = 1_000
"""A position that every size has."""
_VOCABULARY = 4_000
_IN_FRESH_PROCESS = r"""
import re, sys
from pathlib import Path
from beliefledger import open_memory
with open_memory(sys.argv[1]) as memory:
    if sys.argv[3] == "beliefs":
        memory.beliefs(sys.argv[2])
    else:
        people = [sys.argv[2]]
        if sys.argv[3] == "30 searches":
            people = [each.subject for each in memory.subjects(limit=30).subjects]
        for person in people:
            memory.search(person, "where do I live?", record=False)
print(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])
"""


@dataclass(frozen=True, slots=True)
class Line:
    """What something costs at each size. A question may not grow with the log, what goes through
    all of it may grow as it does."""

    name: str
    unit: str
    most: float | None
    """The exponent that is allowed; None: it is only told."""
    costs: dict[int, float] = field(default_factory=dict)

    @property
    def exponent(self) -> float | None:
        """None before there are two sizes."""
        if len(self.costs) < 2 or min(self.costs.values()) <= 0:
            return None
        sizes, costs = zip(*self.costs.items(), strict=True)
        return linear_regression(list(map(log10, sizes)), list(map(log10, costs))).slope

    @property
    def holds(self) -> bool | None:
        if self.most is None or self.exponent is None:
            return None
        return self.exponent <= self.most


POINT, WHOLE = 0.15, 1.1
"""Exponents that a question about one person, and a pass through the whole log, may have. A
logarithm has .15 between these sizes."""


def talk(sessions: int, seed: int = 11) -> Iterator[TurnInput]:
    """Turns without end: people one after the other, so many sessions each, an agent answering
    every turn. The same for the same seed."""
    random = Random(seed)
    words = vocabulary(random)
    for person in count():
        yield from talk_of(person, sessions, words, random, seed)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words that an agent answers with, as often as words of a language are used."""

    words: Sequence[str]
    weights: Sequence[float]


def vocabulary(random: Random) -> Vocabulary:
    words = [
        "".join(random.choices("aeioulnrst", k=random.randint(3, 9))) for _ in range(_VOCABULARY)
    ]
    return Vocabulary(words, [1 / rank for rank in range(1, _VOCABULARY + 1)])


def talk_of(
    person: int, sessions: int, words: Vocabulary, random: Random, seed: int
) -> Iterator[TurnInput]:
    """The turns of one person."""
    said = iter(statements(sessions * SESSION, seed=seed + person))
    for session in range(sessions):
        for ordinal in range(SESSION):
            by_user = ordinal % 2 == 0
            told = " ".join(random.choices(words.words, words.weights, k=AGENT // 7))
            yield TurnInput(
                subject=f"person {person}",
                content=_padded(next(said), random) if by_user else told,
                role="user" if by_user else "assistant",
                session=f"session {session}",
                said_at=BEGIN + session * DAY + ordinal * 60 * SECOND,
                ordinal=ordinal,
            )


def _padded(statement: str, random: Random) -> str:
    """As long as people's turns are: what they say, and what they ask for."""
    asks = f" Could you look at number {random.randint(1, 999)} of the list with me?"
    return statement + asks * max(0, (USER - len(statement)) // len(asks))


class Growth:
    """One ledger that grows, and what is measured of it at each size."""

    def __init__(self, place: Path, sessions: int, tell: Callable[[str], None]) -> None:
        self._place = place
        self._tell = tell
        self._turns = talk(sessions)
        self._people = 0
        self.lines: dict[str, Line] = {}
        self._numbers = iter(range(10**9))

    def grow(self, memory: MemoryLedger, events: int) -> None:
        """Record and decide turns until the log has so many events."""
        spent, turns = 0.0, 0
        while memory.status(digests=False).position < events or self._people <= _LEAST_PEOPLE:
            batch = list(islice(self._turns, _BATCH))
            begun = process_time()
            memory.record_turns(batch)
            memory.process()
            spent += process_time() - begun
            turns += len(batch)
            self._people = 1 + int(batch[-1].subject.split()[1])
            self._tell(f"{memory.status(digests=False).position:,} of {events:,} events")
        self._note("ingest, a turn", "ms", POINT, events, spent / turns * 1e3)

    def measure(self, memory: MemoryLedger, events: int) -> None:
        """Everything at this size, but what needs the ledger closed."""
        belief = memory.beliefs(_ASKED)[0]
        early = memory.as_of(_EARLY)
        point: dict[str, Callable[[], object]] = {
            "remember": lambda: memory.remember(_ASKED, f"I have {next(self._numbers) + 3} books."),
            "beliefs of one": lambda: memory.beliefs(_ASKED),
            "beliefs of one, as of a position": lambda: memory.beliefs(_ASKED, as_of=early),
            "decisions of one, a page of 100": lambda: memory.decisions(_ASKED, limit=100),
            "decisions of all, a page of 100": lambda: memory.decisions(limit=100),
            "history of a belief": lambda: memory.history(belief.belief_id),
            "explain": lambda: memory.explain(belief.memory_id),
            "search": lambda: memory.search(_ASKED, "where do I live?", record=False),
            "context": lambda: memory.context(_ASKED, "where do I live?", record=False),
            "status": memory.status,
            "proof of inclusion": lambda: memory.proofs.inclusion(_EARLY),
        }
        memory.proofs.checkpoint()
        for name, work in point.items():
            self._tell(f"{events:,} events: {name}")
            work()
            self._note(name, "ms", POINT, events, median(_cpu(work) for _ in range(_ROUNDS)))
        whole: dict[str, Callable[[], object]] = {
            "rebuild of all views": memory.operations.rebuild,
            "verify": memory.proofs.verify,
        }
        for name, work in whole.items():
            self._tell(f"{events:,} events: {name}")
            self._note(name, "ms", WHOLE, events, _cpu(work))
        last = f"person {self._people - 2}"
        self._tell(f"{events:,} events: erasing {last}")
        erasing = _cpu(lambda: memory.erase(last, by="bench"))
        self._note("erase a person", "ms", POINT, events, erasing)

    def measure_closed(self, events: int) -> None:
        """What a fresh process pays, and what lies on the disk."""
        for what in ("beliefs", "search", "30 searches"):
            self._tell(f"{events:,} events: {what} in a fresh process")
            begun = getrusage(RUSAGE_CHILDREN)
            told = subprocess.run(
                [sys.executable, "-c", _IN_FRESH_PROCESS, str(self._place), _ASKED, what],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            ended = getrusage(RUSAGE_CHILDREN)
            spent = ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime
            whom = "30 people" if what == "30 searches" else "one"
            self._note(f"{what} of {whom}, fresh process", "ms", POINT, events, spent * 1e3)
            self._note(f"memory of that, {what}", "MB", POINT, events, int(told) / 1_024)
        size = bytes_in(self._place)
        self._note("on disk, an event", "bytes", POINT, events, size / events)

    def _note(self, name: str, unit: str, most: float | None, events: int, cost: float) -> None:
        self.lines.setdefault(name, Line(name, unit, most)).costs[events] = cost


def _cpu(work: Callable[[], object]) -> float:
    """Milliseconds of CPU, of all threads."""
    begun = process_time()
    work()
    return (process_time() - begun) * 1e3


def measured(
    place: Path,
    sizes: Sequence[int],
    minutes: float,
    tell: Callable[[str], None],
    sessions: int = SESSIONS,
) -> tuple[list[Line], str | None]:
    """The lines, and why it ended before the last size, if it did."""
    growth = Growth(place, sessions, tell)
    begun, before = monotonic(), 0
    for events in sizes:
        gone = (monotonic() - begun) / 60
        if before and gone + gone * (events - before) / before > minutes:
            return list(growth.lines.values()), (
                f"{events:,} events would take more than {minutes:g} minutes: {before:,} took"
                f" {gone:.1f}. Give more --minutes."
            )
        with open_memory(place, consent="consent") as memory:
            growth.grow(memory, events)
            growth.measure(memory, events)
        growth.measure_closed(events)
        before = events
    return list(growth.lines.values()), None


def show(lines: Sequence[Line], console: Console) -> None:
    """The table: a column for each size."""
    sizes = sorted({size for line in lines for size in line.costs})
    table = Table("what", "unit", *(f"{size:,}" for size in sizes), "exponent", "at most", "holds")
    for column in table.columns:
        column.no_wrap = True
    for column in table.columns[2:-1]:
        column.justify = "right"
    for line in lines:
        costs = [f"{line.costs[size]:,.3g}" if size in line.costs else "–" for size in sizes]
        slope = "–" if line.exponent is None else f"{line.exponent:.2f}"
        most = "–" if line.most is None else f"{line.most:g}"
        held = {True: "yes", False: "no", None: ""}[line.holds]
        table.add_row(line.name, line.unit, *costs, slope, most, held)
    console.print(table)


def draw(lines: Sequence[Line], file: Path) -> None:
    """Cost over size, both as logarithms, beside the line of a cost that grows as the log does."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - of the extra "calibration"

    figure = Figure(figsize=(8, 7), layout="constrained")
    plot = figure.subplots()
    timed = [line for line in lines if line.unit == "ms"]
    for line in timed:
        plot.plot(list(line.costs), list(line.costs.values()), "o-", label=line.name)
    sizes = sorted({size for line in timed for size in line.costs})
    plot.plot(sizes, [size / sizes[0] for size in sizes], "--", color="0.7", label="exponent 1")
    plot.set(xscale="log", yscale="log", xlabel="events in the log", ylabel="CPU, ms")
    figure.legend(loc="outside right upper", fontsize="small")
    figure.savefig(file)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m beliefledger.tools.bench.growth")
    parser.add_argument("--events", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--full", action="store_true", help=f"up to {FULL:,} events, however long")
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, help="stop before a size that would take longer"
    )
    parser.add_argument("--sessions", type=int, default=SESSIONS, help="of each person")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it, as .png or .svg")
    given = parser.parse_args()
    sizes = [*given.events, FULL] if given.full else given.events
    console = Console()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        own_environment(directory)
        status = stack.enter_context(Console(stderr=True).status("growing"))
        minutes = float("inf") if given.full else given.minutes
        lines, ended = measured(
            directory / "ledger", sorted(sizes), minutes, status.update, given.sessions
        )
    show(lines, console)
    if ended is not None:
        console.print(ended)
    told = [asdict(line) | {"exponent": line.exponent, "holds": line.holds} for line in lines]
    RESULTS.write_text(json.dumps({"lines": told, "ended": ended}, indent=2) + "\n")
    if given.plot is not None:
        draw(lines, given.plot)
    return 1 if ended or any(line.holds is False for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
