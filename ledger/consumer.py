"""A consumer that follows the log under a name and goes on where it was, whoever runs it."""

from __future__ import annotations

import math
import os
import re
import socket
import threading
import time
import weakref
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Self

from beliefledger.ledger import backoff
from beliefledger.ledger.closeable import Closeable
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import BackendUnavailable, CallerMistake, LeaseLost, LedgerMoved
from beliefledger.ledger.event_names import named
from beliefledger.ledger.lease import Lease
from beliefledger.ledger.secret_filter import refuse
from beliefledger.ledger.store import Cursor, Cursors, check_claim
from beliefledger.ledger.subscription import LOOK_SECONDS, Followed, Subscription

LEASE_SECONDS = 10.0
_LONGEST_LEASE = 86_400.0
_SHORTEST_LEASE = 0.1
CLAIM_SECONDS = 0.5
"""How often one that waits for its turn asks for it."""
_SETTLE_SECONDS = 1.0


class Consumer(Closeable):
    """An iterator over the events after its cursor, each delivered at least once.

    Several processes may run a consumer of one name: one holds its cursor, the others wait, and one
    of them takes over when the holder is closed or, soon after `lease_seconds`, when it died. `ack`
    moves the cursor durably; what was delivered and not acknowledged is delivered again to whoever
    claims the cursor next. Once everything delivered is acknowledged and nothing more of interest
    is there, the cursor moves to the head by itself, over the events that were filtered out.

    A holder that was taken over (its process was stopped for too long, or cut off) gets `LeaseLost`
    from `ack` and from the next iteration, and cannot move the cursor; asking for another event
    then claims it anew. While the database is out of reach, iterating and `ack` try again with
    back-off until it answers or the consumer is closed, and `trouble` says why; iterating goes on
    after the last event delivered.

    Iterate in one thread; `ack` and `close` may be called from any. Close it, or use `with`: that
    lets another take over at once.
    """

    def __init__(
        self,
        log: Followed,
        cursors: Cursors,
        name: str,
        types: Sequence[str] | None = None,
        subjects: Callable[[], Collection[str]] | None = None,
        *,
        lease_seconds: float = LEASE_SECONDS,
        follow: bool = True,
    ) -> None:
        _check_name(name)
        check_seconds(lease_seconds)
        if isinstance(types, str):
            raise CallerMistake(f"types is a list of event types: write [{types!r}].")
        self.name = name
        self.holder = f"{socket.gethostname()}/{os.getpid()}/{os.urandom(8).hex()}"
        """Who holds the cursor while this consumer runs: no other one has this name."""
        self.trouble: BackendUnavailable | None = None
        """What the database last said, while it does not answer."""
        self._log = log
        self._cursors = cursors
        self._types = None if types is None else tuple(sorted(named(types)))
        self._subjects = subjects
        self._seconds = float(lease_seconds)
        self._follow = follow
        self._closed = threading.Event()
        self._claiming = threading.Lock()
        self._lease: Lease | None = None
        self._lost = False
        self._pending: Recorded | None = None
        """Read, and not delivered yet."""
        self._reading: Subscription | None = None
        self._begin_at(0)

    # What is known of it

    @property
    def position(self) -> int:
        """How far the cursor is: everything up to there was acknowledged."""
        lease = self._lease
        if lease is not None:
            return lease.position
        cursor = self._cursor()
        return 0 if cursor is None else cursor.position

    @property
    def epoch(self) -> int:
        """The number of the claim that this consumer holds; 0 while it holds none."""
        lease = self._lease
        return 0 if lease is None else lease.epoch

    @property
    def lag(self) -> int:
        """How many positions the cursor is behind the head."""
        return max(0, self._log.head().position - self.position)

    def _cursor(self) -> Cursor | None:
        return next((each for each in self._cursors.all() if each.name == self.name), None)

    # Delivering

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Recorded:
        delays = backoff.delays()
        while True:
            event = self.look()
            if event is not None:
                return event
            if isinstance(self.trouble, LedgerMoved):
                raise self.trouble  # it will not come back here
            if self.trouble is not None:
                self._closed.wait(next(delays))
                continue
            delays = backoff.delays()
            try:
                self._rest()
            except BackendUnavailable as problem:
                self.trouble = problem

    def look(self) -> Recorded | None:
        """The next event that is there, if this consumer holds the cursor or can claim it now; None
        otherwise, and where the database does not answer (`trouble`). Never waits for one. Raises
        `StopIteration` at the end, and `LeaseLost`."""
        if self._closed.is_set():
            raise StopIteration
        try:
            event = self._step()
        except BackendUnavailable as problem:
            self.trouble = problem
            return None
        self.trouble = None
        if event is None and (self._closed.is_set() or (self._at_head and not self._follow)):
            raise StopIteration
        return event

    @property
    def looked(self) -> int | None:
        """Up to which position there is nothing to deliver; None while another holds the cursor."""
        return None if self._lease is None else self._looked

    def _rest(self) -> None:
        """Wait for a moment: for events, or for the cursor."""
        if self.looked is None:
            self._closed.wait(min(CLAIM_SECONDS, self._seconds / 4))
        else:
            self._log.wait(self._looked, LOOK_SECONDS)

    def _step(self) -> Recorded | None:
        """The next event; None when there is none now."""
        lease = self._lease or self._claim()
        if lease is None:
            return None
        try:
            lease.check()
            event = self._look(lease)
            if event is None:
                return None
            lease.check()
        except LeaseLost:
            if self._closed.is_set():
                return None  # it was given up, not lost
            self._lease = None
            self._lost = True
            self._at_head = False
            raise
        self._pending = None
        self._delivered = event.position
        return event

    def _claim(self) -> Lease | None:
        """Hold the cursor and begin after it; None if another holds it."""
        lease = Lease.claim(self._cursors, self.name, self.holder, self._seconds)
        if lease is None:
            return None
        # The thread that renews it must not outlive a consumer that was dropped without closing.
        weakref.finalize(self, lease.abandon)
        with self._claiming:
            closed = self._closed.is_set()
            if not closed:
                self._begin_at(lease.position)
                self._lost = False
                self._lease = lease
        if closed:
            lease.release()
            return None
        return lease

    def _begin_at(self, position: int) -> None:
        self._delivered = position
        self._looked = position
        self._at_head = False
        self._reading = self._pending = None
        self._idle_since = 0.0
        self._settle_at = 0.0

    def _look(self, lease: Lease) -> Recorded | None:
        if self._pending is not None:
            return self._pending
        if self._reading is None:
            if self._at_head and self._follow and not self._log.wait(self._looked, 0):
                if time.monotonic() >= self._idle_since + LOOK_SECONDS:
                    self._settle(lease)
                return None
            self._at_head = False
            self._reading = Subscription(
                self._log, self._looked, self._types, self._subjects, follow=False
            )
        self._pending = next(self._reading, None)
        if self._pending is None and not self._closed.is_set():
            self._looked = self._reading.position
            self._reading = None
            self._at_head = True
            self._idle_since = time.monotonic()
            if not self._follow or time.monotonic() >= self._settle_at:
                self._settle(lease)
        return self._pending

    def _settle(self, lease: Lease) -> None:
        """Move the cursor to the head over what was filtered out, unless something delivered still
        waits to be acknowledged. Not for each event that comes, as that is a commit."""
        if lease.position >= self._delivered:
            lease.move(self._looked)
            self._settle_at = time.monotonic() + _SETTLE_SECONDS

    # Acknowledging

    def ack(self, upto: int | Recorded) -> None:
        """Move the cursor to this event or its position, durably: it and all before it are done.

        Never moves it back. Raises `LeaseLost` when another has taken over.
        """
        position = upto.position if isinstance(upto, Recorded) else upto
        lease = self._to_acknowledge(position)
        for delay in backoff.delays():
            try:
                lease.move(position)
            except BackendUnavailable as problem:
                self.trouble = problem
                if self._closed.wait(delay):
                    raise
            except LeaseLost:
                self._check_open()  # or it was given up, not lost
                raise
            else:
                self.trouble = None
                return

    def _to_acknowledge(self, position: int) -> Lease:
        if isinstance(position, bool) or not isinstance(position, int):
            raise CallerMistake(f"ack takes an event or its position, not {position!r}.")
        self._check_open()
        lease = self._lease
        if self._lost:
            raise LeaseLost(f"Consumer {self.name} does not hold its cursor.")
        if lease is None or position > max(self._delivered, lease.position):
            raise CallerMistake(
                f"Position {position} cannot be acknowledged: consumer {self.name} has not"
                " delivered it since it claimed its cursor."
            )
        return lease

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise CallerMistake(f"Consumer {self.name} was closed: make another one.")

    # Ending

    def close(self) -> None:
        """End the iteration, and let another take over at once. Closing again does nothing."""
        with self._claiming:
            self._closed.set()
            lease, self._lease = self._lease, None
            reading = self._reading
        if reading is not None:
            reading.close()
        if lease is not None:
            lease.abandon()
            with suppress(BackendUnavailable):  # then the lease ends by itself
                lease.release()


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", name):
        raise CallerMistake(
            f"{name!r} cannot name a consumer: use 1 to 100 letters, digits, dots, _ and -."
        )
    check_claim(name)
    refuse(name, "The consumer's name")


def check_seconds(seconds: float) -> None:
    """Raises `CallerMistake` for what cannot be a lease."""
    if (
        isinstance(seconds, bool)
        or not isinstance(seconds, int | float)
        or not math.isfinite(seconds)
        or not _SHORTEST_LEASE <= seconds <= _LONGEST_LEASE
    ):
        raise CallerMistake(
            f"A lease is {_SHORTEST_LEASE:g} to {_LONGEST_LEASE:g} seconds, not {seconds!r}."
        )
