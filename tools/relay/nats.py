"""Relays events to a stream of NATS JetStream. The only file that knows `nats`.

Events go in batches that the stream takes whole and in order, or not at all (NATS 2.12 and later),
each only where it says that the last one ended. So every event is there once and in order, whatever
died in the middle: what is in doubt is looked up at the end of the stream.
"""

from __future__ import annotations

import asyncio
import gc
import ssl
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import nats
import nats.errors
import nats.js.errors
import orjson
from nats.aio.client import Client
from nats.js import JetStreamContext, api

from beliefledger.access.told_events import ERASED, ToldEvents
from beliefledger.ledger import backoff
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.consumer import LEASE_SECONDS, Consumer
from beliefledger.ledger.errors import (
    BackendUnavailable,
    BackendUnusable,
    LeaseLost,
    NotPermitted,
    UnknownMemory,
)
from beliefledger.memory import MemoryLedger
from beliefledger.tools.relay.cloud_events import CONTENT_TYPE, cloud_event

BATCH = 1_000
"""As many as NATS takes at once: what a batch waits for is that three nodes have it."""
_ROLE = "agent"
"""Which may see neither bodies nor names: who reads a stream is NATS' affair."""
_FAILED = (nats.errors.Error, OSError, TimeoutError)
Tell = Callable[[str, str], None]
"""Is given what became of the relay (`relays`, `retries`, `waits`), and why."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where events go."""

    servers: tuple[str, ...] = ("nats://127.0.0.1:4222",)
    stream: str = "BELIEFLEDGER"
    prefix: str = "beliefledger"
    """Begins every subject; the event's type follows: `beliefledger.memory.admitted.v2`."""
    replicas: int = 3
    source: str = "urn:beliefledger"
    """The `source` of each CloudEvent: which ledger it is, where there are several."""
    seconds: float = 5.0
    """For an answer of NATS."""
    lease_seconds: float = LEASE_SECONDS
    credentials: str | None = None
    """A file of NATS credentials."""
    ca_file: str | None = None

    @property
    def consumer(self) -> str:
        """The name under which the relay's place in the log is kept."""
        return f"nats.{self.stream}"


class _End(NamedTuple):
    """The end of the stream: its sequence number, and the position of the event there."""

    sequence: int
    position: int


class _Ready(NamedTuple):
    """An event, and what is published of it."""

    event: Recorded
    payload: bytes


_Read = tuple[list[_Ready], bool]
"""A batch, and whether it is the last."""


