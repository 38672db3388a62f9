"""The types of memory: what slots they have, and what they are worth at first sight."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from beliefledger.ledger import canonical
from beliefledger.ledger.candidate import MILLION, Frozen
from beliefledger.ledger.data_files import data
from beliefledger.ledger.errors import TypeInvalid
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.policy import TypeRegistered, TypeRetired
from beliefledger.ledger.fields import DEFINED_SCORES
from beliefledger.ledger.late_patterns import compile_later


class SlotRule(StrEnum):
    """How a type's statements are assigned to slots."""

    ATTRIBUTE = "attribute"
    RELATION = "relation"
    CONTENT = "content"


class Supersession(StrEnum):
    """What ends a memory of a type, apart from time."""

    VALUE = "value"
    """Another value of its slot and context, where the gate finds it at least as strong."""
    REMOVAL = "removal"
    """Only words that say it is over; another value waits for a person."""
    NEVER = "never"
    """Nothing: another statement is another memory, the same one confirms."""


class FieldType(Frozen):
    """A field that a type has besides its value."""

    description: str
    required: bool = False


class RelationType(Frozen):
    """One relation of the vocabulary."""

    stateful: bool = False
    """An entity has one of these at a time: another far end replaces the one before."""
    inverse: str | None = None
    """The relation as seen from the far end: `manages` of `reports-to`."""
    role: str | None = None
    """The far end's title: one reports to a `manager`."""
    far: str | None = None
    """What the far end is: `person`, `place`, `organisation`."""


class MemoryType(Frozen):
    """One type of memory."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)
    description: str = ""
    prior: float = Field(ge=0, le=1)
    half_life_days: int = Field(gt=0)
    """The time constant of freshness."""
    slot: SlotRule
    ends_only_by_removal: bool = False
    """A new value does not end it; only saying that it is over does."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """The least confidence of a memory of this type, if it is more than the policy's."""
    ttl_days: int | None = Field(default=None, gt=0)
    """How many days it holds by default, from when it began or happened; a policy may differ."""
    similarity: float = Field(default=0.85, gt=0, le=1)
    """The least cosine of two rephrasings that are one memory."""
    attribute: str | None = None
    """The key of a memory of this type, such as `medication.{name}`, in `domain.attribute` form;
    None where the extractor gives the key."""
    category: str | None = None
    """The special category of personal data of all memories of this type, such as `health`."""
    fields: dict[str, FieldType] = Field(default_factory=dict)
    patterns: tuple[str, ...] = ()
    """Patterns for extraction by rules: "take {name} {dose}"."""
    prompt: str | None = None
    """How the type is described to a model that extracts."""
    value: str | None = None
    """The part that may change, such as `{dose}`; None: the fields that are not part of the key."""
    asks: tuple[str, ...] = ()
    """Words of questions that ask for memories of this type: "medicine", "what take". An entry is
    one word or several that must all be there, in any form and order."""
    says: tuple[str, ...] = ()
    """Words of turns that speak of them."""
    relations: dict[str, RelationType] = Field(default_factory=dict)
    """The vocabulary, of a type whose slot is a relation's."""

    @field_validator("fields")
    @classmethod
    def _named(cls, fields: dict[str, FieldType]) -> dict[str, FieldType]:
        for name in fields:
            if not _FIELD.fullmatch(name):
                raise ValueError(f"{name!r} is not a field's name: use a to z, 0 to 9 and _")
            if name == VALUE:
                raise ValueError(f"{VALUE!r} is the name of the value itself")
        return fields

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        known = {*self.fields, VALUE}
        for what, template in (("attribute", self.attribute), ("value", self.value)):
            unknown = [name for name in placeholders(template or "") if name not in known]
            if unknown:
                raise ValueError(f"{what} uses {unknown[0]!r}, which is none of its fields")
        for name in placeholders(self.attribute or ""):
            if name != VALUE and not self.fields[name].required:
                raise ValueError(f"attribute uses {name!r}: make that field required")
        if self.slot is SlotRule.ATTRIBUTE and self.patterns and self.attribute is None:
            raise ValueError("patterns need an attribute, such as medication.{name}")
        for pattern in self.patterns:
            self.check_pattern(pattern)
        unsaid = [
            name
            for name, field in self.fields.items()
            if field.required and not any(name in placeholders(each) for each in self.patterns)
        ]
        if unsaid and self.patterns and self.prompt is None:
            raise ValueError(f"{unsaid[0]!r} is required, but no pattern has {{{unsaid[0]}}}")
        return self

    def check_pattern(self, pattern: str) -> None:
        """Raises `ValueError` for a pattern that makes no sense for this type."""
        known = {*self.fields, VALUE}
        names = placeholders(pattern)
        if not names or len(set(names)) < len(names):
            raise ValueError(f"the pattern {pattern!r} needs fields, each once, such as {{name}}")
        for name in names:
            if name not in known:
                raise ValueError(f"the pattern {pattern!r} has {name!r}, none of its fields")
        words = _PLACEHOLDER.sub(" ", pattern).split()
        if not words or re.search(r"\}\s*\{", pattern):
            raise ValueError(f"the pattern {pattern!r} needs words, and words between its fields")

    @property
    def supersession(self) -> Supersession:
        if self.slot is SlotRule.CONTENT:
            return Supersession.NEVER
        return Supersession.REMOVAL if self.ends_only_by_removal else Supersession.VALUE

    @property
    def vocabulary(self) -> Mapping[str, RelationType]:
        """The relations; those of today where a ledger is older than vocabularies."""
        if self.relations or self.name not in BUILT_IN:
            return self.relations
        return next(each.relations for each in default_types() if each.name == self.name)

    def relation(self, attribute: str) -> RelationType:
        """What the vocabulary says of the relation that an attribute names."""
        return self.relations.get(relation_name(attribute), RelationType())

    def definition(self) -> dict[str, Any]:
        """The definition as it is recorded, without defaults; scores in millionths."""
        said = self.model_dump(mode="json", exclude_defaults=True)
        said |= {"ends_only_by_removal": self.ends_only_by_removal}
        return said | {
            name: round(said[name] * MILLION)
            for name in DEFINED_SCORES
            if said.get(name) is not None
        }

    @classmethod
    def of(cls, definition: dict[str, Any]) -> Self:
        return cls.model_validate(
            definition
            | {
                name: definition[name] / MILLION
                for name in DEFINED_SCORES
                if definition.get(name) is not None
            }
        )


