"""How fast events are handed over: to a webhook's receiver, and to a stream of NATS JetStream."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from ipaddress import ip_network

import nats

from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.tools.bench.conversations import statements
from beliefledger.tools.bench.measure import Measured, Run, Target
from beliefledger.tools.bench.nats_nodes import SERVER, nodes
from beliefledger.tools.relay.callout import Rules
from beliefledger.tools.relay.delivery import Trying
from beliefledger.tools.relay.nats import BATCH, NatsRelay, let_go
from beliefledger.tools.relay.nats import Target as Stream
from beliefledger.tools.relay.webhooks import WebhookRelay

_PEOPLE = 50
_RATE = 5_000
_TO_RECEIVER = "deliveries of one worker to a webhook's receiver, signed and acknowledged"
_TO_NATS = "relay to NATS, of 5,000 events/s or half of NATS' own rate"
_RECEIVER = """
import asyncio
async def serve(reader, writer):
    while True:
        try:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
        except asyncio.IncompleteReadError:
            return writer.close()
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\\r\\n")[0])
        await reader.readexactly(length)
        writer.write(b"HTTP/1.1 204 No Content\\r\\n\\r\\n")
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


def webhooks(run: Run) -> Iterator[Measured]:
    """Deliveries a second, on both backends, to a receiver in another process."""
    for backend in run.backends:
        name, target = f"{_TO_RECEIVER}, on {backend.name}", Target("≥", 500)
        if backend.missing:
            yield Measured(name, "/s", target=target, note=backend.missing)
            continue
        with open_memory(backend.place("webhooks"), consent="consent") as memory, _receiver() as at:
            head = _filled(memory, run.sizes.handed_over)
            made = memory.webhooks.register(at, "bench", by="bench", role="auditor", after=0)
            rates = []
            for _ in run.rounds(f"webhooks on {backend.name}"):
                memory.webhooks.replay(made.answer.webhook, by="bench", after=0)
                rates.append(head / _delivered(memory, head))
        yield Measured(name, "/s", rates, target)


def _delivered(memory: MemoryLedger, head: int) -> float:
    """Seconds until everything up to there has been acknowledged."""
    rules = Rules(allow_http=True, allow=(ip_network("127.0.0.0/8"),))
    relay = WebhookRelay(memory, Trying(rules=rules))
    thread = threading.Thread(target=relay.run)
    began = time.perf_counter()
    thread.start()
    while memory.webhooks.list()[0].position < head:
        time.sleep(0.02)
    spent = time.perf_counter() - began
    relay.close()
    thread.join()
    return spent


@contextlib.contextmanager
def _receiver() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-c", _RECEIVER], stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout is not None
            yield f"http://127.0.0.1:{int(running.stdout.readline())}/"
        finally:
            running.kill()


def nats_relay(run: Run) -> Iterator[Measured]:
    """Events a second into a stream of three replicas, and what the same client publishes there by
    itself, all of it acknowledged."""
    if not SERVER.exists():
        yield Measured(
            _TO_NATS, "×", target=Target("≥", 1), note="not measured: there is no nats-server"
        )
        return
    rates, own = [], []
    with (
        nodes(run.place("nats"), 3) as running,
        open_memory(run.place("relayed"), consent="consent") as memory,
    ):
        head = _filled(memory, run.sizes.handed_over)
        servers = tuple(each.url for each in running)
        for number in run.rounds("relay to NATS"):
            stream = Stream(servers, stream=f"ROUND{number}", prefix=f"round{number}")
            begun: list[float] = []  # once there is a stream
            _relayed(memory, stream, begun)
            rates.append(head / (time.perf_counter() - begun[0]))
            own.append(head / asyncio.run(_published(servers, number, head)))
    least = [min(_RATE, each / 2) for each in own]
    ratios = [rate / bound for rate, bound in zip(rates, least, strict=True)]
    yield Measured(_TO_NATS, "×", ratios, Target("≥", 1))
    yield Measured("events relayed to NATS, three replicas", "/s", rates)
    yield Measured("NATS' own, published by the same client and acknowledged", "/s", own)


def _relayed(memory: MemoryLedger, stream: Stream, begun: list[float]) -> None:
    NatsRelay(memory, stream, lambda *_: begun.append(time.perf_counter())).run(follow=False)


async def _published(servers: tuple[str, ...], number: int, count: int) -> float:
    """Seconds to publish so many messages of an event's size, as many at a time as a batch has."""
    client = await nats.connect(list(servers))
    try:
        context = client.jetstream()
        name = f"OWN{number}"
        await context.add_stream(name=name, subjects=[f"own{number}.>"], num_replicas=3)
        began = time.perf_counter()
        for first in range(0, count, BATCH):
            pending = [
                await context.publish_async(
                    f"own{number}.x", b"x" * 900, headers={"Nats-Msg-Id": f"{each}"}
                )
                for each in range(first, min(first + BATCH, count))
            ]
            await asyncio.gather(*pending)
        return time.perf_counter() - began
    finally:
        await client.close()
        await let_go()


def _filled(memory: MemoryLedger, turns: int) -> int:
    """A ledger with so many turns that were decided; how many events that are."""
    for number, words in enumerate(statements(turns, seed=19)):
        memory.record_turn(f"person {number % _PEOPLE}", words)
    memory.process()
    return memory.status().position
