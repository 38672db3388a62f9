"""Tells event loops that the log has grown: one thread, however many wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import LedgerError
from beliefledger.ledger.subscription import LOOK_SECONDS


@dataclass(eq=False, slots=True)
class Waiting:
    """Somebody who waits until the log is past a position."""

    position: int
    loop: asyncio.AbstractEventLoop
    told: asyncio.Event

    def tell(self) -> None:
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.told.set)


class Growth:
    """Waits for the log in a thread that is there while somebody waits."""

    def __init__(self, wait: Callable[[int, float], bool]) -> None:
        self._wait = wait
        self._lock = threading.Lock()
        self._waiting: set[Waiting] = set()
        self._watcher: threading.Thread | None = None
        self._closed = False

    async def past(self, position: int, told: asyncio.Event) -> None:
        """Return once the log may be past a position, or somebody set `told`. Only a hint."""
        waiting = Waiting(position, asyncio.get_running_loop(), told)
        with self._lock:
            self._waiting.add(waiting)
            if self._watcher is None and not self._closed:
                self._watcher = threading.Thread(target=self._watch, daemon=True)
                self._watcher.start()
        try:
            await told.wait()
        finally:
            with self._lock:
                self._waiting.discard(waiting)

    def _watch(self) -> None:
        while True:
            with self._lock:
                if not self._waiting or self._closed:
                    self._watcher = None
                    return
                lowest = min(each.position for each in self._waiting)
            try:
                grown = self._wait(lowest, LOOK_SECONDS)
            except LedgerError:
                grown = True  # who waits looks, and is told what is wrong
            if grown:
                with self._lock:
                    told, self._waiting = self._waiting, set()
                for each in told:
                    each.tell()

    def close(self) -> None:
        """Tell everybody, and watch no more."""
        with self._lock:
            self._closed = True
            watcher = self._watcher
            for each in self._waiting:
                each.tell()
        if watcher is not None:
            watcher.join()
