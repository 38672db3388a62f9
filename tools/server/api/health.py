"""Whether the server can do its work: the ledger, its views, tree and vault, and the disk."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from beliefledger.answers import ReplicaAnswer
from beliefledger.awaitable.calls import Calls
from beliefledger.ledger.errors import LedgerError
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.background import Background

logger = logging.getLogger("beliefledger.server")
KEPT_SECONDS = 1.0
"""So long an answer is given again: anybody may ask, and it is not to be a burden."""
WAIT_SECONDS = 5.0
MOST_LAG = 10_000
"""Events that a view may be behind."""
NOBODY = "nobody"
"""A name that is looked up in the vault."""
BESIDE = frozenset({"replica"})
"""What is told, and keeps the server from nothing: without its replica it asks the primary."""
LEAST_FREE = 64_000_000
"""Bytes on the disk of a ledger in a directory."""


class Health:
    """Looks at what a server needs."""

    def __init__(self, memory: MemoryLedger, background: Background, calls: Calls) -> None:
        self._memory = memory
        self._background = background
        self._calls = calls
        self._last: tuple[float, dict[str, Any]] | None = None

    async def ready(self) -> dict[str, Any]:
        """`stopped` names what keeps the server from its work; then `status` is `unready`."""
        if self._last is not None and monotonic() - self._last[0] < KEPT_SECONDS:
            return self._last[1]
        stopped = sorted(self._background.stopped)
        checks: dict[str, Any] = {}
        try:
            checks = await asyncio.wait_for(self._calls.run(self._checks), WAIT_SECONDS)
        except TimeoutError:
            stopped.append("ledger")
        stopped += [n for n, each in checks.items() if not each["ok"] and n not in BESIDE]
        status = "unready" if stopped else "ready"
        said = {"status": status, "stopped": stopped, "checks": checks}
        self._last = monotonic(), said
        return said

    def _checks(self) -> dict[str, Any]:
        """Each by itself: what is broken is named, and hides nothing of the rest."""
        return {
            **self._of_status(),
            "tree": {"ok": self._works(self._look_at_tree)},
            "vault": {"ok": self._works(self._look_at_vault)},
            "disk": self._disk(),
        }

    def _of_status(self) -> dict[str, Any]:
        try:
            status = self._memory.status()
        except (LedgerError, OSError) as problem:
            logger.warning("the ledger does not say how it is: %s", problem)
            return {"ledger": {"ok": False}}
        behind = max((each.lag for each in status.views), default=0)
        poisoned = sum(each.stopped_at is not None for each in status.views)
        lag = {"ok": behind <= MOST_LAG and not poisoned, "events": behind}
        return {"lag": lag, **_replica(status.replica)}

    def _look_at_tree(self) -> None:
        """Its keys and the last checkpoint can be read, and it can be signed on. Tiles that are
        gone are made anew from the log."""
        self._memory.proofs.signing_key()
        self._memory.proofs.tree.check()

    def _look_at_vault(self) -> None:
        self._memory.tokens.ready()
        self._memory.tokens.subject(NOBODY)

    @staticmethod
    def _works(look: Callable[[], object]) -> bool:
        try:
            look()
        except (LedgerError, OSError) as problem:
            logger.warning("not ready: %s", problem)
            return False
        return True

    def _disk(self) -> dict[str, Any]:
        """A server of Postgres has a disk of its own, which is not seen from here."""
        place = self._memory.place
        if not isinstance(place, Path):
            return {"ok": True}
        free = shutil.disk_usage(place).free
        return {"ok": free >= LEAST_FREE, "free_bytes": free}


def _replica(told: ReplicaAnswer | None) -> dict[str, Any]:
    """How the replica is, without where it is: anybody may ask."""
    if told is None:
        return {}
    wanted = {"reachable", "lag", "lag_seconds", "bound_seconds"}
    return {"replica": {"ok": told.within, **told.model_dump(mode="json", include=wanted)}}
