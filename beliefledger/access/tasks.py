"""Tasks: what agents ask the ledger to do, kept in the log so that it outlives every process."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, NamedTuple

from beliefledger.access.principal import Principal
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import (
    InvalidQuery,
    InvalidTurn,
    NotPermitted,
    UnknownMemory,
    VersionConflict,
)
from beliefledger.ledger.events.kind import Event
from beliefledger.ledger.events.task import TaskAnswered, TaskEnded, TaskPaused, TaskSubmitted
from beliefledger.ledger.log import new_id
from beliefledger.ledger.names import check_text
from beliefledger.ledger.secret_filter import session_name
from beliefledger.ledger.streams import session_tag, task_stream
from beliefledger.ledger.times import Micros
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.projections import tasks
from beliefledger.projections.tasks import (
    INPUT_REQUIRED,
    TASK_EVENTS,
    UNDER_WAY,
    TaskFilter,
    TasksView,
    state_after,
)
from beliefledger.reading.queries import Queries

COMPLETED, FAILED, CANCELED = "completed", "failed", "canceled"
_ENDS = (COMPLETED, FAILED, CANCELED)
STATES = (*UNDER_WAY, INPUT_REQUIRED, *_ENDS)
ANSWERS = ("keep_existing", "keep_new", "keep_both")
_NO_TASK = "There is no such task."


class TaskMoved(VersionConflict):
    """Look at the task again: it went on meanwhile."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What whoever gave a task said to a contradiction."""

    answer: str
    message: str | None = None
    """None once it is erased."""
    contexts: Mapping[str, str] = field(default_factory=dict)
    at: Micros = 0


@dataclass(frozen=True, slots=True)
class Task:
    """A task as its events tell of it. Words that are erased are None."""

    task_id: str
    principal: str
    """The reference of who gave it."""
    subject_ref: str
    skill: str
    state: str
    version: int
    submitted_at: Micros
    changed_at: Micros
    turn: str | None
    as_of: int | None
    context: str | None
    message: str | None
    question: str | None
    beliefs: tuple[str, ...]
    decisions: tuple[str, ...] = ()
    paused_at: Micros | None = None
    answers: tuple[Answer, ...] = ()
    reason: str | None = None
    memories: tuple[str, ...] = ()

    @property
    def ended(self) -> bool:
        return self.state in _ENDS


@dataclass(frozen=True, slots=True)
class Submission:
    """A task that is to be accepted. `own_id` is an id that an agent chose for it."""

    subject_ref: str
    skill: str
    context: str
    message: str
    text: str = ""
    """What it says, to tell two messages of one id apart; it is not kept."""
    turn: str | None = None
    as_of: int | None = None
    beliefs: tuple[str, ...] = ()
    question: str | None = None
    session: str | None = None
    own_id: str | None = None


class TasksPage(NamedTuple):
    """Tasks, the last changed first; `next` is the position that the next page is from."""

    tasks: list[Task]
    next: int | None
    total: int


