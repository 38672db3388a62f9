"""Loops and conflicts: what keeps changing, and what a person has to choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from beliefledger.answers import (
    BeliefAnswer,
    ChoiceAnswer,
    ConflictAnswer,
    DecisionAnswer,
    LoopAnswer,
)
from beliefledger.gate.effects import memory_of
from beliefledger.gate.slots import canonical_context, canonical_text
from beliefledger.gate.turns import view_of
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import UnknownMemory
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.times import DAY, Micros, to_datetime
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.projections import digests, questions
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.churn import ChurnView
from beliefledger.projections.decisions import DecisionsView
from beliefledger.reading.queries import Queries
from beliefledger.reading.words import Reader

GATE = "gate"
"""Who wrote a value that no person decided about."""


class ConflictQueries:
    """Reads disputes out of the views."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._clock = core.clock
        self._queries = queries
        self._reader = Reader(core.log)

    def loops(
        self,
        subject: str | None,
        window_days: int | None,
        since: Micros | None = None,
        until: Micros | None = None,
        least: int | None = None,
    ) -> list[LoopAnswer]:
        """`since` and `until` bound when the superseding statements were said. Where one is given
        and no `window_days`, all that lies between them counts as together."""
        policy = self._core.rulebook.refreshed().policy
        needed = least or policy.loops.supersessions
        bounded = since is not None or until is not None
        window = (
            None if bounded and window_days is None else window_days or policy.loops.window_days
        )
        ref = None
        if subject is not None:
            ref = self._queries.known_or_none(subject)
            if ref is None:
                return []
        with self._queries.view(ChurnView.name) as (connection, generation):
            changes = questions.changes(connection, generation, subject_ref=ref)
        by_belief: dict[str, list[questions.ChurnRow]] = {}
        for change in changes:
            by_belief.setdefault(change.belief, []).append(change)
        answers = []
        for belief, rows in by_belief.items():
            times = sorted(
                row.said_at
                for row in rows
                if row.said_at is not None
                and (since is None or row.said_at >= since)
                and (until is None or row.said_at < until)
            )
            together = _together(times, None if window is None else window * DAY)
            contested = is_contested(rows)
            # Over all time, what is contested is asked about whatever the window.
            if together >= needed or (contested and not bounded and least is None):
                answers.append(self._loop(belief, rows, together, contested=contested))
        return answers

    def _loop(
        self, belief: str, rows: Sequence[questions.ChurnRow], together: int, *, contested: bool
    ) -> LoopAnswer:
        history = self._history(belief)
        first_seen: dict[str, BeliefAnswer] = {}
        for version in history:
            first_seen.setdefault(version.memory_id, version)
        written = self._log.read_at([each.recorded_from_position for each in first_seen.values()])
        changed = {row.new_memory: row for row in rows if row.happened == "superseded"}
        values = [
            self._value(version, written[version.recorded_from_position], changed)
            for version in first_seen.values()
        ]
        values.sort(key=lambda value: (value["said_at"] or "", value["position"]))
        waits = contested or _escalated(rows)
        return LoopAnswer(
            belief_id=belief,
            subject=self._reader.name(rows[0].subject_ref),
            attribute=history[0].attribute if history else "",
            supersessions=sum(row.happened == "superseded" for row in rows),
            together=together,
            contested=contested,
            values=tuple(values),
            settle=_settle(belief, "VALUE_OR_ID") if waits else None,
        )

    def _value(
        self,
        version: BeliefAnswer,
        written: Recorded,
        changed: Mapping[str | None, questions.ChurnRow],
    ) -> dict[str, Any]:
        """One value, with who wrote it: the gate, where no person was named."""
        change = changed.get(version.memory_id)
        evidence = version.evidence[0] if version.evidence else None
        named = written.actor != SYSTEM
        return {
            "memory_id": version.memory_id,
            "value": version.value,
            "negated": version.negated,
            "context": version.context,
            "text": version.text,
            "said_at": evidence.said_at.isoformat() if evidence else None,
            "turn_id": evidence.turn_id if evidence else None,
            "recorded_at": version.recorded_from.isoformat(),
            "position": version.recorded_from_position,
            "actor": self._log.vault.principal_name(written.actor) if named else GATE,
            "session": version.session,
            "agent": version.agent,
            "decision_id": version.decision_id,
            "supersedes": change.old_memory if change else None,
            "quarantined": version.quarantined,
        }

    def _history(self, belief: str) -> list[BeliefAnswer]:
        """Its versions; none of a belief whose every word is erased."""
        with self._queries.view(BeliefsView.name) as (connection, generation):
            there = questions.versions_of(connection, generation, belief)
        return self._queries.history(belief) if there else []

    def conflicts(self, subject: str | None) -> list[ConflictAnswer]:
        waiting = self._queries.about(subject, outcome="escalate", waits=True)
        by_belief: dict[str, list[DecisionAnswer]] = {}
        for decision in waiting:
            by_belief.setdefault(decision.belief_id, []).append(decision)
        answers = []
        now = to_datetime(self._queries.now())
        for belief, escalated in by_belief.items():
            history = self._history(belief)
            standing = [
                version
                for version in history
                if version.recorded_to is None
                and not version.quarantined
                and (version.valid_to is None or version.valid_to > now)
            ]
            _, offered = self.escalated(belief)
            choices = [
                *_stands(belief, standing, history),
                *_against(belief, escalated, offered, history),
            ]
            pairs = " ".join(f"--context CONTEXT={choice.id}" for choice in choices)
            answers.append(
                ConflictAnswer(
                    belief_id=belief,
                    subject=escalated[0].subject,
                    attribute=history[0].attribute if history else "",
                    reason=escalated[-1].reason,
                    standing=tuple(standing),
                    escalated=tuple(escalated),
                    choices=tuple(choices),
                    by_context=f"beliefledger conflicts resolve {belief} {pairs} --by NAME",
                )
            )
        return answers

    def escalated(self, belief: str) -> tuple[str, dict[str, Memory]]:
        """The subject of a belief, and what its escalated decisions proposed."""
        with self._queries.view(BeliefsView.name) as (connection, generation):
            rows = questions.versions_of(connection, generation, belief)
        subject_ref = rows[0].subject_ref if rows else None
        with self._queries.view(DecisionsView.name) as (connection, generation):
            waiting = [
                row
                for row in questions.decided(
                    connection,
                    generation,
                    questions.DecisionFilter(subject_ref=subject_ref, waits=True),
                )
                if row.belief == belief
            ]
        if not rows and not waiting:
            raise UnknownMemory(f"There is no belief {belief}.")
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
        return (rows or waiting)[0].subject_ref, offered


