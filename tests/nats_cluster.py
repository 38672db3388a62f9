"""NATS for tests: real servers on loopback, alone or as a cluster, and a reader of a stream."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import ConsumerConfig

from beliefledger.tools.bench.nats_nodes import Node, nodes
from beliefledger.tools.relay.nats import let_go


class Cluster:
    """Servers that run."""

    def __init__(self, running: Sequence[Node]) -> None:
        self._running = running

    @property
    def servers(self) -> tuple[str, ...]:
        return tuple(each.url for each in self._running)

    def kill(self, name: str) -> None:
        next(each for each in self._running if each.name == name).kill()

    def begin_again(self, name: str) -> None:
        """One that was killed comes back."""
        next(each for each in self._running if each.name == name).begin_again()

    def has_all(self, stream: str, name: str) -> bool:
        """Whether a node that does not lead a stream has all of it."""

        async def ask(client: Client) -> bool:
            found = await _tried(lambda: client.jetstream().stream_info(stream))
            return any(each.name == name and each.current for each in found.cluster.replicas)

        return self.asked(ask)

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
                lambda: client.jetstream().pull_subscribe("beliefledger.>", "reader", stream=stream)
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

            alive = [each.url for each in self._running if each.runs]
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


class Following:
    """A durable consumer that reads all the time: what it was given, and whether it heard that its
    acknowledgement was taken."""

    def __init__(self, servers: Sequence[str], stream: str) -> None:
        self.given: list[tuple[int, bool]] = []
        self._servers = list(servers)
        self._stream = stream
        self._ended = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._follow()))
        self._thread.start()

    def end(self) -> None:
        self._ended.set()
        self._thread.join(20)
        assert not self._thread.is_alive()

    async def _follow(self) -> None:
        async def nothing(_problem: Exception) -> None:
            pass

        client = await nats.connect(
            self._servers, error_cb=nothing, max_reconnect_attempts=-1, reconnect_time_wait=0.1
        )
        soon = ConsumerConfig(ack_wait=1)
        reader = await _tried(
            lambda: client.jetstream().pull_subscribe(
                "beliefledger.>", "steady", stream=self._stream, config=soon
            )
        )
        try:
            while not self._ended.is_set():
                with contextlib.suppress(TimeoutError, nats.errors.Error):
                    for each in await reader.fetch(20, timeout=0.3):
                        await self._take(each)
        finally:
            await client.close()
            await let_go()

    async def _take(self, message: Msg) -> None:
        heard = False
        try:
            await message.ack_sync(timeout=0.5)
            heard = True
        except (TimeoutError, nats.errors.Error):
            pass
        self.given.append((int(json.loads(message.data)["sequence"]), heard))


@contextlib.contextmanager
def following(servers: Sequence[str], stream: str) -> Iterator[Following]:
    """A reader, until the block ends."""
    made = Following(servers, stream)
    try:
        yield made
    finally:
        made.end()


@contextlib.contextmanager
def cluster(directory: Path, size: int = 1) -> Iterator[Cluster]:
    """So many servers with JetStream, until the block ends."""
    with nodes(directory, size) as running:
        yield Cluster(running)


async def _tried(ask: Callable) -> object:
    """What is asked while the nodes may still agree on a leader."""
    for _ in range(10):
        with contextlib.suppress(TimeoutError, nats.errors.Error):
            return await ask()
        await asyncio.sleep(0.2)
    return await ask()
