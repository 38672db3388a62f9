"""The view of tasks: what agents asked the ledger to do, and where that is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, func, select

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.subject import SubjectErased
from beliefledger.ledger.events.task import TaskAnswered, TaskEnded, TaskPaused, TaskSubmitted
from beliefledger.ledger.times import Micros
from beliefledger.projections import tables
from beliefledger.projections.rows import delete_subjects, insert_rows, update_rows
from beliefledger.projections.view import FIRST_GENERATION

SUBMITTED, WORKING, INPUT_REQUIRED = "submitted", "working", "input_required"
UNDER_WAY = (SUBMITTED, WORKING)
TASK_EVENTS = frozenset({TaskSubmitted.NAME, TaskPaused.NAME, TaskAnswered.NAME, TaskEnded.NAME})
_AFTER = {
    TaskSubmitted.NAME: SUBMITTED,
    TaskPaused.NAME: INPUT_REQUIRED,
    TaskAnswered.NAME: WORKING,
}


def state_after(type: str, facts: Mapping[str, Any]) -> str:
    """The state that a task is in after an event of its stream."""
    return _AFTER.get(type) or str(facts["outcome"])


@dataclass(slots=True)
class TaskRow:
    """One task; the fields are the columns of `tasks`, in their order."""

    position: int
    task_id: str
    subject_ref: str
    principal: str
    skill: str
    conversation: str
    state: str
    changed: int
    """The position of its last event."""
    changed_at: Micros


_values = attrgetter(*(field.name for field in fields(TaskRow)))


class TasksView:
    """`tasks`, kept up with the log from envelopes alone."""

    name = "tasks"
    types = TASK_EVENTS | {SubjectErased.NAME}
    of_bodies = False

    def __init__(self) -> None:
        self.start(FIRST_GENERATION, empty=False)

    def tables(self, generation: int) -> Sequence[Table]:
        return (tables.tasks(generation),)

    def start(self, generation: int, *, empty: bool) -> None:
        (self._table,) = self.tables(generation)
        self._new: dict[str, TaskRow] = {}
        self._changed: dict[str, TaskRow] = {}
        self._gone: list[str] = []

    def apply(self, event: Recorded, connection: Connection) -> None:
        if event.type == SubjectErased.NAME:
            self.forget(event.subject_ref or "")
            return
        state = state_after(event.type, event.facts)
        if event.type == TaskSubmitted.NAME:
            self._new[event.stream] = TaskRow(
                event.position,
                event.stream,
                event.subject_ref or "",
                event.actor,
                event.facts["skill"],
                event.facts["conversation"],
                state,
                event.position,
                event.recorded_at,
            )
            return
        row = self._row(event.stream, connection)
        if row is not None:  # else its subject is erased
            row.state, row.changed, row.changed_at = state, event.position, event.recorded_at

    def _row(self, task_id: str, connection: Connection) -> TaskRow | None:
        row = self._new.get(task_id) or self._changed.get(task_id)
        if row is not None:
            return row
        found = connection.execute(
            select(self._table).where(self._table.c.task_id == task_id)
        ).first()
        if found is None or found.subject_ref in self._gone:
            return None
        row = self._changed[task_id] = TaskRow(*found)
        return row

    def forget(self, subject_ref: str) -> None:
        for kept in (self._new, self._changed):
            for task_id in [i for i, row in kept.items() if row.subject_ref == subject_ref]:
                del kept[task_id]
        self._gone.append(subject_ref)

    def flush(self, connection: Connection) -> None:
        delete_subjects(connection, self._table, self._gone)
        insert_rows(connection, self._table, list(map(_values, self._new.values())))
        update_rows(
            connection,
            self._table,
            "position",
            ("state", "changed", "changed_at"),
            [
                (row.state, row.changed, row.changed_at, row.position)
                for row in self._changed.values()
            ],
        )
        self._new, self._changed, self._gone = {}, {}, []


class TaskFilter(NamedTuple):
    """Which tasks of a principal are wanted; None: whatever it is."""

    principal: str
    skills: Collection[str]
    subjects: Collection[str] | None = None
    conversation: str | None = None
    states: Collection[str] | None = None
    changed_since: Micros | None = None


def listed(
    connection: Connection, generation: int, wanted: TaskFilter, before: int | None, limit: int
) -> tuple[list[str], int | None, int]:
    """The ids of tasks, the last changed first, from before a position on; the position that the
    next page is from, None after the last; and how many there are in all."""
    c = tables.tasks(generation).c
    which = _where(c, wanted)
    query = select(c.task_id, c.changed).where(*which).order_by(c.changed.desc()).limit(limit + 1)
    if before is not None:
        query = query.where(c.changed < before)
    rows = list(connection.execute(query))
    [total] = connection.execute(select(func.count()).where(*which)).one()
    after = rows[limit - 1].changed if len(rows) > limit else None
    return [row.task_id for row in rows[:limit]], after, int(total)


def _where(c: Any, wanted: TaskFilter) -> list[ColumnElement[bool]]:
    which = [c.principal == wanted.principal, c.skill.in_(sorted(wanted.skills))]
    if wanted.subjects is not None:
        which.append(c.subject_ref.in_(sorted(wanted.subjects)))
    if wanted.conversation is not None:
        which.append(c.conversation == wanted.conversation)
    if wanted.states is not None:
        which.append(c.state.in_(sorted(wanted.states)))
    if wanted.changed_since is not None:
        which.append(c.changed_at >= wanted.changed_since)
    return which


def under_way(connection: Connection, generation: int, before: Micros) -> list[str]:
    """The tasks that nobody is waited for and that last changed before a time, oldest first."""
    c = tables.tasks(generation).c
    query = (
        select(c.task_id).where(c.state.in_(UNDER_WAY), c.changed_at < before).order_by(c.changed)
    )
    return [row.task_id for row in connection.execute(query)]
