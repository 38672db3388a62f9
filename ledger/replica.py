"""Questions that a replica answers: what it must have for that, and when the primary is asked.

A replica has the same log and the same views a little later. A question is asked of it where it has
everything that this process wrote, every erasure that was done, and all that is older than a bound.
Else the primary is asked, and nobody notices but by the time it takes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, Protocol, TypeVar

from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import BackendUnavailable, BackendUnusable, LedgerError
from beliefledger.ledger.store import Head, Row

T = TypeVar("T")

PATIENCE = 0.1
"""For so many seconds a question waits for the replica, before it goes to the primary."""
LOOK_AGAIN = 0.002
_AFTER_FAILURE = 5.0
"""For so many seconds a replica that did not answer is left alone …"""
_WHILE_BEHIND = 1.0
"""… and one that is too far behind."""
_KNOWN_FOR = 10.0
"""So often it is looked whether it is still the same log."""

logger = logging.getLogger("beliefledger")


class Lacking(Exception):
    """The replica lacks what the answer must have: the primary is asked instead.

    Never leaves `Replica.ask`.
    """


class Seen(NamedTuple):
    """What a replica says of itself: the head that it has, and whether it follows a primary."""

    position: int
    erasures: int
    follows: bool


class Source(Protocol):
    """A replica's server, and its primary."""

    name: str
    """The replica's, without a password."""

    def look(self) -> Seen: ...

    def rows_at(self, positions: Sequence[int]) -> tuple[Seen, list[Row]]:
        """The events at these positions that the replica has, as it is at least by now."""
        ...

    def has_same(self, position: int) -> bool:
        """Whether replica and primary have the same event there."""
        ...

    def recorded_before(self, seconds: float) -> int:
        """The last position that was recorded so long ago or longer, by the primary's clock."""
        ...

    def seconds_behind(self, position: int) -> float:
        """How long ago the first event past a position was recorded, by the primary's clock; 0
        where there is none."""
        ...

    def renew(self) -> None:
        """Begin anew, after it did not answer."""
        ...

    def close(self) -> None: ...


class Condition(NamedTuple):
    """How a replica is. `events` and `seconds` are how far it is behind; None where nobody knows.
    `within` says whether it has all that is older than the bound, so that it may be asked."""

    reachable: bool
    events: int | None
    seconds: float | None
    within: bool


@dataclass(slots=True)
class Question:
    """A question that is being asked of the replica."""

    floor: int = 0
    """The position that it is about, if it is about one."""
    views_asked: bool = False
    """Whether views of the replica answered, so that it has the events at their positions."""


_OF_PRIMARY = Question()
"""Stands for all questions that are asked of the primary alone."""


