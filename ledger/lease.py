"""The lease on a consumer's cursor: only its holder may move the cursor, until somebody else claims
it."""

from __future__ import annotations

import threading
import time

from beliefledger.ledger.errors import BackendUnavailable, LeaseLost, LedgerError
from beliefledger.ledger.store import Cursor, Cursors


class Lease:
    """Held from `claim` on, and renewed by a thread in the background until it is released.

    Who was stopped for longer than the lease may find that another has it: the epoch is then no
    longer in force, and the database refuses every move of the cursor with it. Safe to use from
    several threads.
    """

    def __init__(self, cursors: Cursors, cursor: Cursor, seconds: float, since: float) -> None:
        self.name = cursor.name
        self.epoch = cursor.epoch
        self.position = cursor.position
        """How far the cursor is, durably."""
        self._cursors = cursors
        self._seconds = seconds
        self._until = since + seconds
        self._lost = False
        self._problem: LedgerError | None = None
        self._ended = threading.Event()
        self._moving = threading.Lock()
        threading.Thread(target=self._keep, name=f"lease of {self.name}", daemon=True).start()

    @classmethod
    def claim(cls, cursors: Cursors, name: str, holder: str, seconds: float) -> Lease | None:
        """None while another holder has it."""
        since = time.monotonic()  # before asking, so that it never ends later here than there
        cursor = cursors.claim(name, holder, seconds)
        return None if cursor is None else cls(cursors, cursor, seconds, since)

    def check(self) -> None:
        """Raises `LeaseLost` once another is known to have it, and asks when its time may be over:
        then the process was stopped, or the database out of reach."""
        if self._problem is not None:
            raise self._problem
        if not self._lost and time.monotonic() >= self._until:
            self._renew()
        self._check_not_lost()

    def move(self, position: int) -> None:
        """Move the cursor forward, durably. Raises `LeaseLost`."""
        self._check_not_lost()
        if position <= self.position:
            return
        if not self._cursors.acknowledge(self.name, self.epoch, position):
            self._lose()
        self._check_not_lost()
        with self._moving:
            self.position = max(self.position, position)

    def release(self) -> None:
        """Let others claim it at once."""
        self.abandon()
        self._cursors.release(self.name, self.epoch)

    def abandon(self) -> None:
        """Renew it no more."""
        self._ended.set()

    def _keep(self) -> None:
        while not self._lost and not self._ended.wait(self._seconds / 3):
            try:
                self._renew()
            except BackendUnavailable:
                continue  # asked again soon, and by `check` before an event is given out too late
            except LedgerError as problem:
                self._problem = problem  # for `check` to raise
                return

    def _renew(self) -> None:
        asked = time.monotonic()
        if self._cursors.renew(self.name, self.epoch, self._seconds):
            self._until = asked + self._seconds
        else:
            self._lose()

    def _lose(self) -> None:
        self._lost = True
        self._ended.set()

    def _check_not_lost(self) -> None:
        if self._lost:
            raise LeaseLost(f"Epoch {self.epoch} of consumer {self.name} is over.")
