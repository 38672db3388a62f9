"""What a ledger tells of itself, as JSON, to compare what two programs say of it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

SUBJECTS = ("ana", "clara", "dan", "eva")
ERASED = ("bruno", "fred")
MOMENTS = ("2026-01-31", "2026-03-20", "2026-04-22", "2026-06-08T12:00:00Z", "2026-06-20")
BELIEF = (
    "memory_id belief_id type topic entity attribute value negated text context confidence"
    " importance mentions contested quarantined valid_from valid_to recorded_from recorded_to"
    " superseded_by supersedes"
).split()
DECISION = (
    "decision_id position turn_id subject claim type outcome reason confidence mentions policy"
    " belief_id memory_id waits"
).split()


NEW_VIEWS = {"calls", "tasks", "teams"}
"""Those that the version before did not have."""


def told(memory: Any) -> dict[str, Any]:
    """Everything but what grows by asking."""
    status = memory.status(digests=True)
    head = status.position
    verified = memory.proofs.verify(decisions=True)
    replayed = memory.audit.replay_all()
    answer = {
        "position": head,
        "views": {
            view.name: view.content_digest for view in status.views if view.name not in NEW_VIEWS
        },
        "pending": status.pending_turns,
        "parked": status.parked_turns,
        "verified": {
            "ok": verified.ok,
            "events": verified.events,
            "bodies": verified.bodies,
            "destroyed": verified.destroyed,
            "decisions": verified.decisions,
            "problem": verified.problem,
        },
        "replayed": {
            "decisions": replayed.decisions,
            "same": replayed.same,
            "different": replayed.different,
            "inputs_destroyed": replayed.inputs_destroyed,
        },
        "beliefs": {
            moment: [
                _of(belief, BELIEF)
                for subject in SUBJECTS
                for belief in sorted(
                    memory.beliefs(subject, as_of=memory.as_of(moment)),
                    key=lambda each: (each.memory_id, each.value),
                )
            ]
            for moment in MOMENTS
        },
        "histories": {
            subject: _digest(
                [
                    _of(version, BELIEF)
                    for belief in sorted({each.belief_id for each in memory.beliefs(subject)})
                    for version in memory.history(belief)
                ]
            )
            for subject in SUBJECTS
        },
        "decisions": [_of(decision, DECISION) for decision in memory.decisions()],
        "conflicts": sorted(each.belief_id for each in memory.conflicts.list()),
        "entities": {
            subject: sorted([each.entity_id, each.name] for each in memory.entities.list(subject))
            for subject in SUBJECTS
        },
        "erasures": [
            [each.erasure, each.subject, each.reach, each.position, each.bodies]
            for each in memory.erasure.list()
        ],
        "holds": [each.model_dump(mode="json") for each in memory.erasure.holds.list()],
        "types": sorted(each.name for each in memory.types.list()),
        "policy": status.policy,
        "parked_turns": [each.turn_id for each in memory.operations.extraction.parked()],
        "consumers": [[each.name, each.position] for each in status.consumers],
        "recalls": [[each.recall_id, each.position] for each in memory.recalls.list()],
    }
    return json.loads(json.dumps(answer, default=str))


def _of(answer: Any, fields: list[str]) -> dict[str, Any]:
    whole = answer.model_dump(mode="json")
    return {name: whole[name] for name in fields}


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, default=str).encode()).hexdigest()
