"""Following the log: the events that are there, then those that come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol

from beliefledger.ledger.backoff import delays
from beliefledger.ledger.closeable import Closeable
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import BackendUnavailable, InvalidQuery, LedgerError
from beliefledger.ledger.event_names import named
from beliefledger.ledger.store import Head

FOLLOW_PAGE = 500
LOOK_SECONDS = 0.25
"""How long to wait for events before looking whether the follower was closed."""


class Followed(Protocol):
    """What is needed of a log to follow it. `ledger.log.Log` has it."""

    def head(self) -> Head: ...

    def pages_to(
        self, after: int = 0, upto: int | None = None, size: int = FOLLOW_PAGE, *, later: bool
    ) -> Iterator[tuple[int, list[Recorded]]]:
        """Up to `size` events at a time past `after`, each page with the position it reaches. With
        `later`, bodies are opened when `event` is asked for."""
        ...

    def wait(self, position: int, seconds: float) -> bool:
        """Wait until the head is past `position`; False when the time is over first."""
        ...


def check_reached(position: int, head: int) -> None:
    """Raises `InvalidQuery` for a position that a log has not reached."""
    if position > head:
        raise InvalidQuery(
            f"after: the log ends at position {head}, and {position} is past it. If it was restored"
            " from a backup, or a standby took over, what was recorded last may be gone and its"
            " positions given again: begin at a position that was told before that, or at 0."
        )


class Subscription(Closeable):
    """An iterator over events that, when it follows, waits for more until it is closed.

    `position` is how far it has looked, filtered events included: keep it, and start again from it.
    Closing from another thread ends the iteration. While a store that is followed is out of reach,
    it is tried again with back-off, `trouble` says why, and the events go on where they were; after
    any other error, asking again goes on from there.
    """

    def __init__(
        self,
        log: Followed,
        after: int,
        types: Sequence[str] | None,
        subjects: Callable[[], Collection[str]] | None,
        *,
        follow: bool,
    ) -> None:
        self.position = max(after, 0)
        self.trouble: BackendUnavailable | None = None
        """What the store last said, while it does not answer."""
        self._log = log
        self._types = None if types is None else named(types)
        self._subjects = subjects
        self._filters = types is not None or subjects is not None
        """Then the bodies of what is not wanted are not opened."""
        self._follow = follow
        self._closed = threading.Event()
        self._events = self._run()

    def _wanted(self, event: Recorded, subjects: Collection[str] | None) -> bool:
        return (self._types is None or event.type in self._types) and (
            subjects is None or event.subject_ref in subjects
        )

    def _run(self) -> Iterator[Recorded | None]:
        """The events; None whenever there are no more for now."""
        while not self._closed.is_set():
            pages = self._log.pages_to(self.position, size=FOLLOW_PAGE, later=self._filters)
            for end, page in pages:
                subjects = None if self._subjects is None else frozenset(self._subjects())
                for event in page:
                    if self._closed.is_set():
                        return
                    wanted = self._wanted(event, subjects)
                    if wanted:
                        event.event  # noqa: B018  opened now: what is wrong with it is told before
                    self.position = event.position
                    if wanted:
                        yield event
                self.position = end
            if not self._follow:
                return
            yield None

    def look(self) -> Recorded | None:
        """The next event that is there; None when there is none now, or the store that is followed
        does not answer (`trouble`). Never waits for one. Raises `StopIteration` at the end."""
        try:
            event = next(self._events)
        except LedgerError as problem:
            self._events = self._run()  # a generator that raised would only say that it is over
            if not self._follow or not isinstance(problem, BackendUnavailable):
                raise
            self.trouble = problem
            return None
        self.trouble = None
        return event

    def __iter__(self) -> Subscription:
        return self

    def __next__(self) -> Recorded:
        patience = delays()
        while True:
            event = self.look()
            if event is not None:
                return event
            try:
                while self.trouble is None and not self._closed.is_set():
                    if self._log.wait(self.position, LOOK_SECONDS):
                        break
            except BackendUnavailable as problem:
                self.trouble = problem
            if self.trouble is not None and self._closed.wait(next(patience)):
                raise StopIteration

    def close(self) -> None:
        self._closed.set()
