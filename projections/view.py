"""What a view is: a fold from events to rows, and the rows it still has to write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from sqlalchemy import Connection, Table, delete

from ledger.codec import Recorded

Tagger = Callable[[str, str, str | None], str | None]
"""(subject_ref, kind, text) → the text's tag under the subject's key; None for None."""

Row = tuple[Any, ...]


class View(Protocol):
    """A disposable fold of the log.

    `apply` takes the events in order of position and only changes memory; `flush` writes what came
    of them. An exception from `apply` stops this view at that event.
    """

    name: str
    types: frozenset[str]
    """The names of the events that it is folded from; it is given no others."""

    def tables(self, generation: int) -> Sequence[Table]: ...

    def start(self, generation: int, *, empty: bool) -> None:
        """Forget what is kept in memory. `empty` promises that the tables have no rows yet."""
        ...

    def apply(self, event: Recorded, connection: Connection) -> None: ...

    def flush(self, connection: Connection) -> None: ...


def delete_subjects(connection: Connection, table: Table, subjects: Sequence[str]) -> None:
    """Delete the rows of these subjects: together, since in a rebuild it costs a scan."""
    for start in range(0, len(subjects), 500):
        some = subjects[start : start + 500]
        connection.execute(delete(table).where(table.c.subject_ref.in_(some)))


def insert_rows(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert many rows, given in the order of the table's columns."""
    if not rows:
        return
    names = ", ".join(column.name for column in table.columns)
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    marks = ", ".join([mark] * len(table.columns))
    connection.exec_driver_sql(
        f"INSERT INTO {table.name} ({names}) VALUES ({marks})",
        list(rows),
    )
