"""Takes tasks from step to step, those of this process and those that another one left lying."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from beliefledger.awaitable.calls import Calls
from beliefledger.ledger.errors import LedgerError
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.a2a.work import advance, fail

logger = logging.getLogger("beliefledger.server")
SWEEP_SECONDS = 5.0
"""How often it is looked for tasks that nobody works on, and how long they have to have lain."""
FIRST_LOOK, LAST_LOOK = 0.02, 0.5
"""Seconds between looks at what a task waits for; they get longer."""


class Runner:
    """Works on tasks while `running` is entered."""

    def __init__(self, memory: MemoryLedger, calls: Calls) -> None:
        self._memory = memory
        self._calls = calls
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, task_id: str) -> None:
        """Work on a task from now on, if nobody here does yet."""
        if task_id not in self._under_way:
            work = asyncio.create_task(self._run(task_id))
            self._under_way[task_id] = work
            work.add_done_callback(lambda _done: self._ended(task_id))

    def start_soon(self, task_id: str) -> None:
        """As `start`, from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.start, task_id)

    def _ended(self, task_id: str) -> None:
        self._under_way.pop(task_id, None)
        self.tell()

    def tell(self) -> None:
        """Have everybody who waits look at their task."""
        told, self._changed = self._changed, asyncio.Event()
        told.set()

    async def changed(self, seconds: float) -> None:
        """Return when a task of this process has moved, or after so long: another process may have
        moved one."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)

    async def _run(self, task_id: str) -> None:
        pause = FIRST_LOOK
        while True:
            try:
                if await self._calls.run(advance, self._memory, task_id):
                    return
            except LedgerError as problem:
                logger.warning("A task waits: %s", type(problem).__name__)
                pause = LAST_LOOK
            except Exception:  # a defect of ours: whoever gave the task is told that it failed
                logger.exception("A task failed")
                await self._calls.run(fail, self._memory, task_id)
                return
            await asyncio.sleep(pause)
            pause = min(LAST_LOOK, pause * 1.5)

    async def _sweep(self) -> None:
        """Take up what a process that ended left under way."""
        lain = 0.0
        while True:
            try:
                found = await self._calls.run(self._memory.tasks.under_way, lain)
            except LedgerError as problem:
                logger.warning("Tasks are not looked for: %s", type(problem).__name__)
            else:
                for task_id in found:
                    self.start(task_id)
                lain = SWEEP_SECONDS
            await asyncio.sleep(SWEEP_SECONDS)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._loop = asyncio.get_running_loop()
        sweeping = asyncio.create_task(self._sweep())
        try:
            yield
        finally:
            left = [sweeping, *self._under_way.values()]
            for each in left:  # what is not done is taken up at the next start
                each.cancel()
            await asyncio.gather(*left, return_exceptions=True)
