"""Work that one of several processes does: the holder of a lease. The others wait, and one of them
takes over when it ends or dies."""

from __future__ import annotations

import os
import socket
import threading
from abc import abstractmethod
from contextlib import suppress

from beliefledger.ledger import backoff
from beliefledger.ledger.closeable import Closeable
from beliefledger.ledger.consumer import CLAIM_SECONDS, check_seconds
from beliefledger.ledger.errors import BackendUnavailable, LeaseLost
from beliefledger.ledger.lease import Lease
from beliefledger.ledger.log import Log


class OneOfSeveral(Closeable):
    """Claims a lease, and tells what it does when that is another thing than before."""

    others: str
    """What another process does that has the lease."""

    def __init__(self, log: Log, lease_seconds: float) -> None:
        check_seconds(lease_seconds)
        self.holder = f"{socket.gethostname()}/{os.getpid()}/{os.urandom(8).hex()}"
        self._log = log
        self._seconds = lease_seconds
        self._told = ("", "")
        self._closed = threading.Event()

    def _claim(self) -> Lease | None:
        """The lease; None, after a moment, where another process has it."""
        lease = self._ask()
        if lease is None:
            self._say("waits", self.others)
            self._closed.wait(CLAIM_SECONDS)
        return lease

    @abstractmethod
    def _ask(self) -> Lease | None:
        """Claim the lease."""

    def _say(self, what: str, why: str) -> None:
        if (what, why) != self._told:
            self._told = (what, why)
            self._pass_on(what, why)

    @abstractmethod
    def _pass_on(self, what: str, why: str) -> None:
        """Tell whoever asked to be told."""

    def close(self) -> None:
        """End `run` soon."""
        self._closed.set()


def give_back(lease: Lease) -> None:
    """Let another process claim it at once."""
    lease.abandon()
    with suppress(BackendUnavailable):  # then the lease ends by itself
        lease.release()


class Stepping(OneOfSeveral):
    """Works step by step while it holds the lease, which it keeps while the database is out of
    reach: it tries again with back-off. Call `run` in one thread; `close` may be called from any.
    """

    def __init__(self, log: Log, lease_seconds: float) -> None:
        super().__init__(log, lease_seconds)
        self._lease: Lease | None = None

    def run(self) -> None:
        """Until it is closed."""
        delays = backoff.delays()
        try:
            while not self._closed.is_set():
                try:
                    problem = self._go_on()
                except LeaseLost as lost:
                    self._lease = None
                    self._say("waits", lost.detail)
                    continue
                except BackendUnavailable as away:
                    problem = away.detail
                if problem is None:
                    delays = backoff.delays()
                else:
                    self._say("retries", problem)
                    self._closed.wait(next(delays))
        finally:
            lease, self._lease = self._lease, None
            if lease is not None:
                give_back(lease)

    def _go_on(self) -> str | None:
        if self._lease is None:
            self._lease = self._claim()
        if self._lease is None:
            return None
        self._lease.check()
        return self._step(self._lease)

    @abstractmethod
    def _step(self, lease: Lease) -> str | None:
        """Do some work, or wait a moment for it; why none could be done, where that is so."""
