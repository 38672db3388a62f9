"""The projector: one path from the log to every view, for following and for rebuilding alike.

It reads pages, folds them, and writes many rows and each view's position in one transaction. A view
whose fold fails stops at that event with its reason and does not stop the others.
"""

from __future__ import annotations

import fcntl
import gc
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    create_engine,
    event,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.exc import DatabaseError as SQLDatabaseError
from sqlalchemy.exc import OperationalError as SQLOperationalError
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateTable

from ledger.errors import BackendUnavailable, LedgerError
from ledger.log import Log, Page
from projections.tables import FOLD, state_metadata, view_state
from projections.view import View, delete_subjects

_GENERATIONS = select(view_state.c.generation)
REBUILD_PAGE = 20_000
"""Events written in one transaction."""
FOLD_PAGE = 500
"""Events in memory at once: with more, the garbage collector looks at them again and again."""
FOLLOW_PAGE = 2_000
Progress = Callable[[int, int], None]
"""(position reached, position to reach)"""


@dataclass(frozen=True, slots=True)
class ViewState:
    """How far a view is. `stopped_at` and `reason` are set when an event could not be folded."""

    name: str
    generation: int
    position: int
    last_event: str | None
    stopped_at: int | None
    reason: str | None


@dataclass(slots=True)
class _Filling:
    """A view whose new generation is being filled, as far as `upto` (None: the head)."""

    view: View
    upto: int | None
    generation: int = 0
    position: int = 0

    def fold(self, page: Page, connection: Connection) -> None:
        """Raises `LedgerError` when an event cannot be folded."""
        if self.upto is not None and page.position > self.upto:
            events = [event for event in page.events if event.position <= self.upto]
            page = Page(max(self.position, self.upto), "", events)
        self.position, failure = _fold(self.view, page, self.position, connection)
        if failure is not None:
            raise LedgerError(
                f"The view {self.view.name} cannot be rebuilt: position {self.position + 1}:"
                f" {failure}."
            )


def sqlite_engine(path: Path) -> Engine:
    """An engine over a disposable SQLite file, whose write transactions begin at once."""
    url = URL.create("sqlite", database=str(path))  # a path may hold any character
    engine = create_engine(url, connect_args={"timeout": 30})

    @event.listens_for(engine, "connect")
    def _connect(raw: Any, _: Any) -> None:
        raw.isolation_level = None
        # Lost on power failure, these files are rebuilt; so they need not wait for the disk.
        for pragma in ("journal_mode=WAL", "synchronous=OFF", "secure_delete=ON"):
            raw.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def open_projector(log: Log, path: Path, views: Sequence[View]) -> Projector:
    """A projector over a SQLite file; a file that is damaged is thrown away and folded anew."""
    try:
        return Projector(log, sqlite_engine(path), views)
    except BackendUnavailable as problem:
        if isinstance(problem.__cause__, SQLOperationalError):
            raise  # locked, full, not to be opened: nothing is wrong with the file itself
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)
    return Projector(log, sqlite_engine(path), views)


