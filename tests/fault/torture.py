"""`kill -9` of writers, projector, consumer and server at random, over and over; then everything is
checked: nothing acknowledged is lost, nothing is applied twice, the views say what a clean rebuild
says.

    torture.py [--seed 1] [--rounds 200] [--backend sqlite|postgres|both]
        [--mix plain|attack|both] [--seconds 900]

In the attacker's mix eight processes are at it: two write, one rebuilds the views again and again,
two erase people, memories and turns, two consume, one searches. What was erased must then be gone.
After so many seconds a mix does no more rounds, however many are left.

A round waits a moment, kills something, starts it again and waits (mostly) until every process has
got on, those that were not killed too. Prints its seed; by it the same things are killed in the
same order, though not at the very same instants.
"""

# ruff: noqa: T201  it is a program

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, LiteralString, TypeVar

import psycopg
import tortured
from attacked import check_attacked
from failed import Failed

from beliefledger import MemoryLedger, open_memory
from beliefledger.ledger.errors import BackendUnavailable
from beliefledger.ledger.events.turn import ExtractionCompleted, TurnRecorded

sys.path.insert(0, str(Path(__file__).parent.parent))  # it is started by its path

from own_postgres import OwnPostgres

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["beliefledger", "beliefledger.opening.postgres", "sqlalchemy.dialects.postgresql.psycopg"]
)
T = TypeVar("T")
MIXES = {
    "plain": ("write", "write", "project", "consume"),
    "attack": ("say", "say", "rebuild", "erase", "erase", "follow", "follow", "hunt"),
}
TELL_EVERY = 10.0
"""Seconds between two lines of progress."""
LONGEST_ROUND = 150.0
"""Seconds after which processes that did not get on are taken for stuck."""


class Process:
    """One process that is killed and started again. Its notes survive it."""

    def __init__(self, role: str, number: int, place: str, directory: Path, seed: int) -> None:
        self.name = f"{role}-{number}"
        self.role = role
        self.notes = directory / self.name
        self._complaints = directory / f"{self.name}.stderr"
        self._arguments = (role, place, str(self.notes), str(self._complaints), str(seed))
        self._seen = 0
        self.notes.touch()
        self.start()

    def start(self) -> None:
        # From a process that has imported everything, or a round would take seconds.
        self._running = FORKS.Process(target=tortured.main, args=self._arguments, daemon=True)
        self._running.start()

    def kill(self) -> None:
        self._running.kill()
        self._running.join()

    def check(self) -> None:
        if not self._running.is_alive():
            said = self._complaints.read_text().strip()
            raise Failed(f"{self.name} ended with {self._running.exitcode}:\n{said}")

    def mark(self) -> None:
        self._seen = self.notes.stat().st_size

    @property
    def got_on(self) -> bool:
        return self.notes.stat().st_size > self._seen

    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.notes.read_text().splitlines()]


