"""What a durable turn costs: syncs counted, and its rate beside that of a raw commit."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from sqlalchemy import create_engine

from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.tools.bench import child
from beliefledger.tools.bench.conversations import statements
from beliefledger.tools.bench.measure import Measured, Run, Target, in_pairs

SYNCS = re.compile(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s.*?(?:fdatasync|fsync)$", re.MULTILINE)
STRACE = ["strace", "-f", "--seccomp-bpf"]
"""Follows threads, and stops at no call that is not counted."""
COMMIT_BOUND = 100e-6
"""Seconds of a raw commit below which the disk does not really sync."""


def _ledger(directory: Path) -> MemoryLedger:
    memory = open_memory(directory)
    memory.consent.grant(child.SUBJECT, "consent")
    return memory


def _syncs(template: Path, run: Run, turns: int, what: str) -> int:
    """The fdatasyncs and fsyncs of a child that records so many turns into a copy of a ledger."""
    place = run.place("synced")
    shutil.copytree(template, place)
    counted = place / "strace"
    trace = [*STRACE, "-c", "-e", "trace=fdatasync,fsync", "-o", str(counted)]
    child_run = [
        sys.executable,
        "-m",
        "beliefledger.tools.bench.child",
        str(place),
        str(turns),
        what,
    ]
    subprocess.run([*trace, *child_run], check=True, capture_output=True)
    found = sum(int(calls) for calls in SYNCS.findall(counted.read_text()))
    shutil.rmtree(place)
    return found


def syncs(run: Run) -> Iterator[Measured]:
    """fdatasyncs of one turn: of N turns less those of none, in ledgers that are alike."""
    one, two = "fdatasyncs of a durable turn", "fdatasyncs of a turn recorded and decided"
    every = "fdatasyncs of a durable turn, WAL checkpoints included"
    missing = untraceable(run)
    if missing:
        yield Measured(one, "a turn", target=Target("=", 1), note=missing)
        yield Measured(two, "a turn", target=Target("=", 2), note=missing)
        yield Measured(every, "a turn", note=missing)
        return
    template = run.place("template")
    with _ledger(template) as memory:
        for content in statements(20, seed=1):
            memory.remember(child.SUBJECT, content)
    few, many = run.sizes.synced_turns, run.sizes.checkpointed_turns
    note = (
        f"strace, {few} turns less 0 turns in a warmed ledger, below the WAL's autocheckpoint of"
        " 1,000 pages and without the checkpoint of closing"
    )
    run.tell("counting the fdatasyncs of turns recorded")
    none = _syncs(template, run, 0, "record")
    yield Measured(
        one,
        "a turn",
        [(_syncs(template, run, few, "record") - none) / few],
        Target("=", 1),
        note=note,
    )
    run.tell("counting the fdatasyncs of turns decided")
    undecided = _syncs(template, run, 0, "decide")
    few = max(1, few // 4)  # a decided turn writes more pages
    yield Measured(
        two,
        "a turn",
        [(_syncs(template, run, few, "decide") - undecided) / few],
        Target("=", 2),
        note=note.replace(str(run.sizes.synced_turns), str(few), 1),
    )
    run.tell("counting the fdatasyncs of checkpoints")
    yield Measured(
        every,
        "a turn",
        [(_syncs(template, run, many, "record") - none) / many],
        note=f"{many:,} turns: what is above 1 is the share of checkpoints",
    )


def untraceable(run: Run) -> str | None:
    """Why system calls cannot be counted here, if they cannot."""
    if shutil.which("strace") is None:
        return "not measured: strace is not installed"
    probe = subprocess.run(
        [*STRACE, "-c", "-o", str(run.directory / "probe"), "true"],
        check=False,
        capture_output=True,
        text=True,
    )
    if probe.returncode:
        return f"not measured: strace cannot trace here ({probe.stderr.strip()[:80]})"
    return None


def turn_rate(run: Run) -> Iterator[Measured]:
    """`record_turn` beside a raw insert and commit of as many bytes, turn by turn."""
    ratios, raw_commits, turns_taken = [], [], []
    place = run.place("paired")
    with _ledger(place) as memory:
        warm = memory.record_turn(child.SUBJECT, statements(1, seed=2)[0])
        row = next(iter(memory._log.raw(warm.position - 1)))
        connection, insert = raw_insert(place / "raw.db", len(row.envelope), len(row.body or b""))
        for number in run.rounds("turns beside raw commits"):
            said = iter(statements(run.sizes.paired_commits, seed=10 + number))

            def record(said: Iterator[str] = said) -> None:
                memory.record_turn(child.SUBJECT, next(said))

            recorded, committed = in_pairs(record, insert, run.sizes.paired_commits)
            ratios.append(median(committed) / median(recorded))
            raw_commits.append(median(committed) * 1e6)
            turns_taken.append(median(recorded) * 1e6)
        connection.close()
    durable = median(raw_commits) >= COMMIT_BOUND * 1e6
    yield Measured(
        "record_turn, of the rate of a raw commit",
        "×",
        ratios,
        Target("≥", 0.5),
        asserted=durable,
        note=None if durable else "not asserted: a raw commit takes less than 100 µs here",
    )
    yield Measured("raw insert and commit", "µs", raw_commits, note="median of a round")
    yield Measured("record_turn", "µs", turns_taken, note="median of a round")


def raw_insert(path: Path, envelope: int, body: int) -> tuple[Any, Any]:
    """A durable SQLite connection, and what inserts and commits one row of these sizes."""
    engine = create_engine(f"sqlite:///{path}", connect_args={"check_same_thread": False})
    raw = engine.raw_connection()
    driver: Any = raw.driver_connection
    driver.isolation_level = None
    for statement in (
        "PRAGMA journal_mode=WAL",
        "PRAGMA synchronous=FULL",
        "CREATE TABLE raw (position INTEGER PRIMARY KEY, envelope BLOB, body BLOB)",
    ):
        driver.execute(statement).fetchall()
    row = (b"e" * envelope, b"b" * body)

    def insert() -> None:
        driver.execute("INSERT INTO raw (envelope, body) VALUES (?, ?)", row)

    insert()
    return raw, insert
