"""What is done for a task, a step at a time. Each step is in the log when it is done, so that any
process can take the next one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from beliefledger.access.tasks import ANSWERS, COMPLETED, FAILED, Answer, Task, TaskMoved
from beliefledger.answers import ChoiceAnswer, ConflictAnswer, DecisionAnswer
from beliefledger.ledger.errors import (
    CallerMistake,
    InvalidTurn,
    LedgerError,
    NotPermitted,
    Retryable,
    UnknownMemory,
)
from beliefledger.memory import MemoryLedger
from beliefledger.search.options import SearchOptions
from beliefledger.tools.server.a2a.skills import ANSWER, CONSOLIDATE

MOST = 50
"""So many beliefs an answer without a question has."""
FOUND = 10
_WRITTEN = {"admit", "supersede", "confirm"}


def advance(memory: MemoryLedger, task_id: str) -> bool:
    """Take the next step of a task. False: it waits for something else to happen first.

    Raises `Retryable` where the step is to be tried again.
    """
    try:
        task = memory.tasks.find(task_id)
    except UnknownMemory:
        return True  # whom it is about is erased, and it with them
    if task.state not in {"submitted", "working"}:
        return True
    try:
        return _step(memory, task)
    except TaskMoved:
        return True  # canceled, or another process took this step
    except Retryable:
        raise
    except LedgerError as problem:
        reason = "NOT_PERMITTED" if isinstance(problem, NotPermitted) else "FAILED"
        _end(memory, task, FAILED, reason)
        if not isinstance(problem, CallerMistake):
            raise
        return True


def fail(memory: MemoryLedger, task_id: str) -> None:
    """End a task on which a defect of ours came to light."""
    with suppress(TaskMoved, UnknownMemory):
        task = memory.tasks.find(task_id)
        if not task.ended:
            _end(memory, task, FAILED, "FAILED")


def _step(memory: MemoryLedger, task: Task) -> bool:
    person = memory.name_of(task.subject_ref)
    if person is None:
        return True
    if task.answers:
        return _settle(memory, task, person)
    if task.skill == CONSOLIDATE:
        return _consolidate(memory, task, person)
    if task.skill == ANSWER:
        return _answer(memory, task, person)
    conflicts = _waiting(memory, task, person)
    if not conflicts:
        return _end(memory, task, COMPLETED, "nothing_to_settle")
    return _pause(memory, task, conflicts)


def _consolidate(memory: MemoryLedger, task: Task, person: str) -> bool:
    turn_id = task.turn or ""
    state = memory.operations.extraction.state_of(turn_id)
    if state.pending:
        if state.problem and memory.turn(turn_id).state == "parked":
            return _end(memory, task, FAILED, "parked")
        return False
    decisions = memory.decisions(person, turn_id=turn_id)
    escalated = {each.decision_id for each in decisions if each.outcome == "escalate"}
    conflicts = [
        each
        for each in memory.conflicts.list(person)
        if escalated & {decision.decision_id for decision in each.escalated}
    ]
    if conflicts:
        return _pause(memory, task, conflicts, escalated)
    return _end(memory, task, COMPLETED, "decided", written(decisions))


def written(decisions: Sequence[DecisionAnswer]) -> list[str]:
    """The memories that these decisions wrote or confirmed, each once."""
    made = (each.memory_id for each in decisions if each.outcome in _WRITTEN)
    return list(dict.fromkeys(each for each in made if each))


def _answer(memory: MemoryLedger, task: Task, person: str) -> bool:
    if task.question:
        found = memory.search(
            person,
            task.question,
            FOUND,
            as_of=task.as_of,
            by=memory.actor_name(task.principal),
            options=SearchOptions(include=("memories",)),
        )
        memories = [each.id for each in found.results]
    else:
        memories = [each.memory_id for each in memory.beliefs(person, as_of=task.as_of)][:MOST]
    return _end(memory, task, COMPLETED, "answered", memories)


def _waiting(memory: MemoryLedger, task: Task, person: str) -> list[ConflictAnswer]:
    """The conflicts that a task is about and nobody has settled yet."""
    asked = set(task.decisions)
    return [
        each
        for each in memory.conflicts.list(person)
        if (not task.beliefs or each.belief_id in task.beliefs)
        and (not asked or asked & {decision.decision_id for decision in each.escalated})
    ]


def waiting(memory: MemoryLedger, task: Task) -> list[ConflictAnswer]:
    """What a task that waits is asked about."""
    person = memory.name_of(task.subject_ref)
    return [] if person is None else _waiting(memory, task, person)


def _settle(memory: MemoryLedger, task: Task, person: str) -> bool:
    said = task.answers[-1]
    by = memory.actor_name(task.principal)
    hold: list[str] = []
    conflicts = _waiting(memory, task, person)
    for conflict in conflicts:
        chosen = settlement(conflict, said, task.decisions)
        choose = chosen if isinstance(chosen, str) else None
        contexts = None if isinstance(chosen, str) else chosen
        settled = memory.conflicts.resolve(
            conflict.belief_id, by=by, choose=choose, contexts=contexts
        )
        hold += [each.memory_id for each in settled]
    if task.turn is not None:
        hold += written(memory.decisions(person, turn_id=task.turn))
    reason = "settled" if conflicts else "settled_before"
    return _end(memory, task, COMPLETED, reason, list(dict.fromkeys(hold)))


def settlement(
    conflict: ConflictAnswer, said: Answer, decisions: Sequence[str] = ()
) -> str | dict[str, str]:
    """How an answer settles a conflict: one choice, or one for each context, by ids. Raises
    `InvalidTurn` where there is nothing to choose so."""
    stands = [each for each in conflict.choices if each.stands]
    new = [each for each in conflict.choices if not each.stands]
    ids = {each.id for each in conflict.choices}
    if said.answer == "keep_both":
        if said.contexts and not set(said.contexts.values()) <= ids:
            raise InvalidTurn("contexts: name choices by their ids, one for each context.")
        return dict(said.contexts) or _by_context(conflict.choices)
    if said.answer == "keep_existing":
        if not stands:
            raise InvalidTurn("keep_existing: nothing stands any more; answer keep_new.")
        if len(stands) > 1:
            return _by_context(stands)
        return stands[0].id
    if not new:
        raise InvalidTurn("keep_new: nothing new is there any more; answer keep_existing.")
    own = [each for each in new if each.id in decisions]
    return max(own or new, key=lambda each: each.last_said).id


def _by_context(choices: Sequence[ChoiceAnswer]) -> dict[str, str]:
    """Each choice in its own context; where it names none, in the time it was last said."""
    named: dict[str, str] = {}
    for number, each in enumerate(choices, 1):
        context = each.context or f"as said on {_day(each.last_said)}"
        if context in named:
            context = f"as said {each.last_said.isoformat(sep=' ', timespec='seconds')}"
        named[context if context not in named else f"{context} ({number})"] = each.id
    return named


def _day(at: datetime) -> str:
    return at.date().isoformat()


def check_reply(memory: MemoryLedger, task: Task, answer: str, contexts: Mapping[str, str]) -> None:
    """Raises `InvalidTurn` for an answer that would settle nothing."""
    if answer not in ANSWERS:
        raise InvalidTurn(f"resolution: answer one of {', '.join(ANSWERS)}.")
    if contexts and answer != "keep_both":
        raise InvalidTurn("contexts: only keep_both takes some.")
    for conflict in waiting(memory, task):
        settlement(conflict, Answer(answer, contexts=contexts), task.decisions)


def _pause(
    memory: MemoryLedger,
    task: Task,
    conflicts: Sequence[ConflictAnswer],
    own: set[str] | None = None,
) -> bool:
    decisions = [
        each.decision_id
        for conflict in conflicts
        for each in conflict.escalated
        if own is None or each.decision_id in own
    ]
    memory.tasks.pause(task, [each.belief_id for each in conflicts], decisions)
    return True


def _end(
    memory: MemoryLedger, task: Task, outcome: str, reason: str, memories: Sequence[str] = ()
) -> bool:
    memory.tasks.end(task, outcome, reason, memories)
    return True
