"""The view of access counts: how often each memory was shown, and when last."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Table, select

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.events.subject import SubjectErased
from beliefledger.projections import tables
from beliefledger.projections.rows import Row, delete_subjects, insert_rows, update_rows
from beliefledger.projections.view import FIRST_GENERATION


class AccessView:
    """`access`, kept up with the log from envelopes alone."""

    name = "access"
    types = frozenset({MemoriesRecalled.NAME, SubjectErased.NAME})
    of_bodies = False

    def __init__(self) -> None:
        self.start(FIRST_GENERATION, empty=False)

    def tables(self, generation: int) -> Sequence[Table]:
        return (tables.access(generation),)

    def start(self, generation: int, *, empty: bool) -> None:
        (self._table,) = self.tables(generation)
        self._shown: dict[str, tuple[str, int, int]] = {}
        """By memory: its subject, how often it was shown since the last flush, and when last."""
        self._gone: list[str] = []

    def apply(self, event: Recorded, connection: Connection) -> None:
        subject_ref = event.subject_ref or ""
        if event.type == SubjectErased.NAME:
            self.forget(subject_ref)
            return
        for memory_id in dict.fromkeys(event.facts["memories"]):
            count = self._shown[memory_id][1] if memory_id in self._shown else 0
            self._shown[memory_id] = (subject_ref, count + 1, event.recorded_at)

    def forget(self, subject_ref: str) -> None:
        self._shown = {i: row for i, row in self._shown.items() if row[0] != subject_ref}
        self._gone.append(subject_ref)

    def flush(self, connection: Connection) -> None:
        table = self._table
        delete_subjects(connection, table, self._gone)
        before = self._counts(connection)
        new: list[Row] = []
        changed: list[Row] = []
        for memory_id, (subject_ref, count, last_at) in self._shown.items():
            if memory_id in before:
                changed.append((before[memory_id] + count, last_at, memory_id))
            else:
                new.append((memory_id, subject_ref, count, last_at))
        insert_rows(connection, table, new)
        update_rows(connection, table, "memory_id", ("count", "last_at"), changed)
        self._shown, self._gone = {}, []

    def _counts(self, connection: Connection) -> dict[str, int]:
        c = self._table.c
        found: dict[str, int] = {}
        memories = list(self._shown)
        for start in range(0, len(memories), 500):
            query = select(c.memory_id, c["count"]).where(
                c.memory_id.in_(memories[start : start + 500])
            )
            found.update((row[0], row[1]) for row in connection.execute(query))
        return found
