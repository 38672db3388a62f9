"""Memories that are written field by field: for seeding, migration and tests."""

from __future__ import annotations

from dataclasses import dataclass

from beliefledger.gate.intake import TurnInput, check_size
from beliefledger.gate.policy import millionths
from beliefledger.ledger.candidate import SELF, Candidate, Source, Span, When
from beliefledger.ledger.errors import InvalidTurn
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.names import check_name
from beliefledger.ledger.times import Micros
from beliefledger.times import Moment, micros


@dataclass(frozen=True, slots=True)
class Details:
    """The rarer fields of a memory that is stored. `importance` is from 0 to 1."""

    entity: str = SELF
    """Whom or what it is about, by default the subject."""
    negated: bool = False
    context: str | None = None
    topic: str = "general"
    category: str | None = None
    """A special category of the policy."""
    importance: float = 0.5
    expires_at: Moment | None = None
    visibility_scope: str | None = None
    session: str | None = None
    agent: str | None = None


PLAIN = Details()


@dataclass(frozen=True, slots=True)
class Fields:
    """What is stored, of whom, and since when. `confidence` is from 0 to 1."""

    subject: str
    attribute: str
    value: str
    type: str
    text: str | None
    confidence: float | None
    valid_from: Moment | None
    valid_to: Moment | None
    said_at: Moment | None
    idempotency_key: str | None


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """What goes to the gate."""

    turn: TurnInput
    candidate: Candidate
    choices: Choices


def stored_memory(fields: Fields, details: Details, max_bytes: int, now: Micros) -> StoredMemory:
    """The turn, the candidate and the choices of a memory. Raises `InvalidTurn`."""
    claim = fields.text or _claim(fields, details)
    _check(fields, details, claim, max_bytes)
    said_at = micros(fields.said_at, "said_at")
    begins, ends = micros(fields.valid_from, "valid_from"), micros(fields.valid_to, "valid_to")
    known_from = begins if begins is not None else said_at or now
    if ends is not None and ends <= known_from:
        raise InvalidTurn("valid_to must come after valid_from; give both for what is past.")
    turn = TurnInput(
        subject=fields.subject,
        content=claim,
        role="system",
        session=details.session,
        agent=details.agent,
        said_at=said_at,
        idempotency_key=fields.idempotency_key,
        channel="store",
    )
    candidate = Candidate(
        claim=claim,
        spans=(Span(start=0, end=len(claim), quote=claim),),
        type=fields.type,
        entity=details.entity,
        attribute=fields.attribute,
        value=fields.value,
        negated=details.negated,
        context=details.context,
        source=Source.OPERATOR,
        topic=details.topic,
        category=details.category,
        importance=millionths(details.importance),
        confidence=millionths(1.0),
        when=When(),
    )
    choices = Choices(
        confidence=None if fields.confidence is None else millionths(fields.confidence),
        valid_from=begins,
        valid_to=ends,
        expires_at=micros(details.expires_at, "expires_at"),
        visibility_scope=details.visibility_scope,
    )
    return StoredMemory(turn, candidate, choices)


def _claim(fields: Fields, details: Details) -> str:
    name = "User" if details.entity == SELF else details.entity
    verb = "is not" if details.negated else "is"
    context = f" ({details.context})" if details.context else ""
    return f"{name}: {fields.attribute} {verb} {fields.value}{context}"


def _check(fields: Fields, details: Details, claim: str, max_bytes: int) -> None:
    if fields.confidence is not None and not 0 <= fields.confidence <= 1:
        raise InvalidTurn(f"confidence is {fields.confidence}; it must be from 0 to 1.")
    if not 0 <= details.importance <= 1:
        raise InvalidTurn(f"importance is {details.importance}; it must be from 0 to 1.")
    if not fields.attribute.strip() or not fields.value.strip():
        raise InvalidTurn("attribute and value must not be empty.")
    words = {
        "value": fields.value,
        "attribute": fields.attribute,
        "text": claim,
        "entity": details.entity,
        "context": details.context or "",
        "topic": details.topic,
        "type": fields.type,
        "category": details.category or "",
    }
    from beliefledger.ledger.redact import redact  # noqa: PLC0415  (see secret_filter)

    for name, given in words.items():
        try:
            given.encode()
        except (UnicodeEncodeError, AttributeError):
            raise InvalidTurn(f"{name} is not valid Unicode text.") from None
        if name not in {"value", "text"}:
            check_name(name, given)
        check_size(name, given, max_bytes)
        if redact(given).redactions:
            raise InvalidTurn(f"{name} holds a secret, and secrets are not kept.")
