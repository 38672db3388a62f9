"""What runs in a server beside its calls: deciding turns, keeping views up."""

from __future__ import annotations

import logging
import threading
from types import TracebackType
from typing import Protocol, Self

from beliefledger.ledger.errors import LedgerError
from beliefledger.memory import MemoryLedger

logger = logging.getLogger("beliefledger.server")
_JOIN_SECONDS = 30


class Runs(Protocol):
    """Runs until it is closed."""

    def run(self) -> None: ...

    def close(self) -> None: ...


class Background:
    """The worker and the projector of a ledger, each in a thread, while it is entered."""

    def __init__(self, memory: MemoryLedger) -> None:
        keep = memory.operations
        self._runs: dict[str, Runs] = {
            "worker": keep.keep_processing(tell=lambda what, why: _tell("worker", what, why)),
            "views": keep.keep_views(tell=lambda what, _at, why: _tell("views", what, why)),
        }
        self._threads: dict[str, threading.Thread] = {}
        self.stopped: dict[str, str] = {}
        """What ended by itself, and the class of the error that ended it."""

    def __enter__(self) -> Self:
        for name in self._runs:
            thread = threading.Thread(target=self._run, args=(name,), name=f"beliefledger {name}")
            self._threads[name] = thread
            thread.start()
        return self

    def _run(self, name: str) -> None:
        try:
            self._runs[name].run()
        except LedgerError as problem:  # `readyz` tells of it
            self.stopped[name] = type(problem).__name__
            logger.error("the %s stopped: %s", name, problem)  # noqa: TRY400

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for each in self._runs.values():
            each.close()
        for thread in self._threads.values():
            thread.join(_JOIN_SECONDS)


def _tell(who: str, what: str, why: str) -> None:
    logger.info("the %s %s%s", who, what, f": {why}" if why else "")
