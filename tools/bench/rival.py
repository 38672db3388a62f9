"""Fills a store of szl-recall and times its search, run by a Python that has it.

`PYTHON -I tools/bench/rival.py --texts FILE --queries FILE --k 10`: one JSON string a line in each
file; prints one JSON object. It imports nothing of ours. Without -I the modules beside it would
hide those of the standard library that have their names.

What is timed is the function behind the tool `search_memories`, in this process: the rival is
spared the request, its authentication and the audit record that its server writes for each call.
It embeds where its extra `embeddings` is installed, and else ranks by BM25 alone. Its search counts
the accesses of what it returns, and commits them; what has no match writes nothing and is faster.
So queries should match some of its newest memories, the only ones that it looks at (5 × k).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import tempfile
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

_NAMESPACE = "person 0"
_WARM = 5
"""Queries asked before the clock runs; they are asked again."""
_INSERT = """
INSERT INTO memories
  (id, namespace, text, type, topic, importance, confidence, source_session, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--k", type=int, required=True)
    given = parser.parse_args()
    # It warns at each search where it cannot embed.
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as directory:
        store = Path(directory) / "recall.db"
        measured = asyncio.run(_measured(store, _read(given.texts), _read(given.queries), given.k))
    sys.stdout.write(json.dumps(measured) + "\n")


def _read(path: Path) -> list[str]:
    # Not splitlines, which also splits at characters that JSON leaves as they are.
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


async def _measured(
    store: Path, texts: Sequence[str], queries: Sequence[str], k: int
) -> dict[str, Any]:
    client = import_module("recall").MemoryClient(str(store))
    await client.initialize()
    begun = perf_counter()
    await _fill(texts)
    fill_seconds = perf_counter() - begun
    _, stored = await client.list_all(_NAMESPACE, limit=1)
    if stored != len(texts):
        raise RuntimeError(f"The rival keeps {stored} memories of {len(texts)}.")
    server = import_module("recall.server")
    server.namespace_ctx.set(_NAMESPACE)
    for query in queries[:_WARM]:
        await server.search_memories(query, limit=k)
    milliseconds, found = [], []
    for query in queries:
        begun = perf_counter()
        answer = await server.search_memories(query, limit=k)
        milliseconds.append((perf_counter() - begun) * 1000)
        if answer["status"] != "ok":
            raise RuntimeError(f"The rival did not search: {answer}")
        found.append([each["text"] for each in answer["data"]["results"]])
    return {
        "version": version("szl-recall"),
        "embeds": find_spec("sentence_transformers") is not None,
        "fill_seconds": fill_seconds,
        "milliseconds": milliseconds,
        "found": found,
        "peak_bytes": _peak_bytes(),
    }


async def _fill(texts: Sequence[str]) -> None:
    """Write the rows that its client's `store` would write one a commit, all in one commit."""
    begun = datetime.now(UTC) - timedelta(microseconds=len(texts))
    rows = [
        (
            str(uuid.uuid4()),
            _NAMESPACE,
            text,
            "fact",
            "general",
            0.5,
            0.8,
            "",
            (begun + timedelta(microseconds=number)).isoformat(timespec="microseconds"),
        )
        for number, text in enumerate(texts)
    ]
    async with import_module("recall.db.backend").get_backend() as database:
        await database.executemany(_INSERT, rows)
        await database.commit()


def _peak_bytes() -> int | None:
    """The peak of this process's own memory, where the system tells it: what getrusage tells may
    be the parent's."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    lines = status.read_text(encoding="ascii", errors="replace").splitlines()
    peaks = [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")]
    return peaks[0] if peaks else None


if __name__ == "__main__":
    main()
