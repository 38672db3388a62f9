"""Decides turns as they come, in one process of several: the worker."""

from __future__ import annotations

from collections.abc import Callable

from beliefledger.answers import ProcessAnswer
from beliefledger.ledger.consumer import LEASE_SECONDS
from beliefledger.ledger.lease import Lease
from beliefledger.ledger.log import Log
from beliefledger.ledger.store import OwnConsumer
from beliefledger.ledger.subscription import LOOK_SECONDS
from beliefledger.operations.leading import Stepping

TURNS = 8
"""So many turns are decided before the lease is looked at again."""
Process = Callable[[int], ProcessAnswer]
"""Decides up to so many of the turns that wait."""
Tell = Callable[[str, str], None]
"""Told what the worker does, when that is another thing than before, and why."""


class Processing(Stepping):
    """Extracts and decides what waits, as long as it holds the lease: so that of several workers
    one asks the model."""

    others = "another process decides turns"

    def __init__(
        self,
        log: Log,
        process: Process,
        *,
        lease_seconds: float = LEASE_SECONDS,
        tell: Tell = lambda _what, _why: None,
    ) -> None:
        super().__init__(log, lease_seconds)
        self._process = process
        self._tell = tell

    def _step(self, lease: Lease) -> str | None:
        head = self._log.head().position
        done = self._process(TURNS)
        if done.turns == 0 and done.problem is not None:
            return done.problem
        if not done.turns:
            lease.move(head)
            self._say("follows", "")
            if self._log.head().position == head:
                self._log.wait(head, LOOK_SECONDS)
        return None

    def _ask(self) -> Lease | None:
        return Lease.claim(self._log.cursors, OwnConsumer.EXTRACTOR, self.holder, self._seconds)

    def _pass_on(self, what: str, why: str) -> None:
        self._tell(what, why)
