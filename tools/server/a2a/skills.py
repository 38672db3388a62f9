"""The three skills: what each is told, which rights it needs, and how a task of it is accepted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from beliefledger.access.principal import Principal
from beliefledger.access.tasks import Submission, Task
from beliefledger.gate.orders import instruction_like
from beliefledger.ledger.errors import InvalidTurn, NotPermitted, UnknownMemory
from beliefledger.ledger.redact import redact
from beliefledger.tools.server.caller import Caller, whole_id
from beliefledger.tools.server.shown import TOPIC

CONSOLIDATE, ANSWER, RESOLVE = "consolidate_memories", "answer_as_of", "resolve_conflict"
VERBS: Mapping[str, tuple[str, ...]] = {
    CONSOLIDATE: ("record_turn", "decisions", "conflicts.resolve"),
    ANSWER: ("search", "beliefs"),
    RESOLVE: ("conflicts.list", "conflicts.resolve"),
}
"""What a token has to be for, to give a task, to look at it and to answer it."""
GENERAL = "general"
T = TypeVar("T", bound=BaseModel)
_LONGEST = 200_000
Name = Annotated[str, Field(max_length=300)]


class _Told(BaseModel):
    model_config = ConfigDict(
        extra="forbid", hide_input_in_errors=True, str_max_length=_LONGEST, frozen=True
    )


class Consolidate(_Told):
    text: str
    topic: Annotated[str, Field(max_length=100)] = GENERAL
    subject: Name = ""


class AnswerAsOf(_Told):
    question: Annotated[str, Field(max_length=10_000)] = ""
    as_of: Name = ""
    subject: Name = ""


class ResolveConflict(_Told):
    belief_id: Name = ""
    subject: Name = ""


class Reply(_Told):
    """The answer to a contradiction."""

    resolution: Literal["keep_existing", "keep_new", "keep_both"]
    contexts: dict[Name, Name] = Field(default_factory=dict, max_length=20)


TOLD: Mapping[str, tuple[type[_Told], str]] = {
    CONSOLIDATE: (Consolidate, "text"),
    ANSWER: (AnswerAsOf, "question"),
    RESOLVE: (ResolveConflict, "belief_id"),
}
"""Of each skill what it is told, and which of it a text without names is."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A message that gives a task."""

    skill: str
    given: Mapping[str, Any]
    context: str
    """The conversation; one was made where none was named."""
    message: str
    session: str | None = None
    """The conversation, where the agent named it."""
    own_id: str | None = field(default=None)


def may(principal: Principal, skill: str) -> bool:
    """Whether a token is for all that a skill does."""
    return all(principal.may(verb) for verb in VERBS.get(skill, ("",)))


def require(principal: Principal, skill: str) -> None:
    """Raises `InvalidTurn` for what is no skill, `NotPermitted` where the token is not for it."""
    if skill not in VERBS:
        raise InvalidTurn(f"skill: there is none like that; there are: {', '.join(VERBS)}.")
    for verb in VERBS[skill]:
        principal.require(verb)


def checked(model: type[T], given: Mapping[str, Any]) -> T:
    """What was given, as a skill is told it. Raises `InvalidTurn` that names the field alone."""
    try:
        return model.model_validate(given)
    except ValidationError as problem:
        said = []
        for each in problem.errors(include_url=False, include_context=False, include_input=False):
            name = str(each["loc"][0]) if each["loc"] else ""
            known = name in model.model_fields
            said.append(f"{name}: {each['msg']}" if known else "There is a field too many")
        fields = ", ".join(model.model_fields)
        raise InvalidTurn(f"{'. '.join(dict.fromkeys(said))}. The fields: {fields}.") from None


def accept(caller: Caller, asked: Asked) -> Task:
    """Make a task of a message; durable on return. Raises `LedgerError`."""
    require(caller.principal, asked.skill)
    told = checked(TOLD[asked.skill][0], asked.given)
    match told:
        case Consolidate():
            submission = _to_consolidate(caller, asked, told)
        case AnswerAsOf():
            submission = _to_answer(caller, asked, told)
        case ResolveConflict():
            submission = _to_resolve(caller, asked, told)
        case _:
            raise AssertionError("there is a skill without a way to accept it")
    return caller.memory.tasks.submit(submission, caller.principal)


def _to_consolidate(caller: Caller, asked: Asked, told: Consolidate) -> Submission:
    topic = told.topic.strip()
    if not topic or not topic.isprintable() or instruction_like(topic):
        raise InvalidTurn("topic: give a word or two on one line, and no instruction.")
    person = caller.subject(told.subject)
    known = topic in (GENERAL, *caller.memory.policy.current.topics)
    caller.grant_first(person)
    # The same message again is the same turn, another text under its id is another.
    said = hashlib.sha256(told.text.encode()).hexdigest()
    receipt = caller.memory.record_turn(
        person,
        told.text,
        session=asked.session,
        agent=caller.principal.agent,
        idempotency_key=caller.own_key(f"task:{asked.own_id or asked.message}:{said}"),
        metadata={} if known else {TOPIC: redact(topic).text},
        ask=True,
    )
    return Submission(
        subject_ref=_ref(caller, person),
        skill=asked.skill,
        context=asked.context,
        message=asked.message,
        text=told.text,
        turn=receipt.turn_id,
        session=asked.session,
        own_id=asked.own_id,
    )


def _to_answer(caller: Caller, asked: Asked, told: AnswerAsOf) -> Submission:
    person = caller.subject(told.subject)
    moment = told.as_of.strip()
    at = caller.moment(moment)
    question = redact(told.question.strip()).text
    return Submission(
        subject_ref=_ref(caller, person),
        skill=asked.skill,
        context=asked.context,
        message=asked.message,
        text=f"{question}\x1f{moment}",
        as_of=None if at is None else caller.memory.as_of(at).position,
        question=question or None,
        session=asked.session,
    )


def _to_resolve(caller: Caller, asked: Asked, told: ResolveConflict) -> Submission:
    person = caller.subject(told.subject)
    beliefs: tuple[str, ...] = ()
    if told.belief_id:
        belief = whole_id(told.belief_id, "belief")
        if belief not in {each.belief_id for each in caller.memory.conflicts.list(person)}:
            raise UnknownMemory("There is no such conflict.")
        beliefs = (belief,)
    return Submission(
        subject_ref=_ref(caller, person),
        skill=asked.skill,
        context=asked.context,
        message=asked.message,
        text=",".join(beliefs),
        beliefs=beliefs,
        session=asked.session,
    )


def _ref(caller: Caller, person: str) -> str:
    ref = caller.memory.tokens.subject(person)
    if ref is None:
        raise NotPermitted("Nothing is known about this person, or this token is not for them.")
    caller.subject_ref = ref
    return ref
