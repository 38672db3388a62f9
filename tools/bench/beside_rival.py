"""Stores of other makers, asked one thing at a time by `beside`; run by a Python that has them.

`PYTHON -I tools/bench/beside_rival.py NAME PLACE`: a store under that directory, or on the Postgres
of that URL. Each line of the input names a call and its arguments, each line of the output says
what each took. It imports nothing of ours, and may not connect to anything over a network.

What embeds is a fake one: a text's words, each hashed to a place of a vector. So nobody waits for
a model here, and nobody's answers are compared.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import socket
import sys
import uuid
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

PERSON, LISTED = "one", "listed"
"""Who has the memories that are searched, and who has those that are listed."""
K, LIST_LENGTH = 10, 100
_DIMENSIONS = 384
_TOGETHER = 500
_WORD = re.compile(r"\w+")
_INSERT = """
INSERT INTO memories
  (id, namespace, text, type, topic, importance, confidence, source_session, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


class Contestant:
    """What is measured of one store. A call that it does not have is not measured."""

    calls: Mapping[str, Callable[[Any], Any]]
    """By name. What a `store…` returns, if anything, is given to a `delete…` later; `list` and
    `search` return how much they found."""

    def fill(self, person: str, texts: Sequence[str]) -> None:
        """Store many, however it is quickest."""
        raise NotImplementedError

    def told(self) -> str:
        """Its version, and how durable a write is, as the database says it."""
        raise NotImplementedError

    def settle(self) -> None:
        """Do what stores have left for later."""


def serve(contestant: Contestant) -> None:
    """Answer one line after the other, until there is none."""
    # Whatever else prints may not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    kept: list[Any] = []
    for line in sys.stdin:
        asked = json.loads(line)
        answer = _answer(contestant, asked["call"], asked["given"], kept)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _answer(
    contestant: Contestant, call: str, given: Sequence[Any], kept: list[Any]
) -> Mapping[str, Any]:
    if call == "fill":
        contestant.fill(*given)
        return {}
    if call == "settle":
        contestant.settle()
        return {}
    if call == "told":
        return {"told": contestant.told(), "calls": list(contestant.calls), "memory": _resident()}
    work = contestant.calls[call]
    wall, cpu, found = [], [], []
    for each in given:
        argument = kept.pop() if call.startswith("delete") else each
        busy, begun = process_time(), perf_counter()
        result = work(argument)
        wall.append((perf_counter() - begun) * 1e3)
        cpu.append((process_time() - busy) * 1e3)
        if call.startswith("store") and result is not None:
            kept.append(result)
        if call in {"list", "search"}:
            found.append(result)
    return {"wall": wall, "cpu": cpu, "found": found}


def _resident() -> float | None:
    """Megabytes, where the system tells them."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    told = status.read_text(encoding="ascii", errors="replace")
    found = re.search(r"^VmRSS:\s+(\d+)", told, re.MULTILINE)
    return None if found is None else int(found[1]) / 1_024


def hashed(text: str) -> list[float]:
    """A vector of length 1 with a place for each word, several words to a place."""
    vector = [0.0] * _DIMENSIONS
    for word in _WORD.findall(text.lower()):
        vector[zlib.crc32(word.encode()) % _DIMENSIONS] += 1.0
    length = sum(each * each for each in vector) ** 0.5 or 1.0
    return [each / length for each in vector]


class Recall(Contestant):
    """szl-recall's client, and the function behind its tool `search_memories`."""

    def __init__(self, place: str) -> None:
        self._file = Path(place) / "recall.db"
        self._client = import_module("recall").MemoryClient(str(self._file))
        self._loop = asyncio.new_event_loop()
        self._wait(self._client.initialize())
        self._server = import_module("recall.server")
        self._server.namespace_ctx.set(PERSON)
        self.calls = {
            "store": lambda text: self._wait(self._client.store(PERSON, text, "general")).id,
            "list": lambda _: len(self._wait(self._client.list_all(LISTED, limit=LIST_LENGTH))[0]),
            "search": self._search,
            "delete": lambda each: self._wait(self._client.delete(each, PERSON)),
        }

    def _wait(self, work: Any) -> Any:
        return self._loop.run_until_complete(work)

    def _search(self, query: str) -> int:
        return len(self._wait(self._server.search_memories(query, limit=K))["data"]["results"])

    def fill(self, person: str, texts: Sequence[str]) -> None:
        """The rows that its client's `store` would write one a commit, all in one commit."""
        begun = datetime.now(UTC) - timedelta(microseconds=len(texts))
        rows = [
            (
                str(uuid.uuid4()),
                person,
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

        async def insert() -> None:
            async with import_module("recall.db.backend").get_backend() as database:
                await database.executemany(_INSERT, rows)
                await database.commit()

        self._wait(insert())

    def told(self) -> str:
        async def asked() -> str:
            backend = import_module("recall.db.backend").get_backend
            async with backend() as database:
                return await _pragmas(database.fetch_all)

        return f"szl-recall {version('szl-recall')}: {self._wait(asked())}"


async def _pragmas(ask: Callable[[str], Any]) -> str:
    found = [(await ask(f"PRAGMA {name}"))[0][0] for name in ("journal_mode", "synchronous")]
    return _durability(*found)


def _durability(journal: str, synchronous: int) -> str:
    level = ("OFF", "NORMAL", "FULL", "EXTRA")[synchronous]
    return f"journal_mode={journal.upper()}, synchronous={level}"


class Mem0(Contestant):
    """mem0's `Memory` over FAISS in files, with nothing inferred."""

    def __init__(self, place: str) -> None:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=place)
        memory = import_module("mem0").Memory.from_config(
            {
                "vector_store": {
                    "provider": "faiss",
                    "config": {"path": f"{place}/faiss", "embedding_model_dims": _DIMENSIONS},
                },
                "llm": {"provider": "openai", "config": {"api_key": "none"}},
                "embedder": {"provider": "openai", "config": {"api_key": "none"}},
                "history_db_path": f"{place}/history.db",
            }
        )
        memory.embedding_model = _Hashed()
        self._memory = memory
        self.calls = {
            "store": self._add,
            "list": lambda _: len(
                memory.get_all(filters={"user_id": LISTED}, top_k=LIST_LENGTH)["results"]
            ),
            "search": lambda query: len(
                memory.search(query, filters={"user_id": PERSON}, top_k=K)["results"]
            ),
            "delete": memory.delete,
        }

    def _add(self, text: str) -> str:
        added = self._memory.add(text, user_id=PERSON, infer=False)
        return str(added["results"][0]["id"])

    def fill(self, person: str, texts: Sequence[str]) -> None:
        """In one call of its store of vectors, since each `add` writes both files whole; the rows
        of its history wait for no disk meanwhile."""
        self._memory.db.connection.execute("PRAGMA synchronous=OFF")
        add, rows = self._memory.vector_store.insert, []
        self._memory.vector_store.insert = lambda **row: rows.append(row)
        for text in texts:
            self._memory.add(text, user_id=person, infer=False)
        self._memory.vector_store.insert = add
        add(**{part: [row[part][0] for row in rows] for part in ("vectors", "payloads", "ids")})
        self._memory.db.connection.execute("PRAGMA synchronous=FULL")

    def told(self) -> str:
        asked = self._memory.db.connection.execute
        history = _durability(
            *(asked(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous"))
        )
        return f"mem0ai {version('mem0ai')}: its history {history}"


class _Hashed:
    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return hashed(text)

    def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:
        return [hashed(text) for text in texts]


class LangGraph(Contestant):
    """LangGraph's store in a SQLite file, or on a Postgres, with an index of vectors.

    In a file the index is an extension of SQLite's, which not every Python can load. Without it a
    search is for no words.
    """

    def __init__(self, place: str) -> None:
        self._postgres = place.startswith("postgresql")
        index: Any = {
            "dims": _DIMENSIONS,
            "embed": lambda texts: [hashed(text) for text in texts],
            "fields": ["text"],
        }
        if not self._postgres and not hasattr(
            import_module("sqlite3").Connection, "enable_load_extension"
        ):
            index = None
        if self._postgres:
            made = import_module("langgraph.store.postgres").PostgresStore
            opened = made.from_conn_string(place, index=index)
        else:
            made = import_module("langgraph.store.sqlite").SqliteStore
            opened = made.from_conn_string(f"{place}/store.db", index=index)
        self._opened = opened  # which closes it
        store = opened.__enter__()
        store.setup()
        self._store, self._number = store, 0
        searches = {"search": lambda query: len(store.search((PERSON,), query=query, limit=K))}
        self.calls = {
            "store": self._put,
            "list": lambda _: len(store.search((LISTED,), limit=LIST_LENGTH)),
            "delete": lambda key: store.delete((PERSON,), key),
        } | (searches if index else {})

    def _put(self, text: str) -> str:
        self._number += 1
        self._store.put((PERSON,), f"memory {self._number}", {"text": text})
        return f"memory {self._number}"

    def fill(self, person: str, texts: Sequence[str]) -> None:
        put = import_module("langgraph.store.base").PutOp
        for start in range(0, len(texts), _TOGETHER):
            some = texts[start : start + _TOGETHER]
            self._number += len(some)
            self._store.batch(
                [
                    put((person,), f"memory {self._number - at}", {"text": text})
                    for at, text in enumerate(some)
                ]
            )

    def told(self) -> str:
        if self._postgres:
            name, settings = "postgres", ("fsync", "synchronous_commit")
            rows = [self._store.conn.execute(f"SHOW {each}").fetchone() for each in settings]
            pairs = zip(settings, rows, strict=True)
            durable = ", ".join(f"{setting}={row[setting]}" for setting, row in pairs)
        else:
            name, settings = "sqlite", ("journal_mode", "synchronous")
            asked = self._store.conn.execute
            durable = _durability(*(asked(f"PRAGMA {each}").fetchone()[0] for each in settings))
        known = version(f"langgraph-checkpoint-{name}")
        return f"langgraph-checkpoint-{name} {known}: {durable}"


def _no_network(event: str, given: tuple[Any, ...]) -> None:
    if event == "socket.connect" and given[0].family != socket.AF_UNIX:
        raise PermissionError("Nothing here may use a network.")


_KNOWN: dict[str, Callable[[str], Contestant]] = {
    "szl-recall": Recall,
    "mem0": Mem0,
    "langgraph": LangGraph,
}


def main() -> None:
    name, place = sys.argv[1:]
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    sys.addaudithook(_no_network)
    serve(_KNOWN[name](place))


if __name__ == "__main__":
    main()