class Torture:
    """The processes on one ledger, and what is done to them."""

    def __init__(self, backend: str, mix: str, seed: int, directory: Path) -> None:
        self.chance = random.Random(f"{seed} {backend}" + (f" {mix}" if mix != "plain" else ""))
        self._mix = mix
        self.did: Counter[str] = Counter()
        self.server = OwnPostgres() if backend == "postgres" else None
        self.place = self.server.url if self.server else str(directory / "ledger")
        self.processes: list[Process] = []
        try:
            open_memory(self.place).close()
            for number, role in enumerate(MIXES[mix]):
                self.processes.append(Process(role, number, self.place, directory, seed))
            self._all_get_on()
        except BaseException:
            self.close()
            raise

    def round(self) -> None:
        time.sleep(self.chance.random() ** 2 * 0.5)
        for process in self.processes:
            process.check()
        kills = [self._kill_one, self._kill_one, self._kill_some]
        if self.server:
            kills += [self._end_backends, self._kill_backend, self._crash_server, self._kill_server]
        self.chance.choice(kills)()
        if self.chance.random() < 0.8:  # else what just starts may be killed again
            self._all_get_on()

    def _kill_one(self) -> None:
        self._kill([self.chance.choice(self.processes)])

    def _kill_some(self) -> None:
        self._kill(self.chance.sample(self.processes, self.chance.randint(2, len(self.processes))))

    def _kill(self, those: list[Process]) -> None:
        for each in those:
            each.kill()
            self.did[each.role] += 1
        for each in those:
            each.start()

    def _ask(self, question: LiteralString, *values: object) -> list[Any]:
        server = self.server
        assert server is not None

        def rows() -> list[Any]:
            with psycopg.connect(server.url, autocommit=True) as connection:
                return connection.execute(question, values).fetchall()

        return _answered(rows)

    def _backends(self) -> list[int]:
        found = self._ask(
            "SELECT pid FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY pid"
        )
        return [pid for (pid,) in found]

    def _end_backends(self) -> None:
        """One connection, or all of them."""
        pids = self._backends()
        if self.chance.random() < 0.5:
            pids = pids[: self.chance.randint(0, len(pids))][-1:]
        self._ask("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS pid", pids)
        self.did["connections"] += len(pids)

    def _kill_backend(self) -> None:
        """After which the server throws out everybody and recovers by itself."""
        for pid in self._backends()[-1:]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self.did["kill -9 of a backend"] += 1

    def _crash_server(self) -> None:
        assert self.server is not None
        self.server.stop("immediate")
        self.server.start()
        self.did["immediate stop of the server"] += 1

    def _kill_server(self) -> None:
        assert self.server is not None
        self.server.kill()
        self.server.start()
        self.did["kill -9 of the server"] += 1

    def _all_get_on(self) -> None:
        """What was done until now survives; what goes on from here is new."""
        for process in self.processes:
            process.mark()
        until = time.monotonic() + LONGEST_ROUND
        while late := [each for each in self.processes if not each.got_on]:
            for process in self.processes:
                process.check()
            if time.monotonic() > until:
                names = ", ".join(each.name for each in late)
                raise Failed(f"{names} did not get on within {LONGEST_ROUND:.0f} seconds")
            time.sleep(0.01)

    def end(self) -> str:
        """Stop everything, finish what was begun, check; returns what was found to be there."""
        for process in self.processes:
            process.check()
            process.kill()
        return _answered(self._found)

    def _found(self) -> str:
        with open_memory(self.place) as memory:
            waits = memory.status(digests=False).pending_turns
            memory.process()
            check = check_attacked if self._mix == "attack" else _check
            return f"{check(memory, self.processes)}, {waits} turns still waited"

    def close(self) -> None:
        for process in self.processes:
            process.kill()
        if self.server:
            self.server.close()


def _answered(ask: Callable[[], T]) -> T:
    """What the server answers, as soon as it does: it may just be recovering."""
    until = time.monotonic() + LONGEST_ROUND
    while True:
        try:
            return ask()
        except (psycopg.OperationalError, BackendUnavailable):
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def _check(memory: MemoryLedger, processes: list[Process]) -> str:
    verified = memory.proofs.verify()
    if not verified.ok:
        raise Failed(f"verify: position {verified.position}: {verified.problem}")
    turns = _check_acknowledged(memory, processes)
    _check_delivered(memory, processes)
    _check_views(memory)
    return f"{verified.events} events, {turns} turns acknowledged"


def _check_acknowledged(memory: MemoryLedger, processes: list[Process]) -> int:
    ids: set[str] = set()
    recorded: dict[int, str] = {}
    extracted: Counter[str] = Counter()
    for event in memory.subscribe(follow=False):
        if event.event_id in ids:
            raise Failed(f"event {event.event_id} is there twice")
        ids.add(event.event_id)
        if event.type == TurnRecorded.NAME:
            recorded[event.position] = event.stream
        elif event.type == ExtractionCompleted.NAME:
            extracted[event.stream] += 1
    if len(set(recorded.values())) < len(recorded):
        raise Failed("a turn was recorded twice")
    if extracted.total() != len(extracted) or set(extracted) != set(recorded.values()):
        raise Failed("a turn was not decided exactly once")
    turns: dict[str, str] = {}
    for process in processes:
        for kind, *words in process.lines() if process.role == "write" else []:
            if kind == "decision" and words[0] not in ids:
                raise Failed(f"the acknowledged decision {words[0]} is lost")
            if kind == "turn":
                position, turn, key = words
                if recorded.get(int(position)) != turn or turns.setdefault(key, turn) != turn:
                    raise Failed(f"the acknowledged turn {turn} is not at position {position}")
    return len(turns)


