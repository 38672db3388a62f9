"""Keeping the views up with the log in a process of its own, so that questions find them ready.

Queries catch up by themselves in any case. Several processes may do this: the holder of the
consumer `projector` runs, the others wait, and one of them takes over when it ends or dies.
"""

from __future__ import annotations

from collections.abc import Callable

from beliefledger.ledger.consumer import LEASE_SECONDS
from beliefledger.ledger.lease import Lease
from beliefledger.ledger.log import Log
from beliefledger.ledger.store import OwnConsumer
from beliefledger.ledger.subscription import LOOK_SECONDS
from beliefledger.operations.leading import Stepping
from beliefledger.projections.projector import Projector

Tell = Callable[[str, int, str], None]
"""(what it does from now on: `waits`, `follows` or `retries`; the position; why)"""


class Projecting(Stepping):
    """Folds what comes into the views, and moves the consumer's cursor to what they reached.

    A view that stopped at an event it cannot fold does not hold up the cursor; `status` tells of
    it.
    """

    others = "another process keeps the views up"

    def __init__(
        self,
        log: Log,
        projector: Projector,
        forget: Callable[[], None],
        *,
        lease_seconds: float = LEASE_SECONDS,
        tell: Tell = lambda _what, _position, _why: None,
    ) -> None:
        super().__init__(log, lease_seconds)
        self._projector = projector
        self._forget = forget
        self._tell = tell
        self._erasures = 0

    def _step(self, lease: Lease) -> str | None:
        """Catch up, and wait a moment for more."""
        head = self._log.head()
        if head.erasures != self._erasures:
            self._forget()
            self._erasures = head.erasures
        self._projector.catch_up(head.position)
        lease.move(self._reached(head.position))
        self._say("follows", "")
        self._log.wait(head.position, LOOK_SECONDS)
        return None

    def _reached(self, head: int) -> int:
        with self._projector.reading() as connection:
            states = self._projector.states(connection).values()
        return min((each.position for each in states if each.stopped_at is None), default=head)

    def _ask(self) -> Lease | None:
        return Lease.claim(self._log.cursors, OwnConsumer.PROJECTOR, self.holder, self._seconds)

    def _pass_on(self, what: str, why: str) -> None:
        self._tell(what, 0 if self._lease is None else self._lease.position, why)
