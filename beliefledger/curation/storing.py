"""Memories that are written field by field, one or thousands at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from beliefledger import arguments
from beliefledger.answers import DecisionAnswer
from beliefledger.gate.intake import ChosenMemory, TurnInput, check_size
from beliefledger.gate.policy import millionths
from beliefledger.ledger.candidate import SELF, Candidate, Source, Span, When
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import InvalidTurn
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.gc_pause import gc_paused
from beliefledger.ledger.names import check_name
from beliefledger.ledger.secret_filter import may_hold_secret
from beliefledger.ledger.secret_looks import looked_at_once
from beliefledger.ledger.spans import COUNT, UPSERT, traced
from beliefledger.ledger.times import Micros
from beliefledger.opening.core import Core
from beliefledger.reading.queries import Queries
from beliefledger.times import Moment, micros

if TYPE_CHECKING:
    from beliefledger.gate.gate import Stored
    from beliefledger.gate.turns import Receipt

AT_ONCE = 500
"""How many memories one append has at most: other writers wait for it."""


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
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    """What is kept beside it: a JSON object of at most 4,096 bytes."""


PLAIN = Details()


@dataclass(frozen=True, slots=True)
class MemoryInput:
    """A memory whose fields are chosen, as `store_many` takes it.

    `confidence` is from 0 to 1; None leaves it to the gate. `text` is the claim as people read it;
    without one it is "attribute is value". By an `idempotency_key` it is known again.

    >>> MemoryInput("ana", "red", attribute="favourite colour").claim()
    'favourite colour is red'
    """

    subject: str
    value: str
    attribute: str
    type: str = "fact"
    text: str | None = None
    confidence: float | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    said_at: Moment | None = None
    idempotency_key: str | None = None
    details: Details = PLAIN

    def claim(self) -> str:
        """The memory in words: `text` as it was given, else made of attribute and value."""
        if self.text:
            return self.text
        details = self.details
        attribute = self.attribute.replace(".", " ").replace("_", " ").strip()
        of = "" if details.entity == SELF else f"{details.entity}: "
        verb = "is not" if details.negated else "is"
        context = f" ({details.context})" if details.context else ""
        return f"{of}{attribute} {verb} {self.value}{context}"


_RARER = frozenset(each.name for each in fields(Details))
_COMMON = frozenset(each.name for each in fields(MemoryInput)) - {"details"}


def memory_of(given: Mapping[str, Any], subject: str | None = None) -> MemoryInput:
    """A memory to store from one mapping, such as a line of JSON, the rarer fields among the
    others. `subject` is whose it is where it names nobody. Raises `InvalidTurn`."""
    if not isinstance(given, Mapping):
        raise InvalidTurn("A memory to store is a mapping of fields to values.")
    named = given if subject is None else {"subject": subject, **given}
    unknown = sorted(str(each) for each in set(named) - _COMMON - _RARER)
    if unknown:
        raise InvalidTurn(
            f"A memory has no field {unknown[0]!r}; there are:"
            f" {', '.join(sorted(_COMMON | _RARER))}."
        )
    missing = [each for each in ("subject", "attribute", "value") if each not in named]
    if missing:
        raise InvalidTurn(f"A memory to store needs {' and '.join(missing)}.")
    rarer = {name: value for name, value in named.items() if name in _RARER}
    common = {name: value for name, value in named.items() if name in _COMMON}
    return MemoryInput(**common, details=Details(**rarer))


class StoredMemories:
    """Writes memories field by field: each is decided about, and nothing is extracted."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._gate = core.gate
        self._queries = queries

    def store(self, memories: Iterable[MemoryInput], actor: str) -> list[DecisionAnswer]:
        """Store memories in their order, `AT_ONCE` in each append, and return their decisions.

        All are checked before any is written. For one that is known by its key, the first decision.
        """
        with looked_at_once():
            chosen = [self.checked(each) for each in memories]
            return [answer for _, answer in self.decide(chosen, actor)]

    def checked(self, given: MemoryInput) -> ChosenMemory:
        """What goes to the gate. Raises `InvalidTurn`, also for a type that there never was: of
        one that is retired the gate decides."""
        rules = self._gate.rulebook.current()
        chosen = chosen_memory(given, rules.policy.max_turn_bytes, self._core.clock())
        if rules.registry.known(chosen.candidate.type) is None:
            arguments.type_(self._gate.rulebook.refreshed(), chosen.candidate.type)
        return chosen

    @traced(UPSERT, lambda answers: {COUNT: len(answers)})
    def decide(
        self, chosen: Sequence[ChosenMemory], actor: str
    ) -> list[tuple[Receipt, DecisionAnswer]]:
        """As `store`, of what is checked, and with the receipts of the turns."""
        self._gate.check([each.turn for each in chosen])
        answers: list[tuple[Receipt, DecisionAnswer]] = []
        for start in range(0, len(chosen), AT_ONCE):
            some = chosen[start : start + AT_ONCE]
            with gc_paused(), looked_at_once():
                answers += self._answers(some, self._gate.store(some, actor))
        return answers

    def _answers(
        self, memories: Sequence[ChosenMemory], stored: Sequence[Stored]
    ) -> Iterator[tuple[Receipt, DecisionAnswer]]:
        pairs = zip(memories, stored, strict=True)
        subjects = {told.receipt.subject_ref: memory.turn.subject for memory, told in pairs}
        made = self._queries.just_stored(stored, subjects)
        for memory, (receipt, decision, *_) in zip(memories, stored, strict=True):
            yield receipt, made[decision] if decision else self._made_before(memory, receipt)

    def _made_before(self, memory: ChosenMemory, receipt: Receipt) -> DecisionAnswer:
        if receipt.withheld and self._gate.is_stored(receipt):
            would = self._gate.rehearse(receipt, memory.turn, memory)
            made = self._queries.rehearsed(receipt, would)
        else:
            made = self._queries.of_turn(receipt.turn_id)
        if not made:
            raise InvalidTurn("This idempotency_key belongs to another turn.")
        return made[0]


