"""What the model is told: our instructions and examples, the types and topics in force."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import yaml

from beliefledger.gate.model.noticed import MOST, NOW, Noticed
from beliefledger.gate.policy import Policy
from beliefledger.gate.registry import MemoryType, Registry
from beliefledger.ledger.candidate import Speech
from beliefledger.ledger.times import iso, to_datetime

MOST_CHARACTERS = 24_000
"""How much of a turn is read; nobody says more of themselves in one go."""
MOST_EARLIER = 2_000


@cache
def _text() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(
        resources.files("beliefledger.gate.model").joinpath("prompt.yaml").read_text("utf-8")
    )
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
        "MOST": str(MOST),
        "TYPES": "\n".join(
            f"- {name}: {_described(kind)}" for name, kind in registry.types.items()
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


def message(turn: Speech, earlier: Sequence[Speech]) -> tuple[str, dict[str, Speech]]:
    """A turn as JSON, so that nothing in it can look like ours, and the earlier turns' labels."""
    labelled = {f"earlier-{number}": each for number, each in enumerate(earlier, 1)}
    shown = [{"turn": label} | _said(each, MOST_EARLIER) for label, each in labelled.items()]
    return _json({"earlier": shown, NOW: _said(turn, MOST_CHARACTERS)}), labelled


def _said(turn: Speech, most: int) -> dict[str, str]:
    said_at = f"{to_datetime(turn.said_at):%A} {iso(turn.said_at)}"
    return {"role": turn.role, "said": said_at, "content": turn.content[:most]}


def mend(problem: str) -> str:
    """What the model is told about an answer that does not validate."""
    text: str = _text()["mend"]
    return text.replace("<PROBLEM>", problem)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
