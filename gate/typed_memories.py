"""Memories in the shape of their type: each field of a fact, a preference, an event and so on.

Read from a stored memory; what the words do not say is None or empty. `slot` and `canonical` are
those by which the gate decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

from pydantic import Field

from beliefledger.gate.registry import MemoryType, Supersession, relation_name
from beliefledger.gate.slots import (
    canonical_attribute,
    canonical_context,
    canonical_entity,
    slot_attribute,
    stateful,
    value_of,
)
from beliefledger.gate.told_words import (
    AT,
    FORBIDS,
    LIST,
    OVER,
    SOFT,
    STEPS,
    TO,
    WHY,
    WITH,
    after,
    named,
    strength,
)
from beliefledger.ledger.candidate import Frozen, Precision
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.times import Micros


class EvidenceSpan(Frozen):
    """Words that a memory rests on: code point offsets [start, end) of a turn, and when they were
    said."""

    turn: str
    start: int
    end: int
    said_at: Micros


class Stored(Frozen):
    """A memory as it is kept, with what became of it. Scores are millionths."""

    memory_id: str
    type: str
    subject: str | None
    memory: Memory
    importance: int
    confidence: int
    mentions: int
    valid_from: Micros
    valid_to: Micros | None
    expires_at: Micros | None
    evidence: tuple[EvidenceSpan, ...]


class Typed(Frozen):
    """What every type has. Times are microseconds UTC, scores millionths."""

    TYPE: ClassVar[str] = ""

    memory_id: str
    type: str
    subject: str | None
    claim: str
    topic: str
    category: str | None
    importance: int
    confidence: int
    session: str | None
    agent: str | None
    evidence: tuple[EvidenceSpan, ...]
    repetition_count: int
    """How many turns said it."""
    last_confirmed_at: Micros
    """When it was last said."""
    valid_from: Micros
    valid_to: Micros | None
    expires_at: Micros | None
    predicate_is_stateful: bool
    """Whether another value takes the place of this one."""
    supersession: Supersession
    prior: float
    half_life_days: int
    threshold: float | None
    memory: Memory = Field(exclude=True, repr=False)
    kind: MemoryType = Field(exclude=True, repr=False)

    @classmethod
    def of(
        cls, stored: Stored, kind: MemoryType, others: Iterable[Memory], names: Iterable[str]
    ) -> Self:
        """The memory in this shape. `others` are memories about the same entity, `names` the
        canonical forms of all its names."""
        memory = stored.memory
        common: dict[str, Any] = {
            "memory_id": stored.memory_id,
            "type": stored.type,
            "subject": stored.subject,
            "claim": memory.claim,
            "topic": memory.topic,
            "category": memory.category,
            "importance": stored.importance,
            "confidence": stored.confidence,
            "session": memory.session,
            "agent": memory.agent,
            "evidence": stored.evidence,
            "repetition_count": stored.mentions,
            "last_confirmed_at": max(
                (each.said_at for each in stored.evidence), default=memory.said_at
            ),
            "valid_from": stored.valid_from,
            "valid_to": stored.valid_to,
            "expires_at": stored.expires_at,
            "predicate_is_stateful": cls._stateful(memory, kind),
            "supersession": kind.supersession,
            "prior": kind.prior,
            "half_life_days": kind.half_life_days,
            "threshold": kind.threshold,
            "memory": memory,
            "kind": kind,
        }
        if "aliases" in cls.model_fields:
            own = canonical_entity(memory.entity)
            common["aliases"] = tuple(name for name in names if name != own)
        return cls.model_validate(common | cls._own(memory, kind, others))

    @classmethod
    def _stateful(cls, _memory: Memory, kind: MemoryType) -> bool:
        return kind.supersession is not Supersession.NEVER

    @classmethod
    def _own(cls, memory: Memory, kind: MemoryType, others: Iterable[Memory]) -> dict[str, Any]:
        """The fields that only this type has."""
        raise NotImplementedError

    def slot(self) -> tuple[str, str]:
        """What it is about: the canonical entity and attribute. Two memories of one slot confirm
        or contradict each other."""
        return canonical_entity(self.memory.entity), slot_attribute(self.memory, self.kind)

    def canonical(self) -> tuple[str, str | None]:
        """What it says of its slot, and in which context: equal for two that agree."""
        return value_of(self.memory, self.kind), canonical_context(self.memory.context)


class Fact(Typed):
    """What is so of somebody or something."""

    TYPE: ClassVar[str] = "fact"

    entity: str
    attribute: str
    """The key, `domain.attribute`; the extractor gives it."""
    value: str
    negated: bool
    context: str | None
    since: Micros
    until: Micros | None

    @classmethod
    def _own(cls, memory: Memory, kind: MemoryType, others: Iterable[Memory]) -> dict[str, Any]:
        del kind, others
        return {
            **_stated(memory),
            "since": memory.valid_from,
            "until": memory.valid_to,
        }


class Preference(Typed):
    """What somebody likes, dislikes or chooses."""

    TYPE: ClassVar[str] = "preference"

    holder: str
    attribute: str
    value: str
    polarity: str
    """`for` or `against`."""
    strength: str
    """`strong`, `plain` or `weak`, by the words."""
    over: str | None
    """What it is preferred to."""
    context: str | None

    @classmethod
    def _own(cls, memory: Memory, kind: MemoryType, others: Iterable[Memory]) -> dict[str, Any]:
        del kind, others
        said = memory.fields
        return {
            "holder": memory.entity,
            "attribute": canonical_attribute(memory.attribute),
            "value": memory.value,
            "polarity": "against" if memory.negated else "for",
            "strength": said.get("strength") or strength(memory.claim),
            "over": said.get("over") or after(OVER, memory.claim),
            "context": memory.context,
        }


class Happening(Typed):
    """What happened or will happen."""

    TYPE: ClassVar[str] = "event"

    who: str
    what: str
    negated: bool
    start: Micros | None
    end: Micros | None
    precision: Precision
    participants: tuple[str, ...]
    place: str | None

    @classmethod
    def _own(cls, memory: Memory, kind: MemoryType, others: Iterable[Memory]) -> dict[str, Any]:
        del kind, others
        return {
            "who": memory.entity,
            "what": memory.value,
            "negated": memory.negated,
            "start": memory.when.start,
            "end": memory.when.end,
            "precision": memory.when.precision,
            "participants": memory.participants or named(WITH, memory.claim),
            "place": memory.fields.get("place") or next(iter(named(AT, memory.claim)), None),
        }


class Entity(Typed):
    """Who or what somebody speaks of."""

    TYPE: ClassVar[str] = "entity"

    name: str
    kind_of: str
    """What it is: `our internal build system`."""
    aliases: tuple[str, ...]
    """Its other names, in canonical form."""
    attributes: Mapping[str, str]
    """What else is believed of it, by key."""

    @classmethod
    def _own(cls, memory: Memory, kind: MemoryType, others: Iterable[Memory]) -> dict[str, Any]:
        del kind
        of_it = [memory, *others]
        return {
            "name": memory.entity,
            "kind_of": memory.fields.get("kind") or memory.value,
            "attributes": {
                canonical_attribute(each.attribute): ("not " if each.negated else "") + each.value
                for each in of_it
            },
        }


class Relation(Typed):
    """How two people or things stand to each other: `source` `relation` `target`."""

    TYPE: ClassVar[str] = "relation"

    source: str
    relation: str
    target: str
    negated: bool
    inverse: str | None
    """The relation as seen from the target."""
    role: str | None
    """What the target is to the source, by title."""

    @classmethod
    def _stateful(cls, memory: Memory, kind: MemoryType) -> bool:
        return stateful(".".join(canonical_attribute(memory.attribute).split(".")[:2]), kind)

    @classmethod
    def _own(cls, memory: Memory, kind: MemoryType, others: Iterable[Memory]) -> dict[str, Any]:
        del others
        attribute = canonical_attribute(memory.attribute)
        known = kind.relation(attribute)
        role = known.role
        if role is None and attribute.endswith(".name"):  # the key is the title itself
            role = relation_name(attribute)
        return {
            "source": memory.entity,
            "relation": relation_name(attribute),
            "target": memory.value,
            "negated": memory.negated,
            "inverse": known.inverse,
            "role": role,
        }


class Decision(Typed):
    """What was decided."""

    TYPE: ClassVar[str] = "decision"

    who: str
    what: str
    why: str | None
    alternatives: tuple[str, ...]
    """What was decided against."""
    context: str | None

    @classmethod
    def _own(cls, memory: Memory, kind: MemoryType, others: Iterable[Memory]) -> dict[str, Any]:
        del kind, others
        said = memory.fields
        against = said.get("alternatives") or after(OVER, memory.claim)
        return {
            "who": memory.entity,
            "what": OVER.split(memory.value)[0],
            "why": said.get("why") or after(WHY, memory.claim),
            "alternatives": tuple(LIST.split(against)) if against else (),
            "context": memory.context,
        }


class Procedure(Typed):
    """How somebody does something."""

    TYPE: ClassVar[str] = "procedure"

    name: str
    trigger: str | None
    """When it is done: `I deploy`."""
    steps: tuple[str, ...]

    @classmethod
    def _own(cls, memory: Memory, kind: MemoryType, others: Iterable[Memory]) -> dict[str, Any]:
        del kind, others
        steps = memory.fields.get("steps") or memory.value
        return {
            "name": memory.attribute.removeprefix("procedure."),
            "trigger": memory.fields.get("trigger") or memory.context,
            "steps": tuple(each.strip() for each in STEPS.split(steps) if each.strip()),
        }


class Constraint(Typed):
    """What must or must not be."""

    TYPE: ClassVar[str] = "constraint"

    who: str
    rule: str
    """`forbids` or `demands`."""
    what: str
    scope: str | None
    """Where it holds; None: anywhere."""
    ends_only_by_removal: bool
    hard: bool
    """False where the words leave room: `tries not to`, `avoids`."""

    @classmethod
    def _own(cls, memory: Memory, kind: MemoryType, others: Iterable[Memory]) -> dict[str, Any]:
        del others
        forbids = memory.negated or FORBIDS.search(memory.claim) is not None
        return {
            "who": memory.entity,
            "rule": "forbids" if forbids else "demands",
            "what": memory.value,
            "scope": memory.fields.get("scope") or memory.context,
            "ends_only_by_removal": kind.ends_only_by_removal,
            "hard": SOFT.search(memory.claim) is None,
        }


class Commitment(Typed):
    """What somebody promised or means to do."""

    TYPE: ClassVar[str] = "commitment"

    who: str
    what: str
    due_from: Micros | None
    due_to: Micros | None
    due_precision: Precision
    to_whom: tuple[str, ...]
    withdrawn: bool

    @classmethod
    def _own(cls, memory: Memory, kind: MemoryType, others: Iterable[Memory]) -> dict[str, Any]:
        del kind, others
        to = memory.fields.get("to_whom")
        return {
            "who": memory.entity,
            "what": memory.value,
            "due_from": memory.when.start,
            "due_to": memory.when.end,
            "due_precision": memory.when.precision,
            "to_whom": (to,) if to else memory.participants or named(TO, memory.claim),
            "withdrawn": memory.negated,
        }


class Note(Typed):
    """A sentence as it was said."""

    TYPE: ClassVar[str] = "note"

    who: str
    said: str
    """The sentence, word for word."""
    said_at: Micros

    @classmethod
    def _own(cls, memory: Memory, kind: MemoryType, others: Iterable[Memory]) -> dict[str, Any]:
        del kind, others
        return {"who": memory.entity, "said": memory.value, "said_at": memory.said_at}


class Added(Typed):
    """A memory of a type that the ledger's owner added."""

    entity: str
    attribute: str
    value: str
    negated: bool
    context: str | None
    fields: Mapping[str, str]

    @classmethod
    def _own(cls, memory: Memory, kind: MemoryType, others: Iterable[Memory]) -> dict[str, Any]:
        del kind, others
        return {
            **_stated(memory),
            "fields": memory.fields,
        }


def _stated(memory: Memory) -> dict[str, Any]:
    """A value of one attribute of one entity."""
    return {
        "entity": memory.entity,
        "attribute": canonical_attribute(memory.attribute),
        "value": memory.value,
        "negated": memory.negated,
        "context": memory.context,
    }


MODELS: Mapping[str, type[Typed]] = {
    model.TYPE: model
    for model in (
        Fact, Preference, Happening, Entity, Relation, Decision, Procedure, Constraint, Commitment,
        Note,
    )
}  # fmt: skip
"""The model of each type that every ledger begins with."""


def typed(
    stored: Stored, kind: MemoryType, others: Iterable[Memory] = (), names: Iterable[str] = ()
) -> Typed:
    """A stored memory in the shape of its type. `others` are memories about the same entity,
    `names` the canonical forms of all its names."""
    return MODELS.get(kind.name, Added).of(stored, kind, others, names)
