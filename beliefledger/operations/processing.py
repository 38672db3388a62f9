"""Decides turns as they come, in one process of several: the worker."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from beliefledger.answers import ProcessAnswer
from beliefledger.ledger import backoff
from beliefledger.ledger.closeable import Closeable
from beliefledger.ledger.consumer import CLAIM_SECONDS, LEASE_SECONDS, check_seconds
from beliefledger.ledger.errors import BackendUnavailable, LeaseLost
from beliefledger.ledger.lease import Lease
from beliefledger.ledger.log import Log
from beliefledger.ledger.store import OwnConsumer
from beliefledger.ledger.subscription import LOOK_SECONDS

TURNS = 8
"""So many turns are decided before the lease is looked at again."""
Process = Callable[[int], ProcessAnswer]
"""Decides up to so many of the turns that wait."""
Tell = Callable[[str, str], None]
"""Told what the worker does, when that is another thing than before, and why."""


class Processing(Closeable):
    """Extracts and decides what waits, as long as it holds the lease: so that of several workers
    one asks the model. Call `run` in one thread; `close` may be called from any."""

    def __init__(
        self,
        log: Log,
        process: Process,
        *,
        lease_seconds: float = LEASE_SECONDS,
        tell: Tell = lambda _what, _why: None,
    ) -> None:
        check_seconds(lease_seconds)
        self.holder = f"{socket.gethostname()}/{os.getpid()}/{os.urandom(8).hex()}"
        self._log = log
        self._process = process
        self._seconds = lease_seconds
        self._tell = tell
        self._told = ("", "")
        self._closed = threading.Event()
        self._lease: Lease | None = None

    def run(self) -> None:
        """Until it is closed."""
        delays = backoff.delays()
        try:
            while not self._closed.is_set():
                try:
                    problem = self._step()
                except LeaseLost as lost:
                    self._lease, problem = None, None
                    self._say("waits", lost.detail)
                except BackendUnavailable as away:
                    problem = away.detail
                if problem is None:
                    delays = backoff.delays()
                else:
                    self._say("retries", problem)
                    self._closed.wait(next(delays))
        finally:
            self._release()

    def _step(self) -> str | None:
        """Decide some turns, or wait a moment; why none could be decided, where that is so."""
        if self._lease is None:
            self._lease = Lease.claim(
                self._log.cursors, OwnConsumer.EXTRACTOR, self.holder, self._seconds
            )
        if self._lease is None:
            self._say("waits", "another process decides turns")
            self._closed.wait(CLAIM_SECONDS)
            return None
        self._lease.check()
        head = self._log.head().position
        done = self._process(TURNS)
        if done.turns == 0 and done.problem is not None:
            return done.problem
        if not done.turns:
            self._lease.move(head)
            self._say("follows", "")
            if self._log.head().position == head:
                self._log.wait(head, LOOK_SECONDS)
        return None

    def _say(self, what: str, why: str) -> None:
        if (what, why) != self._told:
            self._told = (what, why)
            self._tell(what, why)

    def _release(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.abandon()
            with suppress(BackendUnavailable):  # then the lease ends by itself
                lease.release()

    def close(self) -> None:
        """End `run` soon."""
        self._closed.set()
