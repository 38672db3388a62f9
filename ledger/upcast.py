"""Old event versions, read as today's.

A step turns the facts and body of one version into those of the next. Steps are pure and total:
they also take an event whose body is gone (None) and give one back. The log itself is never
rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Fields = dict[str, Any]
Step = tuple[str, Callable[[Fields, Fields | None], tuple[Fields, Fields | None]]]


def _recognised_v1(facts: Fields, body: Fields | None) -> tuple[Fields, Fields | None]:
    """It stood in a stream of its own, whose id was the entity's: the reader of one knows it."""
    return facts | {"entity_id": ""}, None if body is None else body | {"kind": None}


def _recalled_v1(facts: Fields, body: Fields | None) -> tuple[Fields, Fields | None]:
    """It had no body: searches were not recorded yet."""
    return facts, body


def _requested_v1(facts: Fields, body: Fields | None) -> tuple[Fields, Fields | None]:
    """Only whole subjects were erased."""
    told: Fields = {
        "of": None,
        "positions": [],
        "because": None,
        "key_fingerprint": "",
        "master_key": "",
    }
    return facts | told, body


_UNTOLD: Fields = {"request": "", "counts": {}, "commitment": "", "views": [], "probes": []}
"""What the first versions of the events that end an erasure did not say."""


def _subject_erased_v1(facts: Fields, body: Fields | None) -> tuple[Fields, Fields | None]:
    return facts | _UNTOLD | {"master_key": ""}, body


def _content_erased_v1(facts: Fields, body: Fields | None) -> tuple[Fields, Fields | None]:
    positions = facts["positions"]
    runs = [[position, position] for position in positions]
    return facts | _UNTOLD | {"positions": runs, "bodies": len(positions)}, body


STEPS: Mapping[str, Step] = {
    "entity.recognised.v1": ("entity.recognised.v2", _recognised_v1),
    "memories.recalled.v1": ("memories.recalled.v2", _recalled_v1),
    "erasure.requested.v1": ("erasure.requested.v2", _requested_v1),
    "subject.erased.v1": ("subject.erased.v2", _subject_erased_v1),
    "content.erased.v1": ("content.erased.v2", _content_erased_v1),
}
"""From an old name to the next name and how to get there."""


def upcast(
    name: str, facts: Fields, body: Fields | None, steps: Mapping[str, Step] = STEPS
) -> tuple[str, Fields, Fields | None]:
    """Apply steps until the name is a current one."""
    while name in steps:
        name, step = steps[name]
        facts, body = step(facts, body)
    return name, facts, body


def stored_names(names: Iterable[str], steps: Mapping[str, Step] = STEPS) -> frozenset[str]:
    """These names, and the older ones under which events of theirs may be stored."""
    found = set(names)
    while older := {old for old, (name, _) in steps.items() if name in found} - found:
        found |= older
    return frozenset(found)


def current_name(name: str, steps: Mapping[str, Step] = STEPS) -> str:
    """What an event of this name is called today."""
    while name in steps:
        name, _ = steps[name]
    return name
