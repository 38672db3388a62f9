"""Wakes waiting readers when the log has grown. Only a hint: readers also poll."""

from __future__ import annotations

import threading

import psycopg

from beliefledger.ledger.backoff import delays
from beliefledger.ledger.errors import LedgerError
from beliefledger.ledger.postgres.server import Server

_LISTENING_SECONDS = 0.25
"""How long to wait before looking by oneself while notifications come in."""
_DEAF_SECONDS = 0.02
"""The same while they do not: the connection is lost, or a pooler does not hand them on."""
_LOOK_UP_SECONDS = 0.2


class Waker:
    """Listens on a connection of its own, in a thread that begins when somebody first waits."""

    def __init__(self, server: Server, channel: str) -> None:
        self._server = server
        self._channel = channel
        self._changed = threading.Condition()
        self.woken = 0
        """Counts the hints so far: look at it before looking at the log, then `wait` past it."""
        self._listening = False
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        with self._changed:
            self.woken += 1
            self._changed.notify_all()

    def wait(self, woken: int, seconds: float) -> None:
        """Wait for a hint past this count, but no longer than is good without one."""
        with self._changed:
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(
                    target=self._listen, name="beliefledger listens", daemon=True
                )
                self._thread.start()
            longest = _LISTENING_SECONDS if self._listening else _DEAF_SECONDS
            self._changed.wait_for(lambda: self.woken > woken, min(seconds, longest))

    def _listen(self) -> None:
        patience = delays()
        while not self._closed.is_set():
            try:
                with self._server.connect_directly() as connection:
                    connection.execute(f"LISTEN {self._channel}")
                    self._listening = self._server.is_notified
                    patience = delays()
                    self.wake()  # for what came before the connection listened
                    while not self._closed.is_set():
                        for _ in connection.notifies(timeout=_LOOK_UP_SECONDS, stop_after=1):
                            self.wake()
            except (psycopg.Error, LedgerError):
                # Those who wait look by themselves, and are told there if the server is gone.
                self._listening = False
                self._closed.wait(next(patience))

    def close(self) -> None:
        self._closed.set()
        self.wake()
        if self._thread is not None:
            self._thread.join()
