"""Events of one task: what an agent asked the ledger to do, and what became of it.

A task has hardly any words of its own. What was said is a turn, what was found are memories: both
are read when somebody looks at the task, as far as they may be shown then. Whoever gave the task is
the actor of its first event.
"""

from typing import ClassVar

from pydantic import Field

from beliefledger.ledger.candidate import unset
from beliefledger.ledger.events.kind import Event, Fact
from beliefledger.ledger.fields import Name


class TaskSubmitted(Event):
    """An agent gave the ledger something to do about a person, and it was accepted. The first event
    of its stream."""

    NAME: ClassVar = "task.submitted.v1"
    skill: Fact[Name[str]]
    conversation: Fact[str]
    """Keyed hash of `context`: tasks of one conversation can be told together."""
    turn: Fact[str | None] = None
    """The turn that has its text."""
    as_of: Fact[int | None] = None
    """The position that a question is about."""
    beliefs: Fact[tuple[str, ...]] = ()
    """The beliefs that are to be settled; none: all that wait."""
    context: Name[str]
    """The conversation, under the name that the agent gives it."""
    message: Name[str]
    """The id that the agent gave to its message."""
    question: str | None = None
    session_tag: str | None = None
    """The session that the conversation is, by its HMAC under the subject's key: it goes with
    that."""


class TaskPaused(Event):
    """A task came to a contradiction, and waits until whoever gave it says what to keep."""

    NAME: ClassVar = "task.paused.v1"
    beliefs: Fact[tuple[str, ...]]
    decisions: Fact[tuple[str, ...]]
    """The decisions that put a statement before a person."""


class TaskAnswered(Event):
    """Whoever gave a task that waited said what to keep, and it goes on."""

    NAME: ClassVar = "task.answered.v1"
    answer: Fact[Name[str]]
    """`keep_existing`, `keep_new` or `keep_both`."""
    message: Name[str]
    contexts: dict[str, str] = Field(default_factory=dict, exclude_if=unset)
    """For `keep_both`: a choice, by its id, for each context."""


class TaskEnded(Event):
    """A task is over."""

    NAME: ClassVar = "task.ended.v1"
    outcome: Fact[str]
    """`completed`, `failed` or `canceled`."""
    reason: Fact[Name[str]]
    """A code of ours that says why."""
    memories: Fact[tuple[str, ...]] = ()
    """What it found or wrote, best first."""
