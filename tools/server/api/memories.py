"""Memories: writing them with chosen fields, reading, changing, correcting, taking them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query
from pydantic import Field, JsonValue

from beliefledger.answers import BeliefAnswer, DecisionAnswer, Explanation
from beliefledger.curation.storing import Details, MemoryInput
from beliefledger.ledger.candidate import SELF
from beliefledger.tools.server.api.endpoint import (
    LONGEST,
    AsOf,
    Body,
    Id,
    Key,
    Listed,
    Share01,
    Text,
    acting,
    asked_at,
    endpoint,
    numbered,
    speaking,
)
from beliefledger.tools.server.api.outlet import Outlet
from beliefledger.tools.server.api.turns import Remembered
from beliefledger.tools.server.caller import Caller


class Memory(Body):
    """A memory whose fields are chosen. `text` is by default "attribute is value"."""

    subject: str = ""
    value: str
    attribute: str
    type: str = "fact"
    text: str | None = None
    confidence: Share01 | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    said_at: str | None = None
    idempotency_key: str | None = Field(None, max_length=200)
    entity: str = SELF
    negated: bool = False
    context: str | None = None
    topic: str = "general"
    category: str | None = None
    importance: Share01 = 0.5
    expires_at: str | None = None
    visibility_scope: str | None = None
    session: str | None = None
    agent: str | None = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    by: str | None = None


class Memories(Body):
    """Many memories: all are checked before any is written."""

    memories: list[Memory] = Field(max_length=1_000)
    by: str | None = None


class Change(Body):
    """What is to be otherwise of a memory; what is null stays as it is."""

    value: str | None = None
    text: str | None = None
    topic: str | None = None
    importance: Share01 | None = None
    confidence: Share01 | None = None
    valid_from: str | None = None
    expires_at: str | None = None
    metadata: dict[str, JsonValue] | None = None
    by: str | None = None


class Correction(Body):
    """The words in which a person says that a memory was never so."""

    words: str
    value: str | None = None
    text: str | None = None
    session: str | None = None
    agent: str | None = None
    said_at: str | None = None
    idempotency_key: str | None = Field(None, max_length=200)
    by: str | None = None


def _input(caller: Caller, memory: Memory, key: str | None) -> MemoryInput:
    return MemoryInput(
        subject=caller.subject(memory.subject),
        value=memory.value,
        attribute=memory.attribute,
        type=memory.type,
        text=memory.text,
        confidence=memory.confidence,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        said_at=memory.said_at,
        idempotency_key=caller.own_key(memory.idempotency_key or key or ""),
        details=Details(
            entity=memory.entity,
            negated=memory.negated,
            context=memory.context,
            topic=memory.topic,
            category=memory.category,
            importance=memory.importance,
            expires_at=memory.expires_at,
            visibility_scope=memory.visibility_scope,
            session=memory.session,
            agent=memory.agent and speaking(caller, memory.agent),
            metadata=memory.metadata,
        ),
    )


def _stored(caller: Caller, memories: Sequence[MemoryInput], by: str) -> list[DecisionAnswer]:
    for subject in {each.subject for each in memories}:
        caller.grant_first(subject)
    return Outlet(caller.memory).decisions(caller.memory.store_many(memories, by=by))


@endpoint("POST", "/memories", "store", once=True)
def store(caller: Caller, memory: Memory, idempotency_key: Key = None) -> DecisionAnswer:
    """Write one memory with chosen fields. Consent and contradiction are decided as for any
    other; the answer is the decision."""
    by = acting(caller, memory.by)
    return _stored(caller, [_input(caller, memory, idempotency_key)], by)[0]


@endpoint("POST", "/memories/batch", "store_many", once=True)
def store_many(
    caller: Caller, memories: Memories, idempotency_key: Key = None
) -> Listed[DecisionAnswer]:
    """Write many memories with chosen fields; one decision for each."""
    by = acting(caller, memories.by)
    for each in memories.memories:
        acting(caller, each.by)
    keys = numbered(idempotency_key, len(memories.memories))
    given = [_input(caller, each, key) for each, key in zip(memories.memories, keys, strict=True)]
    if len({each.subject for each in given}) > 1:
        caller.about_many()
    return Listed.of(_stored(caller, given, by))


@endpoint("GET", "/memories/{memory_id}", "history", tagged=True)
def memory(caller: Caller, memory_id: Id) -> BeliefAnswer:
    """The last version of one memory, whether it holds or not."""
    return Outlet(caller.memory).belief(caller.versions(memory_id)[-1])


@endpoint("GET", "/memories/{memory_id}/explanation", "explain")
def explain(caller: Caller, memory_id: Id, as_of: AsOf = None, proof: bool = False) -> Explanation:
    """Why a memory is there: the decision with its reason and scores, and the words it rests on, as
    far as they may be told."""
    memory_id = caller.memory_id(memory_id)
    told = caller.memory.explain(memory_id, proof=proof, as_of=asked_at(caller, as_of))
    return Outlet(caller.memory).explanation(told)


@endpoint("PATCH", "/memories/{memory_id}", "update", once=True)
def update(caller: Caller, memory_id: Id, change: Change) -> DecisionAnswer:
    """Change a memory that holds; the gate decides about it as about any."""
    by = acting(caller, change.by)
    memory_id = caller.memory_id(memory_id)
    made = caller.memory.update(
        memory_id,
        value=change.value,
        text=change.text,
        topic=change.topic,
        importance=change.importance,
        confidence=change.confidence,
        valid_from=change.valid_from,
        expires_at=change.expires_at,
        metadata=change.metadata,
        by=by,
    )
    return Outlet(caller.memory).decision(made)


@endpoint("POST", "/memories/{memory_id}/corrections", "correct", once=True)
def correct(
    caller: Caller, memory_id: Id, correction: Correction, idempotency_key: Key = None
) -> Remembered:
    """Record that a person says a memory about them is wrong, in their own words."""
    by = acting(caller, correction.by)
    memory_id = caller.memory_id(memory_id)
    receipt, made = caller.memory.correct(
        memory_id,
        correction.words,
        value=correction.value,
        text=correction.text,
        session=correction.session,
        agent=speaking(caller, correction.agent),
        said_at=correction.said_at,
        idempotency_key=caller.own_key(correction.idempotency_key or idempotency_key or ""),
        by=by,
    )
    return Remembered(receipt=receipt, decisions=Outlet(caller.memory).decisions(made))


@endpoint("DELETE", "/memories/{memory_id}", "revoke", once=True)
def revoke(
    caller: Caller,
    memory_id: Id,
    note: Annotated[str | None, Query(max_length=LONGEST)] = None,
    by: Text = None,
) -> BeliefAnswer:
    """Take a memory back: it is no longer believed or shown. It stays in the history, which an
    erasure empties. One that may not be told, as after it was revoked, is not found."""
    who = acting(caller, by)
    known = caller.versions(memory_id)
    last = Outlet(caller.memory).belief(known[-1])
    if all(each.recorded_to is not None for each in known):  # it was over already
        return last
    return caller.memory.revoke(known[-1].memory_id, by=who, note=note)
