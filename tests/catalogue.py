"""Writes the catalogue of events: `python tests/catalogue.py`.

docs/events.md is written by hand down to a mark; what follows is made of the classes of
`ledger.events`. docs/events.jsonl has an example of each event, made of its golden file.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beliefledger.exports.event_lines import EventDocuments
from beliefledger.exports.event_schema import schema
from beliefledger.ledger import codec, envelope
from beliefledger.ledger.encryption import clear
from beliefledger.ledger.events import BY_NAME, STREAMS
from beliefledger.ledger.store import Row

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "events.md"
EXAMPLES = ROOT / "docs" / "events.jsonl"
GOLDEN = ROOT / "tests" / "golden"
MARK = "<!-- What follows is made of the classes of the events: python tests/catalogue.py -->\n"
LATER = (
    "An event keeps its version when it gets a field that may be left out: what was recorded before"
    " is without it, and reads\nas before. These came in that way. A program of your own should"
    " pass over fields that it does not know."
)
HEAD = "| field | what it is | |\n|---|---|---|\n"
_spec = importlib.util.spec_from_file_location("golden_events", GOLDEN / "write.py")
assert _spec is not None
assert _spec.loader is not None
_write = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_write)


def example(name: str) -> dict[str, Any]:
    """The document of the event that a golden file holds."""
    parts = json.loads((GOLDEN / "events" / f"{name}.json").read_text("utf-8"))
    head, tail = parts["head"].encode(), parts["tail"].encode()
    body = None if parts["body"] is None else clear(parts["body"].encode())
    row = Row(1, envelope.stamp(head, _write.RECORDED_AT, tail), body)
    recorded = codec.unseal(row, _NobodyErased())  # type: ignore[arg-type]
    gone = name.startswith("subject.erased.")
    documents = EventDocuments(lambda _ref: None if gone else "ana", lambda actor: actor)
    return documents.of(recorded)


class _NobodyErased:
    """A vault that is not asked for a key: the bodies of golden files are in clear."""

    def is_erased(self, _ref: str) -> bool:
        return False


def examples() -> str:
    lines = [json.dumps(example(name), ensure_ascii=False) for name in BY_NAME]
    return "".join(f"{line}\n" for line in lines)


def page() -> str:
    """The page with its generated part written anew."""
    by_hand = PAGE.read_text("utf-8").partition(MARK)[0]
    return f"{by_hand}{MARK}\n{''.join(_catalogue())}"


def _catalogue() -> Iterator[str]:
    shared: dict[str, dict[str, Any]] = {}
    for stream, module in STREAMS.items():
        kinds = [kind for kind in BY_NAME.values() if vars(module).get(kind.__name__) is kind]
        yield f"## Stream `{stream}`\n\n{_words(module.__doc__)}\n\n"
        for kind in kinds:
            own = schema([kind.NAME])
            shared |= own.get("$defs", {})
            yield f"### `{kind.NAME}`\n\n{_words(kind.__doc__)}\n\n"
            yield from _fields(own["properties"])
    yield "## Parts\n\nWhat several events have in them.\n\n"
    for name in sorted(shared):
        yield f"### {name}\n\n{shared[name].get('description', '')}\n\n"
        if "enum" in shared[name]:
            yield f"One of {', '.join(f'`{each}`' for each in shared[name]['enum'])}.\n\n"
        else:
            yield _table("", shared[name])
    yield f"## Fields that came later\n\n{LATER}\n\n| in | field |\n|---|---|\n"
    for owner, name in dict.fromkeys(each for kind in BY_NAME for each in later(kind)):
        yield f"| `{owner}` | `{name}` |\n"


def later(name: str) -> Iterator[tuple[str, str]]:
    """The fields that an event, or a part in it, has now and its golden file has not: they came
    when events of that version had been written already."""
    whole = schema([name])
    return _later(whole, example(name), whole.get("$defs", {}), name)


def _later(
    found: dict[str, Any], value: Any, parts: dict[str, Any], owner: str
) -> Iterator[tuple[str, str]]:
    if "$ref" in found:
        owner = found["$ref"].rpartition("/")[2]
        found = parts[owner]
    for each in found.get("anyOf", ()):
        yield from _later(each, value, parts, owner)
    if isinstance(value, list) and "items" in found:
        for item in value[:1]:
            yield from _later(found["items"], item, parts, owner)
    if isinstance(value, dict):
        for name, each in found.get("properties", {}).items():
            if name in value:
                yield from _later(each, value[name], parts, owner)
            else:
                assert name not in found.get("required", ()), f"{owner}: {name} may be left out"
                yield owner, name


def _fields(properties: dict[str, Any]) -> Iterator[str]:
    facts, body = properties["facts"], properties["body"]
    body = next(iter(body.get("anyOf", ())), {"properties": {}})
    rows = _rows("facts.", facts) + _rows("body.", body)
    yield f"{HEAD}{''.join(rows)}\n" if rows else "It has neither facts nor a body.\n\n"


def _table(before: str, found: dict[str, Any]) -> str:
    return f"{HEAD}{''.join(_rows(before, found))}\n"


def _rows(before: str, found: dict[str, Any]) -> list[str]:
    required = found.get("required", ())
    return [
        f"| `{before}{name}` | {_kind(each)}{'' if name in required else ', or not there'} |"
        f" {_words(each.get('description', ''))} |\n"
        for name, each in found["properties"].items()
    ]


def _kind(found: dict[str, Any]) -> str:
    """What a value is, in words."""
    if "$ref" in found:
        name = found["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in found:
        kinds = [_kind(each) for each in found["anyOf"] if each.get("type") != "null"]
        return f"{' or '.join(kinds)}, or null"
    if "prefixItems" in found:
        return f"list of {len(found['prefixItems'])}: {', '.join(map(_kind, found['prefixItems']))}"
    kind = found.get("type")
    if kind == "array":
        return f"list of {_kind(found['items'])}"
    if kind == "object":
        values = found.get("additionalProperties")
        return f"map to {_kind(values)}" if isinstance(values, dict) else "map"
    if kind == "number":
        return "score from 0 to 1" if "maximum" in found else "number"
    if kind == "string":
        return "time" if found.get("format") == "date-time" else "text"
    return {"integer": "whole number", "boolean": "true or false"}.get(str(kind), "anything")


def _words(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def main() -> None:
    PAGE.write_text(page(), "utf-8")
    EXAMPLES.write_text(examples(), "utf-8")


if __name__ == "__main__":
    main()