def chosen_memory(given: MemoryInput, max_bytes: int, now: Micros) -> ChosenMemory:
    """What goes to the gate: turn, candidate and choices. Raises `InvalidTurn`."""
    if not isinstance(given, MemoryInput):
        raise InvalidTurn(
            f"A memory to store is a MemoryInput, not {type(given).__name__}: see store_many."
        )
    details = given.details
    if not isinstance(details, Details):
        raise InvalidTurn(f"details must be Details(…), not {type(details).__name__}.")
    words = (given.value, given.attribute, details.entity, details.context or "")
    if not all(isinstance(each, str) for each in words):
        raise InvalidTurn("value, attribute, entity and context must be text.")
    claim = given.claim()
    _check(given, claim, max_bytes)
    said_at = micros(given.said_at, "said_at", InvalidTurn)
    begins = micros(given.valid_from, "valid_from", InvalidTurn)
    ends = micros(given.valid_to, "valid_to", InvalidTurn)
    known_from = begins if begins is not None else said_at or now
    if ends is not None and ends <= known_from:
        raise InvalidTurn("valid_to must come after valid_from; give both for what is past.")
    turn = TurnInput(
        subject=given.subject,
        content=claim,
        role="system",
        session=details.session,
        agent=details.agent,
        metadata=details.metadata,
        said_at=said_at,
        idempotency_key=given.idempotency_key,
        channel="store",
    )
    candidate = Candidate(
        claim=claim,
        spans=(Span(start=0, end=len(claim), quote=claim),),
        type=given.type,
        entity=details.entity,
        attribute=given.attribute,
        value=given.value,
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
        confidence=None if given.confidence is None else millionths(given.confidence),
        valid_from=begins,
        valid_to=ends,
        expires_at=micros(details.expires_at, "expires_at", InvalidTurn),
        visibility_scope=details.visibility_scope,
    )
    return ChosenMemory(turn, candidate, choices)


def _check(given: MemoryInput, claim: str, max_bytes: int) -> None:
    details = given.details
    if given.confidence is not None:
        arguments.share("confidence", given.confidence, InvalidTurn)
    arguments.share("importance", details.importance, InvalidTurn)
    if not given.attribute.strip() or not given.value.strip():
        raise InvalidTurn("attribute and value must not be empty.")
    words = {
        "value": given.value,
        "attribute": given.attribute,
        "text": claim,
        "entity": details.entity,
        "context": details.context or "",
        "topic": details.topic,
        "type": given.type,
        "category": details.category or "",
    }
    for name, said in words.items():
        try:
            said.isascii() or said.encode()
        except (UnicodeEncodeError, AttributeError):
            raise InvalidTurn(f"{name} is not valid Unicode text.") from None
        if name not in {"value", "text"}:
            check_name(name, said)
        check_size(name, said, max_bytes)
    if not may_hold_secret((), words.values()):
        return
    from beliefledger.ledger.redact import redact  # noqa: PLC0415  (see secret_filter)

    for name, said in words.items():
        if redact(said).redactions:
            raise InvalidTurn(f"{name} holds a secret, and secrets are not kept.")
