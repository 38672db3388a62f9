"""Rows that hold from one position until another, kept in memory between two flushes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, Table, bindparam, select

from beliefledger.ledger.dataclass import dataclass
from beliefledger.projections.rows import delete_subjects, insert_rows, update_rows

_ROWS_PER_EVENT = 1 << 20
"""Row ids leave room for this many rows opened by one event."""


class Interval(Protocol):
    """A dataclass whose fields are the columns of a table, in their order."""

    row_id: int
    subject_ref: str
    opened: int
    closed: int | None


@dataclass(slots=True)
class NameRow:
    """A row of `entity_names`."""

    row_id: int
    subject_ref: str
    entity_id: str
    name_tag: str | None
    how: str
    words_at: int
    opened: int
    closed: int | None = None


@dataclass(slots=True)
class EntityRow:
    """A row of `entities`."""

    row_id: int
    subject_ref: str
    entity_id: str
    name_tag: str | None
    words_at: int
    merged_into: str | None
    opened: int
    closed: int | None = None


@dataclass(slots=True)
class QuestionRow:
    """A row of `entity_questions`."""

    row_id: int
    subject_ref: str
    entity_id: str
    like_id: str
    similarity: int
    opened: int
    closed: int | None = None


@dataclass(slots=True)
class LinkRow:
    """A row of `links`."""

    row_id: int
    subject_ref: str
    memory_id: str
    part: str
    place: int
    entity_id: str
    name_tag: str | None
    relation_tag: str | None
    negated: bool
    words_at: int
    opened: int
    closed: int | None = None


@dataclass(slots=True)
class TeamRow:
    """A row of `teams`: that somebody is a member."""

    row_id: int
    subject_ref: str
    team: str
    opened: int
    closed: int | None = None


def first_row(position: int) -> int:
    """The least number that a row opened at a position can have."""
    return position * _ROWS_PER_EVENT


Kind = TypeVar("Kind", NameRow, EntityRow, QuestionRow, LinkRow, TeamRow)


class Intervals(Generic[Kind]):
    """The rows of one table: those in the database, and what was opened and closed since the last
    flush."""

    def __init__(self, table: Table, kind: type[Kind], *, empty: bool) -> None:
        self._table = table
        self._kind: type[Kind] = kind
        self._values = attrgetter(*(field.name for field in fields(kind)))
        self._empty = empty
        self._at = self._count = 0
        self._new: dict[int, Kind] = {}
        self._closed: dict[int, Kind] = {}
        self._gone: list[str] = []
        self._query: Select[Any] | None = None
        """What `of_subject` asks, made once: to make it takes longer than to ask."""

    def open(self, row: Kind, position: int) -> Kind:
        """Let a row hold from a position on."""
        if position != self._at:
            self._at, self._count = position, 0
        row.row_id = first_row(position) + self._count
        row.opened, row.closed = position, None
        self._count += 1
        self._new[row.row_id] = row
        return row

    def close(self, row: Kind, position: int) -> None:
        row.closed = position
        if row.row_id not in self._new:
            self._closed[row.row_id] = row

    def change(self, row: Kind, position: int, **changed: Any) -> Kind:
        """Close a row and open it again with other values."""
        again = self._kind(*self._values(row))
        for name, value in changed.items():
            setattr(again, name, value)
        self.close(row, position)
        return self.open(again, position)

    def standing(
        self,
        connection: Connection,
        where: ColumnElement[bool],
        wanted: Callable[[Kind], bool],
    ) -> list[Kind]:
        """The rows that are not closed, said once for the database and once for memory; in the
        order they were opened."""
        c = self._table.c
        found: list[Kind] = []
        if not self._empty:
            query = select(self._table).where(where, c.closed.is_(None)).order_by(c.row_id)
            found = self._left(connection.execute(query))
        return found + [row for row in self._pending() if row.closed is None and wanted(row)]

    def of_subject(self, connection: Connection, subject_ref: str) -> list[Kind]:
        """As `standing`, of one subject."""
        if self._query is None:
            c = self._table.c
            self._query = (
                select(self._table)
                .where(c.subject_ref == bindparam("subject"), c.closed.is_(None))
                .order_by(c.row_id)
            )
        rows = () if self._empty else connection.execute(self._query, {"subject": subject_ref})
        return self._left(rows) + [
            row for row in self._pending() if row.closed is None and row.subject_ref == subject_ref
        ]

    def _left(self, rows: Iterable[Any]) -> list[Kind]:
        """What is left of rows of the database."""
        found = (self._kind(*row) for row in rows)
        return [row for row in found if row.row_id not in self._closed and not self._lost(row)]

    def _pending(self) -> Iterator[Kind]:
        return iter(self._new.values())

    def _lost(self, row: Kind) -> bool:
        return row.subject_ref in self._gone

    def forget(self, subject_ref: str) -> None:
        for kept in (self._new, self._closed):
            for row_id in [i for i, row in kept.items() if row.subject_ref == subject_ref]:
                del kept[row_id]
        self._gone.append(subject_ref)
        self._at = self._count = 0  # the event that opened the last row may be folded again

    def flush(self, connection: Connection) -> None:
        delete_subjects(connection, self._table, self._gone)
        insert_rows(connection, self._table, [self._values(row) for row in self._new.values()])
        update_rows(
            connection,
            self._table,
            "row_id",
            ("closed",),
            [(row.closed, row.row_id) for row in self._closed.values()],
        )
        if self._new:
            self._empty = False
        self._new, self._closed, self._gone = {}, {}, []
