"""Keeping the views up with the log in a process of its own, so that questions find them ready.

Queries catch up by themselves in any case. Several processes may do this: the holder of the
consumer `projector` runs, the others wait, and one of them takes over when it ends or dies.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from beliefledger.ledger import backoff
from beliefledger.ledger.closeable import Closeable
from beliefledger.ledger.consumer import LEASE_SECONDS, check_seconds
from beliefledger.ledger.errors import BackendUnavailable, LeaseLost
from beliefledger.ledger.lease import Lease
from beliefledger.ledger.log import Log
from beliefledger.ledger.store import OwnConsumer
from beliefledger.projections.projector import Projector

LOOK_SECONDS = 0.25
"""How long to wait for events before looking whether it was stopped or taken over."""
CLAIM_SECONDS = 0.5
"""How often one that waits for its turn asks for it."""
Tell = Callable[[str, int, str], None]
"""(what it does from now on: `waits`, `follows` or `retries`; the position; why)"""


class Projecting(Closeable):
    """Folds what comes into the views, and moves the consumer's cursor to what they reached.

    While the database is out of reach it tries again with back-off. A view that stopped at an event
    it cannot fold does not hold up the cursor; `status` tells of it. Call `run` in one thread;
    `close` may be called from any.
    """

    def __init__(
        self,
        log: Log,
        projector: Projector,
        forget: Callable[[], None],
        *,
        lease_seconds: float = LEASE_SECONDS,
        tell: Tell = lambda _what, _position, _why: None,
    ) -> None:
        check_seconds(lease_seconds)
        self.holder = f"{socket.gethostname()}/{os.getpid()}/{os.urandom(8).hex()}"
        self._log = log
        self._projector = projector
        self._forget = forget
        self._seconds = lease_seconds
        self._tell = tell
        self._told = ("", "")
        self._erasures = 0
        self._closed = threading.Event()
        self._lease: Lease | None = None

    def run(self) -> None:
        """Until it is closed."""
        delays = backoff.delays()
        try:
            while not self._closed.is_set():
                try:
                    self._step()
                except LeaseLost as problem:
                    self._lease = None
                    self._say("waits", problem.detail)
                except BackendUnavailable as problem:
                    self._say("retries", problem.detail)
                    self._closed.wait(next(delays))
                else:
                    delays = backoff.delays()
        finally:
            self._release()

    def _step(self) -> None:
        """Catch up and wait a moment for more; or wait a moment for the turn."""
        lease = self._lease
        if lease is None:
            cursors = self._log.cursors
            lease = self._lease = Lease.claim(
                cursors, OwnConsumer.PROJECTOR, self.holder, self._seconds
            )
        if lease is None:
            self._say("waits", "another process keeps the views up")
            self._closed.wait(CLAIM_SECONDS)
            return
        lease.check()
        head = self._log.head()
        if head.erasures != self._erasures:
            self._forget()
            self._erasures = head.erasures
        self._projector.catch_up(head.position)
        lease.move(self._reached(head.position))
        self._say("follows", "")
        self._log.wait(head.position, LOOK_SECONDS)

    def _reached(self, head: int) -> int:
        with self._projector.reading() as connection:
            states = self._projector.states(connection).values()
        return min((each.position for each in states if each.stopped_at is None), default=head)

    def _say(self, what: str, why: str) -> None:
        """Tell what it does, when that is another thing than before."""
        if (what, why) != self._told:
            self._told = (what, why)
            self._tell(what, 0 if self._lease is None else self._lease.position, why)

    def _release(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.abandon()
            with suppress(BackendUnavailable):  # then the lease ends by itself
                lease.release()

    def close(self) -> None:
        """End `run` soon."""
        self._closed.set()