async def let_go() -> None:
    """End what a client has left behind. It leaves connections to servers that died, and tasks that
    hold them, for the garbage collector: found after the loop has ended, they complain."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for each in left:
        each.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    del left
    gc.collect()
    await asyncio.sleep(0)


class NatsRelay:
    """Follows the log and publishes what is there, until it is stopped.

    Envelopes and facts only, never a body or a name: a stream is a copy that no key opens or
    closes. An erasure is acknowledged once the event that tells of it is in the stream.
    """

    def __init__(
        self,
        memory: MemoryLedger,
        target: Target | None = None,
        tell: Tell = lambda _what, _why: None,
    ) -> None:
        self._memory = memory
        self._target = target or Target()
        self._tell = tell
        self._told = ToldEvents(memory.name_of, memory.actor_name, _ROLE)
        self._stopped = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: _End | None = None

    def run(self, *, follow: bool = True) -> None:
        """Until `stop`; without `follow`, until everything that is there is relayed. Raises
        `BackendUnusable` where the stream there is another one."""
        asyncio.run(self._ran(follow))

    def stop(self) -> None:
        """End soon. May be called from another thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._stopped.set)

    async def _ran(self, follow: bool) -> None:
        try:
            await self._run(follow)
        finally:
            await let_go()

    async def _run(self, follow: bool) -> None:
        self._loop = asyncio.get_running_loop()
        client = await self._connected()
        if client is None:
            return
        consumer = self._memory.consumer(
            self._target.consumer, lease_seconds=self._target.lease_seconds, follow=follow
        )
        try:
            await self._relay(client, consumer)
        finally:
            consumer.close()
            with suppress(*_FAILED):
                await client.close()

    async def _connected(self) -> Client | None:
        """None when it was stopped before."""
        target = self._target
        tls = ssl.create_default_context(cafile=target.ca_file) if target.ca_file else None
        for delay in backoff.delays():
            if self._stopped.is_set():
                return None
            client = None
            try:
                client = await nats.connect(
                    list(target.servers),
                    name="beliefledger relay",
                    error_cb=self._trouble,
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=0.25,
                    connect_timeout=2,
                    allow_reconnect=True,
                    user_credentials=target.credentials,
                    tls=tls,
                )
                await self._prepare(client)
            except BaseException as problem:  # also where it is stopped: nobody else closes it
                if client is not None:
                    with suppress(*_FAILED):
                        await client.close()
                if not isinstance(problem, _FAILED):
                    raise
                self._tell("retries", f"{type(problem).__name__}")
                await self._pause(delay)
            else:
                return client
        return None

    async def _prepare(self, client: Client) -> None:
        """Make the stream where there is none."""
        target = self._target
        context = client.jetstream(timeout=target.seconds)
        wanted = api.StreamConfig(
            name=target.stream,
            subjects=[f"{target.prefix}.>"],
            num_replicas=target.replicas,
            storage=api.StorageType.FILE,
            duplicate_window=120,
            allow_atomic=True,
        )
        try:
            there = (await context.stream_info(target.stream)).config
        except nats.js.errors.NotFoundError:
            there = (await context.add_stream(wanted)).config
        if not there.allow_atomic or there.subjects != wanted.subjects:
            raise BackendUnusable(
                f"The stream {target.stream} is not the relay's: it has to take"
                f" {target.prefix}.> and whole batches (allow_atomic)."
            )
        self._tell("relays", f"to {target.stream}, {there.num_replicas} replicas")

    async def _trouble(self, problem: Exception) -> None:
        self._tell("retries", type(problem).__name__)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)

    # Relaying

    async def _relay(self, client: Client, consumer: Consumer) -> None:
        """The next batch is read while one is published. One thread does all that the consumer is
        asked for, so that it is asked in order."""
        context = client.jetstream(timeout=self._target.seconds)
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, thread_name_prefix="encode-for-nats") as thread:

            def read() -> asyncio.Future[_Read]:
                return loop.run_in_executor(thread, self._read, consumer)

            ahead, ended = read(), False
            try:
                while not ended and not self._stopped.is_set():
                    try:
                        batch, ended = await ahead
                        if not batch and not ended:
                            await loop.run_in_executor(thread, self._wait, consumer)
                        if not ended:
                            ahead = read()
                        if batch and not await self._publish(client, context, batch):
                            return
                        if batch:
                            await self._settle(loop, thread, consumer, batch)
                    except LeaseLost:
                        self._tell("waits", "another relay has the cursor")
                        self._end, ended = None, False
                        await asyncio.wait([ahead])
                        ahead.exception()  # which is the same, if it is one
                        ahead = read()
                    except BackendUnavailable as problem:
                        self._tell("retries", problem.detail)
                        await self._pause(0.5)
                        ahead = read()
            finally:
                await asyncio.wait([ahead])
                ahead.exception()  # nobody waits for it any more

    async def _settle(
        self,
        loop: asyncio.AbstractEventLoop,
        thread: ThreadPoolExecutor,
        consumer: Consumer,
        batch: Sequence[_Ready],
    ) -> None:
        """Until it is on record that all of it is in the stream. Raises `LeaseLost`."""
        while True:
            try:
                return await loop.run_in_executor(thread, self._done, consumer, batch)
            except BackendUnavailable as problem:
                self._tell("retries", problem.detail)
                if self._stopped.is_set():
                    return None  # it is published again, and known for what it is
                await self._pause(0.5)

    def _read(self, consumer: Consumer) -> _Read:
        """What is there, at most a batch; and whether that is the end."""
        batch: list[_Ready] = []
        try:
            while len(batch) < BATCH and (event := consumer.look()) is not None:
                told = cloud_event(event, self._told.of(event), self._target.source)
                batch.append(_Ready(event, orjson.dumps(told)))
        except StopIteration:
            return batch, True
        return batch, False

    def _wait(self, consumer: Consumer) -> None:
        looked = consumer.looked
        if looked is None or consumer.trouble is not None:
            self._stopped_for(0.25)
        else:
            self._memory.wait(looked, 0.25)

    def _stopped_for(self, seconds: float) -> None:
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._pause(seconds), self._loop).result()

    def _done(self, consumer: Consumer, batch: Sequence[_Ready]) -> None:
        certificates = self._memory.erasure.certificates
        for each, _ in batch:
            if each.type in ERASED:
                with suppress(UnknownMemory, NotPermitted):  # it is of the first version
                    certificates.acknowledge(self._target.consumer, each.facts["request"])
        consumer.ack(batch[-1].event)

    async def _publish(
        self, client: Client, context: JetStreamContext, batch: Sequence[_Ready]
    ) -> bool:
        """Until all of it is in the stream; False when it was stopped before."""
        for delay in backoff.delays(first=0.1):
            try:
                if self._end is None:
                    self._end = await self._look(context)
                left = [each for each in batch if each.event.position > self._end.position]
                if left:
                    sequence = await self._send(client, left, self._end.sequence)
                    self._end = _End(sequence, left[-1].event.position)
            except BackendUnavailable as problem:  # as it looks whose the end is
                self._tell("retries", problem.detail)
            except _FAILED as problem:
                self._end = None  # what became of it is found at the end of the stream
                self._tell("retries", f"{type(problem).__name__}")
            else:
                return True
            if self._stopped.is_set():
                return False
            await self._pause(delay)
        return False

    async def _look(self, context: JetStreamContext) -> _End:
        """The end of the stream, asked of its leader."""
        sequence = (await context.stream_info(self._target.stream)).state.last_seq
        if not sequence:
            return _End(0, 0)
        try:
            last = await context.get_msg(self._target.stream, seq=sequence)
            told = orjson.loads(last.data or b"")
            position, event_id = int(told["sequence"]), told["id"]
        except nats.js.errors.NotFoundError:
            return _End(sequence, 0)  # it was let go of: the cursor alone says how far it was
        except (ValueError, KeyError, TypeError):
            event_id = position = 0
        if not await asyncio.to_thread(self._is_ours, position, event_id):
            raise BackendUnusable(
                f"The stream {self._target.stream} ends with something that is not of this ledger:"
                " give the relay a stream of its own."
            )
        return _End(sequence, position)

    def _is_ours(self, position: int, event_id: object) -> bool:
        with self._memory.subscribe(position - 1, follow=False) as events:
            found = next(iter(events), None)
        return found is not None and (found.position, found.event_id) == (position, event_id)

    async def _send(self, client: Client, batch: Sequence[_Ready], after: int) -> int:
        """One batch, whole or not at all. Returns the sequence number of its last message."""
        name, last = uuid.uuid4().hex, len(batch)
        for number, (event, payload) in enumerate(batch, 1):
            subject = f"{self._target.prefix}.{event.type}"
            headers = {
                "Nats-Msg-Id": event.event_id,
                "Content-Type": CONTENT_TYPE,
                "Nats-Batch-Id": name,
                "Nats-Batch-Sequence": str(number),
            }
            if number == 1:
                headers["Nats-Expected-Last-Sequence"] = str(after)
            if number < last:
                await client.publish(subject, payload, headers=headers)
                continue
            headers["Nats-Batch-Commit"] = "1"
            answer = await client.request(
                subject, payload, timeout=self._target.seconds, headers=headers
            )
            told = orjson.loads(answer.data)
            if "error" in told:
                raise nats.js.errors.APIError.from_error(told["error"])
            return int(told["seq"])
        return after
