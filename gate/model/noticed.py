"""What the model is asked to answer with: the fields of a candidate, in words of its own."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints, field_validator, model_validator

from beliefledger.gate.registry import Registry
from beliefledger.ledger.candidate import SELF, Durability, Frozen, Precision, SpeechAct
from beliefledger.ledger.times import Micros, parse

MOST = 5
NOW = "now"
"""How the turn itself is labelled; the turns before it are `earlier-1`, `earlier-2` …"""

Words = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)]
SomeWords = Annotated[Words, StringConstraints(min_length=1)]
Score = Annotated[float, Field(ge=0, le=1)]


class Quote(Frozen):
    """Words that justify the claim, copied from one turn."""

    turn: Words = NOW
    words: SomeWords


class Named(Frozen):
    """One of a type's own fields."""

    name: SomeWords
    value: Words


class Period(Frozen):
    """A time that the speaker named, as ISO 8601; empty where none was."""

    start: Words = ""
    end: Words = ""
    precision: Precision = Precision.UNKNOWN

    @field_validator("start", "end")
    @classmethod
    def _is_a_time(cls, text: str) -> str:
        if text:
            moment(text)
        return text

    @model_validator(mode="after")
    def _runs_forward(self) -> Period:
        if self.end and (not self.start or moment(self.end) <= moment(self.start)):
            raise ValueError("end must come after start")
        return self


class Statement(Frozen):
    """One statement worth keeping."""

    claim: SomeWords
    quotes: list[Quote] = Field(min_length=1)
    type: SomeWords
    entity: SomeWords = SELF
    attribute: SomeWords
    value: SomeWords
    negated: bool = False
    context: Words = ""
    replaces: Words = ""
    act: SpeechAct = SpeechAct.STATEMENT
    inferred: bool = False
    durability: Durability = Durability.LASTING
    topic: Words = "general"
    category: Words = ""
    importance: Score
    confidence: Score
    when: Period = Period()
    participants: list[SomeWords] = Field(default_factory=list)
    fields: list[Named] = Field(default_factory=list)


class Noticed(Frozen):
    """The statements of a turn that are worth keeping: none is a good answer."""

    statements: list[Statement] = Field(max_length=MOST)


def moment(text: str) -> Micros:
    """Raises `ValueError` for what is no time of the years that the ledger keeps."""
    found = parse(text)
    if not 1700 <= int(text[:4]) <= 2250:
        raise ValueError(f"{text} is not between the years 1700 and 2250")
    return found


def schema(registry: Registry, topics: tuple[str, ...], categories: tuple[str, ...]) -> Any:
    """The JSON schema of an answer under the rules in force. Every field is required there: what
    there is nothing to say about is left empty."""
    made = Noticed.model_json_schema(mode="serialization")
    fields = made["$defs"]["Statement"]["properties"]
    fields["type"] = {"type": "string", "enum": list(registry.types)}
    fields["topic"] = {"type": "string", "enum": list(topics)}
    fields["category"] = {"type": "string", "enum": ["", *categories]}
    for each in (made, *made["$defs"].values()):
        properties = each.get("properties", {})
        if properties:
            each["required"] = list(properties)
        for described in (each, *properties.values()):
            for name in ("title", "default", "minLength", "maxLength"):
                described.pop(name, None)
    return made
