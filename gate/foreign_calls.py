"""Calls of an extractor that is not ours: for the caller they end in time, whatever it does.

Such a call is made in a thread of its own, because nothing in Python ends a call that waits for
ever. When the time is over the caller gets its answer and the thread is left behind: it is a
daemon, so it does not keep the process from ending, and nothing takes what it may still return. It
writes nothing: only the caller appends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, TypeVar

from beliefledger.ledger.errors import ExtractionUnavailable

T = TypeVar("T")

DEFAULT_SECONDS = 120.0
MOST_LEFT = 8
"""How many calls that have not returned are waited out before no other one is made."""


class NotReturned(TimeoutError):
    """An extractor had not returned when its time was over."""


def is_ours(extractor: object) -> bool:
    """Whether a call of an extractor ends by itself: our rules look at their deadline, and our
    clients of models have timeouts."""
    parts = (extractor, getattr(extractor, "client", extractor))
    return all(type(part).__module__.startswith("beliefledger.") for part in parts)


def did_not_return(problem: object) -> bool:
    """Whether it was for want of an answer that nobody could look."""
    return isinstance(problem, Exception) and isinstance(problem.__cause__, NotReturned)


class ForeignCalls:
    """Makes calls that end after so many seconds on the wall."""

    def __init__(self, seconds: float = DEFAULT_SECONDS, most_left: int = MOST_LEFT) -> None:
        self._seconds = seconds
        self._most_left = most_left
        self._left: list[threading.Thread] = []
        self._lock = threading.Lock()

    def left(self) -> int:
        """How many threads were left behind and still run."""
        with self._lock:
            self._left = [each for each in self._left if each.is_alive()]
            return len(self._left)

    def made(self, call: Callable[[], T]) -> T:
        """What the call returns, or raises. Raises `ExtractionUnavailable` when it takes too long,
        and where so many have not returned that no other one is made."""
        left = self.left()
        if left >= self._most_left:
            raise ExtractionUnavailable(
                f"The extractor is not asked: {left} of its calls have not returned."
            ) from NotReturned()
        ended: list[tuple[Any, BaseException | None]] = []

        def work() -> None:
            try:
                ended.append((call(), None))
            except BaseException as problem:  # noqa: BLE001  (the caller's to see, whatever it is)
                ended.append((None, problem))

        thread = threading.Thread(
            target=copy_context().run, args=(work,), name="extractor", daemon=True
        )
        thread.start()
        thread.join(self._seconds)
        if not ended:
            with self._lock:
                self._left.append(thread)
            raise ExtractionUnavailable(
                f"The extractor did not return within {self._seconds:g} s."
            ) from NotReturned()
        found, problem = ended[0]
        if problem is not None:
            raise problem
        return found  # type: ignore[no-any-return]
