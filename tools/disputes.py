"""Loops and conflicts: what keeps changing, and what a person has to choose."""

from __future__ import annotations

from collections.abc import Sequence

from gate.effects import memory_of
from gate.gate import view_of
from ledger.errors import UnknownMemory
from ledger.memory import Memory
from ledger.times import DAY, Clock, to_datetime
from projections import digests, questions
from projections.beliefs import BeliefsView
from projections.churn import ChurnView
from projections.decisions import DecisionsView
from tools.answers import BeliefAnswer, ConflictAnswer, DecisionAnswer, LoopAnswer
from tools.asking import Asking
from tools.reading import Reader
from tools.wiring import Parts


class Disputes:
    """Reads disputes out of the views."""

    def __init__(self, parts: Parts, clock: Clock, asking: Asking) -> None:
        self._parts = parts
        self._log = parts.log
        self._clock = clock
        self._asking = asking
        self._reader = Reader(parts.log)

    def loops(self, subject: str | None, window_days: int | None) -> list[LoopAnswer]:
        policy = self._parts.rulebook.refreshed().policy
        window = (window_days or policy.loops.window_days) * DAY
        ref = None
        if subject is not None:
            ref = self._asking.known_or_none(subject)
            if ref is None:
                return []
        with self._asking.view(ChurnView.name) as (connection, generation):
            changes = questions.changes(connection, generation, subject_ref=ref)
        by_belief: dict[str, list[questions.ChurnRow]] = {}
        for change in changes:
            by_belief.setdefault(change.belief, []).append(change)
        answers = []
        for belief, rows in by_belief.items():
            times = sorted(row.said_at for row in rows if row.said_at is not None)
            needed = policy.loops.supersessions
            looping = any(
                times[i + needed - 1] - times[i] <= window for i in range(len(times) - needed + 1)
            )
            contested = is_contested(rows)
            if looping or contested:
                answers.append(self._loop(belief, rows, contested))
        return answers

    def _loop(self, belief: str, rows: Sequence[questions.ChurnRow], contested: bool) -> LoopAnswer:
        history = self._asking.history(belief)
        first_seen: dict[str, BeliefAnswer] = {}
        for version in history:
            first_seen.setdefault(version.memory_id, version)
        values = [
            {
                "memory_id": version.memory_id,
                "value": version.value,
                "negated": version.negated,
                "context": version.context,
                "text": version.text,
                "said_at": version.evidence[0].said_at.isoformat() if version.evidence else None,
                "turn_id": version.evidence[0].turn_id if version.evidence else None,
            }
            for version in first_seen.values()
        ]
        return LoopAnswer(
            belief_id=belief,
            subject=self._reader.name(rows[0].subject_ref),
            attribute=history[0].attribute if history else "",
            supersessions=sum(row.happened == "superseded" for row in rows),
            contested=contested,
            values=tuple(values),
        )

    def conflicts(self, subject: str | None) -> list[ConflictAnswer]:
        waiting = self._asking.decisions(
            subject, outcome="escalate", reason=None, turn_id=None, waits=True, limit=None
        )
        by_belief: dict[str, list[DecisionAnswer]] = {}
        for decision in waiting:
            by_belief.setdefault(decision.belief_id, []).append(decision)
        answers = []
        now = to_datetime(self._asking.now())
        for belief, escalated in by_belief.items():
            history = self._asking.history(belief)
            standing = [
                version
                for version in history
                if version.recorded_to is None
                and not version.quarantined
                and (version.valid_to is None or version.valid_to > now)
            ]
            answers.append(
                ConflictAnswer(
                    belief_id=belief,
                    subject=escalated[0].subject,
                    attribute=history[0].attribute if history else "",
                    reason=escalated[-1].reason,
                    standing=tuple(standing),
                    escalated=tuple(escalated),
                )
            )
        return answers

    def escalated(self, belief: str) -> tuple[str, dict[str, Memory]]:
        """The subject of a belief, and what its escalated decisions proposed."""
        with self._asking.view(BeliefsView.name) as (connection, generation):
            rows = questions.versions_of(connection, generation, belief)
        if not rows:
            raise UnknownMemory(f"There is no belief {belief}.")
        with self._asking.view(DecisionsView.name) as (connection, generation):
            waiting = [
                row
                for row in questions.decided(
                    connection, generation, subject_ref=rows[0].subject_ref, waits=True
                )
                if row.belief == belief
            ]
        candidates = digests.candidates_of(waiting, self._log)
        offered = {}
        for row in waiting:
            proposed = candidates.get((row.turn_id, row.candidate_version))
            if proposed is not None:
                recorded, said = self._reader.turn(row.turn_id)
                if said is None:
                    continue
                turn = view_of(recorded, said, {})
                offered[row.decision_id] = memory_of(
                    proposed.candidate, turn, valid_from=turn.said_at
                )
        return rows[0].subject_ref, offered


def is_contested(rows: Sequence[questions.ChurnRow]) -> bool:
    state = False
    for row in rows:
        if row.happened in {"contested", "resolved"}:
            state = row.happened == "contested"
    return state