class Replica:
    """Asks questions of a replica where it can answer them. Safe to use from several threads.

    `lag` is how many seconds an answer may be behind: whatever was recorded longer ago is in it. Of
    0, everything that was recorded before the question is.
    """

    def __init__(self, source: Source, lag: float) -> None:
        self.source = source
        self.lag = lag
        self.answered = 0
        """How many questions the replica answered …"""
        self.passed_on = 0
        """… and how many were asked of it and then of the primary."""
        self.trouble: str | None = None
        """Why questions go to the primary for now."""
        self._question: ContextVar[Question | None] = ContextVar("question", default=None)
        self._own: dict[str, int] = {}
        self._lock = threading.Lock()
        self._not_before = 0.0
        self._known_until = 0.0
        self._condition: Condition | None = None

    # Asking

    def ask(self, verb: Callable[[], T]) -> T:
        """What `verb` returns, which only reads: asked of the replica, and again of the primary
        where the replica cannot answer it. An error is the primary's, too: what the replica does
        not know, somebody may have recorded just now."""
        if self._question.get() is not None or time.monotonic() < self._not_before:
            return verb()
        token = self._question.set(Question())
        try:
            answer = verb()
        except (Lacking, LedgerError):
            pass
        else:
            self._count(answered=1)
            return answer
        finally:
            self._question.reset(token)
        self._count(passed_on=1)
        with self.aside():
            return verb()

    def _count(self, *, answered: int = 0, passed_on: int = 0) -> None:
        with self._lock:
            self.answered += answered
            self.passed_on += passed_on

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is asked inside is asked of the primary."""
        token = self._question.set(_OF_PRIMARY)
        try:
            yield
        finally:
            self._question.reset(token)

    @property
    def question(self) -> Question | None:
        """What this thread asks of the replica; None while it asks the primary."""
        asked = self._question.get()
        return None if asked is _OF_PRIMARY else asked

    def need(self, position: int) -> None:
        """The question is about the ledger at a position: an answer has all up to there."""
        question = self.question
        if question is not None:
            question.floor = max(question.floor, position)

    # What it must have

    def wrote(self, types: Iterable[str], position: int) -> None:
        """This process appended events of these types, the last of them at `position`."""
        with self._lock:
            for each in types:
                self._own[each] = max(self._own.get(each, 0), position)

    def least(self, question: Question, types: Collection[str]) -> int:
        """The position that a view of these types must have reached, however old it may be: it has
        what this process wrote, and what the question is about."""
        with self._lock:
            own = max((at for name, at in self._own.items() if name in types), default=0)
        return max(own, question.floor)

    def bound(self, head: Head) -> int:
        """The position that every view must have reached: the last one older than the bound."""
        if not self.lag:
            return head.position
        return min(head.position, self.source.recorded_before(self.lag))

    def rows_at(self, positions: Sequence[int], erasures: int | None) -> list[Row] | None:
        """The events at positions that the replica's views told; None where this thread asks the
        primary, or has not asked the views yet. `erasures` is how many the primary has told of:
        bodies that were deleted there are not to be read here."""
        question = self.question
        if question is None or not question.views_asked:
            return None
        until = time.monotonic() + PATIENCE
        while True:
            try:
                seen, rows = self.source.rows_at(positions)
            except (BackendUnavailable, BackendUnusable) as problem:
                raise self.lost(problem) from problem
            self.check(seen)
            if seen.erasures < (erasures or 0):
                self.wait(until)
            elif len(rows) < len(positions):
                raise Lacking
            else:
                return rows

    def wait(self, until: float) -> None:
        """Raises `Lacking` once the time is over; the next questions need not wait, too."""
        if time.monotonic() >= until:
            with self._lock:
                self._not_before = time.monotonic() + _WHILE_BEHIND
            raise Lacking
        time.sleep(LOOK_AGAIN)

    # How it is

    def check(self, seen: Seen) -> None:
        """Raises `Lacking` for a server that is no replica of this primary."""
        if not seen.follows:
            raise self._left(
                "follows no primary: it was promoted, or is none. If it was promoted, open the"
                " ledger there, and keep the old primary shut",
                _AFTER_FAILURE,
            )
        if not seen.position or time.monotonic() < self._known_until:
            return
        try:
            same = self.source.has_same(seen.position)
        except (BackendUnavailable, BackendUnusable) as problem:
            raise self.lost(problem) from problem
        if not same:
            raise self._left("has another history than the primary", _AFTER_FAILURE)
        self._known_until = time.monotonic() + _KNOWN_FOR

    def found(self) -> None:
        """It has what a question wanted."""
        with self._lock:
            trouble, self.trouble = self.trouble, None
        if trouble is not None:
            logger.info("The replica %s answers questions again.", self.source.name)

    def lost(self, problem: LedgerError) -> Lacking:
        """It did not answer: it is left alone for some seconds."""
        self._known_until = 0.0
        self.source.renew()
        return self._left(f"does not answer: {problem.detail.rstrip('.')}", _AFTER_FAILURE)

    def behind(self) -> Lacking:
        """It has not reached the bound."""
        return self._left(f"is more than {self.lag:g} seconds behind", _WHILE_BEHIND)

    def _left(self, why: str, seconds: float) -> Lacking:
        """Leave it alone for so long, which is told once."""
        trouble = f"Questions go to the primary: the replica {self.source.name} {why}."
        with self._lock:
            new, self.trouble = self.trouble is None, trouble
            self._condition = None
            self._not_before = time.monotonic() + seconds
        if new:
            logger.warning("%s", trouble)
        return Lacking(why)

    def condition(self, head: Head) -> Condition:
        """How it is, as against the primary's head. It is looked at, unless it is being left alone
        since it was looked at last. `trouble` is then as of now, too."""
        if self._condition is None or time.monotonic() >= self._not_before:
            self._condition = self._look(head)  # after what `_left` may have forgotten
        return self._condition

    def _look(self, head: Head) -> Condition:
        try:
            seen = self.source.look()
        except (BackendUnavailable, BackendUnusable) as problem:
            self.lost(problem)
            return Condition(reachable=False, events=None, seconds=None, within=False)
        try:
            self.check(seen)
        except Lacking:
            return Condition(reachable=True, events=None, seconds=None, within=False)
        events = max(head.position - seen.position, 0)
        within = seen.position >= self.bound(head)
        if within:
            self.found()
        else:
            self.behind()
        seconds = self.source.seconds_behind(seen.position) if events else 0.0
        return Condition(reachable=True, events=events, seconds=seconds, within=within)

    def close(self) -> None:
        self.source.close()
