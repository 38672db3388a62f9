"""Turns: recording one or many, deciding at once, and how far a turn is."""

from __future__ import annotations

from time import monotonic, sleep
from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field, JsonValue

from beliefledger.answers import DecisionAnswer, ProcessAnswer, TurnReceipt
from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.errors import InvalidTurn, UnknownMemory
from beliefledger.reading.turns import TurnAnswer
from beliefledger.times import micros
from beliefledger.tools.server.api.endpoint import (
    Body,
    Id,
    Key,
    Listed,
    endpoint,
    numbered,
    speaking,
)
from beliefledger.tools.server.api.outlet import Outlet
from beliefledger.tools.server.caller import Caller, cited

_LOOK_SECONDS = 0.05


class Turn(Body):
    """What somebody said."""

    subject: str = ""
    content: str
    role: str = "user"
    speaker: str | None = None
    session: str | None = None
    agent: str | None = None
    said_at: str | None = None
    ordinal: int | None = Field(None, ge=0, lt=2**53)
    idempotency_key: str | None = Field(None, max_length=200)
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    ask: bool = False


class Turns(Body):
    """Many turns: all are recorded, or none."""

    turns: list[Turn] = Field(max_length=1_000)


class ToRemember(Body):
    """A turn of the subject that is to be decided at once."""

    subject: str = ""
    text: str
    consent: str | None = None
    session: str | None = None
    agent: str | None = None
    said_at: str | None = None
    idempotency_key: str | None = Field(None, max_length=200)
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class Remembered(BaseModel):
    """A turn that is recorded, and what was decided of it."""

    receipt: TurnReceipt
    decisions: list[DecisionAnswer]


class ToProcess(Body):
    """Which turns are to be decided."""

    subject: str | None = None
    limit: int | None = Field(None, ge=1, le=10_000)


class TurnJob(BaseModel):
    """How far a turn is: `pending`, `extracted`, `parked` or `erased`, and what was decided."""

    turn_id: str
    state: str
    attempts: int
    decisions: list[DecisionAnswer]


def _input(caller: Caller, turn: Turn, key: str | None) -> TurnInput:
    subject = caller.subject(turn.subject)
    return TurnInput(
        subject=subject,
        content=turn.content,
        role=turn.role,
        speaker=turn.speaker,
        session=turn.session,
        agent=speaking(caller, turn.agent),
        said_at=micros(turn.said_at, "said_at", InvalidTurn),
        ordinal=turn.ordinal,
        idempotency_key=caller.own_key(turn.idempotency_key or key or ""),
        metadata=turn.metadata,
        ask=turn.ask,
    )


@endpoint("POST", "/turns", "record_turn", status=201)
def record_turn(caller: Caller, turn: Turn, idempotency_key: Key = None) -> TurnReceipt:
    """Record what was said. It is durable on return; what is to be believed of it is decided
    afterwards, and the turn's job tells how far that is."""
    given = _input(caller, turn, idempotency_key)
    caller.grant_first(given.subject)
    [receipt] = caller.memory.record_turns([given])
    return receipt


@endpoint("POST", "/turns/batch", "record_turns", status=201, once=True)
def record_turns(caller: Caller, turns: Turns, idempotency_key: Key = None) -> Listed[TurnReceipt]:
    """Record many turns in one durable append: all of them or none."""
    keys = numbered(idempotency_key, len(turns.turns))
    given = [_input(caller, each, key) for each, key in zip(turns.turns, keys, strict=True)]
    if len({each.subject for each in given}) > 1:
        caller.about_many()
    for subject in {each.subject for each in given}:
        caller.grant_first(subject)
    return Listed.of(caller.memory.record_turns(given))


@endpoint("POST", "/turns/remember", "remember", once=True)
def remember(caller: Caller, said: ToRemember, idempotency_key: Key = None) -> Remembered:
    """Record one turn of the subject and decide about it at once. A lawful basis that is named in
    `consent` is granted first, which takes the right to."""
    subject = caller.subject(said.subject)
    agent = speaking(caller, said.agent)
    if said.consent is not None:
        caller.principal.require("consent.grant")
    else:
        caller.grant_first(subject)
    receipt, made = caller.memory.remember(
        subject,
        said.text,
        consent=said.consent,
        session=said.session,
        agent=agent,
        said_at=said.said_at,
        idempotency_key=caller.own_key(said.idempotency_key or idempotency_key or ""),
        metadata=said.metadata,
    )
    return Remembered(receipt=receipt, decisions=Outlet(caller.memory).decisions(made))


@endpoint("POST", "/turns/process", "process", once=True)
def process(caller: Caller, which: ToProcess) -> ProcessAnswer:
    """Decide about the turns that wait, oldest first: of one person, or of all that a token for
    everybody reaches."""
    subject = which.subject
    if subject is not None or caller.principal.subjects is not None:
        subject = caller.subject(subject or "")
    return caller.memory.process(subject=subject, limit=which.limit)


@endpoint("GET", "/turns/{turn_id}", "turn")
def turn(caller: Caller, turn_id: Id) -> TurnAnswer:
    """What was said, with the words marked that the gate decided about, as far as they may be
    told."""
    found = caller.memory.turn(cited(turn_id, "turn"))
    if not caller.owns(found.subject):
        raise UnknownMemory("There is no such turn.")
    return Outlet(caller.memory).turn(found)


@endpoint("GET", "/turns/{turn_id}/job", "turn", "decisions")
def turn_job(
    caller: Caller, turn_id: Id, wait: Annotated[float, Query(ge=0, le=20)] = 0
) -> TurnJob:
    """How far a turn is, and what was decided. `wait` is how many seconds to wait for it."""
    ends = monotonic() + wait
    found = caller.memory.turn(cited(turn_id, "turn"))
    if not caller.owns(found.subject):
        raise UnknownMemory("There is no such turn.")
    while found.state == "pending" and monotonic() < ends:
        sleep(_LOOK_SECONDS)
        found = caller.memory.turn(turn_id)
    told: dict[str, Any] = {
        "turn_id": found.turn_id,
        "state": found.state,
        "attempts": found.attempts,
    }
    return TurnJob(**told, decisions=Outlet(caller.memory).decisions(found.decisions))
