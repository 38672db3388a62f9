"""What a call of the HTTP API costs the server's processor, beside the call that it makes."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from statistics import median
from urllib.parse import urlsplit

from beliefledger.opener import open_memory
from beliefledger.tools.bench.measure import Measured, Run, Target
from beliefledger.tools.bench.wire import (
    IDLE_SECONDS,
    in_turn,
    ledger_server,
    server_process,
)

_NAME = "bench"
_SUBJECT = "ana"
_WARM, _CALLS = 50, 300


class _Client:
    """One connection that is kept, and as little beside it as can be."""

    def __init__(self, url: str, token: str) -> None:
        self._connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
        self._used_at = time.monotonic()
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def call(self, method: str, path: str, sent: object = None) -> None:
        if time.monotonic() - self._used_at > IDLE_SECONDS:
            self._connection.close()
        self._used_at = time.monotonic()
        body = None if sent is None else json.dumps(sent).encode()
        self._connection.request(method, f"/v1/{path}", body, self._headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{path} answered {answer.status}: {text[:200]!r}")


def rest(run: Run) -> Iterator[Measured]:
    """Processor time of the server beyond what the facade takes for the same."""
    place = run.place("rest")
    with ExitStack() as closing:
        with open_memory(place, embedder="hashed-1", consent="consent") as memory:
            memory_id = memory.store(_SUBJECT, "red", attribute="colour").memory_id or ""
            token = memory.tokens.create(_NAME, by=_NAME, subjects=[_SUBJECT]).token
        beside = run.place("facade")
        shutil.copytree(place, beside)
        facade = closing.enter_context(open_memory(beside, embedder="hashed-1"))
        server = closing.enter_context(ledger_server(str(place), WORKER="false", THREADS=8))
        client = _Client(server.url, token)
        bare = run.place("floor")
        bare.mkdir()
        command = [sys.executable, "-m", "beliefledger.tools.bench.http_floor", str(bare)]
        floor = closing.enter_context(server_process(command))
        nothing = _Client(floor.url, "none")

        def get(_number: int) -> None:
            client.call("GET", f"memories/{memory_id}")

        def look(_number: int) -> None:
            # As everything that leaves is looked at.
            facade.recalls.showable(facade.history(memory_id))

        def post(number: int) -> None:
            client.call("POST", "turns", {"content": f"Said in {number}."})

        def record(number: int) -> None:
            facade.record_turn(_SUBJECT, f"Said in {number}.")

        def bare_get(_number: int) -> None:
            nothing.call("GET", f"memories/{memory_id}")

        taken: dict[str, list[tuple[float, float]]] = {"get": [], "post": []}
        floors = []
        for _ in run.rounds("calls of the HTTP API"):
            for name, call, alone in (("get", get, look), ("post", post, record)):
                for number in range(-_WARM, 0):
                    call(number)
                    alone(number)
                    bare_get(number)
                servers = [(server, call), (floor, bare_get)]
                (whole, least), own = in_turn(range(_CALLS), servers, alone)
                taken[name].append((whole, own))
                floors.append(least)
    for name, of, most in (("a small GET", "get", 1.0), ("POST /v1/turns", "post", 1.5)):
        whole, own = (median(each) for each in zip(*taken[of], strict=True))
        yield Measured(
            f"processor time of {name}, beyond the facade's own",
            "ms",
            [there - alone for there, alone in taken[of]],
            Target("≤", most),
            note=f"{whole:.2f} ms; the facade {own:.2f}",
        )
    yield Measured(
        "processor time of a route that does nothing, in a thread, but leave a durable row",
        "ms",
        floors,
        note="the floor of every call, with the same packages",
    )
