"""The JSON Schema (draft 2020-12) of each event, as `ops tail`, exports and followers tell it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from beliefledger.ledger.event_names import named
from beliefledger.ledger.events import BY_NAME, Event

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": "string"}
_MAYBE_TEXT = {"type": ["string", "null"]}
_ENVELOPE: dict[str, dict[str, Any]] = {
    "position": {
        "type": "integer",
        "minimum": 1,
        "description": "1, 2, 3 … in the order of commits, without gaps.",
    },
    "event_id": {**_TEXT, "description": "Random; the same event never has another."},
    "stream": {**_TEXT, "description": "What it happened to: a turn, a belief, a subject …"},
    "version": {
        "type": "integer",
        "minimum": 1,
        "description": "Its number within its stream.",
    },
    "subject": {
        **_MAYBE_TEXT,
        "description": "Whom it is about, by the id that you gave. null where it is about nobody,"
        " and from the moment on in which they are erased: in `subject.erased` itself too.",
    },
    "subject_ref": {
        **_MAYBE_TEXT,
        "description": "Whom it is about, as the log calls them: random, and the same before and"
        " after an erasure. What you have to delete at yours is found by it: keep it with your"
        " copies.",
    },
    "actor": {**_TEXT, "description": "Who did it; `system` where the ledger did."},
    "recorded_at": {**_TEXT, "format": "date-time", "description": "In UTC; it never goes back."},
    "causation": {**_MAYBE_TEXT, "description": "The event that led to it."},
    "correlation": {**_MAYBE_TEXT, "description": "What it belongs together with."},
}
_AFTER: dict[str, dict[str, Any]] = {
    "destroyed": {
        "type": "boolean",
        "description": "Whether its body is erased; facts stay for ever.",
    },
}


def schema(types: Iterable[str] = ("*",)) -> dict[str, Any]:
    """The schema of the events of some types (`memory.*`): a document that fits it is one of them.
    Of one type it is that type's own. Raises `InvalidQuery` for a type that there is none of."""
    names = sorted(named(types))
    own = dict(_schemas(names))
    shared = {key: each for key, each in own.items() if key not in names}
    if len(names) == 1:
        head = own[names[0]]
        made = {"$schema": DIALECT, "$id": f"urn:beliefledger:event:{names[0]}", **head}
        return {**made, "$defs": shared} if shared else made
    return {
        "$schema": DIALECT,
        "$id": "urn:beliefledger:events",
        "title": "Event",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in names],
        "$defs": {**shared, **{name: own[name] for name in names}},
    }


def _schemas(names: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema of each event by its name, and of what several of them have in them."""
    kinds = [BY_NAME[name] for name in names]
    found, all_of_them = models_json_schema(
        [(kind, "serialization") for kind in kinds], ref_template="#/$defs/{model}"
    )
    parts = {name: _plain(each) for name, each in all_of_them["$defs"].items()}
    for model in {each for kind in kinds for each in (kind, *inner(kind))}:
        for name, words in described(model).items():
            field = parts[model.__name__]["properties"][name]
            field["description"] = words
    own = {found[kind, "serialization"]["$ref"].rpartition("/")[2]: kind for kind in kinds}
    for name, each in parts.items():
        yield (own[name].NAME, _of(own[name], each)) if name in own else (name, each)


def inner(model: type[BaseModel]) -> list[type[BaseModel]]:
    """The models that its fields have in them, and theirs, in the order in which they come."""
    found: list[type[BaseModel]] = []
    for hint in get_type_hints(model).values():
        for each in _models(hint):
            found += [new for new in (each, *inner(each)) if new not in found]
    return found


def _models(hint: Any) -> Iterator[type[BaseModel]]:
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        yield hint
    for argument in get_args(hint):
        yield from _models(argument)


def described(model: type[BaseModel]) -> dict[str, str]:
    """What is written below the fields of a class about them."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if each is not BaseModel and issubclass(each, BaseModel):
            found |= _below_fields(each)
    return {name: found[name] for name in model.model_fields if name in found}


@cache
def _below_fields(model: type[BaseModel]) -> dict[str, str]:
    [written] = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    lines = written.body if isinstance(written, ast.ClassDef) else []
    return {
        field.target.id: " ".join(words.value.value.split())
        for field, words in pairwise(lines)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(words, ast.Expr)
        and isinstance(words.value, ast.Constant)
        and isinstance(words.value.value, str)
    }


def _of(kind: type[Event], fields: dict[str, Any]) -> dict[str, Any]:
    """The schema of an event's document, from that of its fields."""
    facts = _object(fields, lambda name: name in kind.FACTS)
    body = _object(fields, lambda name: name not in kind.FACTS)
    if body["properties"]:
        body = {"anyOf": [body, {"type": "null"}], "description": "null once it is erased."}
    else:
        body = {"type": "null"}
    properties = {
        **_ENVELOPE,
        "type": {"const": kind.NAME},
        "facts": {**facts, "description": "What stays for ever; it says nothing personal."},
        "body": body,
        **_AFTER,
    }
    return {
        "title": kind.__name__,
        "description": " ".join((inspect.getdoc(kind) or "").split()),
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _object(fields: dict[str, Any], wanted: Callable[[str], bool]) -> dict[str, Any]:
    properties = {name: each for name, each in fields["properties"].items() if wanted(name)}
    required = [name for name in fields.get("required", ()) if name in properties]
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        made["required"] = required
    return {**made, "additionalProperties": False}


def _plain(found: Any) -> Any:
    """Without titles that only repeat names, and defaults, which are the log's own numbers."""
    if isinstance(found, dict):
        return {
            name: _fields(each) if name == "properties" else _plain(each)
            for name, each in found.items()
            if name not in {"title", "default"}
        }
    if isinstance(found, str):
        return " ".join(found.split())
    return [_plain(each) for each in found] if isinstance(found, list) else found


def _fields(properties: dict[str, Any]) -> dict[str, Any]:
    """Here `title` would be a field's name."""
    return {name: _plain(each) for name, each in properties.items()}