def _together(times: Sequence[Micros], window: Micros | None) -> int:
    """The most of these times, which are in order, that lie within one window."""
    most = first = 0
    for last, time in enumerate(times):
        while window is not None and time - times[first] > window:
            first += 1
        most = max(most, last - first + 1)
    return most


def _settle(belief: str, value: str) -> str:
    return f"beliefledger conflicts resolve {belief} --choose {value} --by NAME"


def _stands(
    belief: str, standing: Sequence[BeliefAnswer], history: Sequence[BeliefAnswer]
) -> list[ChoiceAnswer]:
    """The values that hold now."""
    return [
        ChoiceAnswer(
            id=version.memory_id,
            stands=True,
            value=version.value,
            negated=version.negated,
            context=version.context,
            text=version.text,
            confidence=version.confidence,
            mentions=max(version.mentions, len(_turns(history, _key(version)))),
            last_said=max(
                (
                    each.said_at
                    for other in history
                    if other.memory_id == version.memory_id
                    for each in other.evidence
                ),
                default=version.valid_from,
            ),
            resolve=_settle(belief, version.memory_id),
        )
        for version in standing
    ]


def _key(memory: BeliefAnswer | Memory) -> tuple[str, bool, str | None]:
    """What is the same value, in other words too."""
    return canonical_text(memory.value), memory.negated, canonical_context(memory.context)


def _turns(history: Sequence[BeliefAnswer], key: tuple[str, bool, str | None]) -> set[str]:
    """The turns that said a value, whichever memories came of them."""
    same = [each for each in history if _key(each) == key]
    return {said.turn_id for each in same for said in each.evidence}


def _against(
    belief: str,
    escalated: Sequence[DecisionAnswer],
    offered: Mapping[str, Memory],
    history: Sequence[BeliefAnswer],
) -> list[ChoiceAnswer]:
    """The values said against them, each once, however often it was said. Words of an erased turn
    cannot be chosen."""
    said: dict[tuple[str, bool, str | None], list[DecisionAnswer]] = {}
    for decision in escalated:
        memory = offered.get(decision.decision_id)
        if memory is not None:
            said.setdefault(_key(memory), []).append(decision)
    choices = []
    for key, decisions in said.items():
        last = decisions[-1]
        memory = offered[last.decision_id]
        choices.append(
            ChoiceAnswer(
                id=last.decision_id,
                stands=False,
                value=memory.value,
                negated=memory.negated,
                context=memory.context,
                text=memory.claim,
                confidence=max(each.confidence or 0.0 for each in decisions),
                mentions=len({each.turn_id for each in decisions} | _turns(history, key)),
                last_said=to_datetime(max(offered[each.decision_id].said_at for each in decisions)),
                resolve=_settle(belief, last.decision_id),
            )
        )
    return choices


def _escalated(rows: Sequence[questions.ChurnRow]) -> bool:
    """Whether a statement waits for a resolution."""
    state = False
    for row in rows:
        if row.happened in {"escalated", "resolved"}:
            state = row.happened == "escalated"
    return state


def is_contested(rows: Sequence[questions.ChurnRow]) -> bool:
    state = False
    for row in rows:
        if row.happened in {"contested", "resolved"}:
            state = row.happened == "contested"
    return state
