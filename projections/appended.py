"""A view with one row for each of its events, made of the envelope alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from sqlalchemy import Connection, Table

from beliefledger.ledger.codec import Recorded
from beliefledger.projections.rows import Row, insert_rows
from beliefledger.projections.view import FIRST_GENERATION


class AppendedView:
    """Writes a row for each event. No row names anybody, so that an erasure leaves it as it is."""

    name: str
    types: frozenset[str]
    of_bodies = False

    def __init__(self) -> None:
        self.start(FIRST_GENERATION, empty=False)

    @abstractmethod
    def table(self, generation: int) -> Table: ...

    @abstractmethod
    def row(self, event: Recorded) -> Row:
        """The row of an event."""

    def tables(self, generation: int) -> Sequence[Table]:
        return (self.table(generation),)

    def start(self, generation: int, *, empty: bool) -> None:
        self._table = self.table(generation)
        self._new: list[Row] = []

    def apply(self, event: Recorded, connection: Connection) -> None:
        self._new.append(self.row(event))

    def forget(self, subject_ref: str) -> None:
        """Does nothing: no row names anybody."""

    def flush(self, connection: Connection) -> None:
        insert_rows(connection, self._table, self._new)
        self._new = []
