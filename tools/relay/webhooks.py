"""Delivers to all webhooks of a ledger, until it is stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from beliefledger.ledger.closeable import Closeable
from beliefledger.ledger.errors import BackendUnavailable, LedgerError
from beliefledger.memory import MemoryLedger
from beliefledger.tools.relay.delivery import Delivery, Trying

_LOOK_SECONDS = 0.5
_AGAIN_SECONDS = 5.0
"""So long after an error that stopped one webhook it is begun again."""
Tell = Callable[[str, str, str], None]
"""Is given a webhook, what became of it (`follows`, `held`, `failing`, `given up`, `gone`,
`stopped`), why."""


class WebhookRelay(Closeable):
    """One thread for each webhook. Of several processes one delivers to a webhook; when it dies
    another takes over, where the cursor is."""

    def __init__(
        self,
        memory: MemoryLedger,
        trying: Trying | None = None,
        tell: Tell = lambda _webhook, _what, _why: None,
    ) -> None:
        self._memory = memory
        self._trying = trying or Trying()
        self._tell = tell
        self._stopped = threading.Event()
        self._running: dict[str, tuple[Delivery, threading.Thread]] = {}
        self._not_before: dict[str, float] = {}
        self._version = -1

    def __enter__(self) -> Self:
        return self

    def run(self) -> None:
        """Until `close` is called from another thread, or the process is interrupted."""
        try:
            while not self._stopped.is_set():
                with suppress(BackendUnavailable):
                    self._look()
                self._stopped.wait(_LOOK_SECONDS)
        finally:
            self.close()

    def _look(self) -> None:
        """Begin with webhooks that are new."""
        ended = {name for name, (_, thread) in self._running.items() if not thread.is_alive()}
        for name in ended:
            del self._running[name]
        version = self._memory.webhooks.version()
        if version == self._version and not ended and not self._not_before:
            return
        for each in self._memory.webhooks.endpoints().values():
            late = time.monotonic() < self._not_before.get(each.id, 0.0)
            if each.removed is not None or each.id in self._running or late:
                continue
            self._not_before.pop(each.id, None)
            delivery = Delivery(self._memory, each, self._trying, self._tell)
            thread = threading.Thread(
                target=self._deliver, args=(delivery,), name=f"webhook {each.id}", daemon=True
            )
            self._running[each.id] = delivery, thread
            thread.start()
            self._tell(each.id, "follows", each.registered.url)
        self._version = version

    def _deliver(self, delivery: Delivery) -> None:
        try:
            delivery.run()
        except LedgerError as problem:
            self._not_before[delivery.id] = time.monotonic() + _AGAIN_SECONDS
            self._tell(delivery.id, "stopped", problem.detail)

    def close(self) -> None:
        """Let what is on its way arrive, and let others take over at once."""
        self._stopped.set()
        running, self._running = list(self._running.values()), {}
        for delivery, _ in running:
            delivery.stop()
        for _, thread in running:
            thread.join(self._trying.rules.seconds + 5)
