"""Writes golden files for what has none. What is there is never changed: it was released.

    python tests/golden/write.py

`events/NAME.json` holds one instance of an event: the canonical bytes of its envelope around the
recorded time, and of its body. `slots.json` holds words and their canonical forms: add a line with
no answer, and it is filled in. `sealed.json` was made once, by hand.
"""

from __future__ import annotations

import json
import sys
import types
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from beliefledger.gate import slots
from beliefledger.ledger import canonical, envelope
from beliefledger.ledger.encryption import clear
from beliefledger.ledger.envelope import Address
from beliefledger.ledger.events import BY_NAME, Event

HERE = Path(__file__).parent
RECORDED_AT = 1_772_355_600_000_000
SUBJECT, STREAM, EVENT_ID = "a" * 32, "5" * 32, "e" * 32


def sample(kind: Any, name: str) -> Any:
    """A value for a field, the same at every run; optional fields are filled too."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return sample(arguments[0], name)
    if origin in {Union, types.UnionType}:
        return sample(next(each for each in arguments if each is not type(None)), name)
    if origin is tuple:
        return [sample(arguments[0], f"{name}-{number}") for number in (1, 2)]
    if origin is dict:
        value = 1 if arguments[1] is int else sample(arguments[1], name)
        return {f"{name}-{number}": value for number in (2, 1)}
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {each: sample(field.annotation, each) for each, field in kind.model_fields.items()}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return list(kind)[-1].value
    plain = {str: f'{name} é日\U0001f600"\\', int: 1000 + len(name), bool: True}
    return plain[kind]


def instance(kind: type[Event]) -> Event:
    fields = {name: sample(field.annotation, name) for name, field in kind.model_fields.items()}
    return kind.model_validate(fields)


def written(event: Event) -> dict[str, str | None]:
    """The event's canonical bytes as text. The digest is that of the body in clear."""
    facts, body = event.split()
    words = None if body is None else canonical.encode(body)
    head, tail = envelope.split(
        Address(EVENT_ID, event.NAME, STREAM, 7, "default", SUBJECT),
        actor="system",
        causation="c" * 32,
        correlation=None,
        body_digest=None if words is None else canonical.digest(clear(words)),
        facts=facts,
    )
    return {
        "head": head.decode(),
        "tail": tail.decode(),
        "body": None if words is None else words.decode(),
    }


def canonical_form(function: str, words: Any) -> Any:
    return getattr(slots, function)(words)


def write(directory: Path = HERE) -> list[str]:
    """Returns the names of what was written."""
    new = []
    (directory / "events").mkdir(exist_ok=True)
    for name, kind in sorted(BY_NAME.items()):
        path = directory / "events" / f"{name}.json"
        if not path.exists():
            lines = json.dumps(written(instance(kind)), ensure_ascii=False, indent=1)
            path.write_text(f"{lines}\n")
            new.append(name)
    path = directory / "slots.json"
    lines = json.loads(path.read_text())
    for line in lines:
        if len(line) == 2:
            line.append(canonical_form(*line))
            new.append(f"{line[0]} {line[1]!r}")
    if any(name.startswith("canonical_") for name in new):
        rows = ",\n".join(" " + json.dumps(line, ensure_ascii=False) for line in lines)
        path.write_text(f"[\n{rows}\n]\n")
    return new


if __name__ == "__main__":
    for each in write():
        sys.stdout.write(f"{each}\n")
