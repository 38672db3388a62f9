"""Group commit: what threads append at the same time shares one commit.

Whoever finds nobody committing leads: it commits what has gathered, its own append among it, and
hands over to the first of those who came meanwhile. Nobody waits for others to come: with one
thread every append is committed alone and at once.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from copy import copy

from beliefledger.ledger import envelope
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import AppendUncertain, EventIdReused, LedgerError
from beliefledger.ledger.store import Appended, Sealed
from beliefledger.ledger.times import Clock, Micros

GROUP_EVENTS = 2_000
"""A group is not extended past so many events, so that nobody waits long for others' work."""


Outcome = Appended | Exception | None


@dataclass(slots=True, eq=False)
class AppendRequest:
    """One append, and what became of it."""

    batch: Sequence[Sealed]
    expect: Mapping[str, int]
    clock: Clock
    erasures: int | None
    outcome: Outcome = None
    leads: bool = False
    woken: threading.Event | None = None
    """Of one who waits for another to commit or to hand over."""

    def wake(self) -> None:
        if self.woken is not None:
            self.woken.set()


Take = Callable[[], list[AppendRequest]]
"""Takes what has gathered since it was last taken, in the order it came; nothing once it is enough
for one commit."""


class GroupCommit:
    """`commit` takes requests once it has its turn to write, and sets the outcome of each: where it
    lies, durably, or why it was refused. What it raises is the outcome of all that it took."""

    def __init__(self, commit: Callable[[Take], None]) -> None:
        self._commit = commit
        self._lock = threading.Lock()
        self._waiting: deque[AppendRequest] = deque()
        self._led = False

    def append(self, request: AppendRequest) -> Appended:
        """Returns when the request is committed, alone or with others; raises why it was not."""
        try:
            with self._lock:
                request.leads, self._led = not self._led, True
                woken = request.woken = None if request.leads else threading.Event()
                self._waiting.append(request)
            if woken is not None:
                woken.wait()
            if request.leads:
                self._lead()
        finally:
            self._leave(request)
        if isinstance(request.outcome, Appended):
            return request.outcome
        if request.outcome is None:
            raise AssertionError("a commit left a request without an outcome")
        raise request.outcome

    def _leave(self, request: AppendRequest) -> None:
        """Hand over, whatever happened. When interrupted, what is not yet being committed will not
        be."""
        with self._lock:
            if request in self._waiting:
                self._waiting.remove(request)
            if request.leads:
                request.leads = False
                self._hand_over()

    def _lead(self) -> None:
        group: list[AppendRequest] = []

        def take() -> list[AppendRequest]:
            taken, events = len(group), sum(len(each.batch) for each in group)
            with self._lock:
                while self._waiting and events < GROUP_EVENTS:
                    group.append(self._waiting.popleft())
                    events += len(group[-1].batch)
            return group[taken:]

        try:
            self._commit(take)
        except BaseException as problem:  # told to each of the group, whatever it is
            if not group:  # there is nothing to write to: so it would be for all who wait
                take()
            for each in group:
                each.outcome = _for_another(problem)
            if not isinstance(problem, Exception):
                raise
        finally:
            for each in group:
                each.wake()

    def _hand_over(self) -> None:
        if self._waiting:
            self._waiting[0].leads = True
            self._waiting[0].wake()
        else:
            self._led = False


def appended_before(
    batch: Sequence[Sealed], found: Mapping[str, tuple[int, Micros, bytes]]
) -> Outcome:
    """Where this batch already lies in the log, None if it does not, or an error if its ids are
    taken.

    `found` has position, recorded time and envelope of those event ids that are in the log.
    """
    places = []
    for sealed in batch:
        there = found.get(sealed.address.event_id)
        if there is None:
            return None
        position, recorded_at, stored = there
        if not envelope.same_but_time(stored, sealed.head, sealed.tail):
            return EventIdReused(f"Event {sealed.address.event_id} has other content.")
        places.append((position, recorded_at))
    if not places:
        return None
    (first, recorded_at), (last, _) = places[0], places[-1]
    if [position for position, _ in places] != list(range(first, last + 1)):
        return EventIdReused("These events are in the log, but not as one batch.")
    return Appended(first, last, recorded_at, already=True)


def _for_another(problem: BaseException) -> Exception:
    """The same problem, to be raised in a thread of its own."""
    if isinstance(problem, LedgerError):
        again = copy(problem)
        again.__cause__ = problem.__cause__
        return again
    if isinstance(problem, Exception):
        return problem
    return AppendUncertain("The thread that was committing for several was interrupted.")