class Tasks:
    """Accepts tasks, tells where they are, and records what becomes of them."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries

    def submit(self, given: Submission, principal: Principal) -> Task:
        """Accept a task; durable on return. The same one given again is the one that is there.
        Raises `NotPermitted` for an erased subject."""
        keys = self._log.keys(given.subject_ref)
        if keys is None:
            raise NotPermitted("Whom this is about is erased.")
        if given.own_id is not None:
            stream = self._own(given.own_id, principal)
        else:
            stream = task_stream(keys.ids, principal.ref, given.message, given.text)
        tag = None
        if given.session is not None:
            tag = session_tag(keys.ids, session_name(keys.ids, given.session))
        event = TaskSubmitted(
            skill=given.skill,
            conversation=self._conversation(given.context, principal),
            turn=None if given.turn is None else _ids("turn", [given.turn])[0],
            as_of=given.as_of,
            beliefs=_ids("beliefs", given.beliefs),
            context=given.context,
            message=given.message,
            question=given.question,
            session_tag=tag,
        )
        new = New(event, new_id(), stream, given.subject_ref, principal.ref)
        try:
            self._log.append([new], {stream: 0})
        except VersionConflict:
            return self.get(stream, principal)
        return self.find(stream)

    def get(self, task_id: str, principal: Principal) -> Task:
        """A task of this principal, by its id or the one that they chose. Raises `UnknownMemory`,
        alike for one that there is not and for another's."""
        for stream in (task_id if _is_id(task_id) else None, self._own(task_id, principal)):
            task = None if stream is None else self._folded(stream)
            if task is not None and self._is_for(task, principal):
                return task
        raise UnknownMemory(_NO_TASK)

    def steps(self, task: Task) -> Sequence[Task]:
        """What became of a task since it was as given: as it was after each step, in order."""
        steps = steps_of(self._log.read_stream(task.task_id))
        return [each for each in steps if each.version > task.version]

    def find(self, task_id: str) -> Task:
        """A task, whoever gave it: for what works on it. Raises `UnknownMemory`."""
        task = self._folded(check_text("task_id", task_id))
        if task is None or self._log.keys(task.subject_ref) is None:
            raise UnknownMemory(_NO_TASK)
        return task

    def list(
        self,
        principal: Principal,
        *,
        skills: Collection[str],
        context: str | None = None,
        state: str | None = None,
        changed_since: Micros | None = None,
        limit: int = 50,
        before: int | None = None,
    ) -> TasksPage:
        """The tasks of a principal that have one of these skills, as far as the token goes."""
        if state is not None and state not in STATES:
            raise InvalidQuery(f"state: there is none like that; there are: {', '.join(STATES)}.")
        wanted = TaskFilter(
            principal.ref,
            skills,
            principal.subjects,
            None if context is None else self._conversation(context, principal),
            None if state is None else [state],
            changed_since,
        )
        with self._queries.view(TasksView.name) as (connection, generation):
            ids, following, total = tasks.listed(connection, generation, wanted, before, limit)
        found = [self._folded(each) for each in ids]
        return TasksPage([each for each in found if each is not None], following, total)

    def under_way(self, seconds: float = 0) -> Sequence[str]:
        """The tasks that wait for nobody, and last changed at least so long ago."""
        before = self._log.clock() - int(seconds * 1_000_000) + 1
        with self._queries.view(TasksView.name) as (connection, generation):
            return tasks.under_way(connection, generation, before)

    def pause(self, task: Task, beliefs: Sequence[str], decisions: Sequence[str]) -> Task:
        """Have a task wait for an answer. Raises `TaskMoved`."""
        event = TaskPaused(beliefs=_ids("beliefs", beliefs), decisions=_ids("decisions", decisions))
        return self._go_on(task, event, task.principal)

    def answer(
        self,
        task: Task,
        answer: str,
        *,
        by: Principal,
        message: str,
        contexts: Mapping[str, str] | None = None,
    ) -> Task:
        """Record what is to be kept. Raises `TaskMoved`."""
        if answer not in ANSWERS:
            raise InvalidTurn(f"answer: it is one of {', '.join(ANSWERS)}.")
        event = TaskAnswered(answer=answer, message=message, contexts=dict(contexts or {}))
        return self._go_on(task, event, by.ref)

    def end(
        self,
        task: Task,
        outcome: str,
        reason: str,
        memories: Sequence[str] = (),
        *,
        by: Principal | None = None,
    ) -> Task:
        """End a task: the ledger does, or `by` somebody. `reason` is a code. Raises `TaskMoved`."""
        if outcome not in _ENDS:
            raise InvalidTurn(f"outcome: it is one of {', '.join(_ENDS)}.")
        event = TaskEnded(outcome=outcome, reason=reason, memories=_ids("memories", memories))
        return self._go_on(task, event, SYSTEM if by is None else by.ref)

    def _go_on(self, task: Task, event: Event, actor: str) -> Task:
        new = New(event, new_id(), task.task_id, task.subject_ref, actor)
        try:
            self._log.append([new], {task.task_id: task.version})
        except VersionConflict as moved:
            raise TaskMoved(moved.stream, moved.expected, moved.actual) from None
        return self.find(task.task_id)

    def _own(self, own_id: str, principal: Principal) -> str:
        """The stream of a task whose id an agent chose: another agent's same id is another."""
        parts = (self._log.tenant, principal.ref, own_id)
        return self._log.vault.notes.keyed_hash("task", *parts)

    def _conversation(self, context: str, principal: Principal) -> str:
        return self._log.vault.notes.keyed_hash("conversation", principal.ref, context)

    def _is_for(self, task: Task, principal: Principal) -> bool:
        allowed = principal.subjects
        return (
            task.principal == principal.ref
            and (allowed is None or task.subject_ref in allowed)
            and self._log.keys(task.subject_ref) is not None
        )

    def _folded(self, stream: str) -> Task | None:
        return task_of(self._log.read_stream(stream))


def task_of(events: Sequence[Recorded]) -> Task | None:
    """The task that these events, all of a stream, are of; None where they are of no task."""
    steps = steps_of(events)
    return steps[-1] if steps else None


def steps_of(events: Sequence[Recorded]) -> list[Task]:
    """The task that these events of a stream are of, as it was after each of them."""
    if not events or events[0].type != TaskSubmitted.NAME:
        return []
    task = _submitted(events[0])
    steps = [task]
    for each in events[1:]:
        if each.type in TASK_EVENTS:
            task = replace(
                task,
                state=state_after(each.type, each.facts),
                version=each.version,
                changed_at=each.recorded_at,
                **_changes(task, each),
            )
            steps.append(task)
    return steps


def _submitted(first: Recorded) -> Task:
    said = first.event if isinstance(first.event, TaskSubmitted) else None
    return Task(
        task_id=first.stream,
        principal=first.actor,
        subject_ref=first.subject_ref or "",
        skill=first.facts["skill"],
        state=state_after(first.type, first.facts),
        version=first.version,
        submitted_at=first.recorded_at,
        changed_at=first.recorded_at,
        turn=first.facts["turn"],
        as_of=first.facts["as_of"],
        context=None if said is None else said.context,
        message=None if said is None else said.message,
        question=None if said is None else said.question,
        beliefs=tuple(first.facts["beliefs"]),
    )


def _changes(task: Task, event: Recorded) -> dict[str, Any]:
    facts = event.facts
    if event.type == TaskPaused.NAME:
        return {
            "beliefs": tuple(facts["beliefs"]),
            "decisions": tuple(facts["decisions"]),
            "paused_at": event.recorded_at,
        }
    if event.type == TaskAnswered.NAME:
        said = event.event if isinstance(event.event, TaskAnswered) else None
        given = Answer(
            facts["answer"],
            None if said is None else said.message,
            {} if said is None else said.contexts,
            event.recorded_at,
        )
        return {"answers": (*task.answers, given)}
    return {"reason": facts["reason"], "memories": tuple(facts["memories"])}


def _ids(what: str, given: Sequence[str]) -> tuple[str, ...]:
    """Ids of the ledger's: they outlive an erasure. Raises `InvalidTurn`."""
    if not all(map(_is_id, given)):
        raise InvalidTurn(f"{what}: give ids in full.")
    return tuple(given)


def _is_id(given: str) -> bool:
    return len(check_text("task_id", given)) == 32 and all(
        each in "0123456789abcdef" for each in given
    )
