"""What a ledger costs beside other stores of an agent's memories, and beside plain tables.

Each store is in a process of its own, all of them children of this one, and they are asked in
turns: in every round each stores, lists, searches and deletes some memories. They have the same
texts, and do not do the same: what each leaves out stands beside its figures. Nothing is asserted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from psycopg.sql import SQL, Identifier

from beliefledger.ledger.postgres.schema import vault_schema, views_schema
from beliefledger.ledger.postgres.server import DEFAULT_TENANT, PostgresURL
from beliefledger.tools.bench import beside_rival
from beliefledger.tools.bench.beside_rival import LIST_LENGTH, LISTED, PERSON
from beliefledger.tools.bench.commits import STRACE, SYNCS, untraceable
from beliefledger.tools.bench.conversations import statements
from beliefledger.tools.bench.measure import Measured, Run, bytes_in
from beliefledger.tools.bench.searching import texts

_SYNCED = 10
"""Memories that are stored to count the syncs of one."""
_OURS = "beliefledger.tools.bench.beside_ours"


@dataclass(frozen=True, slots=True)
class Store:
    """One of those that are measured."""

    name: str
    called: str
    """By its program."""
    lacks: str
    """What it does not do that others here do."""
    postgres: bool = False
    packages: Sequence[str] = ()
    """That the rival's Python has to have. None: it runs in ours."""


_NO_AUDIT = "no record of who was told what, nothing to verify, nothing sealed under a key"
STORES = (
    Store("beliefledger, SQLite", "ours", "nothing of this list"),
    Store("beliefledger, SQLite, no model", "ours, no model", "meaning beyond words-3"),
    Store(
        "beliefledger, Postgres, no model",
        "ours, no model",
        "meaning beyond words-3",
        postgres=True,
    ),
    Store(
        "szl-recall",
        "szl-recall",
        "its client checks no consent or contradiction and keeps no version of what is deleted",
        packages=["szl-recall"],
    ),
    Store(
        "mem0 on FAISS, infer=False",
        "mem0",
        "waits for the disk only with its history; no contradiction, nothing sealed or verified",
        packages=["mem0ai", "faiss-cpu"],
    ),
    Store(
        "LangGraph's store on SQLite",
        "langgraph",
        f"no history, no contradiction, {_NO_AUDIT}",
        packages=["langgraph", "langgraph-checkpoint-sqlite"],
    ),
    Store(
        "LangGraph's store on Postgres",
        "langgraph",
        f"no history, no contradiction, {_NO_AUDIT}",
        postgres=True,
        packages=["langgraph", "langgraph-checkpoint-postgres", "psycopg"],
    ),
    Store(
        "eventsourcing on SQLite",
        "library",
        "no list and no search: its runner follows no SQLite; words stay in the log",
    ),
    Store(
        "eventsourcing on Postgres, ProjectionRunner",
        "projected library",
        "no search; words stay in the log",
        postgres=True,
    ),
    Store("raw SQLite", "raw-sqlite", f"search by words alone, no history, {_NO_AUDIT}"),
    Store(
        "raw Postgres",
        "raw-postgres",
        f"search by words alone, no history, {_NO_AUDIT}",
        postgres=True,
    ),
)


