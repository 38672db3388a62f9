"""What the model is asked to answer with: the fields of a candidate, in words of its own."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator

from beliefledger.gate.registry import Registry
from beliefledger.ledger.candidate import SELF, Durability, Frozen, Precision, SpeechAct
from beliefledger.ledger.times import Micros, parse

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


class Bearing(StrEnum):
    """What a statement does to something that is believed already."""

    NONE = ""
    CONFIRMS = "confirms"
    CHANGES = "changes"
    CORRECTS = "corrects"
    ENDS = "ends"


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
    known: Words = ""
    """The label of the belief that it bears on."""
    bearing: Bearing = Bearing.NONE


class Noticed(Frozen):
    """The statements of a turn that are worth keeping: none is a good answer."""

    statements: list[Statement]


class Answer(NamedTuple):
    """What could be read of an answer. A statement that does not fit falls alone."""

    statements: tuple[Statement, ...]
    fallen: tuple[str, ...] = ()
    """Why each statement that could not be taken was not."""
    whole: bool = True
    """False where the list of statements does not end."""


class Unreadable(Exception):
    """Nothing of the answer can be used. The text says why."""


def read_answer(text: str) -> Answer:
    """The statements of an answer, each by itself. Raises `Unreadable` where there is no list of
    statements, or where nothing in it can be used."""
    listed, whole = _listed(text)
    statements, fallen = [], []
    for each in listed:
        try:
            statements.append(Statement.model_validate_json(json.dumps(each)))
        except ValidationError as problem:
            fallen.append(_problem(problem))
    if not statements and (fallen or not whole):
        raise Unreadable("; ".join(fallen[:3]) or "The list of statements does not end.")
    if not whole:
        fallen.append("the answer ends in the middle of a statement")
    return Answer(tuple(statements), tuple(fallen), whole)


def _listed(text: str) -> tuple[list[Any], bool]:
    """The statements as JSON, and whether their list ended; those before a place where the JSON is
    broken are whole."""
    text = _unfenced(text)
    begin = text.find("{")
    if begin < 0:
        raise Unreadable("The answer has no JSON object.")
    decoder = json.JSONDecoder()
    try:
        found, _end = decoder.raw_decode(text, begin)
    except (ValueError, RecursionError):
        return _salvaged(text, begin, decoder)
    statements = found.get("statements") if isinstance(found, dict) else None
    if not isinstance(statements, list):
        raise Unreadable("statements: Field required, a list.")
    return statements, True


def _salvaged(text: str, begin: int, decoder: json.JSONDecoder) -> tuple[list[Any], bool]:
    """The statements of broken JSON, up to the first that is broken."""
    label = text.find('"statements"', begin)
    at = text.find("[", label) + 1 if label >= 0 else 0
    if not at:
        raise Unreadable("The answer is no JSON.")
    found: list[Any] = []
    while True:
        while at < len(text) and text[at] in ", \n\r\t":
            at += 1
        if at >= len(text) or text[at] != "{":
            return found, at < len(text) and text[at] == "]"
        try:
            each, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return found, False
        found.append(each)


def _unfenced(text: str) -> str:
    """JSON without the fence that a model without structured output likes to put around it."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json")
    return text


def _problem(problem: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in error['loc']) or 'statement'}: {error['msg']}"
        for error in problem.errors(include_url=False, include_input=False)[:5]
    )


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
    fields["type"] = {"type": "string", "enum": registry.proposed()}
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
