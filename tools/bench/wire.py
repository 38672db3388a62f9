"""Servers in processes of their own, and a client that is as little of one as can be."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")
_REVISION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_URL = re.compile(r"https?://[^\s()]+")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
IDLE_SECONDS = 3
"""A server closes a connection that is idle for five seconds, and a new call would meet that."""


class Gone(Exception):
    """The server does not answer any more."""


class Wire:
    """One connection to a server; used by one thread."""

    def __init__(self, url: str, token: str) -> None:
        self._at = urlsplit(url)
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": _REVISION,
            "Mcp-Method": "tools/call",
        }
        self._connection = HTTPConnection(self._at.netloc, timeout=60)
        self._used_at = time.monotonic()

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """What a tool answers. Raises `Gone`, and `RuntimeError` for anything but an answer."""
        params = {"name": tool, "arguments": arguments, "_meta": _META}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        if time.monotonic() - self._used_at > IDLE_SECONDS:
            self._connection.close()
        try:
            self._connection.request(
                "POST", self._at.path, body.encode(), self._headers | {"Mcp-Name": tool}
            )
            answer = self._connection.getresponse()
            status, text = answer.status, answer.read().decode()
        except (OSError, HTTPException) as problem:
            self._connection.close()
            raise Gone(str(problem)) from problem
        self._used_at = time.monotonic()
        if status != 200:
            raise RuntimeError(f"{tool} answered {status}: {text[:200]}")
        if text.startswith("{"):
            message = json.loads(text)
        else:  # a stream of events, the last of which is the answer
            lines = [each for each in text.splitlines() if each.startswith("data:")]
            message = json.loads(lines[-1].removeprefix("data:"))
        if "result" not in message:
            raise RuntimeError(f"{tool} answered {message}")
        found: dict[str, Any] = message["result"].get("structuredContent") or message["result"]
        return found

    def close(self) -> None:
        self._connection.close()


class ServerProcess:
    """A server that runs in a process of its own."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url

    def cpu_seconds(self) -> float:
        """What its threads have used of the processor so far."""
        return time.clock_gettime((~self.process.pid << 3) | 2)  # the clock of that process

    def resident_bytes(self) -> int:
        """What it has in memory now; 0 once it is gone."""
        try:
            pages = Path(f"/proc/{self.process.pid}/statm").read_text("ascii").split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * _PAGE_BYTES


def in_turn(
    given: Sequence[T],
    servers: Sequence[tuple[ServerProcess, Callable[[T], object]]],
    own: Callable[[T], object],
) -> tuple[list[float], float]:
    """Milliseconds of processor time of one call to each server, and of the same call made in this
    process, with what their threads did for it afterwards. They take turns: so each finds the
    processor's caches as others left them, as a server does that waited for its next request."""
    begun = [server.cpu_seconds() for server, _ in servers]
    asking, whole = 0.0, time.process_time()
    for each in given:
        before = time.thread_time()
        for _, call in servers:
            call(each)
        asking += time.thread_time() - before
        own(each)
    alone = time.process_time() - whole - asking
    taken = [server.cpu_seconds() - at for (server, _), at in zip(servers, begun, strict=True)]
    return [each / len(given) * 1e3 for each in taken], alone / len(given) * 1e3


@contextmanager
def server_process(
    command: Sequence[str], environment: dict[str, str] | None = None
) -> Iterator[ServerProcess]:
    """A program that says its URL on stderr once it listens. It is ended with the block. What it
    says goes to a file: a reader at a pipe would take its turns on the processor being measured."""
    with TemporaryFile("w+", encoding="utf-8") as said:
        process = subprocess.Popen(
            [*command], stderr=said, env=os.environ | (environment or {}), text=True
        )
        try:
            yield ServerProcess(process, _url_of(process, said))
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _url_of(process: subprocess.Popen[str], said: IO[str]) -> str:
    """Where it listens, once it says so."""
    while True:
        ended = process.poll() is not None
        # Read without moving: where a program that shares the file writes next is the same place.
        told = os.pread(said.fileno(), 1 << 20, 0).decode(errors="replace")
        found = _URL.search(told)
        if found and told[found.end() : found.end() + 1]:  # it was written to its end
            return found[0]
        if ended:
            raise RuntimeError(f"{process.args!r} did not start:\n{told}")
        time.sleep(0.02)


def ledger_server(place: str, **settings: object) -> AbstractContextManager[ServerProcess]:
    """`beliefledger serve` over a ledger, on a port of the loopback."""
    told = {"PORT": 0, "CALLS_PER_MINUTE": 1_000_000, "SCHEDULE": "false"} | settings
    environment = {f"BELIEFLEDGER_SERVER_{name}": str(value) for name, value in told.items()}
    command = [sys.executable, "-m", "beliefledger", "--ledger", place, "serve"]
    return server_process(command, environment)
