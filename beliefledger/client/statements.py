"""What is sent to a server to say, store, change and take back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from pydantic import JsonValue

from beliefledger.answers import (
    BeliefAnswer,
    DecisionAnswer,
    ErasureAnswer,
    ProcessAnswer,
    TurnReceipt,
)
from beliefledger.client.ask import (
    NOTHING,
    Ask,
    Remembered,
    given,
    id_of,
    read_belief,
    read_decision,
    read_decisions,
    read_receipt,
    read_receipts,
    read_remembered,
    reader,
)
from beliefledger.curation.storing import PLAIN, Details, MemoryInput
from beliefledger.erasure.named import UNNAMED, Named, named
from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.times import iso
from beliefledger.times import Moment


def record_turn(
    subject: str,
    content: str,
    *,
    role: str = "user",
    speaker: str | None = None,
    session: str | None = None,
    agent: str | None = None,
    said_at: Moment | None = None,
    ordinal: int | None = None,
    idempotency_key: str | None = None,
    metadata: Mapping[str, JsonValue] = NOTHING,
    ask: bool = False,
) -> Ask[TurnReceipt]:
    """Record what was said; when this returns it is durable. The server decides afterwards."""
    sent = given(
        subject=subject, content=content, role=role, speaker=speaker, session=session, agent=agent,
        said_at=said_at, ordinal=ordinal, idempotency_key=idempotency_key, metadata=metadata,
        ask=ask,
    )  # fmt: skip
    return Ask("POST", "turns", read_receipt, sent=sent)


def record_turns(turns: Iterable[TurnInput]) -> Ask[list[TurnReceipt]]:
    """Record many turns in one durable append: all of them or none."""
    told = [_turn(each) for each in turns]
    return Ask("POST", "turns/batch", read_receipts, sent={"turns": told})


def _turn(turn: TurnInput) -> dict[str, Any]:
    said_at = None if turn.said_at is None else iso(turn.said_at)
    return given(
        subject=turn.subject, content=turn.content, role=turn.role, speaker=turn.speaker,
        session=turn.session, agent=turn.agent, said_at=said_at, ordinal=turn.ordinal,
        idempotency_key=turn.idempotency_key, metadata=turn.metadata, ask=turn.ask,
    )  # fmt: skip


def process(*, subject: str | None = None, limit: int | None = None) -> Ask[ProcessAnswer]:
    """Decide about the turns that wait, oldest first."""
    read: Callable[[bytes], ProcessAnswer] = reader(ProcessAnswer)
    return Ask("POST", "turns/process", read, sent=given(subject=subject, limit=limit))


def remember(
    subject: str,
    text: str,
    *,
    consent: str | None = None,
    session: str | None = None,
    agent: str | None = None,
    said_at: Moment | None = None,
    idempotency_key: str | None = None,
    metadata: Mapping[str, JsonValue] = NOTHING,
) -> Ask[Remembered]:
    """Record one turn of the subject and decide about it at once; receipt and decisions."""
    sent = given(
        subject=subject, text=text, consent=consent, session=session, agent=agent, said_at=said_at,
        idempotency_key=idempotency_key, metadata=metadata,
    )  # fmt: skip
    return Ask("POST", "turns/remember", read_remembered, sent=sent)


def store(
    subject: str,
    value: str,
    *,
    attribute: str,
    type: str = "fact",
    text: str | None = None,
    confidence: float | None = None,
    valid_from: Moment | None = None,
    valid_to: Moment | None = None,
    said_at: Moment | None = None,
    idempotency_key: str | None = None,
    by: str | None = None,
    details: Details | None = None,
) -> Ask[DecisionAnswer]:
    """Write a memory with chosen fields; returns the decision about it."""
    memory = MemoryInput(
        subject=subject, value=value, attribute=attribute, type=type, text=text,
        confidence=confidence, valid_from=valid_from, valid_to=valid_to, said_at=said_at,
        idempotency_key=idempotency_key, details=details or PLAIN,
    )  # fmt: skip
    return Ask("POST", "memories", read_decision, sent=_memory(memory) | given(by=by))


def store_many(
    memories: Iterable[MemoryInput], *, by: str | None = None
) -> Ask[list[DecisionAnswer]]:
    """Write many memories with chosen fields; one decision for each."""
    told = [_memory(each) for each in memories]
    return Ask("POST", "memories/batch", read_decisions, sent={"memories": told} | given(by=by))


def _memory(memory: MemoryInput) -> dict[str, Any]:
    common = {each.name: getattr(memory, each.name) for each in fields(memory)}
    rarer = common.pop("details")
    return given(**common, **{each.name: getattr(rarer, each.name) for each in fields(rarer)})


# Changing, and taking back


def update(
    memory_id: str,
    *,
    value: str | None = None,
    text: str | None = None,
    topic: str | None = None,
    importance: float | None = None,
    confidence: float | None = None,
    valid_from: Moment | None = None,
    expires_at: Moment | None = None,
    metadata: Mapping[str, JsonValue] | None = None,
    by: str | None = None,
) -> Ask[DecisionAnswer]:
    """Change a memory that holds; what is None stays as it is."""
    sent = given(
        value=value, text=text, topic=topic, importance=importance, confidence=confidence,
        valid_from=valid_from, expires_at=expires_at, metadata=metadata, by=by,
    )  # fmt: skip
    return Ask("PATCH", f"memories/{id_of(memory_id)}", read_decision, sent=sent)


def correct(
    memory_id: str,
    words: str,
    *,
    value: str | None = None,
    text: str | None = None,
    session: str | None = None,
    agent: str | None = None,
    said_at: Moment | None = None,
    idempotency_key: str | None = None,
    by: str | None = None,
) -> Ask[Remembered]:
    """Record that a person says a memory about them is wrong; receipt and decisions."""
    sent = given(
        words=words, value=value, text=text, session=session, agent=agent, said_at=said_at,
        idempotency_key=idempotency_key, by=by,
    )  # fmt: skip
    return Ask("POST", f"memories/{id_of(memory_id)}/corrections", read_remembered, sent=sent)


def revoke(memory_id: str, *, by: str | None = None, note: str | None = None) -> Ask[BeliefAnswer]:
    """Take a memory back; it stays in the history."""
    return Ask("DELETE", f"memories/{id_of(memory_id)}", read_belief, given(by=by, note=note))


def erase(
    subject: str,
    *,
    by: str | None = None,
    memory: Named = UNNAMED,
    turn: Named = UNNAMED,
    session: Named = UNNAMED,
    retention: bool = False,
    revoked: bool = False,
    known_as: Sequence[str] = (),
    legal_basis: str | None = None,
) -> Ask[ErasureAnswer]:
    """Forget a person for good, or less of them."""
    sent = given(
        subject=subject, by=by, memory=named("memory", memory), turn=named("turn", turn),
        session=named("session", session), retention=retention, revoked=revoked,
        known_as=list(known_as), legal_basis=legal_basis,
    )  # fmt: skip
    read: Callable[[bytes], ErasureAnswer] = reader(ErasureAnswer)
    return Ask("POST", "erasures", read, sent=sent)
