"""What somebody feels who uses a ledger: how much a command, a first question and a memory cost.

Most figures are CPU time, of this process and its children, beside a loop of fixed work in the same
round: a machine that is busy or slow then slows both. `units` are the time of that loop, about a
tenth of a second. Of processes, instructions are counted too, where the system tells them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any

import psycopg
from sqlalchemy import Engine, event

from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.tools.bench.conversations import conversations
from beliefledger.tools.bench.counters import counted, counter
from beliefledger.tools.bench.measure import Measured, Run, Target, bytes_in

_OPENED = (
    "import sys; from beliefledger import open_memory; memory = open_memory(sys.argv[1]);"
    " memory.beliefs('ana'); memory.close()"
)
_MEMORY = """
import atexit, re, runpy, sys
from pathlib import Path
def tell():
    print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1], file=sys.stderr)
atexit.register(tell)
runpy.run_module("beliefledger", run_name="__main__", alter_sys=True)
"""
"""A command that tells how much memory it had at most. What the system tells of children counts
this process, too, as it was when they began."""
_UNCOMPILED = "PYTHONDONTWRITEBYTECODE"
_TURNS = 20
"""That are remembered in each round."""
_SEARCH = "beliefledger search, the default model"
_OPENINGS = 10
"""In each round."""
_MOST_UNITS = {
    "import, open, first beliefs, fresh process": Target("≤", 9),
    "beliefledger --help": Target("≤", 1.5),
    "beliefledger beliefs --subject": Target("≤", 7.5),
    _SEARCH: Target("≤", 12),
    "beliefledger status": Target("≤", 7.5),
}
"""A quarter more than was measured: what is noticed is a module or a model that nobody needs."""
_MOST_INSTRUCTIONS = {
    "import, open, first beliefs, fresh process": Target("≤", 2.2),
    "beliefledger --help": Target("≤", 0.5),
    "beliefledger beliefs --subject": Target("≤", 2.2),
    _SEARCH: Target("≤", 3),
}
"""In thousand millions."""


def _reference() -> None:
    """A loop of fixed work, such as Python does."""
    found: dict[int, str] = {}
    for number in range(900_000):
        found[number % 1_000] = str(number)


def _cpu() -> float:
    """Seconds of this process and of children that ended, in all threads."""
    return sum(
        used.ru_utime + used.ru_stime for used in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN))
    )


def _spent(work: Callable[[], object]) -> float:
    begun = _cpu()
    work()
    return _cpu() - begun


def feeling(run: Run) -> Iterator[Measured]:
    """Commands and first questions in fresh processes, `remember`, `status`, size on disk."""
    place = run.place("felt")
    with open_memory(place, consent="consent") as memory:
        said = [each.content for each in conversations(1, 200, seed=7)]
        for content in said:
            memory.remember("ana", content)
        fresh = _fresh(place)
        for work in fresh.values():
            work()  # compiles the modules, and computes the vectors that are kept
        asked = [*fresh.items(), *_opened(run).items(), *_within(memory).items()]
        taken: dict[str, list[float]] = {name: [] for name, _ in asked}
        for _ in run.rounds("commands and first questions"):
            for name, work in asked:
                unit = _spent(_reference)
                taken[name].append(_spent(work) / unit)
        instructions = _instructions(run, fresh)
        fresh[_SEARCH]()  # computes the vectors of what was just remembered
        memories = [*_memories(place)]
        statements = [_statements(memory, f"I have {number + 3} lamps.") for number in range(5)]
        events = memory.status().position
    for name, samples in taken.items():
        yield Measured(name, "units", samples, _MOST_UNITS.get(name))
    yield from instructions
    yield from memories
    yield Measured(
        "SQL statements of remember, on SQLite",
        "statements",
        statements,
        note="those of views, which go through SQLAlchemy; the log's own are beside them",
    )
    yield _on_postgres(run)
    size = bytes_in(place)
    yield Measured("bytes for each event, views and indexes included", "bytes", [size / events])
    yield Measured("bytes for each turn", "bytes", [size / len(said)])


def _instructions(run: Run, fresh: dict[str, Callable[[], object]]) -> list[Measured]:
    """Of each process, in user space."""
    samples: dict[str, list[float]] = {name: [] for name in fresh}
    count = counter()
    if count is not None:
        for _ in run.rounds("instructions of commands"):
            for name, work in fresh.items():
                samples[name].append(counted(count, work) / 1e9)
    note = None if count is not None else "not measured: this machine does not count them"
    return [
        Measured(f"instructions: {name}", "G", each, most, note=note)
        for name, each in samples.items()
        for most in (_MOST_INSTRUCTIONS.get(name),)
    ]


def _memories(place: Path) -> Iterator[Measured]:
    """How much memory a command has at most."""
    for words, most in ((["beliefs"], 90), (["search", "where do I live?"], 150)):
        told = subprocess.run(
            [sys.executable, "-c", _MEMORY, "--ledger", str(place), *words, "--subject", "ana"],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        size = int(told.stderr.split()[-1]) / 1_024
        yield Measured(f"memory of beliefledger {words[0]}", "MB", [size], Target("≤", most))


def _fresh(place: Path) -> dict[str, Callable[[], object]]:
    """What is run in a process of its own."""

    compiled = {name: told for name, told in os.environ.items() if name != _UNCOMPILED}

    def run_(*words: str) -> Callable[[], object]:
        return lambda: subprocess.run(
            [sys.executable, *words], check=True, stdout=subprocess.DEVNULL, env=compiled
        )

    command = ("-m", "beliefledger", "--ledger", str(place))
    return {
        "import, open, first beliefs, fresh process": run_("-c", _OPENED, str(place)),
        "beliefledger --help": run_("-m", "beliefledger", "--help"),
        "beliefledger beliefs --subject": run_(*command, "beliefs", "--subject", "ana"),
        _SEARCH: run_(*command, "search", "where do I live?", "--subject", "ana"),
        "beliefledger status": run_(*command, "status"),
    }


def _opened(run: Run) -> dict[str, Callable[[], object]]:
    """Opening in a process that has opened one before, as a server or a suite of tests does."""
    there = run.place("opened")
    open_memory(there).close()

    def make() -> None:
        for _ in range(_OPENINGS):
            open_memory(run.place("made")).close()

    def open_again() -> None:
        for _ in range(_OPENINGS):
            open_memory(there).close()

    return {
        f"make and open {_OPENINGS} ledgers": make,
        f"open a ledger again, {_OPENINGS} times": open_again,
    }


def _within(memory: MemoryLedger) -> dict[str, Callable[[], object]]:
    """What is asked of a ledger that is open."""
    numbers = iter(range(10**9))

    def remember() -> None:
        for _ in range(_TURNS):
            memory.remember("ana", f"I have {next(numbers) + 3} books.")

    return {
        f"remember, {_TURNS} turns": remember,
        "beliefs of one": lambda: memory.beliefs("ana"),
        "status": memory.status,
    }


def _on_postgres(run: Run) -> Measured:
    """What one `remember` sends to a server."""
    name, target = "SQL statements of remember, on Postgres", Target("≤", 20)
    if run.postgres.missing:
        return Measured(name, "statements", target=target, note=run.postgres.missing)
    statements = []
    with open_memory(run.postgres.place("felt"), consent="consent") as memory:
        for number in range(3 * run.sizes.rounds):
            with _sent() as seen:
                memory.remember("ana", f"I have {number + 3} lamps.")
            statements.append(len(seen))
    note = "log, vault and views together, without BEGIN and COMMIT"
    return Measured(name, "statements", statements, target, note=note)


@contextmanager
def _sent() -> Iterator[list[str]]:
    """The statements that are sent to a Postgres meanwhile, by whatever sends them."""
    seen: list[str] = []
    plain = psycopg.Cursor.execute

    def noted(cursor: Any, query: Any, *given: Any, **named: Any) -> Any:
        seen.append(str(query))
        return plain(cursor, query, *given, **named)

    setattr(psycopg.Cursor, "execute", noted)  # noqa: B010  a method is not to be assigned to
    try:
        yield seen
    finally:
        setattr(psycopg.Cursor, "execute", plain)  # noqa: B010


@contextmanager
def _counted() -> Iterator[list[str]]:
    """The statements that are executed meanwhile."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_others: object) -> None:
        seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def _statements(memory: MemoryLedger, content: str) -> int:
    with _counted() as seen:
        memory.remember("ana", content)
    return len(seen)
