"""The tables of views: made in generations, of which one is in use; and how far each view is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Index, Table, bindparam, select, update

from beliefledger.ledger.errors import LedgerError
from beliefledger.projections.tables import FOLD, view_state
from beliefledger.projections.view import View
from beliefledger.projections.view_databases import Home, making

At = tuple[int, int, int]
"""What a view's memory belongs to: a generation, a position, and the number of refolds."""


class ViewState(NamedTuple):
    """How far a view is. `stopped_at` and `reason` are set when an event could not be folded;
    `refolds` counts how often rows were deleted or folded anew without its position moving."""

    name: str
    generation: int
    position: int
    last_event: str | None
    stopped_at: int | None
    reason: str | None
    refolds: int
    counts: str | None

    @property
    def at(self) -> At:
        return self.generation, self.position, self.refolds


def sound(state: ViewState, upto: int) -> ViewState:
    """The state of a view that did not stop and has all up to a position, which is then its own,
    if it passed over what it does not fold. Raises `LedgerError` for one that stopped."""
    if state.stopped_at is not None:
        raise LedgerError(
            f"The view {state.name} stopped at position {state.stopped_at} ({state.reason})."
            f" Rebuild it: beliefledger ops rebuild {state.name}"
        )
    return state if state.position >= upto else state._replace(position=upto)


_ADDED = {"refolds": "INTEGER NOT NULL DEFAULT 0", "counts": "TEXT"}
"""Columns that older tables of states do not have."""
_STATES = select(*(view_state.c[each] for each in ViewState._fields))
_MOVED = (
    update(view_state)
    .where(view_state.c.name == bindparam("view"))
    .values(
        position=bindparam("reached"),
        last_event=bindparam("last"),
        counts=bindparam("numbers"),
    )
)
"""Made once: each question of a ledger asks the first, and each page that is folded the second."""
_DIGESTS = select(view_state.c.name, view_state.c.digest, view_state.c.content_digest).where(
    view_state.c.digest_position == view_state.c.position
)


def states(connection: Connection) -> dict[str, ViewState]:
    """The state of every view, as of this transaction."""
    return {row[0]: ViewState(*row) for row in connection.execute(_STATES)}


def moved(
    connection: Connection, name: str, position: int, last_event: str | None, counts: str | None
) -> None:
    """Write how far a view is now, the id of the event there, and how many rows it has."""
    reached = {"view": name, "reached": position, "last": last_event, "numbers": counts}
    connection.execute(_MOVED, reached)


def stopped(connection: Connection, name: str, at: int, why: str) -> None:
    """Write that a view that moved to a position stopped there, since the next event cannot be
    folded."""
    connection.execute(
        update(view_state).where(view_state.c.name == name).values(stopped_at=at + 1, reason=why)
    )


def refolded(connection: Connection, name: str, changed: Mapping[str, object]) -> None:
    """Write what changed of a view's state, other than its position, with some of its rows."""
    changes = {**changed, "digest_position": None}
    connection.execute(update(view_state).where(view_state.c.name == name).values(changes))


def put_in_use(
    connection: Connection,
    name: str,
    generation: int,
    position: int,
    last_event: str | None,
    counts: str | None,
) -> None:
    """Write that a generation is the one that is asked now."""
    connection.execute(
        update(view_state)
        .where(view_state.c.name == name)
        .values(
            generation=generation,
            position=position,
            last_event=last_event,
            stopped_at=None,
            reason=None,
            digest_position=None,
            counts=counts,
        )
    )


def keep_digests(
    connection: Connection, name: str, position: int, digest: str, content: str
) -> None:
    """Keep a view's digests until its position changes."""
    connection.execute(
        update(view_state)
        .where(view_state.c.name == name, view_state.c.position == position)
        .values(digest_position=position, digest=digest, content_digest=content)
    )


def kept_digests(connection: Connection) -> dict[str, tuple[str, str]]:
    """The digests that were kept, by view; only those of the position that a view has now."""
    return {row[0]: (row[1], row[2]) for row in connection.execute(_DIGESTS)}


def create(home: Home, connection: Connection, view: View, generation: int) -> None:
    """Create the tables, with the indexes that the fold itself needs."""
    for table in view.tables(generation):
        home.create(connection, table)
        home.index(connection, [index for index in _indexes(table) if index.info == FOLD])


def index(home: Home, connection: Connection, view: View, generation: int) -> None:
    """Create the other indexes, which is faster once the tables are full."""
    for table in view.tables(generation):
        home.index(connection, _indexes(table))


def _indexes(table: Table) -> list[Index]:
    return sorted(table.indexes, key=lambda index: str(index.name))


def known(connection: Connection, there: Mapping[str, Collection[str]]) -> dict[str, ViewState]:
    """The state of every view, where there may be no table of states yet, or one that is older
    than its last columns. `there` are the columns of the tables that there are."""
    columns = there.get(view_state.name)
    if columns is None:
        return {}
    for column, kind in _ADDED.items():
        if column not in columns:
            connection.exec_driver_sql(f"ALTER TABLE {view_state} ADD COLUMN {column} {kind}")
    return states(connection)


def complete(
    home: Home,
    connection: Connection,
    there: Mapping[str, Collection[str]],
    tables: Sequence[Table],
) -> None:
    """Create those of the tables that are not there, with all their indexes."""
    home.run(
        connection,
        [
            statement
            for table in tables
            for statement in (
                *(() if table.name in there else home.statements(connection, table)),
                *(making(connection, index) for index in _indexes(table)),
            )
        ],
    )


def outdated(there: Mapping[str, Collection[str]], tables: Sequence[Table]) -> bool:
    """Whether an older version made a view's tables, with other columns: then it is folded
    again."""
    return any(there.get(table.name) != set(table.columns.keys()) for table in tables)


def unused(home: Home, connection: Connection, views: Sequence[View]) -> list[str]:
    """The tables of generations of these views that are not in use."""
    known = states(connection)
    used, kinds = set(), set()
    for view in views:
        for table in view.tables(known[view.name].generation):
            used.add(table.name)
            kinds.add(table.name.rpartition("_")[0])
    return [
        name
        for name in home.table_names(connection)
        if name not in used
        and name.rpartition("_")[0] in kinds
        and name.rpartition("_")[2].isdigit()
    ]
