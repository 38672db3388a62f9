"""The projector: one path from the log to every view, for following and for rebuilding alike.

It reads pages, folds them, and writes many rows and each view's position in one transaction. A view
whose fold fails stops at that event with its reason and does not stop the others.

Where bodies of somebody living are erased, the rows of that subject are deleted and folded anew
from what is left, in place: at the event that says so (`ContentErased`), and before, when whoever
erases asks for it. So a view that followed is the same as one that is rebuilt afterwards.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, delete, insert, select, text, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateIndex

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.erasures import spread
from beliefledger.ledger.errors import BackendUnavailable, BackendUnusable, LedgerError
from beliefledger.ledger.events.subject import ContentErased
from beliefledger.ledger.gc_pause import gc_paused
from beliefledger.ledger.log import Log, Page
from beliefledger.projections import probing
from beliefledger.projections.homes import Home, SQLiteHome, StillRead
from beliefledger.projections.tables import FOLD, decay_scores, view_state
from beliefledger.projections.view import View

REBUILD_PAGE = 20_000
"""Events written in one transaction."""
FOLD_PAGE = 500
"""Events in memory at once: with more, the garbage collector looks at them again and again."""
FOLLOW_PAGE = 2_000
REBUILDS_MAY_TAKE = 30.0
"""For how many seconds whoever erases waits until nobody rebuilds."""
Progress = Callable[[int, int], None]
"""(position reached, position to reach)"""
At = tuple[int, int, int]
"""What the memory of a view is of: a generation, a position, and how often it was folded anew."""


@dataclass(frozen=True, slots=True)
class ViewState:
    """How far a view is. `stopped_at` and `reason` are set when an event could not be folded;
    `refolds` counts how often rows were deleted or folded anew without its position moving."""

    name: str
    generation: int
    position: int
    last_event: str | None
    stopped_at: int | None
    reason: str | None
    refolds: int

    @property
    def at(self) -> At:
        return self.generation, self.position, self.refolds


_STATES = select(*(view_state.c[name] for name in ViewState.__slots__))


@dataclass(slots=True)
class _Filling:
    """A view whose new generation is being filled, as far as `upto` (None: the head)."""

    view: View
    upto: int | None
    folding: _Folding
    generation: int = 0
    position: int = 0

    @property
    def tables(self) -> Sequence[Table]:
        return self.view.tables(self.generation)

    def fold(self, page: Page, end: int, connection: Connection, histories: _Histories) -> None:
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


class _Histories:
    """What there is of subjects, read once for all the views that are folded anew from it."""

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


class _Folding:
    """Applies events to one view, and folds anew those of whom something was erased."""

    def __init__(self, view: View, log: Log, clean: int) -> None:
        """`clean`: where the log ended before the view's first event was read. An erasure that was
        complete by then needs nothing: its bodies were gone before anything was read. One that is
        completed while a view is being filled may have come in between two pages."""
        self._view = view
        self._log = log
        self._clean = clean
        self._refolded: dict[str, int] = {}
        """The same of each subject who was folded anew."""
        self.clean_of: set[str] = set()
        """The erasures (ids) whose bodies were gone when their subject was last folded anew."""
        self.types = view.types | ({ContentErased.NAME} if view.of_bodies else frozenset())

    def page(
        self,
        page: Page,
        after: int,
        end: int,
        connection: Connection,
        histories: _Histories,
    ) -> tuple[int, str | None]:
        """Apply a page; returns the last position applied, and why it stopped there if it did."""
        for each in page.events:
            if each.position <= after or each.type not in self.types:
                continue
            failure = self._apply(each, connection)
            if failure is None and self._view.of_bodies and each.type == ContentErased.NAME:
                failure = self._erased(each, end, connection, histories)
            if failure is not None:
                return each.position - 1, failure
        return max(after, page.position), None

    def _erased(
        self, event: Recorded, end: int, connection: Connection, histories: _Histories
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
        self, subject_ref: str, upto: int, connection: Connection, histories: _Histories
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
        """Why the event cannot be folded, if it cannot."""
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


def open_projector(log: Log, path: Path, views: Sequence[View]) -> Projector:
    """A projector over a SQLite file; a file that is damaged is thrown away and folded anew."""
    home = SQLiteHome(path)
    try:
        return Projector(log, home, views)
    except (BackendUnavailable, BackendUnusable) as problem:
        if not home.discard(problem):
            raise
    return Projector(log, SQLiteHome(path), views)


class Projector:
    """Keeps views up with a log. Safe to use from several threads and processes."""

    def __init__(self, log: Log, home: Home, views: Sequence[View]) -> None:
        self.home = home
        self.views = {view.name: view for view in views}
        self._log = log
        self._lock = threading.RLock()
        self._alone = threading.local()
        """Of the thread that rebuilds: what checks that nobody else does."""
        self._at: dict[str, At] = {}
        """What each view's memory is of."""
        self._folding = {view.name: _Folding(view, log, 0) for view in views}
        self._checked = False
        """Whether the views are known to be of this log."""
        with ExitStack() as undone:
            undone.callback(home.close)
            self._make()
            undone.pop_all()

    def _make(self) -> None:
        """Make what is not there yet."""
        outdated = []
        with self.writing() as connection:
            self.home.create(connection, view_state)
            self._count_refolds(connection)
            self.home.create(connection, decay_scores)
            known = self.states(connection)
            there = self.home.table_names(connection) if known else []
            for view in self.views.values():
                state = known.get(view.name)
                if state and not self._outdated(connection, there, view.tables(state.generation)):
                    continue
                if state is not None:
                    outdated.append(view.name)
                generation = 1 if state is None else state.generation + 1
                for table in view.tables(generation) if state else ():
                    table.drop(connection, checkfirst=True)  # of an interrupted rebuild
                self._create(connection, view, generation)
                self._index(connection, view, generation)
                connection.execute(delete(view_state).where(view_state.c.name == view.name))
                connection.execute(
                    insert(view_state).values(name=view.name, generation=generation, position=0)
                )
        if outdated:  # their tables may hold what is not to be kept any more
            self._drop_unused(outdated)

    def _count_refolds(self, connection: Connection) -> None:
        """Add the column to a table that is older than it."""
        there = connection.execute(text(f"SELECT * FROM {view_state} LIMIT 0")).keys()
        column = view_state.c.refolds.name
        if column not in there:
            adding = f"ALTER TABLE {view_state} ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0"
            connection.exec_driver_sql(adding)

    def _outdated(
        self, connection: Connection, there: Sequence[str], tables: Sequence[Table]
    ) -> bool:
        """Whether an older version made a view's tables, others than these: it is folded anew.
        `there` are the names of all that there are."""
        return any(
            table.name not in there
            or set(table.columns.keys())
            != set(connection.exec_driver_sql(f"SELECT * FROM {table} LIMIT 0").keys())
            - self.home.own_columns
            for table in tables
        )

    @property
    def engine(self) -> Engine:
        return self.home.engine

    def writing(self) -> AbstractContextManager[Connection]:
        """One write transaction over the views."""
        return self.home.writing()

    def reading(self) -> AbstractContextManager[Connection]:
        """One consistent read of the views."""
        return self.home.reading()

    def _create(self, connection: Connection, view: View, generation: int) -> None:
        """Make the tables, with the indexes that the fold itself needs."""
        for table in view.tables(generation):
            self.home.create(connection, table)
            for index in table.indexes:
                if index.info == FOLD:
                    connection.execute(CreateIndex(index, if_not_exists=True))

    def _index(self, connection: Connection, view: View, generation: int) -> None:
        """Make the other indexes: once the tables are full, that is faster."""
        for table in view.tables(generation):
            for index in table.indexes:
                connection.execute(CreateIndex(index, if_not_exists=True))

    def states(self, connection: Connection) -> dict[str, ViewState]:
        """The state of every view, as of this transaction."""
        return {row[0]: ViewState(*row) for row in connection.execute(_STATES)}

    # Following

    def catch_up(self, upto: int | None = None, progress: Progress | None = None) -> None:
        """Bring every view that is not stopped up to the position (by default the head)."""
        upto = self._log.head().position if upto is None else upto
        if not self._checked:
            self._rebuild_strangers()
        with self._lock:
            while self._is_behind(upto):
                with self.writing() as connection:
                    behind = self._behind(connection, upto)
                    if not behind:
                        return  # another process was first
                    # Unless the page goes through, what the views keep in memory is of nothing.
                    kept = {state.name: self._at.pop(state.name, None) for state in behind}
                    after = self._one_page(connection, behind, kept, upto)
                self._at |= after
                if progress:
                    progress(min(position for _, position, _ in after.values()), upto)

    def _is_behind(self, upto: int) -> bool:
        """Asked of the tables each time: another process may have rebuilt a view, and a server that
        crashed may have lost what was written last."""
        with self.reading() as connection:
            return bool(self._behind(connection, upto))

    def _behind(self, connection: Connection, upto: int) -> list[ViewState]:
        return [
            state
            for state in self.states(connection).values()
            if state.position < upto and state.stopped_at is None and state.name in self.views
        ]

    def _rebuild_strangers(self) -> None:
        """Rebuild the views that are of another history: the log was restored from a backup."""
        if self._strangers():
            with self.rebuilding():
                for name in self._strangers():
                    self.rebuild(name)
        self._checked = True

    def _strangers(self) -> list[str]:
        with self.reading() as connection:
            states = self.states(connection)
        return [
            state.name
            for state in states.values()
            if state.position
            and state.name in self.views
            and self._log.event_id_at(state.position) != state.last_event
        ]

    def _one_page(
        self,
        connection: Connection,
        behind: list[ViewState],
        kept: dict[str, At | None],
        upto: int,
    ) -> dict[str, At]:
        """Fold and write one page; returns what the memory of each view is of then."""
        reached = {}
        after = min(state.position for state in behind)
        size = FOLLOW_PAGE if upto - after <= FOLLOW_PAGE else REBUILD_PAGE
        types = frozenset().union(*(self._folding[state.name].types for state in behind))
        page = next(self._log.wanted(types, after, upto, size))
        page_end = self._log.event_id_at(page.position)
        histories = _Histories(self._log)
        for state in behind:
            view = self.views[state.name]
            if kept[state.name] != state.at:
                # Another process moved it on, or this one just began: keep nothing.
                self._begin(view, state, upto)
            folding = self._folding[state.name]
            position, failure = folding.page(page, state.position, upto, connection, histories)
            view.flush(connection)
            changed: dict[str, Any] = {"position": position}
            if failure is not None:
                changed |= {"stopped_at": position + 1, "reason": failure}
                changed["last_event"] = self._log.event_id_at(position) if position else None
            elif position == page.position:
                changed["last_event"] = page_end
            connection.execute(
                update(view_state).where(view_state.c.name == state.name).values(changed)
            )
            reached[state.name] = (state.generation, position, state.refolds)
        return reached

    def _begin(self, view: View, state: ViewState, upto: int) -> None:
        """Start with an empty memory from where the tables are."""
        empty = state.position == 0
        view.start(state.generation, empty=empty)
        self._folding[view.name] = _Folding(view, self._log, upto if empty else 0)

    # Rebuilding

    @contextmanager
    def rebuilding(self, seconds: float | None = None) -> Iterator[None]:
        """Keep other rebuilds out, in any process, from filling a generation until it is in use:
        two would fill the same one. May be entered again inside.

        Another's rebuild is waited for, by default without limit; else `BackendUnavailable`."""
        if hasattr(self._alone, "check"):
            yield
            return
        with self.home.rebuilding(seconds) as check:
            self._alone.check = check
            try:
                yield
            finally:
                del self._alone.check

    def rebuild(self, name: str, progress: Progress | None = None) -> None:
        """Fill a new generation of one view from the log, then put it in use."""
        with self.rebuilding():
            self.use(name, *self.shadow(name, progress=progress))

    def shadow(
        self, name: str, upto: int | None = None, progress: Progress | None = None
    ) -> tuple[int, int]:
        """Fill a new generation, up to a position or the head, without using it.

        Returns its number and its position. Raises `LedgerError` when an event cannot be folded.
        """
        return self.shadows({name: upto}, progress)[name]

    def shadows(
        self, upto: Mapping[str, int | None], progress: Progress | None = None
    ) -> dict[str, tuple[int, int]]:
        """As `shadow` for several views, each up to its position, in one pass over the log."""
        with self.rebuilding(), self._lock:
            self._drop_unused(list(upto))
            clean = self._log.head().position
            filling = [
                _Filling(view, end, _Folding(view, self._log, clean))
                for view, end in ((self.views[name], end) for name, end in upto.items())
            ]
            with self.writing() as connection:
                states = self.states(connection)
                for each in filling:
                    each.generation = states[each.view.name].generation + 1
                    # What an interrupted rebuild left behind.
                    for table in each.view.tables(each.generation):
                        table.drop(connection, checkfirst=True)
                    self._create(connection, each.view, each.generation)
            position = 0
            try:
                for each in filling:
                    each.view.start(each.generation, empty=True)
                while position < (until := self._until(filling)):
                    position = self._fill(filling, position, until)
                    if progress:
                        progress(position, until)
                for each in filling:
                    with self.home.filling([]) as connection:
                        self._index(connection, each.view, each.generation)
                        self.home.settle(connection, each.tables)
            finally:
                for each in filling:
                    self._at.pop(each.view.name, None)
            return {each.view.name: (each.generation, each.position) for each in filling}

    def _until(self, filling: Sequence[_Filling]) -> int:
        head = self._log.head().position
        return max((head if each.upto is None else each.upto for each in filling), default=0)

    def _fill(self, filling: Sequence[_Filling], after: int, upto: int) -> int:
        end = min(after + REBUILD_PAGE, upto)
        tables = [table for each in filling for table in each.tables]
        with gc_paused(), self.home.filling(tables) as connection:
            self._alone.check()
            types = frozenset().union(*(each.folding.types for each in filling))
            for page in self._log.wanted(types, after, end, FOLD_PAGE):
                histories = _Histories(self._log)
                for each in filling:
                    each.fold(page, end, connection, histories)
            for each in filling:
                each.view.flush(connection)
        return end

    def use(self, name: str, generation: int, position: int) -> None:
        """Put a filled generation in use and drop the one before it. Be `rebuilding` from before it
        was filled."""
        last = self._log.event_id_at(position) if position else None
        with self.rebuilding(), self.writing() as connection:
            self._alone.check()
            old = self.states(connection)[name].generation
            if old >= generation:
                raise BackendUnavailable(f"Another process rebuilt {name} in the meantime.")
            connection.execute(
                update(view_state)
                .where(view_state.c.name == name)
                .values(
                    generation=generation,
                    position=position,
                    last_event=last,
                    stopped_at=None,
                    reason=None,
                    digest_position=None,
                )
            )
        self._drop_unused([name])

    def drop(self, name: str, generation: int) -> None:
        """Throw away a generation that is not in use."""
        with self.writing() as connection:
            for table in self.views[name].tables(generation):
                table.drop(connection, checkfirst=True)

    def remember_digests(self, name: str, position: int, digest: str, content: str) -> None:
        """Keep a view's digests until its position changes."""
        with self.writing() as connection:
            connection.execute(
                update(view_state)
                .where(view_state.c.name == name, view_state.c.position == position)
                .values(digest_position=position, digest=digest, content_digest=content)
            )

    def known_digests(self, connection: Connection, name: str) -> tuple[str | None, str | None]:
        """The digests that were kept, if they are of the position that the view has now."""
        row = connection.execute(
            select(view_state.c.digest, view_state.c.content_digest).where(
                view_state.c.name == name, view_state.c.digest_position == view_state.c.position
            )
        ).first()
        return (None, None) if row is None else (row[0], row[1])

    def _drop_unused(self, names: Sequence[str]) -> None:
        """Drop the tables of views' generations that are not in use: those before, and what
        interrupted rebuilds left. While somebody reads them they stay until the next time."""
        with self.rebuilding():
            with self.reading() as connection:
                if not self._unused(connection, names):
                    return
            with suppress(StillRead), self.home.clearing() as connection:
                for table in self._unused(connection, names):
                    connection.exec_driver_sql(f"DROP TABLE {table}")

    def _unused(self, connection: Connection, names: Sequence[str]) -> list[str]:
        states = self.states(connection)
        used, kinds = set(), set()
        for name in names:
            for table in self.views[name].tables(states[name].generation):
                used.add(table.name)
                kinds.add(table.name.rpartition("_")[0])
        return [
            name
            for name in self.home.table_names(connection)
            if name not in used
            and name.rpartition("_")[0] in kinds
            and name.rpartition("_")[2].isdigit()
        ]

    # Forgetting

    def erasing(self) -> AbstractContextManager[None]:
        """As `rebuilding`, for whoever erases. Raises `BackendUnavailable` when a rebuild that is
        running does not end in time."""
        return self.rebuilding(REBUILDS_MAY_TAKE)

    def forget(self, subject_ref: str) -> dict[str, int]:
        """Delete every row of an erased subject, and what interrupted rebuilds left; then leave no
        deleted row behind in the files. Returns how many rows went from each view.

        The views of what outlives an erasure keep theirs.
        """
        return self._anew(subject_ref, [*self.views.values()], whole=True)

    def refold(self, subject_ref: str) -> dict[str, int]:
        """Fold anew the rows of somebody living of whom some bodies were deleted, each view as far
        as it is, with what is left. Returns how many rows went from each view, on balance.

        A view that has stopped, or that cannot be folded from what is left, only lets go of the
        rows, and is complete again once it is rebuilt.
        """
        views = [view for view in self.views.values() if view.of_bodies]
        return self._anew(subject_ref, views, whole=False)

    def _anew(self, subject_ref: str, views: Sequence[View], *, whole: bool) -> dict[str, int]:
        # Whoever fills a generation may have read bodies that are gone: that ends first.
        with self.erasing():
            self._drop_unused(list(self.views))
        removed = dict.fromkeys(self.views, 0)
        destroyed = set() if whole else self._destroyed(subject_ref)
        histories = _Histories(self._log)
        with self._lock, gc_paused():
            for view in views:
                kept = self._at.pop(view.name, None)
                with self.writing() as connection:
                    state = self.states(connection)[view.name]
                    if kept != state.at:
                        self._begin(view, state, 0)
                    its = view.tables(state.generation)
                    before = probing.rows_of(connection, its, subject_ref)
                    changed: dict[str, Any] = {"refolds": state.refolds + 1}
                    if whole or state.stopped_at is not None:
                        view.forget(subject_ref)
                    else:
                        folding = self._folding[view.name]
                        failure = folding.anew(subject_ref, state.position, connection, histories)
                        if failure is not None:
                            view.start(state.generation, empty=False)
                            view.forget(subject_ref)
                            changed |= {"stopped_at": state.position, "reason": failure}
                    view.flush(connection)
                    removed[view.name] = before - probing.rows_of(connection, its, subject_ref)
                    connection.execute(
                        update(view_state)
                        .where(view_state.c.name == view.name)
                        .values(**changed, digest_position=None)
                    )
                self._folding[view.name].clean_of |= destroyed
                self._at[view.name] = (state.generation, state.position, state.refolds + 1)
        self.scrub()
        return removed

    def _destroyed(self, subject_ref: str) -> set[str]:
        """The erasures (ids) of less than this subject whose bodies are gone by now and whose end
        is still to be recorded: nothing that is read from here on has any of them."""
        found = set()
        for each in self._log.eraser.of_subject(subject_ref):
            if each.done is None and not each.whole:
                positions = spread(each.positions)
                pages = (positions[i : i + FOLD_PAGE] for i in range(0, len(positions), FOLD_PAGE))
                rows = (row for page in pages for row in self._log.store.read_at(page))
                if all(row.body is None for row in rows):
                    found.add(each.id)
        return found

    def scrub(self) -> None:
        """Leave no deleted row behind in the views' files."""
        self.home.scrub()

    def close(self) -> None:
        self.home.close()