def _check_delivered(memory: MemoryLedger, processes: list[Process]) -> None:
    """At least once, and never past what was not delivered."""
    furthest = 0
    for process in processes:
        for _, position in process.lines() if process.role == "consume" else []:
            if int(position) > furthest + 1:
                raise Failed(f"the consumer was at {furthest} and was given {position}")
            furthest = max(furthest, int(position))
    cursor = memory._log.consumer("torture", follow=False).position
    if cursor > furthest:
        raise Failed(f"the consumer's cursor is at {cursor}, and it was given only {furthest}")


def _check_views(memory: MemoryLedger) -> None:
    live = {
        view.name: (view.digest, view.content_digest) for view in memory.status(digests=True).views
    }
    for view in memory.status(digests=True).views:
        if view.lag or view.stopped_at is not None:
            raise Failed(f"the view {view.name} stopped: {view.reason}")
    for view in memory.operations.rebuild(verify=True):
        if not view.same or live[view.name] != (view.digest, view.content_digest):
            raise Failed(f"the view {view.name} is not as rebuilt: {view.first_difference}")


def run(backend: str, mix: str, rounds: int, seed: int, seconds: float) -> None:
    began = time.monotonic()
    directory = Path(tempfile.mkdtemp(prefix="torture-"))
    torture = Torture(backend, mix, seed, directory)
    name = backend if mix == "plain" else f"{backend}, {mix}"
    done = 0
    told = began
    try:
        # Until something was killed: on a busy machine the start alone may take so long.
        while done < rounds and (not torture.did or time.monotonic() - began < seconds):
            done += 1
            try:
                torture.round()
            except Failed as problem:
                raise Failed(f"{name}, round {done}: {problem}") from problem
            if time.monotonic() - told > TELL_EVERY:
                told = time.monotonic()
                print(f"{name}: {done} rounds of {rounds} after {told - began:.0f} s", flush=True)
        found = torture.end()
    except BaseException:
        print(f"What is left is in {directory}.", flush=True)
        raise
    finally:
        torture.close()
    shutil.rmtree(directory)
    killed = ", ".join(f"{what} {times}" for what, times in sorted(torture.did.items()))
    print(f"{name}: {done} rounds in {time.monotonic() - began:.0f} s; killed: {killed}")
    print(f"{name}: {found}; nothing lost, nothing twice, views as rebuilt", flush=True)


def main() -> None:
    asked = argparse.ArgumentParser(description="Kill everything at random, and check.")
    asked.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    asked.add_argument("--rounds", type=int, default=200, help="over both backends")
    asked.add_argument("--backend", choices=["sqlite", "postgres", "both"], default="both")
    asked.add_argument("--mix", choices=[*MIXES, "both"], default="both")
    asked.add_argument("--seconds", type=float, default=900, help="at most, of each run")
    given = asked.parse_args()
    print(f"seed {given.seed}", flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("FAILED ended from outside"))
    backends = ["sqlite", "postgres"] if given.backend == "both" else [given.backend]
    mixes = list(MIXES) if given.mix == "both" else [given.mix]
    os.environ["BELIEFLEDGER_MASTER_KEY"] = bytes(range(32)).hex()
    os.environ.setdefault("BELIEFLEDGER_EMBEDDER", "hashed-1")
    for mix in mixes:
        for backend in backends:
            try:
                rounds = given.rounds // len(backends)
                run(backend, mix, rounds, given.seed, given.seconds)
            except Failed as problem:
                raise SystemExit(f"FAILED {problem}") from problem


if __name__ == "__main__":
    main()
