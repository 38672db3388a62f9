"""What runs beside a server's calls, or apart: the worker, the projector, the schedule."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from beliefledger.answers import JobAnswer
from beliefledger.ledger.consumer import LEASE_SECONDS
from beliefledger.ledger.errors import LedgerError
from beliefledger.memory import MemoryLedger

logger = logging.getLogger("beliefledger.server")
_JOIN_SECONDS = 30
Tell = Callable[[str, str, str], None]
"""Told who (`worker`, `views`, `schedule`) does what from now on, and why."""


class Runs(Protocol):
    """Runs until it is closed."""

    def run(self) -> None: ...

    def close(self) -> None: ...


def _log(who: str, what: str, why: str) -> None:
    logger.info("the %s %s%s", who, what, f": {why}" if why else "")


class Background:
    """The worker, the projector and, where it is wanted, the schedule of a ledger, each in a thread
    while it is entered. Of several processes, one does each of them."""

    def __init__(
        self,
        memory: MemoryLedger,
        *,
        worker: bool = True,
        schedule: bool = False,
        lease_seconds: float = LEASE_SECONDS,
        tell: Tell = _log,
    ) -> None:
        keep = memory.operations
        self._runs: dict[str, Runs] = {}
        self._tell = tell
        if worker:
            self._runs["worker"] = keep.keep_processing(
                lease_seconds=lease_seconds, tell=lambda what, why: tell("worker", what, why)
            )
            self._runs["views"] = keep.keep_views(
                lease_seconds=lease_seconds, tell=lambda what, _at, why: tell("views", what, why)
            )
        if schedule:
            self._runs["schedule"] = keep.jobs.schedule(
                lease_seconds=lease_seconds, tell=self._tell_of_job
            )
        self._threads: dict[str, threading.Thread] = {}
        self._ended = threading.Event()
        self._closing = False
        self.stopped: dict[str, BaseException] = {}
        """What ended by itself, and the error that ended it."""

    def __enter__(self) -> Self:
        for name in self._runs:
            thread = threading.Thread(target=self._run, args=(name,), name=f"beliefledger {name}")
            self._threads[name] = thread
            thread.start()
        return self

    def wait(self) -> None:
        """Until one of them ends by itself. Raises what ended it."""
        self._ended.wait()
        for problem in self.stopped.values():
            raise problem

    def _run(self, name: str) -> None:
        try:
            self._runs[name].run()
        except BaseException as problem:  # `readyz` tells of it, and `wait` raises it
            self.stopped[name] = problem
            if not isinstance(problem, LedgerError):
                raise
            if self._closing:
                return  # interrupted twice, the ledger was closed before its thread ended
            logger.error("the %s stopped: %s", name, problem)  # noqa: TRY400
        finally:
            self._ended.set()

    def _tell_of_job(self, what: str, run: JobAnswer | None, why: str) -> None:
        if run is not None:
            what, why = f"ran {run.job}", run.error or ""
        self._tell("schedule", what, why)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._closing = True
        for each in self._runs.values():
            each.close()
        for thread in self._threads.values():
            thread.join(_JOIN_SECONDS)
