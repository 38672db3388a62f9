"""What a call through the server costs beside the call that it makes, and how soon a store is
acknowledged."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, sleep
from typing import Any

from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.projections.embedding import Words
from beliefledger.search.options import SearchOptions
from beliefledger.tools.bench import rivals
from beliefledger.tools.bench.commits import COMMIT_BOUND, raw_insert
from beliefledger.tools.bench.measure import Measured, Run, Target, in_pairs
from beliefledger.tools.bench.searching import SUBJECT, Texts, fill, model_of, texts
from beliefledger.tools.bench.wire import (
    ServerProcess,
    Wire,
    in_turn,
    ledger_server,
    server_process,
)

_NAME = "bench"
_LIMIT = 20
_WARM = 20


def doors(run: Run) -> Iterator[Measured]:
    """Processor time of calls beside the floor and the facade, acknowledgements beside Recall and
    beside a raw insert."""
    known = texts(run.sizes.facts, run.sizes.asked)
    with model_of(Words.name), ExitStack() as closing:
        place = run.place("doors")
        with open_memory(place) as memory:
            fill(memory, known.memories, run)
            token = memory.tokens.create(_NAME, by=_NAME, subjects=[SUBJECT]).token
            memory.search(SUBJECT, known.queries[0])
        beside = run.place("facade")
        shutil.copytree(place, beside)
        facade = closing.enter_context(open_memory(beside))
        settings = {"WORKER": "false", "THREADS": 8}
        ours = closing.enter_context(ledger_server(str(place), **settings))
        noop = [sys.executable, "-m", "beliefledger.tools.bench.noop"]
        floor = closing.enter_context(server_process(noop))
        yield from _costs(run, known, facade, (ours, Wire(ours.url, token)), floor)
        yield from _acknowledged(run, known, Wire(ours.url, token))
    yield from _in_process(run, known)


def _costs(
    run: Run,
    known: Texts,
    facade: MemoryLedger,
    ours: tuple[ServerProcess, Wire],
    floor: ServerProcess,
) -> Iterator[Measured]:
    """Milliseconds of processor time of a call beyond the floor's and the facade's own."""
    (server, wire), nothing = ours, Wire(floor.url, "none")

    def idle(words: str) -> object:
        return nothing.call("noop", {"text": words})

    options = SearchOptions(
        include=("memories",), recency_weight=0.3, diversity=0.5, min_confidence=None
    )
    through: dict[str, tuple[Callable[[str], object], Callable[[str], object]]] = {
        "store_memory": (
            lambda words: wire.call("store_memory", {"text": words, "topic": "general"}),
            lambda words: facade.record_turn(SUBJECT, words),
        ),
        "search_memories": (
            lambda words: wire.call("search_memories", {"query": words, "limit": _LIMIT}),
            lambda words: facade.search(SUBJECT, words, _LIMIT, by=_NAME, options=options),
        ),
    }
    for tool, (call, own) in through.items():
        beyond, parts = [], []
        for number in run.rounds(f"{tool} at {len(known.memories):,} memories"):
            asked = _asked(known, tool, number)
            for words in asked[:_WARM]:
                call(words), own(words), idle(words)
            called, alone = in_turn(asked, [(server, call), (floor, idle)], own)
            parts.append((*called, alone))
            beyond.append(called[0] - called[1] - alone)
        server_ms, floor_ms, own_ms = (median(each) for each in zip(*parts, strict=True))
        yield Measured(
            f"processor time of {tool}, beyond a no-op and the facade's own",
            "ms",
            beyond,
            Target("≤", 1),
            note=f"{server_ms:.2f} ms; a no-op tool {floor_ms:.2f}, the facade {own_ms:.2f}",
        )


def _asked(known: Texts, tool: str, number: int) -> list[str]:
    random = Random(f"{tool} {number}")
    return [f"{words} {random.random()}" for words in known.queries]


def _acknowledged(run: Run, known: Texts, wire: Wire) -> Iterator[Measured]:
    """p50 of `store_memory` over a connection that is kept, beside Recall's."""
    name = "p50 of szl-recall's store_memory through a raw client, of ours"
    target = Target("≥", 3)
    python = rivals.rival_python(run.rival)
    given = {"topic": "general"}
    if python is None:
        for number in run.rounds("store_memory"):
            taken = _timed(wire, _asked(known, "alone", number), given)
        yield Measured("p50 of store_memory through a raw client", "ms", taken)
        yield Measured(name, "×", target=target, note=rivals.missing(run.rival))
        return
    ratios, p50s = [], []
    with _rival(run, python) as (server, token):
        other = Wire(f"{server.url}/mcp", token)
        _timed(other, _asked(known, "warm", 0)[:_WARM], given)
        for number in run.rounds("store_memory beside szl-recall's"):
            asked = _asked(known, "ack", number)
            theirs = median(_timed(other, asked, given))
            mine = median(_timed(wire, asked, given))
            p50s.append(mine)
            ratios.append(theirs / mine)
    yield Measured("p50 of store_memory through a raw client", "ms", p50s)
    yield Measured(name, "×", ratios, target)


def _timed(wire: Wire, asked: Sequence[str], given: dict[str, Any]) -> list[float]:
    taken = []
    for words in asked:
        begun = perf_counter()
        wire.call("store_memory", {"text": words} | given)
        taken.append((perf_counter() - begun) * 1e3)
    return taken


@contextmanager
def _rival(run: Run, python: Path) -> Iterator[tuple[ServerProcess, str]]:
    """Its server over a store of its own, and a token for it."""
    directory = run.place("recall")
    directory.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    store = str(directory / "recall.db")
    # `recall serve` listens everywhere unless it is told.
    recall = [str(python), "-I", "-c", "from recall.cli import main; main()"]
    command = [*recall, "serve", "--host", "127.0.0.1", "--port", str(port), "--db", store]
    # It wants a key, and extracts behind: nobody answers there.
    settings = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    with server_process(command, settings) as server:
        for _ in range(50):
            made = subprocess.run(
                [*recall, "create-token", "bench", "--db", store],
                capture_output=True,
                text=True,
                check=False,
                cwd=directory,
            )
            if "Bearer " in made.stdout:
                break
            sleep(0.1)
        yield server, made.stdout.split("Bearer ")[1].split()[0]


def _in_process(run: Run, known: Texts) -> Iterator[Measured]:
    """An acknowledgement without a server: `record_turn` beside a raw insert that is durable."""
    place = run.place("acknowledged")
    ratios, commits = [], []
    with open_memory(place) as memory:
        memory.consent.grant(SUBJECT, "consent")
        warm = memory.record_turn(SUBJECT, known.queries[0])
        row = next(iter(memory._log.raw(warm.position - 1)))
        connection, insert = raw_insert(place / "raw.db", len(row.envelope), len(row.body or b""))
        for number in run.rounds("acknowledging"):
            said = iter(_asked(known, "raw", number))

            def record(said: Iterator[str] = said) -> None:
                memory.record_turn(SUBJECT, next(said))

            recorded, inserted = in_pairs(
                record,
                insert,
                len(known.queries),
            )
            ratios.append(median(recorded) / median(inserted))
            commits.append(median(inserted))
        connection.close()
    durable = median(commits) >= COMMIT_BOUND
    yield Measured(
        "record_turn's acknowledgement, of a raw durable insert's time",
        "×",
        ratios,
        Target("≤", 1.5),
        asserted=durable,
        note=f"a raw insert takes {median(commits) * 1e6:.0f} µs"
        + ("" if durable else ": not asserted below 100, as the disk does not really sync"),
    )
