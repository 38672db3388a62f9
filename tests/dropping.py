"""Subscribers to a server's events that drop their connection after each event, or within one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from urllib.parse import urlsplit

SECONDS = 600.0
"""For one subscriber to be told of everything."""


class Dropping:
    """Reads `/v1/events` as a browser does: `last` is the id of the last event that came whole."""

    def __init__(self, root: str, token: str, query: str, seed: int) -> None:
        at = urlsplit(root)
        self._at = at.hostname, at.port
        self._head = (
            f"GET /v1/events?{query} HTTP/1.1\r\nHost: {at.netloc}\r\n"
            f"Authorization: Bearer {token}\r\nAccept: text/event-stream\r\n"
        )
        self._random = random.Random(seed)
        self.last = "0"
        self.told: list[dict] = []
        self.connections = 0

    async def follow(self, many: int) -> None:
        """Until so many events were told; at most one for each connection."""
        async with asyncio.timeout(SECONDS):
            while len(self.told) < many:
                await self._connect()

    async def _connect(self) -> None:
        reader, writer = await asyncio.open_connection(*self._at)
        self.connections += 1
        try:
            writer.write(f"{self._head}Last-Event-ID: {self.last}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            await self._read(reader, self._random.random())
        finally:
            writer.transport.abort()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()  # else the loop may end before the socket is closed

    async def _read(self, reader: asyncio.StreamReader, chance: float) -> None:
        """One event; now and then nothing, or a part of one."""
        said = b""
        while chance > 0.1:
            size = int(await reader.readline(), 16)
            if chance < 0.2 and size > 100:
                await reader.readexactly(self._random.randrange(1, size))
                return
            said += (await reader.readexactly(size + 2))[:-2]
            *whole, said = said.replace(b"\r\n", b"\n").split(b"\n\n")
            for each in whole:
                fields = dict(line.split(": ", 1) for line in each.decode().split("\n"))
                if "data" in fields:
                    self.last = fields["id"]
                    self.told.append(json.loads(fields["data"]))
                    return


async def drop(root: str, token: str, query: str, *, subscribers: int, many: int) -> list[Dropping]:
    """Let so many subscribers be told of so many events each."""
    made = [Dropping(root, token, query, seed) for seed in range(subscribers)]
    await asyncio.gather(*(each.follow(many) for each in made))
    return made


def told_all(server, person: str, *, subscribers: int, many: int) -> int:
    """Write `many` memories while subscribers drop their connections; how often they connected.
    Each has to be told of all, once and in order."""
    memory = server.memory
    memory.consent.grant(person, "consent")
    token = server.token("dropping", role="auditor", subjects=[person], consent=None)

    async def both() -> list[Dropping]:
        def write() -> None:
            for number in range(many):
                memory.store(person, str(number), attribute=f"number {number}", by="lea")

        writing = asyncio.create_task(asyncio.to_thread(write))
        query = "types=memory.admitted.*"
        found = await drop(server.root, token, query, subscribers=subscribers, many=many)
        await writing
        return found

    found = asyncio.run(both())
    with memory.subscribe(types=["memory.admitted.*"], follow=False) as events:
        ref = memory.tokens.subject(person)
        positions = [each.position for each in events if each.subject_ref == ref]
    assert len(positions) == many
    for each in found:
        assert [event["position"] for event in each.told] == positions
    return sum(each.connections for each in found)