class Projector:
    """Keeps views up with a log. Safe to use from several threads and processes."""

    def __init__(self, log: Log, engine: Engine, views: Sequence[View]) -> None:
        self.engine = engine
        self._lock_file = Path(f"{engine.url.database}.rebuild")
        self.views = {view.name: view for view in views}
        self._log = log
        self._lock = threading.RLock()
        self._at: dict[str, tuple[int, int]] = {}
        """The generation and position that each view's memory is of."""
        self._checked = False
        """Whether the views are known to be of this log."""
        self._caught_up: tuple[int, tuple[int, ...]] = (0, ())
        """Up to here every view that is not stopped is known to be, in these generations."""
        with self.writing() as connection:
            state_metadata.create_all(connection)
            known = set(connection.scalars(select(view_state.c.name)))
            for view in views:
                if view.name not in known:
                    self._create(connection, view, 1)
                    self._index(connection, view, 1)
                    connection.execute(
                        insert(view_state).values(name=view.name, generation=1, position=0)
                    )

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One write transaction over the views."""
        try:
            with (
                self.engine.connect().execution_options(writing=True) as connection,
                connection.begin(),
            ):
                yield connection
        except SQLDatabaseError as problem:
            raise _named(problem) from problem

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent read of the views."""
        try:
            with self.engine.connect() as connection, connection.begin():
                yield connection
        except SQLDatabaseError as problem:
            raise _named(problem) from problem

    def _create(self, connection: Connection, view: View, generation: int) -> None:
        """Make the tables, with the indexes that the fold itself needs."""
        for table in view.tables(generation):
            connection.execute(CreateTable(table, if_not_exists=True))
            for index in table.indexes:
                if index.info == FOLD:
                    index.create(connection, checkfirst=True)

    def _index(self, connection: Connection, view: View, generation: int) -> None:
        """Make the other indexes: once the tables are full, that is faster."""
        for table in view.tables(generation):
            for index in table.indexes:
                index.create(connection, checkfirst=True)

    def states(self, connection: Connection) -> dict[str, ViewState]:
        """The state of every view, as of this transaction."""
        columns = [view_state.c[name] for name in ViewState.__slots__]
        return {row[0]: ViewState(*row) for row in connection.execute(select(*columns))}

    def _generations(self) -> tuple[int, ...]:
        """The generations in use: another process may have rebuilt a view."""
        with self.reading() as connection:
            return tuple(connection.scalars(_GENERATIONS))

    # Following

    def catch_up(self, upto: int | None = None, progress: Progress | None = None) -> None:
        """Bring every view that is not stopped up to the position (by default the head)."""
        upto = self._log.head().position if upto is None else upto
        with self._lock:
            if upto <= self._caught_up[0] and self._caught_up[1] == self._generations():
                return
            if not self._checked:
                self._rebuild_strangers()
            while True:
                with self.writing() as connection:
                    states = self.states(connection)
                    behind = [
                        state
                        for state in states.values()
                        if state.position < upto
                        and state.stopped_at is None
                        and state.name in self.views
                    ]
                    if not behind:
                        self._caught_up = (upto, tuple(each.generation for each in states.values()))
                        return
                    # Unless the page goes through, what the views keep in memory is of nothing.
                    kept = {state.name: self._at.pop(state.name, None) for state in behind}
                    after = self._one_page(connection, behind, kept, upto)
                self._at |= after
                if progress:
                    progress(min(position for _, position in after.values()), upto)

    def _rebuild_strangers(self) -> None:
        """Rebuild the views that are of another history: the log was restored from a backup."""
        with self.reading() as connection:
            states = self.states(connection)
        for state in states.values():
            if state.position and state.name in self.views:
                there = self._log.read_at([state.position]).get(state.position)
                if there is None or there.event_id != state.last_event:
                    self.rebuild(state.name)
        self._checked = True

    def _one_page(
        self,
        connection: Connection,
        behind: list[ViewState],
        kept: dict[str, tuple[int, int] | None],
        upto: int,
    ) -> dict[str, tuple[int, int]]:
        """Fold and write one page; returns the generation and position that each view is at."""
        reached = {}
        after = min(state.position for state in behind)
        size = FOLLOW_PAGE if upto - after <= FOLLOW_PAGE else REBUILD_PAGE
        types = frozenset().union(*(self.views[state.name].types for state in behind))
        page = next(self._log.wanted(types, after, upto, size))
        for state in behind:
            view = self.views[state.name]
            if kept[state.name] != (state.generation, state.position):
                # Another process moved it on, or this one just began: keep nothing.
                view.start(state.generation, empty=state.position == 0)
            position, failure = _fold(view, page, state.position, connection)
            view.flush(connection)
            changed: dict[str, Any] = {"position": position}
            if failure is not None:
                last = self._log.read_at([position]).get(position)
                changed |= {"stopped_at": position + 1, "reason": failure}
                changed["last_event"] = last.event_id if last else None
            elif position == page.position:
                changed["last_event"] = page.event_id
            connection.execute(
                update(view_state).where(view_state.c.name == state.name).values(changed)
            )
            reached[state.name] = (state.generation, position)
        return reached

    # Rebuilding

    def rebuild(self, name: str, progress: Progress | None = None) -> None:
        """Fill a new generation of one view from the log, then put it in use."""
        with self._lock:
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
        with self._lock, self._rebuilding():
            filling = [_Filling(self.views[name], end) for name, end in upto.items()]
            with self.writing() as connection:
                states = self.states(connection)
                for each in filling:
                    each.generation = states[each.view.name].generation + 1
                    # What an interrupted rebuild left behind.
                    for table in each.view.tables(each.generation):
                        table.drop(connection, checkfirst=True)
                    self._create(connection, each.view, each.generation)
            for each in filling:
                each.view.start(each.generation, empty=True)
            position = 0
            try:
                while position < (until := self._until(filling)):
                    position = self._fill(filling, position, until)
                    if progress:
                        progress(position, until)
                for each in filling:
                    with self.writing() as connection:
                        self._index(connection, each.view, each.generation)
            finally:
                for each in filling:
                    self._at.pop(each.view.name, None)
                self._caught_up = (0, ())
            return {each.view.name: (each.generation, each.position) for each in filling}

    @contextmanager
    def _rebuilding(self) -> Iterator[None]:
        """One rebuild at a time over all processes: two would fill the same generation."""
        file = os.open(self._lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        finally:
            os.close(file)

    def _until(self, filling: Sequence[_Filling]) -> int:
        head = self._log.head().position
        return max((head if each.upto is None else each.upto for each in filling), default=0)

    def _fill(self, filling: Sequence[_Filling], after: int, upto: int) -> int:
        end = min(after + REBUILD_PAGE, upto)
        with _uncollected(), self.writing() as connection:
            types = frozenset().union(*(each.view.types for each in filling))
            for page in self._log.wanted(types, after, end, FOLD_PAGE):
                for each in filling:
                    each.fold(page, connection)
            for each in filling:
                each.view.flush(connection)
        return end

    def use(self, name: str, generation: int, position: int) -> None:
        """Put a filled generation in use and drop the one before it."""
        last = self._log.read_at([position])[position].event_id if position else None
        with self.writing() as connection:
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
            for table in self.views[name].tables(old):
                table.drop(connection, checkfirst=True)

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

    def _drop_orphans(self) -> None:
        """Drop the tables of generations that are not in use: interrupted rebuilds left them."""
        with self._rebuilding(), self.writing() as connection:
            states = self.states(connection)
            used = {
                table.name
                for name, view in self.views.items()
                for table in view.tables(states[name].generation)
            }
            there = inspect(connection).get_table_names()
            for name in there:
                if name not in used and name.rsplit("_", 1)[-1].isdigit():
                    connection.exec_driver_sql(f"DROP TABLE {name}")

    def forget(self, subject_ref: str) -> None:
        """Delete an erased subject's rows also where the fold has stopped, and what interrupted
        rebuilds left; then leave no deleted row behind in the files."""
        self._drop_orphans()
        with self.writing() as connection:
            for name, state in self.states(connection).items():
                if state.stopped_at is not None and name in self.views:
                    self.views[name].start(state.generation, empty=False)
                    for table in self.views[name].tables(state.generation):
                        if table.name.startswith("decisions"):
                            continue  # names nobody, and is kept for the audit
                        delete_subjects(connection, table, [subject_ref])
        self.scrub()

    def scrub(self) -> None:
        """Leave no deleted row behind in the views' files."""
        with self.engine.connect() as connection:
            raw = connection.connection.driver_connection
            if raw is not None and raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise BackendUnavailable(
                    "The views are being read by a process that does not let go, so deleted rows"
                    " may still lie in their WAL."
                )

    def close(self) -> None:
        self.engine.dispose()


def _named(problem: SQLDatabaseError) -> BackendUnavailable:
    return BackendUnavailable(
        f"The views did not answer: {problem.orig}. If they are damaged, close the ledger, delete"
        " its views directory and open it again: they are folded anew."
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the garbage collector: folding makes no cycles, and what the views keep would be
    looked at again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _fold(view: View, page: Page, after: int, connection: Connection) -> tuple[int, str | None]:
    """Apply a page; returns the last position applied, and why it stopped there if it did."""
    types, apply = view.types, view.apply
    for each in page.events:
        if each.type in types and each.position > after:
            try:
                apply(each, connection)
            except (LedgerError, SQLAlchemyError):
                raise  # the log or the database has a problem, not this event
            except Exception as problem:  # noqa: BLE001  one poison event must not stop other views
                # Only the error's class: its text may quote words, which no view may hold.
                return each.position - 1, f"{each.type}: {type(problem).__name__}"
    return max(after, page.position), None
