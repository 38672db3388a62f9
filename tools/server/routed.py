"""The application of a tenant whose ledger may move: it goes along, and answers all the while.

It looks at the table of tenants. Once that names another place, the ledger is opened there beside
the old one, new requests go to it, and the old one ends as a server does that stops. Until then
what is written at the old place is refused by its fence, which a client hears as "try again" (503),
and what is asked is answered.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from beliefledger.ledger.errors import BackendUnavailable, LedgerError
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.operations.tenant_move import show
from beliefledger.tenants import TenantRoute

logger = logging.getLogger("beliefledger.server")
LOOK_SECONDS = 0.1
RETRY_SECONDS = 0.5
Make = Callable[[MemoryLedger], Starlette]


class RoutedApplication:
    """An ASGI application over the ledger that is open now. `make` makes the one over a ledger."""

    def __init__(
        self, memory: MemoryLedger, make: Make, route: TenantRoute, *, stop_seconds: float
    ) -> None:
        self._make = make
        self._route = route
        self._stop_seconds = stop_seconds
        self._now = _Served(memory, make(memory))
        self._given = memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await self._now.answer(scope, receive, send)

    async def say_goodbye(self) -> None:
        await self._now.app.state.say_goodbye()

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        await self._now.start()
        going_along = asyncio.create_task(self._go_along())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        going_along.cancel()
        with suppress(asyncio.CancelledError):
            await going_along
        await self._now.stop()
        if self._now.memory is not self._given:  # which is closed by who gave it
            await asyncio.to_thread(_close, self._now.memory)
        await send({"type": "lifespan.shutdown.complete"})

    async def _go_along(self) -> None:
        to: str | None = None
        while True:
            await asyncio.sleep(LOOK_SECONDS if to is None else RETRY_SECONDS)
            try:
                to = self._route.moved() or to
                if to is not None:
                    await self._switch(to)
                    to = None
            except LedgerError as problem:
                logger.warning("the ledger of %s: %s", self._route.name, problem)

    async def _switch(self, to: str) -> None:
        """Answer from the ledger at another place. Raises whatever opening it raises, and
        `BackendUnavailable` while nothing may be written there yet."""
        table, name = self._route.table, self._route.name
        if not await asyncio.to_thread(lambda: show(table, name).takes_events):
            raise BackendUnavailable("It takes no events at the new place yet.")
        memory = await asyncio.to_thread(open_memory, to, create=False)
        try:
            new = _Served(memory, self._make(memory))
            await new.start()
        except BaseException:  # closed again, whatever it is
            await asyncio.to_thread(_close, memory)
            raise
        old, self._now = self._now, new
        logger.info("the ledger of %s is at %s now", self._route.name, memory.place)
        await old.app.state.say_goodbye()
        await old.idle(self._stop_seconds)
        await old.stop()
        if old.memory is not self._given:
            await asyncio.to_thread(_close, old.memory)


class _Served:
    """One application while it runs. Its lifespan has a task of its own, in which it begins and
    ends."""

    def __init__(self, memory: MemoryLedger, app: Starlette) -> None:
        self.memory = memory
        self.app = app
        self._under_way = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._end = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        started = asyncio.Event()
        self._task = asyncio.create_task(self._run(started))
        hearing = asyncio.create_task(started.wait())
        await asyncio.wait({self._task, hearing}, return_when="FIRST_COMPLETED")
        hearing.cancel()
        if not started.is_set():
            await self._task  # raises why

    async def _run(self, started: asyncio.Event) -> None:
        async with self.app.router.lifespan_context(self.app):
            started.set()
            await self._end.wait()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._under_way += 1
        self._quiet.clear()
        try:
            await self.app(scope, receive, send)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._quiet.set()

    async def idle(self, seconds: float) -> None:
        """Wait until nothing is under way, but no longer than this."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._quiet.wait(), seconds)

    async def stop(self) -> None:
        self._end.set()
        if self._task is not None:
            await self._task


def _close(memory: MemoryLedger) -> None:
    try:
        memory.close()
    except LedgerError as problem:  # recalls that the old place did not take any more
        logger.warning("closing %s: %s", memory.place, problem)
