"""Streams of events: one follower of the log for all of them, and each reads at its own pace."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import orjson
from sse_starlette import EventSourceResponse
from starlette.types import Message, Receive, Scope, Send

from beliefledger.awaitable.calls import Calls
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import LedgerError
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.api.events import Events, Follow, Page, Wanted
from beliefledger.tools.server.connection import Connection, connection

logger = logging.getLogger("beliefledger.server")
MOST, MOST_OF_TOKEN = 1_000, 100
"""Streams at once, and those of one token."""
HEARTBEAT_SECONDS = 15.0
SEND_SECONDS = 30.0
"""So long a reader may take nothing at all; it is left then, and comes back where it was."""
LOOK_SECONDS = 1.0
"""So soon after a token was revoked its streams end."""
_KEPT = 1_000
_PAGE = 200
_THREADS = 2

# What it logs for debugging are the pieces that are sent.
logging.getLogger("sse_starlette").setLevel(logging.INFO)


@dataclass(eq=False, slots=True)
class _Listener:
    """Who waits for more, in its event loop."""

    token: str
    loop: asyncio.AbstractEventLoop
    more: asyncio.Event = field(default_factory=asyncio.Event)


class Tail:
    """The last events of the log, kept while anybody listens: who is near the end reads them here,
    who is behind reads the log in pages of their own. So nobody waits for a slow reader."""

    def __init__(self, memory: MemoryLedger) -> None:
        self._memory = memory
        self._lock = threading.Lock()
        self._kept: deque[Recorded] = deque()
        self._begins = self._ends = 0
        self._listeners: set[_Listener] = set()
        self._thread: threading.Thread | None = None
        self.closed = False

    def room(self, token: str) -> bool:
        """Whether one more stream of a token is taken."""
        with self._lock:
            same = sum(each.token == token for each in self._listeners)
            return same < MOST_OF_TOKEN and len(self._listeners) < MOST

    def join(self, listener: _Listener) -> None:
        """Follow the log for a listener from now on. May read the log: call it in a thread."""
        with self._lock:
            self._listeners.add(listener)
            if self._thread is None and not self.closed:
                self._begins = self._ends = self._memory.status().position
                self._kept.clear()
                self._thread = threading.Thread(target=self._follow, name="beliefledger-events")
                self._thread.start()

    def leave(self, listener: _Listener) -> None:
        with self._lock:
            self._listeners.discard(listener)

    def since(self, position: int) -> tuple[list[Recorded], int] | None:
        """The events past a position, and the position they reach; None where they are not kept."""
        with self._lock:
            if self._thread is None or not self._begins <= position <= self._ends:
                return None
            newer = [each for each in self._kept if each.position > position][:_PAGE]
            return newer, newer[-1].position if len(newer) == _PAGE else self._ends

    def has_more(self, position: int) -> bool:
        """Whether it has got further than to a position."""
        return self._ends > position

    def close(self) -> None:
        """End all streams; returns once the thread has ended."""
        with self._lock:
            self.closed = True
            thread = self._thread
        self._ring()
        if thread is not None:
            thread.join()

    def _follow(self) -> None:
        with self._memory.subscribe(self._ends) as events:
            while self._wanted():
                try:
                    some: list[Recorded] = []
                    while len(some) < _PAGE and (event := events.look()) is not None:
                        some.append(event)
                    if some:
                        self._keep(some)
                        self._ring()
                    else:
                        self._memory.wait(events.position, LOOK_SECONDS / 2)
                except LedgerError as problem:  # the next look tries again
                    logger.warning("events cannot be followed now: %s", problem)
                    threading.Event().wait(LOOK_SECONDS)

    def _keep(self, events: list[Recorded]) -> None:
        with self._lock:
            for event in events:
                if ".erased." in event.type:  # what was opened before is read anew
                    self._kept.clear()
                    self._begins = event.position - 1
                self._kept.append(event)
            while len(self._kept) > _KEPT:
                self._begins = self._kept.popleft().position
            self._ends = events[-1].position

    def _wanted(self) -> bool:
        with self._lock:
            if self._listeners and not self.closed:
                return True
            self._thread = None
            return False

    def _ring(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for each in listeners:
            try:
                each.loop.call_soon_threadsafe(each.more.set)
            except RuntimeError:  # its loop is closed: nobody listens there any more
                logger.debug("a listener is gone")


class Feed:
    """Makes streams, and ends them when the server stops."""

    def __init__(self, memory: MemoryLedger) -> None:
        self._memory = memory
        self._events = Events(memory)
        self._tail = Tail(memory)
        self._calls = Calls(_THREADS)
        self._pages: dict[tuple[Wanted, int], asyncio.Future[Page | None]] = {}
        """The pages that are being made: subscribers who want the same get the same."""

    def has_room(self, follow: Follow) -> bool:
        return self._tail.room(follow.wanted.principal.token)

    def response(self, follow: Follow) -> EventSourceResponse:
        """The stream, with heartbeats that tell how far the log was looked at."""
        return _Stream(
            self._told(follow),
            ping=0,  # whose positions would not be in the order of the events': see `_told`
            sep="\n",
        )

    def say_goodbye(self) -> None:
        """End the streams: the server waits for them when it stops."""
        self._tail.close()

    async def end(self) -> None:
        await asyncio.to_thread(self._tail.close)
        await self._calls.close(None)

    async def _told(self, follow: Follow) -> AsyncIterator[dict[str, object]]:
        principal = follow.wanted.principal
        listener = _Listener(principal.token, asyncio.get_running_loop())
        try:
            await self._calls.run(self._tail.join, listener)
            yield {"id": str(follow.reached), "comment": "begins", "retry": 500}
            told_at = time.monotonic()
            while not self._tail.closed:
                listener.more.clear()
                try:
                    page = await self._next(follow.wanted, follow.reached)
                except LedgerError as problem:  # it comes back, and goes on where it was
                    logger.warning("a stream of events ends: %s", problem)
                    return
                if page is None:
                    return
                before, (some, reached, end) = follow.reached, page
                for each in some:
                    yield {
                        "data": orjson.dumps(each).decode(),
                        "id": str(each["position"]),
                        "event": each["type"],
                    }
                    follow.reached = each["position"]
                    told_at = time.monotonic()
                follow.reached = reached
                # A page that others had begun may be older than what this one was rung for.
                if end and (reached == before or not self._tail.has_more(reached)):
                    left = told_at + HEARTBEAT_SECONDS - time.monotonic()
                    await _within(listener.more, max(0, min(LOOK_SECONDS, left)))
                if time.monotonic() >= told_at + HEARTBEAT_SECONDS:
                    yield {"id": str(follow.reached), "comment": "alive"}
                    told_at = time.monotonic()
        finally:
            self._tail.leave(listener)

    async def _next(self, wanted: Wanted, position: int) -> Page | None:
        """The page past a position, made in a thread; None where the token is not in force any
        more. It is made once for all who wait for it, and goes on when one of them goes away."""
        key = wanted, position
        made = self._pages.get(key)
        if made is None:
            made = self._pages[key] = self._calls.begin(self._page, wanted, position)
            made.add_done_callback(lambda done: self._made(key, done))
        return await asyncio.shield(made)

    def _made(self, key: tuple[Wanted, int], page: asyncio.Future[Page | None]) -> None:
        del self._pages[key]
        if not page.cancelled():
            page.exception()  # who waits is told; where nobody does, nobody needs to hear of it

    def _page(self, wanted: Wanted, position: int) -> Page | None:
        if not self._memory.tokens.in_force(wanted.principal):
            return None
        kept = self._tail.since(position)
        if kept is None:
            return self._events.page(wanted, position, _PAGE)
        some, reached = kept
        fitting = list(filter(self._events.fitting(wanted), some))
        return self._events.documents(wanted, fitting), reached, len(some) < _PAGE


class _Stream(EventSourceResponse):
    """A stream whose reader may go away or take nothing: that is no error of the server's."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, _patient(send, connection(scope)))
        except* _TakesNothing:
            logger.info("a reader of events took nothing for %g seconds: left", SEND_SECONDS)


class _TakesNothing(Exception):
    """A reader took nothing for too long."""


def _patient(send: Send, to: Connection | None) -> Send:
    """Sends, however long it takes, while the other side takes something."""

    async def sent(message: Message) -> None:
        loop = asyncio.get_running_loop()
        before = to.untaken() if to else 0
        looks: asyncio.TimerHandle

        def look() -> None:
            nonlocal before, looks
            now = to.untaken() if to else 0
            if now >= before:
                limit.reschedule(loop.time())
            before, looks = now, loop.call_later(SEND_SECONDS, look)

        limit = asyncio.timeout(None)
        looks = loop.call_later(SEND_SECONDS, look)
        try:
            async with limit:
                await send(message)
        except TimeoutError:
            if to:
                to.leave()
            raise _TakesNothing from None
        finally:
            looks.cancel()

    return sent


async def _within(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
