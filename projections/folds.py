"""Folds pages of the log into views, and folds a subject again after some of theirs was erased."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, Table
from sqlalchemy.exc import SQLAlchemyError

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import LedgerError
from beliefledger.ledger.events.subject import ContentErased
from beliefledger.ledger.log import Log, Page
from beliefledger.projections.view import View

PASSED_OVER = 200
"""So many events that a view does not fold are passed over before its position moves."""


@dataclass(slots=True)
class Filling:
    """A view's new generation while it is filled, up to `upto` (None: the head)."""

    view: View
    upto: int | None
    folding: Folding
    generation: int = 0
    position: int = 0

    @property
    def tables(self) -> Sequence[Table]:
        return self.view.tables(self.generation)

    def fold(self, page: Page, end: int, connection: Connection, histories: Histories) -> None:
        """Raises `LedgerError` when an event cannot be folded. `end` is a position that the log had
        reached before the page was read."""
        if self.upto is not None and page.position > self.upto:
            events = [event for event in page.events if event.position <= self.upto]
            page = Page(max(self.position, self.upto), events)
        self.position, failure = self.folding.page(page, self.position, end, connection, histories)
        if failure is not None:
            raise LedgerError(
                f"The view {self.view.name} cannot be rebuilt: position {self.position + 1}:"
                f" {failure}."
            )


class Histories:
    """The histories of subjects, read once for all views that fold them again."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._read: dict[str, tuple[int, list[Recorded]]] = {}

    def of(self, subject_ref: str, upto: int) -> Iterator[Recorded]:
        """A subject's events up to a position."""
        reached, events = self._read.get(subject_ref, (-1, []))
        if reached < upto:
            events = list(self._log.of_subject(subject_ref, upto))
            self._read = {subject_ref: (upto, events)}  # one at a time: they may be many
        return (each for each in events if each.position <= upto)


def sorted_out(page: Page, foldings: Sequence[Folding]) -> list[Page]:
    """For each of these the page with the events that it folds: looked through once for all."""
    found = [Page(page.position, []) for _ in foldings]
    wanted: dict[str, list[list[Recorded]]] = {}
    for folding, its in zip(foldings, found, strict=True):
        for name in folding.types:
            wanted.setdefault(name, []).append(its.events)
    for event in page.events:
        for events in wanted.get(event.type, ()):
            events.append(event)
    return found


class Folding:
    """Applies events to one view, and folds subjects again after an erasure."""

    def __init__(self, view: View, log: Log, clean: int) -> None:
        """`clean`: the head of the log before the view's first event was read. Erasures completed
        by then need nothing, since their bodies were gone before anything was read. One completed
        while a view is filled may have happened between two pages."""
        self._view = view
        self._log = log
        self._clean = clean
        self._refolded: dict[str, int] = {}
        """By subject who was folded again: the head of the log before that."""
        self.clean_of: set[str] = set()
        """The erasures (ids) whose bodies were gone when their subject was last folded anew."""
        self.types = view.types | ({ContentErased.NAME} if view.of_bodies else frozenset())

    def passes(self, at: int, upto: int) -> bool:
        """Whether nothing of (at, upto] is to be folded, as far as is known without reading it. Now
        and then it is gone over all the same, so that nobody has much to look through later."""
        return upto - at <= PASSED_OVER and self._log.own.none_of(self.types, at, upto)

    def page(
        self,
        page: Page,
        after: int,
        end: int,
        connection: Connection,
        histories: Histories,
    ) -> tuple[int, str | None]:
        """Apply a page that has the events of this view alone (see `sorted_out`); returns the last
        position applied, and why it stopped there if it did."""
        for each in page.events:
            if each.position <= after:
                continue
            failure = self._apply(each, connection)
            if failure is None and self._view.of_bodies and each.type == ContentErased.NAME:
                failure = self._erased(each, end, connection, histories)
            if failure is not None:
                return each.position - 1, failure
        return max(after, page.position), None

    def _erased(
        self, event: Recorded, end: int, connection: Connection, histories: Histories
    ) -> str | None:
        subject_ref = event.subject_ref or ""
        if event.position <= max(self._clean, self._refolded.get(subject_ref, 0)):
            return None
        if event.facts["request"] in self.clean_of:
            self.clean_of.discard(event.facts["request"])
            return None
        self._refolded[subject_ref] = end
        return self.anew(subject_ref, event.position, connection, histories)

    def anew(
        self, subject_ref: str, upto: int, connection: Connection, histories: Histories
    ) -> str | None:
        """Delete the subject's rows and fold their events again; returns why that failed."""
        self._view.forget(subject_ref)
        self._view.flush(connection)  # what is looked up from here on is to be gone
        for each in histories.of(subject_ref, upto):
            failure = self._apply(each, connection)
            if failure is not None:
                return failure
        return None

    def _apply(self, event: Recorded, connection: Connection) -> str | None:
        """Apply one event; returns why it cannot be folded, if it cannot."""
        if event.type not in self._view.types:
            return None
        try:
            self._view.apply(event, connection)
        except (LedgerError, SQLAlchemyError, connection.dialect.loaded_dbapi.Error):
            raise  # the log or the database has a problem, not this event
        except Exception as problem:  # noqa: BLE001  one poison event must not stop other views
            # Only the error's class: its text may quote words, which no view may hold.
            return f"{event.type}: {type(problem).__name__}"
        return None
