"""Making decisions again from what the log holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beliefledger import units
from beliefledger.answers import ReplayAnswer, ReplaySummary
from beliefledger.gate.policy import Policy, load
from beliefledger.gate.replay import Replayed, Verdict
from beliefledger.ledger.errors import UnknownMemory
from beliefledger.ledger.events.turn import GateDecided
from beliefledger.opening.core import Core
from beliefledger.reading.queries import Queries
from beliefledger.times import Progress

PolicySource = Policy | Path | str | Mapping[str, Any]


class DecisionReplays:
    """Makes decisions again, by the policy of then or by another."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._log = core.log
        self._replayer = core.replayer
        self._queries = queries

    def one(self, decision_id: str, policy: PolicySource | None = None) -> ReplayAnswer:
        """Raises `UnknownMemory`."""
        recorded = self._log.find(self._queries.decision_id(decision_id))
        if recorded is None:
            raise UnknownMemory(f"There is no decision {decision_id}.")
        chosen = None if policy is None else load(policy)
        return _replayed(self._replayer.replay(recorded, chosen))

    def all(
        self, policy: PolicySource | None = None, progress: Progress | None = None
    ) -> ReplaySummary:
        chosen = None if policy is None else load(policy)
        verdicts = dict.fromkeys(Verdict, 0)
        differing = []
        head = self._log.head().position
        for reached, page in self._log.pages_to(0, head):
            for recorded in page:
                if recorded.type == GateDecided.NAME:
                    result = self._replayer.replay(recorded, chosen)
                    verdicts[result.verdict] += 1
                    if result.verdict is Verdict.DIFFERENT:
                        differing.append(_replayed(result))
            if progress:
                progress(reached, head)
        return ReplaySummary(
            decisions=sum(verdicts.values()),
            same=verdicts[Verdict.SAME],
            different=verdicts[Verdict.DIFFERENT],
            inputs_destroyed=verdicts[Verdict.INPUTS_DESTROYED],
            differing=tuple(differing),
        )


def _told(name: str, value: object) -> object:
    return units.told(GateDecided, {name: value})[name]


def _replayed(result: Replayed) -> ReplayAnswer:
    again = result.again
    return ReplayAnswer(
        decision_id=result.decision_id,
        position=result.position,
        verdict=result.verdict.value,
        recorded=units.told(GateDecided, result.recorded),
        again=None
        if again is None
        else {
            "outcome": again.outcome.value,
            "reason": again.reason.value,
            "confidence": again.confidence.c / 1_000_000,
            "mentions": again.mentions,
            "trace": list(again.trace),
        },
        differs={
            name: (_told(name, was), _told(name, now))
            for name, (was, now) in result.differs.items()
        },
    )
