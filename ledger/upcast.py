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
    """It never had a body: searches were not recorded yet."""
    return facts, {} if body is None else body


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


def _moved(*names: str) -> Callable[[Fields, Fields | None], tuple[Fields, Fields | None]]:
    """A step that takes these facts into the body, to be gone when that is gone."""

    def step(facts: Fields, body: Fields | None) -> tuple[Fields, Fields | None]:
        left = {name: value for name, value in facts.items() if name not in names}
        if body is not None:
            body = body | {name: facts[name] for name in names if name in facts}
        return left, body

    return step


def _turn_v1(facts: Fields, body: Fields | None) -> tuple[Fields, Fields | None]:
    """Its envelope had the kinds of its secrets, and its session's tag."""
    secrets = {"secrets": sum(facts["redacted"].values())}
    facts, body = _moved("redacted", "session_tag")(facts, body)
    return facts | secrets, body


def _proposed_v1(facts: Fields, body: Fields | None) -> tuple[Fields, Fields | None]:
    """Its envelope had its type, which the candidate has, too."""
    return {name: value for name, value in facts.items() if name != "type"}, body


_SCORES = ("type", "s", "r", "e", "t", "c", "base", "importance")
_CATEGORY = "permission.category="


def _decided_v1(facts: Fields, _: Fields | None) -> tuple[Fields, Fields | None]:
    """All of it was in the envelope, and its trace had the name of a category that was allowed."""
    facts, body = _moved(*_SCORES)(facts, {})
    trace = [
        f"{_CATEGORY}special"
        if each.startswith(_CATEGORY) and not each.startswith(f"{_CATEGORY}permission.")
        else each
        for each in facts["trace"]
    ]
    return facts | {"trace": trace}, body


_written_v1 = _moved("type", "confidence", "base", "importance", "grant")
"""Its envelope had its type, its scores, and the grant by which its category may be told."""
_confirmed_v1 = _moved("confidence", "base")


def _granted_v1(facts: Fields, body: Fields | None) -> tuple[Fields, Fields | None]:
    special = {"special": any(each != "ordinary" for each in facts["categories"])}
    facts, body = _moved("categories")(facts, body)
    return facts | special, body


def _recalled_v2(facts: Fields, body: Fields | None) -> tuple[Fields, Fields | None]:
    """Its digest had no salt, and its session's tag was in the envelope."""
    return _moved("session_tag")(facts, body)


def _parked_v1(facts: Fields, body: Fields | None) -> tuple[Fields, Fields | None]:
    """There was no deadline: a turn was parked after too many tries."""
    return facts | {"reason": "tries"}, body


STEPS: Mapping[str, Step] = {
    "entity.recognised.v1": ("entity.recognised.v2", _recognised_v1),
    "memories.recalled.v1": ("memories.recalled.v2", _recalled_v1),
    "erasure.requested.v1": ("erasure.requested.v2", _requested_v1),
    "subject.erased.v1": ("subject.erased.v2", _subject_erased_v1),
    "turn.parked.v1": ("turn.parked.v2", _parked_v1),
    "content.erased.v1": ("content.erased.v2", _content_erased_v1),
    "turn.recorded.v1": ("turn.recorded.v2", _turn_v1),
    "candidate.proposed.v1": ("candidate.proposed.v2", _proposed_v1),
    "gate.decided.v1": ("gate.decided.v2", _decided_v1),
    "memory.admitted.v1": ("memory.admitted.v2", _written_v1),
    "memory.superseded.v1": ("memory.superseded.v2", _written_v1),
    "memory.quarantined.v1": ("memory.quarantined.v2", _written_v1),
    "memory.moved_in.v1": ("memory.moved_in.v2", _written_v1),
    "memories.consolidated.v1": ("memories.consolidated.v2", _written_v1),
    "memory.confirmed.v1": ("memory.confirmed.v2", _confirmed_v1),
    "consent.granted.v1": ("consent.granted.v2", _granted_v1),
    "memories.recalled.v2": ("memories.recalled.v3", _recalled_v2),
}
"""From an old name to the next name and how to get there."""

TOLD_MORE = frozenset(
    {
        "turn.recorded.v1",
        "candidate.proposed.v1",
        "gate.decided.v1",
        "memory.admitted.v1",
        "memory.superseded.v1",
        "memory.quarantined.v1",
        "memory.confirmed.v1",
        "memory.moved_in.v1",
        "memories.consolidated.v1",
        "consent.granted.v1",
        "memories.recalled.v1",
        "memories.recalled.v2",
    }
)
"""The versions whose envelopes told more of the words than one may that outlives them."""


def upcast(
    name: str, facts: Fields, body: Fields | None, steps: Mapping[str, Step] = STEPS
) -> tuple[str, Fields, Fields | None]:
    """Apply steps until the name is a current one."""
    while name in steps:
        name, step = steps[name]
        facts, body = step(facts, body)
    return name, facts, body


def stored_names(names: Iterable[str], steps: Mapping[str, Step] = STEPS) -> frozenset[str]:
    """These names, and the older names under which such events may be stored."""
    found = set(names)
    while older := {old for old, (name, _) in steps.items() if name in found} - found:
        found |= older
    return frozenset(found)


def current_name(name: str, steps: Mapping[str, Step] = STEPS) -> str:
    """Today's name of an event that is stored under this one."""
    while name in steps:
        name, _ = steps[name]
    return name
