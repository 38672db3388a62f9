"""The projector: one path from the log to every view, for following and for rebuilding alike.

It reads pages, folds them, and writes many rows and each view's position in one transaction. A view
whose fold fails stops at that event with its reason and does not stop the others.

Where bodies of somebody living are erased, the rows of that subject are deleted and folded anew
from what is left, in place: at the event that says so (`ContentErased`), and before, when whoever
erases asks for it. So a view that followed is the same as one that is rebuilt afterwards.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any

from sqlalchemy import Connection, Engine, Table, delete, insert

from beliefledger.ledger.erasures import spread
from beliefledger.ledger.errors import BackendUnavailable
from beliefledger.ledger.gc_pause import gc_paused
from beliefledger.ledger.log import Log
from beliefledger.ledger.replica import Lacking, Question
from beliefledger.ledger.spans import PROJECT, traced
from beliefledger.ledger.store import Head
from beliefledger.projections import probes, view_tables
from beliefledger.projections.compiled import STATEMENTS
from beliefledger.projections.counts import Counts
from beliefledger.projections.folds import Filling, Folding, Histories, sorted_out
from beliefledger.projections.replica_views import ReplicaViews
from beliefledger.projections.tables import decay_scores, view_state
from beliefledger.projections.view import FIRST_GENERATION, View
from beliefledger.projections.view_databases import Home, StillRead
from beliefledger.projections.view_tables import At, ViewState, sound, states

REBUILD_PAGE = 20_000
"""Events written in one transaction."""
FOLD_PAGE = 500
"""Events in memory at once: with more, the garbage collector takes longer."""
FOLLOW_PAGE = 2_000
REBUILDS_MAY_TAKE = 30.0
"""For how many seconds an erasure waits for a rebuild."""
Progress = Callable[[int, int], None]
"""(position reached, position to reach)"""


class Projector:
    """Keeps views up with a log. Safe to use from several threads and processes."""

    def __init__(
        self, log: Log, home: Home, views: Sequence[View], replica: ReplicaViews | None = None
    ) -> None:
        self.home = home
        self._replica = replica
        self.views = {view.name: view for view in views}
        self.counts = Counts(views)
        self._log = log
        self._lock = threading.RLock()
        self._alone = threading.local()
        """In the thread that rebuilds: `check`, which raises if another process rebuilds too."""
        self._at: dict[str, At] = {}
        """The state that each view's memory belongs to."""
        self._folding = {view.name: Folding(view, log, 0) for view in views}
        self._checked = False
        """Whether the views are known to be of this log."""
        self._folded_last = False
        """Whether nobody else brought a view up to date since this process last did."""
        with ExitStack() as undone:
            undone.callback(home.close)
            self._make()
            undone.pop_all()

    def _make(self) -> None:
        """Create missing tables, and new ones for views whose tables are outdated."""
        outdated: list[str] = []
        missing: list[Table] = []
        made: list[dict[str, Any]] = []
        with self.writing() as connection:
            there = self.home.columns(connection)
            known = view_tables.known(connection, there)
            for view in self.views.values():
                state = known.get(view.name)
                if state and not view_tables.outdated(there, view.tables(state.generation)):
                    continue
                if state is not None:
                    outdated.append(view.name)
                generation = FIRST_GENERATION if state is None else state.generation + 1
                tables = view.tables(generation)
                for table in tables if state else ():
                    if there.pop(table.name, None) is not None:  # of an interrupted rebuild
                        table.drop(connection)
                missing += tables
                made.append({"name": view.name, "generation": generation, "position": 0})
            view_tables.complete(self.home, connection, there, [view_state, decay_scores, *missing])
            if outdated:
                connection.execute(delete(view_state).where(view_state.c.name.in_(outdated)))
            if made:
                connection.execute(insert(view_state), made)
        if outdated:  # their tables may hold what is not to be kept any more
            self._drop_unused(outdated)

    @property
    def engine(self) -> Engine:
        return self.home.engine

    def writing(self) -> AbstractContextManager[Connection]:
        """One write transaction over the views."""
        return self.home.writing()

    def reading(self) -> AbstractContextManager[Connection]:
        """One consistent read of the views."""
        return self.home.reading()

    def states(self, connection: Connection) -> dict[str, ViewState]:
        """The state of every view, as of this transaction."""
        return states(connection)

    # Following

    def catch_up(
        self,
        upto: int | None = None,
        progress: Progress | None = None,
        *,
        only: Collection[str] | None = None,
    ) -> None:
        """Bring every view that is not stopped, or of these `only`, up to the position (by default
        the head)."""
        upto = self._log.head().position if upto is None else upto
        if not self._checked:
            self._rebuild_strangers()
        if self._expects_behind(upto, only) or self._is_behind(upto, only):
            self._follow(upto, progress, only)

    def _follow(
        self, upto: int, progress: Progress | None = None, only: Collection[str] | None = None
    ) -> None:
        """Fold and write pages until no view is behind."""
        with self._lock:
            while True:
                with self.writing() as connection:
                    behind = self._behind(self.states(connection), upto, only)
                    if not behind:
                        self._folded_last = False
                        return  # another process was first
                    # Unless the page goes through, what the views keep in memory is of nothing.
                    kept = {state.name: self._at.pop(state.name, None) for state in behind}
                    after = self._one_page(connection, behind, kept, upto)
                self._at |= after
                self._folded_last = True
                lowest = min(position for _, position, _ in after.values())
                if progress:
                    progress(lowest, upto)
                if lowest >= upto:
                    return

    def _expects_behind(self, upto: int, only: Collection[str] | None) -> bool:
        """Whether a view is behind unless another process was first. Then its state need not be
        read before it is locked."""
        if not self._folded_last:
            return False
        at = {name: self._at.get(name) for name in (self.views if only is None else only)}
        return any(
            each is not None and self._lacks(name, each[1], upto, only) for name, each in at.items()
        )

    def _is_behind(self, upto: int, only: Collection[str] | None) -> bool:
        """Whether a view is behind. Read from the tables each time: another process may have
        rebuilt a view, or a crashed server lost its last writes."""
        with self.reading() as connection:
            return bool(self._behind(self.states(connection), upto, only))

    def _behind(
        self, known: Mapping[str, ViewState], upto: int, only: Collection[str] | None
    ) -> list[ViewState]:
        return [
            state
            for state in known.values()
            if state.stopped_at is None and state.name in self.views
            if only is None or state.name in only
            if self._lacks(state.name, state.position, upto, only)
        ]

    def _lacks(self, name: str, at: int, upto: int, only: Collection[str] | None) -> bool:
        """Whether a view is behind. One that is only asked has all that it needs where this process
        wrote what came since, as far as it folds none of that: a server records every call."""
        passed = only is not None and self._folding[name].passes(at, upto)
        return at < upto and not passed

    def _rebuild_strangers(self) -> None:
        """Rebuild views of another history, as after the log was restored from a backup."""
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

    @contextmanager
    def caught_up(self, *names: str) -> Iterator[tuple[Connection, tuple[ViewState, ...]]]:
        """A consistent read of views, caught up to the head; with how each view is. A question that
        is asked of a replica is answered by its views, once they have what it must have.

        Raises `LedgerError` for a view that stopped, saying where and why.
        """
        head = self._log.head()
        upto = head.position
        if not self._checked:
            self._rebuild_strangers()
        question = None if self._replica is None else self._replica.replica.question
        if self._replica is not None and question is not None:
            with self._elsewhere(self._replica, question, head, names) as found:
                yield found
            return
        while True:
            if not self._expects_behind(upto, names):
                with self.reading() as connection:
                    known = self.states(connection)
                    if not self._behind(known, upto, names):
                        yield connection, tuple(sound(known[name], upto) for name in names)
                        return
            self._follow(upto, only=names)

    @contextmanager
    def _elsewhere(
        self, there: ReplicaViews, question: Question, head: Head, names: tuple[str, ...]
    ) -> Iterator[tuple[Connection, tuple[ViewState, ...]]]:
        types = frozenset().union(*(self._folding[name].types for name in names))
        if self._expects_behind(there.replica.least(question, types), names):
            raise Lacking  # which nobody has folded yet

        def folded() -> dict[str, ViewState]:
            with self.reading() as connection:
                return self.states(connection)

        with there.caught_up(question, head, names, types, folded) as (connection, known):
            yield connection, tuple(known[name] for name in names)

    @traced(PROJECT, lambda reached: {"beliefledger.views": len(reached)})
    def _one_page(
        self,
        connection: Connection,
        behind: list[ViewState],
        kept: dict[str, At | None],
        upto: int,
    ) -> dict[str, At]:
        """Fold and write one page; returns the state that each view's memory then belongs to."""
        reached = {}
        after = min(state.position for state in behind)
        size = FOLLOW_PAGE if upto - after <= FOLLOW_PAGE else REBUILD_PAGE
        types = frozenset().union(*(self._folding[state.name].types for state in behind))
        page = next(self._log.wanted(types, after, upto, size))
        if page.events and page.events[-1].position == page.position:
            page_end: str | None = page.events[-1].event_id
        else:
            page_end = self._log.event_id_at(page.position)
        histories = Histories(self._log)
        for state in behind:
            if kept[state.name] != state.at:
                # Another process moved it on, or this one just began: keep nothing.
                self._begin(self.views[state.name], state, upto)
        pages = sorted_out(page, [self._folding[state.name] for state in behind])
        for state, its in zip(behind, pages, strict=True):
            view, folding = self.views[state.name], self._folding[state.name]
            before = self.counts.of(connection, state)
            position, failure = folding.page(its, state.position, upto, connection, histories)
            view.flush(connection)
            if failure is not None:
                last = self._log.event_id_at(position) if position else None
            else:
                last = page_end if position == page.position else state.last_event
            at = reached[state.name] = (state.generation, position, state.refolds)
            numbers = self.counts.moved(state.name, before, at)
            view_tables.moved(connection, state.name, position, last, numbers)
            if failure is not None:
                view_tables.stopped(connection, state.name, position, failure)
        return reached

    def _begin(self, view: View, state: ViewState, upto: int) -> None:
        """Start a view with empty memory, at the position of its tables."""
        empty = state.position == 0
        view.start(state.generation, empty=empty)
        self._folding[view.name] = Folding(view, self._log, upto if empty else 0)

    # Rebuilding

    @contextmanager
    def rebuilding(self, seconds: float | None = None) -> Iterator[None]:
        """Hold the lock on rebuilding, over all processes, from filling a generation until it is in
        use. Reentrant.

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
                Filling(view, end, Folding(view, self._log, clean))
                for view, end in ((self.views[name], end) for name, end in upto.items())
            ]
            with self.writing() as connection:
                states = self.states(connection)
                for each in filling:
                    each.generation = states[each.view.name].generation + 1
                    # What an interrupted rebuild left behind.
                    for table in each.view.tables(each.generation):
                        table.drop(connection, checkfirst=True)
                    view_tables.create(self.home, connection, each.view, each.generation)
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
                        view_tables.index(self.home, connection, each.view, each.generation)
                        self.home.settle(connection, each.tables)
            finally:
                for each in filling:
                    self._at.pop(each.view.name, None)
            return {each.view.name: (each.generation, each.position) for each in filling}

    def _until(self, filling: Sequence[Filling]) -> int:
        head = self._log.head().position
        return max((head if each.upto is None else each.upto for each in filling), default=0)

    def _fill(self, filling: Sequence[Filling], after: int, upto: int) -> int:
        end = min(after + REBUILD_PAGE, upto)
        tables = [table for each in filling for table in each.tables]
        with gc_paused(), self.home.filling(tables) as connection:
            self._alone.check()
            foldings = [each.folding for each in filling]
            types = frozenset().union(*(each.types for each in foldings))
            for page in self._log.wanted(types, after, end, FOLD_PAGE):
                histories = Histories(self._log)
                for each, its in zip(filling, sorted_out(page, foldings), strict=True):
                    each.fold(its, end, connection, histories)
            for each in filling:
                each.view.flush(connection)
        return end

    def use(self, name: str, generation: int, position: int) -> None:
        """Put a filled generation in use and drop the one before. Precondition: `rebuilding` since
        before it was filled."""
        last = self._log.event_id_at(position) if position else None
        with self.rebuilding():
            with self.reading() as connection:  # the generation is filled, and nobody moves it on
                refolds = self.states(connection)[name].refolds
                numbers = self.counts.filled(connection, name, (generation, position, refolds))
            with self.writing() as connection:
                self._alone.check()
                old = self.states(connection)[name].generation
                if old >= generation:
                    raise BackendUnavailable(f"Another process rebuilt {name} in the meantime.")
                view_tables.put_in_use(connection, name, generation, position, last, numbers)
        STATEMENTS.forget()
        self._drop_unused([name])

    def drop(self, name: str, generation: int) -> None:
        """Throw away a generation that is not in use."""
        with self.writing() as connection:
            for table in self.views[name].tables(generation):
                table.drop(connection, checkfirst=True)

    def _drop_unused(self, names: Sequence[str]) -> None:
        """Drop the tables of views' generations that are not in use: those before, and what
        interrupted rebuilds left. While somebody reads them they stay until the next time."""
        views = [self.views[name] for name in names]
        with self.rebuilding():
            with self.reading() as connection:
                if not view_tables.unused(self.home, connection, views):
                    return
            with suppress(StillRead), self.home.clearing() as connection:
                for table in view_tables.unused(self.home, connection, views):
                    connection.exec_driver_sql(f"DROP TABLE {table}")

    # Forgetting

    def erasing(self) -> AbstractContextManager[None]:
        """As `rebuilding`, for an erasure. Raises `BackendUnavailable` if a running rebuild does
        not end in time."""
        return self.rebuilding(REBUILDS_MAY_TAKE)

    def forget(self, subject_ref: str) -> dict[str, int]:
        """Delete all rows of an erased subject, and the remains of interrupted rebuilds, from the
        tables and the files. Returns how many rows went from each view.

        Views that outlive an erasure keep their rows.
        """
        return self._anew(subject_ref, [*self.views.values()], whole=True)

    def refold(self, subject_ref: str) -> dict[str, int]:
        """Fold a living subject's rows again after some of their bodies were deleted, each view up
        to its position. Returns by how many rows each view shrank.

        A view that has stopped, or cannot fold what is left, only deletes the rows; it is complete
        again after a rebuild.
        """
        views = [view for view in self.views.values() if view.of_bodies]
        return self._anew(subject_ref, views, whole=False)

    def _anew(self, subject_ref: str, views: Sequence[View], *, whole: bool) -> dict[str, int]:
        # Whoever fills a generation may have read bodies that are gone: that ends first.
        with self.erasing():
            self._drop_unused(list(self.views))
        removed = dict.fromkeys(self.views, 0)
        destroyed = set() if whole else self._destroyed(subject_ref)
        histories = Histories(self._log)
        with self._lock, gc_paused():
            for view in views:
                kept = self._at.pop(view.name, None)
                with self.writing() as connection:
                    state = self.states(connection)[view.name]
                    if kept != state.at:
                        self._begin(view, state, 0)
                    its = view.tables(state.generation)
                    before = probes.rows_of(connection, its, subject_ref)
                    numbers = self.counts.of(connection, state)
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
                    removed[view.name] = before - probes.rows_of(connection, its, subject_ref)
                    at = (state.generation, state.position, state.refolds + 1)
                    changed["counts"] = self.counts.moved(view.name, numbers, at)
                    view_tables.refolded(connection, view.name, changed)
                self._folding[view.name].clean_of |= destroyed
                self._at[view.name] = at
        self.scrub()
        return removed

    def _destroyed(self, subject_ref: str) -> set[str]:
        """The ids of this subject's partial erasures whose bodies are gone but whose end is not
        recorded: what is read from here on has none of them."""
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
        """Remove deleted rows from the views' files."""
        self.home.scrub()

    def close(self) -> None:
        if self._replica is not None:
            self._replica.close()
        self.home.close()