@dataclass(slots=True)
class _Taken:
    """Of one kind of call: the median of each round, in milliseconds."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


class _Process:
    """A store that is open in a process of its own."""

    def __init__(self, store: Store, run: Run, *, traced: Sequence[str] = ()) -> None:
        self.store = store
        self._run = run
        self.place = run.postgres.place("beside") if store.postgres else run.place("beside")
        directory = run.place("beside-home") if store.postgres else Path(self.place)
        directory.mkdir(parents=True)
        command, environment = self._command(directory)
        self._process = subprocess.Popen(
            [*traced, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=directory,
            env=environment,
            text=True,
        )

    def _command(self, directory: Path) -> tuple[Sequence[str | Path], dict[str, str]]:
        if not self.store.packages:
            return [sys.executable, "-m", _OURS, self.store.called, str(self.place)], {**os.environ}
        place = str(self.place)
        if self.store.postgres:
            url = PostgresURL.parse(place)
            with self._run.postgres.connect() as connection:
                connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(url.schema)))
            mark = "&" if "?" in url.conninfo else "?"
            place = f"{url.conninfo}{mark}options=-csearch_path%3D{url.schema}%2Cpublic"
        assert self._run.rival is not None
        # Not resolved: a venv's Python is a link, and knows its packages by the link's place.
        python, program = self._run.rival.absolute(), Path(beside_rival.__file__).absolute()
        # Whatever they read of settings, homes and keys is not there.
        environment = {"TMPDIR": str(directory), "HOME": str(directory)}
        return [python, "-I", program, self.store.called, place], environment

    def ask(self, call: str, *given: Any) -> dict[str, Any]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"call": call, "given": given}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.store.name} ended before it answered to {call}.")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def size(self) -> int:
        """Bytes that it keeps: its files, or its tables with their indexes."""
        if not self.store.postgres:
            return bytes_in(Path(self.place))
        schema = PostgresURL.parse(str(self.place)).schema
        schemas = [schema, vault_schema(schema), views_schema(schema, DEFAULT_TENANT)]
        asked = (
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = ANY(%s) AND c.relkind IN ('r', 'm')"
        )
        with self._run.postgres.connect() as connection:
            row = connection.execute(asked, (schemas,)).fetchone()
        return int(row[0]) if row else 0

    def close(self) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()


def beside(run: Run) -> Iterator[Measured]:
    """Store, list, search and delete among a thousand and ten thousand memories."""
    missing = {store.name: _missing(store, run) for store in STORES}
    few, many = run.sizes.beside // 10, run.sizes.beside
    known = texts(many, run.sizes.beside_calls)
    told: list[Measured] = []
    with ExitStack() as closing:
        processes: list[_Process] = []
        for store in STORES:
            if missing[store.name] is None:
                run.tell(f"opening {store.name}")
                processes.append(_Process(store, run))
                closing.callback(processes[-1].close)
        for process in processes:
            run.tell(f"filling {process.store.name}")
            process.ask("fill", LISTED, known.memories[:LIST_LENGTH])
            process.ask("fill", PERSON, known.memories[:few])
        told += _asked(run, processes, few, "1,000", known.queries)
        sizes = {}
        for process in processes:
            run.tell(f"filling {process.store.name}")
            process.ask("settle")
            before = process.size()
            process.ask("fill", PERSON, known.memories[few:])
            process.ask("settle")
            sizes[process.store.name] = (process.size() - before) / (many - few)
        told += _asked(run, processes, many, "10,000", known.queries)
        ends = {each.store.name: each.ask("told") for each in processes}
    for store in STORES:
        why = missing[store.name]
        if why is not None:
            yield Measured(f"beside: {store.name}", "ms", note=why)
            continue
        yield from (each for each in told if each.name.startswith(f"beside: {store.name}: "))
        end = ends[store.name]
        note = f"{end['told']}; lacks: {store.lacks}"
        yield Measured(
            f"beside: {store.name}: memory of its process, 10,000 memories",
            "MB",
            [] if end["memory"] is None else [end["memory"]],
            note=note if end["memory"] is not None else "not measured: only Linux tells it",
        )
        yield Measured(
            f"beside: {store.name}: on disk, for each memory", "bytes", [sizes[store.name]]
        )
        yield _synced(store, run)


def _missing(store: Store, run: Run) -> str | None:
    """Why it cannot be measured, if it cannot."""
    if store.postgres and run.postgres.missing:
        return run.postgres.missing
    if not store.packages:
        return None
    if run.rival is None:
        return "not measured: no Python with it is given"
    probe = "import importlib.metadata as known; " + "; ".join(
        f"known.version('{package}')" for package in store.packages
    )
    try:
        ran = subprocess.run([run.rival, "-I", "-c", probe], check=False, capture_output=True)
    except OSError as error:
        return f"not measured: {run.rival} does not run ({error.strerror})"
    wanted = " and ".join(store.packages)
    return f"not measured: that Python has no {wanted}" if ran.returncode else None


def _asked(
    run: Run, processes: list[_Process], count: int, called: str, queries: Sequence[str]
) -> list[Measured]:
    """Rounds in which each is asked everything it can do, one after the other."""
    taken: dict[tuple[str, str], _Taken] = {}
    able = {each.store.name: each.ask("told")["calls"] for each in processes}
    for process in processes:
        if "search" in able[process.store.name]:
            process.ask("search", *queries[:2])  # loads what the first one has to
    for number in run.rounds(f"asking {len(processes)} stores with {count:,} memories"):
        said = statements(run.sizes.beside_calls, seed=number)
        # Each goes first once in a while, after what the others left in the caches.
        turned = processes[number % len(processes) :] + processes[: number % len(processes)]
        for process in turned:
            for call in able[process.store.name]:
                given: Sequence[Any] = queries if call == "search" else said
                if call.endswith("erase"):  # goes through all there is of somebody: once
                    given = said[: number + 1 == run.sizes.rounds]
                elif call.startswith("delete"):
                    given = said[: max(1, len(said) // 2)]
                if not given:
                    continue
                answer = process.ask(call, *given)
                if call in {"list", "search"} and not min(answer["found"]):
                    raise AssertionError(f"{process.store.name} found nothing by {call}.")
                noted = taken.setdefault((process.store.name, call), _Taken())
                noted.wall.append(median(answer["wall"]))
                noted.cpu.append(median(answer["cpu"]))
            process.ask("settle")
    return [
        Measured(
            f"beside: {name}: {call}, {called} memories",
            "ms",
            each.wall,
            note=f"CPU of its process: {median(each.cpu):.2f} ms",
        )
        for (name, call), each in taken.items()
    ]


def _synced(store: Store, run: Run) -> Measured:
    """How often it waits for the disk when one memory is stored."""
    name = f"beside: {store.name}: syncs of the disk for a memory stored"
    why = "not measured: the server does them" if store.postgres else untraceable(run)
    if why is not None:
        return Measured(name, "a memory", note=why)
    run.tell(f"counting the syncs of {store.name}")
    counted = []
    for times in (0, _SYNCED):
        told = run.place("beside-syncs")
        trace = [*STRACE, "-c", "-e", "trace=fdatasync,fsync", "-o", str(told)]
        process = _Process(store, run, traced=trace)
        process.ask("store", *statements(1, seed=1))
        process.ask("store", *statements(times, seed=2))
        process.close()
        counted.append(sum(int(calls) for calls in SYNCS.findall(told.read_text())))
    return Measured(name, "a memory", [(counted[1] - counted[0]) / _SYNCED])