VALUE = "value"
"""The placeholder that stands for the value itself."""
_FIELD = compile_later(r"[a-z][a-z0-9_]{0,39}")
_PLACEHOLDER = compile_later(r"\{([^{}]*)\}")


def placeholders(template: str) -> list[str]:
    """The names in braces, in order."""
    return _PLACEHOLDER.findall(template)


def relation_name(attribute: str) -> str:
    """`reports-to` of `relation.reports-to`."""
    return attribute.removeprefix("relation.").split(".", 1)[0]


class Registry(Frozen):
    """The types in force, by name."""

    types: dict[str, MemoryType]
    retired: dict[str, MemoryType] = Field(default_factory=dict)
    """Retired types, as they were: no new memory may have one."""

    def digest(self) -> str:
        """SHA-256 of the types in force."""
        return canonical.digest(
            canonical.encode({name: kind.definition() for name, kind in self.types.items()})
        )

    def known(self, name: str) -> MemoryType | None:
        """A type in force, or as it was when it was retired."""
        return self.types.get(name) or self.retired.get(name)

    def added(self) -> list[MemoryType]:
        """The user-defined types in force. A ledger from before notes may have a type of that
        name."""
        return [
            kind
            for name, kind in self.types.items()
            if name not in BUILT_IN or (name == NOTE and not self.keeps_notes())
        ]

    def keeps_notes(self) -> bool:
        """Whether notes are a type in force, and not somebody's own type of that name."""
        kind = self.types.get(NOTE)
        return kind is not None and kind.slot is SlotRule.CONTENT and not kind.patterns

    def proposed(self) -> list[str]:
        """The types that a model may propose. Notes are what the rules could not type."""
        return [name for name in self.types if name != NOTE or not self.keeps_notes()]

    @classmethod
    def folded(cls, events: Iterable[Event | None]) -> Self:
        """The types after these events of the policy stream."""
        types: dict[str, MemoryType] = {}
        retired: dict[str, MemoryType] = {}
        for event in events:
            if isinstance(event, TypeRegistered):
                types[event.type] = MemoryType.of(event.definition)
                retired.pop(event.type, None)
            elif isinstance(event, TypeRetired) and event.type in types:
                retired[event.type] = types.pop(event.type)
        return cls(types=types, retired=retired)


@cache
def default_types() -> tuple[MemoryType, ...]:
    """The types that every new ledger begins with."""
    written = data("beliefledger.gate", "types.yaml")
    return tuple(MemoryType.model_validate(each) for each in written)


BUILT_IN = frozenset(
    "fact preference event entity relation decision procedure constraint commitment note".split()
)
"""The types that every ledger begins with."""
NOTE = "note"
"""The type of sentences that are kept as they were said."""
_UNSAID: Mapping[str, Any] = {"prior": 0.15, "half_life_days": 180, "slot": SlotRule.ATTRIBUTE}


def load_type(source: MemoryType | Path | str | Mapping[str, Any]) -> MemoryType:
    """A type from a YAML file, or from fields.

    What is left out of prior, half-life and slot is as for a fact. Raises `TypeInvalid` saying
    which field is wrong and why.
    """
    if isinstance(source, MemoryType):
        return source
    fields: Any = source
    if not isinstance(source, Mapping):
        import yaml  # noqa: PLC0415  (who gives no file need not wait for it)

        try:
            fields = yaml.safe_load(Path(source).read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as problem:
            raise TypeInvalid(f"{source} cannot be read: {problem}.") from problem
        except yaml.YAMLError as problem:
            raise TypeInvalid(f"{source} is not YAML: {problem}.") from problem
    if not isinstance(fields, Mapping):
        raise TypeInvalid("A type is a mapping of names to values, such as `name: medication`.")
    unknown = [str(name) for name in fields if name not in MemoryType.model_fields]
    if unknown:
        raise TypeInvalid(
            f"{unknown[0]!r} is nothing that a type has; it has"
            f" {', '.join(MemoryType.model_fields)}."
        )
    try:
        return MemoryType.model_validate({**_UNSAID, **fields})
    except ValidationError as problem:
        wrong = "; ".join(
            f"{'.'.join(str(part) for part in error['loc']) or 'type'}: "
            f"{error['msg'].removeprefix('Value error, ')}"
            for error in problem.errors()
        )
        raise TypeInvalid(f"{wrong}.") from problem


def replaceable(old: MemoryType, new: MemoryType) -> None:
    """Checks that a type's new definition leaves its slots as they are.

    Raises `TypeInvalid` saying what changed.
    """
    if new.name in BUILT_IN and new.definition() != old.definition():
        raise TypeInvalid(
            f"{new.name!r} is a type that every ledger begins with. Give yours another name."
        )
    for what in ("slot", "attribute", "value"):
        before, after = getattr(old, what), getattr(new, what)
        if before != after:
            raise TypeInvalid(
                f"{new.name!r} is registered with {what} {str(before)!r}, not {str(after)!r}, and"
                " its memories lie by that. Add this type under another name."
            )
