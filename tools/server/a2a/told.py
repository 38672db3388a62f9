"""A task as the protocol tells it. Words are read as it is told, as far as they may be then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from a2a.helpers.proto_helpers import new_data_part, new_text_part
from a2a.types.a2a_pb2 import (
    Artifact,
    Message,
    Part,
    Role,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a.types.a2a_pb2 import Task as ToldTask

from beliefledger.access.tasks import ANSWERS, Task
from beliefledger.memory import MemoryLedger
from beliefledger.times import LATEST
from beliefledger.tools.server.a2a import work
from beliefledger.tools.server.a2a.skills import ANSWER, CONSOLIDATE
from beliefledger.tools.server.caller import Caller
from beliefledger.tools.server.causes import WENT_WRONG
from beliefledger.tools.server.shown import Shown

STATES = {
    "submitted": TaskState.TASK_STATE_SUBMITTED,
    "working": TaskState.TASK_STATE_WORKING,
    "input_required": TaskState.TASK_STATE_INPUT_REQUIRED,
    "completed": TaskState.TASK_STATE_COMPLETED,
    "failed": TaskState.TASK_STATE_FAILED,
    "canceled": TaskState.TASK_STATE_CANCELED,
}
NAMES = {state: name for name, state in STATES.items()}
WITHHELD = "(withheld)"
"""Stands for words that may not be told, or are erased."""
_QUESTION = f"It contradicts what is believed. Answer {', '.join(ANSWERS[:2])} or {ANSWERS[2]}."
_REASONS = {
    "decided": "What was said is decided.",
    "answered": "This is what was believed.",
    "settled": "The contradiction is settled.",
    "settled_before": "The contradiction was settled before the answer came.",
    "nothing_to_settle": "There is nothing to settle.",
    "parked": "The text could not be read. Whoever runs the ledger can have it tried again.",
    "canceled": "Canceled. What was said stays recorded.",
    "NOT_PERMITTED": "The ledger may not do this: a lawful basis or a right is missing.",
    "FAILED": WENT_WRONG,
}


def told(caller: Caller, task: Task, history: int | None = None) -> ToldTask:
    """A task with its status, its artifacts, and at most so many messages of its history."""
    messages = [] if history == 0 else _history(caller.memory, task)
    made = ToldTask(
        id=task.task_id,
        context_id=_context(task),
        status=status(caller.memory, task),
        history=messages if history is None else messages[-history:],
    )
    made.metadata.update({"skill": task.skill})
    if task.state == "completed":
        made.artifacts.append(artifact(caller, task))
    return made


def updates(caller: Caller, task: Task) -> list[Any]:
    """What a stream tells when a task has come to where it is."""
    events: list[Any] = []
    if task.state == "completed":
        events.append(
            TaskArtifactUpdateEvent(
                task_id=task.task_id,
                context_id=_context(task),
                artifact=artifact(caller, task),
                last_chunk=True,
            )
        )
    events.append(
        TaskStatusUpdateEvent(
            task_id=task.task_id, context_id=_context(task), status=status(caller.memory, task)
        )
    )
    return events


def _context(task: Task) -> str:
    return task.context or task.task_id


def status(memory: MemoryLedger, task: Task) -> TaskStatus:
    made = TaskStatus(state=STATES[task.state])
    made.timestamp.FromMicroseconds(task.changed_at)
    if task.state == "input_required":
        parts = [new_text_part(_QUESTION), new_data_part(question(memory, task))]
        made.message.CopyFrom(_message(task, Role.ROLE_AGENT, parts))
    elif task.ended:
        says = _REASONS.get(task.reason or "", task.reason or "")
        made.message.CopyFrom(_message(task, Role.ROLE_AGENT, [new_text_part(says)]))
    return made


def question(memory: MemoryLedger, task: Task) -> dict[str, Any]:
    """What a task that waits asks: each contradiction, with the choices there are."""
    found = []
    shown = Shown(memory)
    for conflict in work.waiting(memory, task):
        decided = shown.decisions(conflict.escalated)
        claims = {each["decision_id"]: each["claim"] for each in decided}
        claims |= {each["memory_id"]: each["text"] for each in shown.beliefs(conflict.standing)}
        choices = [
            {
                "id": each.id,
                "stands": each.stands,
                "text": claims.get(each.id),
                "last_said": each.last_said.isoformat(),
            }
            for each in conflict.choices
        ]
        stands = [each for each in choices if each["stands"]]
        new = [each for each in choices if not each["stands"]]
        found.append(
            {
                "belief_id": conflict.belief_id,
                "reason": conflict.reason,
                "existing_id": stands[0]["id"] if stands else None,
                "existing_text": stands[0]["text"] if stands else None,
                "new_id": new[-1]["id"] if new else None,
                "new_text": new[-1]["text"] if new else None,
                "choices": choices,
            }
        )
    return {
        "type": "contradiction_detected",
        "contradictions": found,
        "answers": list(ANSWERS),
    }


def result(caller: Caller, task: Task) -> dict[str, Any]:
    """What a task that is completed has come to."""
    memory = caller.memory
    memories = _beliefs(memory, task)
    if task.skill == ANSWER:
        asked = None if task.question is None else task.question
        as_of = task.as_of if caller.for_everybody else None  # a position
        return {"question": asked, "as_of": as_of, "beliefs": memories}
    made: dict[str, Any] = {"memories_stored": len(task.memories), "beliefs": memories}
    if task.answers:
        made["resolution_applied"] = task.answers[-1].answer
    if task.skill == CONSOLIDATE and task.turn is not None:
        person = memory.name_of(task.subject_ref)
        decisions = [] if person is None else memory.decisions(person, turn_id=task.turn)
        made["decisions"] = Shown(memory).decisions(decisions)
    return made


def _beliefs(memory: MemoryLedger, task: Task) -> list[dict[str, Any]]:
    """What was found or written, as far as it may be told now."""
    at = LATEST if task.as_of is None else task.as_of
    words = memory.recalls.words(list(task.memories), at)
    texts = {each: said.text for each, said in words.items() if said.text is not None}
    person = memory.name_of(task.subject_ref)
    held = {}
    if person is not None and texts:
        now = memory.beliefs(person, as_of=task.as_of)
        held = {each["memory_id"]: each for each in Shown(memory).beliefs(now)}
    return [
        held.get(each) or {"memory_id": each, "text": texts[each]} | {"holds": False}
        for each in task.memories
        if each in texts
    ]


def artifact(caller: Caller, task: Task) -> Artifact:
    data = result(caller, task)
    lines = [str(each["text"]) for each in data["beliefs"]]
    text = "\n".join(lines) or "Nothing of this is believed, or may be told."
    return Artifact(
        artifact_id=f"{task.task_id}-result",
        name=task.skill,
        parts=[new_text_part(text), new_data_part(data)],
    )


def _history(memory: MemoryLedger, task: Task) -> list[Message]:
    """What was said of a task, oldest first."""
    words = task.question or "What is believed?"
    if task.skill == CONSOLIDATE:
        words = Shown(memory).words([task.turn or ""]).get(task.turn or "") or WITHHELD
    elif task.skill != ANSWER:
        words = "What has to be settled?"
    messages = [_message(task, Role.ROLE_USER, [new_text_part(words)], task.message)]
    for number, each in enumerate(task.answers):
        asks = f"{task.task_id}-question-{number + 1}"
        messages.append(_message(task, Role.ROLE_AGENT, [new_text_part(_QUESTION)], asks))
        answers = [new_text_part(each.answer)]
        messages.append(_message(task, Role.ROLE_USER, answers, each.message))
    return messages


def _message(
    task: Task, role: Role, parts: Sequence[Part], message_id: str | None = None
) -> Message:
    return Message(
        message_id=message_id or f"{task.task_id}-{task.version}",
        task_id=task.task_id,
        context_id=_context(task),
        role=role,
        parts=parts,
    )
