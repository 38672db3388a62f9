"""A server for tests: the real application under a real uvicorn, and the official client."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache

import httpx2
import pytest
import uvicorn
from clusters import lasting_place
from mcp import Client
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from programs import Program

from beliefledger import MemoryLedger, open_memory
from beliefledger.tools.server.app import application
from beliefledger.tools.server.configuration import Configuration, configuration
from beliefledger.tools.server.connection import Connection
from beliefledger.tools.server.mcp import poisoning
from beliefledger.tools.server.serving import Server, listen, url

BACKENDS = ("sqlite", "postgres")
MODERN, LEGACY = "2026-07-28", "legacy"
"""What a client speaks: the stateless revision, or the handshake of older ones."""


# Every server looks through the same texts of its tools, and every client checks the same schemas.
poisoning.poison_in = cache(poisoning.poison_in)
_checked: dict[str, object] = {}
_check = ClientSession._output_schema_validator


def _checked_once(self: ClientSession, name: str, schema: dict[str, object]) -> object:
    key = json.dumps(schema)
    if key not in _checked:
        _checked[key] = _check(self, name, schema)
    return _checked[key]


ClientSession._output_schema_validator = _checked_once


class Served:
    """A server that runs: its ledger, and where it is."""

    def __init__(self, memory: MemoryLedger, at: str) -> None:
        self.memory = memory
        self.url = at
        self.root = at.removesuffix("/mcp")

    def token(self, name: str = "bot", **given: object) -> str:
        given = {"subjects": ["ana"], "consent": "consent", "by": "lea"} | given
        return self.memory.tokens.create(name, **given).token

    def call(self, token: str, tool: str, /, _mode: str = MODERN, **arguments: object) -> dict:
        """The envelope that a tool answers with."""
        return self.calls(token, (tool, arguments), mode=_mode)[0]

    def calls(self, token: str, *wanted: tuple[str, dict], mode: str = MODERN) -> list[dict]:
        async def ask() -> list[dict]:
            async with connected(self.url, token, mode) as client:
                answers = []
                for tool, arguments in wanted:
                    answer = await client.call_tool(tool, arguments)
                    assert answer.is_error == (answer.structured_content["status"] == "error")
                    answers.append(answer.structured_content)
                return answers

        return asyncio.run(ask())

    def wait_decided(self, token: str, *jobs: str) -> list[dict]:
        """What `job_status` says of each of these once it is decided."""

        async def ask() -> list[dict]:
            async with connected(self.url, token) as client:
                return [await _decided(client, each) for each in jobs]

        return asyncio.run(ask())

    def store(self, token: str, *texts: str) -> list[dict]:
        """Store texts and wait until each is decided."""

        async def ask() -> list[dict]:
            async with connected(self.url, token) as client:
                found = []
                for text in texts:
                    given = {"text": text, "topic": "home"}
                    answer = (await client.call_tool("store_memory", given)).structured_content
                    assert answer["status"] == "ok", answer
                    found.append(await _decided(client, answer["data"]["job_id"]))
                return found

        return asyncio.run(ask())


class ServerProcess:
    """`beliefledger serve` in a process of its own: where it is, and what it wrote in its log."""

    def __init__(self, words: list[str], environment: dict[str, str], port: int = 0) -> None:
        """`words` are of the program, its ledger included; `environment` is added to ours."""
        self.lines: list[str] = []
        told = threading.Event()
        self._program = Program(
            [sys.executable, *words, "serve", "--no-schedule", "--port", str(port)],
            stderr=subprocess.PIPE, text=True, env=os.environ | environment,
        )  # fmt: skip

        def read() -> None:
            for line in self._program.stderr:
                self.lines.append(line)
                if "/mcp" in line:
                    told.set()
            told.set()

        self._reader = threading.Thread(target=read)
        self._reader.start()
        told.wait(60)
        at = re.search(r"(http://[\d.]+:(\d+))/mcp", "".join(self.lines))
        if at is None:
            self.end()
            raise AssertionError(f"it does not serve: {self.lines}")
        self.url, self.root, self.port = at[0], at[1], int(at[2])

    def end(self) -> None:
        """As a supervisor does, and wait for it."""
        if self._program.poll() is None:
            self._program.terminate()
        self._program.wait(60)
        self._reader.join(60)
        self._program.stderr.close()


@contextmanager
def served_on(request, made: pytest.TempPathFactory, **given: object) -> Iterator[Served]:
    """A server over a new ledger on the backend that a fixture has as its parameter."""
    with (
        lasting_place(request, made) as place,
        open_memory(place) as memory,
        served(memory, **given) as running,
    ):
        yield running


async def _decided(client: Client, job_id: str) -> dict:
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        answer = (await client.call_tool("job_status", {"job_id": job_id})).structured_content
        if answer["data"]["state"] != "pending":
            return answer["data"]
        await asyncio.sleep(0.05)
    raise AssertionError("it was not decided in 30 seconds")


@asynccontextmanager
async def connected(at: str, token: str | None, mode: str = MODERN, **callbacks: object):
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(at, http_client=http)
        async with Client(transport, mode=mode, **callbacks) as client:
            yield client


@contextmanager
def served(memory: MemoryLedger, **settings: object) -> Iterator[Served]:
    """Serve a ledger on a port of the loopback while this is entered."""
    told: Configuration = configuration(**{"port": 0, "schedule": False} | settings)
    with serving(memory, told) as at:
        yield Served(memory, at)


@contextmanager
def serving(
    memory: MemoryLedger, settings: Configuration, around: Callable = lambda app: app
) -> Iterator[str]:
    """Serve at the URL that is yielded; `around` may put another ASGI layer in front."""
    at = listen(settings)
    server = Server(
        uvicorn.Config(
            around(application(memory, settings)),
            http=Connection,
            server_header=False,
            ws="none",
            log_level="warning",
            access_log=False,
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [at]})
    thread.start()
    try:
        ends = time.monotonic() + 20
        while not server.started:
            assert thread.is_alive(), "the server ended at its start"
            assert time.monotonic() < ends, "the server did not start in 20 seconds"
            time.sleep(0.01)
        yield url(settings, at)
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()


@contextmanager
def calling(server: Served, name: str = "bot", **given: object) -> Iterator[httpx2.Client]:
    """A client of the API, with a token of its own."""
    headers = {"Authorization": f"Bearer {server.token(name, **given)}"}
    with httpx2.Client(base_url=f"{server.root}/v1/", headers=headers, timeout=30) as client:
        yield client
