"""NATS for tests: real servers on loopback, alone or as a cluster, and a reader of a stream."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import nats
from nats.aio.client import Client

from beliefledger.tools.relay.nats import let_go

SERVER = Path(sys.executable).with_name("nats-server")


class Cluster:
    """Servers that run. A node is known by its name, `n0`, `n1` …"""

    def __init__(self, urls: dict[str, str], running: dict[str, subprocess.Popen[bytes]]) -> None:
        self.urls = urls
        self.running = running

    @property
    def servers(self) -> tuple[str, ...]:
        return tuple(self.urls.values())

    def kill(self, name: str) -> None:
        self.running[name].kill()
        self.running[name].wait()

    def leader(self, stream: str) -> str:
        """The node that leads a stream now."""

        async def ask(client: Client) -> str:
            found = await _tried(lambda: client.jetstream().stream_info(stream))
            return found.cluster.leader

        return self.asked(ask)

    def read(self, stream: str, count: int, seconds: float = 10.0) -> list[dict]:
        """What a durable consumer of a stream is given, acknowledged one by one."""

        async def ask(client: Client) -> list[dict]:
            found: list[dict] = []
            reader = await _tried(
                lambda: client.jetstream().pull_subscribe(
                    "beliefledger.>", "reader", stream=stream
                )
            )
            until = time.monotonic() + seconds
            while len(found) < count and time.monotonic() < until:
                with contextlib.suppress(TimeoutError, nats.errors.Error):
                    for each in await reader.fetch(200, timeout=0.5):
                        document = json.loads(each.data)
                        assert each.headers["Nats-Msg-Id"] == document["id"]
                        assert each.subject == f"beliefledger.{document['type']}"
                        found.append(document)
                        await each.ack_sync()
            with contextlib.suppress(TimeoutError, nats.errors.Error):
                found += [json.loads(each.data) for each in await reader.fetch(1, timeout=0.2)]
            return found

        return self.asked(ask)

    def asked(self, ask: Callable) -> object:
        async def connected() -> object:
            async def nothing(_problem: Exception) -> None:
                pass

            alive = [url for name, url in self.urls.items() if self.running[name].poll() is None]
            client = await nats.connect(alive, error_cb=nothing, max_reconnect_attempts=-1)
            try:
                return await ask(client)
            finally:
                await client.close()

        async def collected() -> object:
            try:
                return await connected()
            finally:
                await let_go()

        return asyncio.run(collected())


@contextlib.contextmanager
def cluster(directory: Path, size: int = 1) -> Iterator[Cluster]:
    """So many servers with JetStream, until the block ends. One that is alone is no cluster."""
    ports = _free(2 * size)
    clients, routes = ports[:size], ports[size:]
    names = [f"n{each}" for each in range(size)]
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, port, route in zip(names, clients, routes, strict=True):
            words = [SERVER, "-a", "127.0.0.1", "-p", port, "-js", "-sd", directory / name]
            if size > 1:
                others = ",".join(f"nats://127.0.0.1:{each}" for each in routes)
                words += ["--name", name, "--cluster_name", "test", "--routes", others]
                words += ["--cluster", f"nats://127.0.0.1:{route}"]
            running[name] = subprocess.Popen(
                [str(each) for each in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        for port in clients:
            _wait_for(port)
        urls = [f"nats://127.0.0.1:{each}" for each in clients]
        yield Cluster(dict(zip(names, urls, strict=True)), running)
    finally:
        for each in running.values():
            each.kill()
            each.wait()


async def _tried(ask: Callable) -> object:
    """What is asked while the nodes may still agree on a leader."""
    for _ in range(10):
        with contextlib.suppress(TimeoutError, nats.errors.Error):
            return await ask()
        await asyncio.sleep(0.2)
    return await ask()


def _free(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        made = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in made:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in made]


def _wait_for(port: int) -> None:
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError(f"Nothing listens at {port}.")
