"""What the model is told: our instructions and examples, the types and topics in force."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from beliefledger.gate.extractor import Known
from beliefledger.gate.model.noticed import NOW, Noticed
from beliefledger.gate.policy import Policy
from beliefledger.gate.registry import MemoryType, Registry
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import Speech
from beliefledger.ledger.data_files import data
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.times import iso, to_datetime

MOST_CHARACTERS = 12_000
"""How much of a turn is put into one question; a longer turn is read in windows."""
MOST_EARLIER = 2_000


@cache
def _text() -> dict[str, Any]:
    loaded: dict[str, Any] = data("beliefledger.gate.model", "prompt.yaml")
    return loaded


@cache
def examples() -> tuple[tuple[dict[str, Any], Noticed], ...]:
    """Worked examples: what was said, as it is put to the model, and the right answer."""
    return tuple(
        (each["said"], Noticed.model_validate({"statements": each["answer"]}))
        for each in _text()["examples"]
    )


def system(registry: Registry, policy: Policy) -> str:
    """The system prompt under the rules in force."""
    shown = "\n\n".join(
        f"Input: {_json(said)}\nAnswer: {_json(answer.model_dump(mode='json'))}"
        for said, answer in examples()
    )
    parts = {
        "TYPES": "\n".join(
            f"- {name}: {_described(registry.types[name])}" for name in registry.proposed()
        ),
        "TOPICS": ", ".join(policy.topics),
        "CATEGORIES": ", ".join(policy.special_categories),
        "EXAMPLES": shown,
    }
    text: str = _text()["system"]
    for name, part in parts.items():
        text = text.replace(f"<{name}>", part)
    return text


def _described(kind: MemoryType) -> str:
    said = kind.prompt or _text()["types"].get(kind.name) or kind.description
    if kind.attribute:
        said += f" Its attribute is {kind.attribute}."
    if kind.fields:
        asked = ", ".join(
            f"{name} ({field.description}{'; required' if field.required else ''})"
            for name, field in kind.fields.items()
        )
        said += f" Its fields: {asked}."
    if kind.relations:
        said += f" The relations: {', '.join(kind.relations)}."
    return said.strip()


@dataclass(frozen=True, slots=True)
class Shown:
    """What a question shows beside the turn: earlier turns and beliefs, by the labels they have."""

    earlier: Mapping[str, Speech]
    known: Mapping[str, Known]

    @classmethod
    def of(cls, earlier: Sequence[Speech], known: Sequence[Known]) -> Shown:
        return cls(
            {f"earlier-{number}": each for number, each in enumerate(earlier, 1)},
            {f"known-{each.memory_id[:8]}": each for each in known},
        )


def windows(text: str, most: int = MOST_CHARACTERS) -> list[tuple[int, int]]:
    """The turn in parts that are short enough, cut between sentences where that can be done."""
    if len(text) <= most:
        return [(0, len(text))]
    found: list[tuple[int, int]] = []
    begin = end = 0
    for _start, stop in sentences(text):
        if stop - begin > most and end > begin:
            found.append((begin, end))
            begin = end
        while stop - begin > most:  # a sentence that is too long itself
            found.append((begin, begin + most))
            begin += most
        end = stop
    if begin < len(text):
        found.append((begin, len(text)))
    return found


def message(turn: Speech, shown: Shown, window: tuple[int, int], part: str | None) -> str:
    """A turn as JSON, so that nothing in it can look like ours. What changes least comes first."""
    told: dict[str, Any] = {}
    if shown.known:
        told["known"] = [{"known": label} | _believed(each) for label, each in shown.known.items()]
    told["earlier"] = [
        {"turn": label} | _said(each, each.content[:MOST_EARLIER])
        for label, each in shown.earlier.items()
    ]
    told[NOW] = _said(turn, turn.content[slice(*window)]) | ({"part": part} if part else {})
    return _json(told)


def _believed(known: Known) -> dict[str, Any]:
    said: dict[str, Any] = {
        "entity": known.entity,
        "type": known.type,
        "attribute": known.attribute,
        "value": known.value,
    }
    if known.negated:
        said["negated"] = True
    if known.context:
        said["context"] = known.context
    return said


def _said(turn: Speech, content: str) -> dict[str, str]:
    said_at = f"{to_datetime(turn.said_at):%A} {iso(turn.said_at)}"
    return {"role": turn.role, "said": said_at, "content": content}


def go_on() -> str:
    """What the model is told about an answer that was cut off."""
    text: str = _text()["go_on"]
    return text


def mend(problem: str) -> str:
    """What the model is told about an answer that does not validate."""
    text: str = _text()["mend"]
    return text.replace("<PROBLEM>", problem)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
