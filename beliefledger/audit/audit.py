"""What an auditor asks: replay, counts, calibration, the checklists."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from beliefledger.answers import ReplayAnswer, ReplaySummary
from beliefledger.audit.calibration import Calibration, CalibrationAnswer, plot
from beliefledger.audit.checklist import Checklist, ChecklistAnswer
from beliefledger.audit.checks import Checks
from beliefledger.audit.counts import AuditAnswer, count
from beliefledger.audit.replay import DecisionReplays
from beliefledger.gate.policy import Policy
from beliefledger.opening.core import Core
from beliefledger.reading.queries import Queries
from beliefledger.reading.turns import RefusalAnswer, TurnQueries
from beliefledger.reading.views import Views
from beliefledger.search.recall_replay import RecallReplay, RecallReplays, RecallsReplay
from beliefledger.times import Progress


class Audit:
    """Makes decisions and searches again, counts what was decided, and goes through checklists."""

    def __init__(
        self,
        core: Core,
        queries: Queries,
        views: Views,
        decisions: DecisionReplays,
        recalls: RecallReplays,
    ) -> None:
        self._core = core
        self._queries = queries
        self._views = views
        self._decisions = decisions
        self._recalls = recalls
        self._turns = TurnQueries(core, queries)

    def replay(
        self, decision_id: str, *, policy: Policy | Path | str | Mapping[str, Any] | None = None
    ) -> ReplayAnswer:
        """Make a decision again from what the log holds: same, different, or inputs destroyed.

        With `policy`, as that policy would have decided. Raises `UnknownMemory`.
        """
        return self._decisions.one(decision_id, policy)

    def refusal(self, decision_id: str) -> RefusalAnswer:
        """Why a statement is no memory: its decision and reason, who said it, when, and in which
        words. Raises `UnknownMemory`."""
        return self._turns.refusal(decision_id)

    def began(self, subject: str | None = None) -> datetime | None:
        """When the first event was recorded (about a subject): as of before that, nothing was
        known. None for a subject nobody knows, or who was erased."""
        return self._queries.began(subject)

    def replay_all(
        self,
        *,
        policy: Policy | Path | str | Mapping[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> ReplaySummary:
        """Make every decision again."""
        return self._decisions.all(policy, progress)

    def replay_recall(self, recall_id: str) -> RecallReplay:
        """Make a search again as of then, by the policy and with the model of then: same,
        different, or inputs destroyed, and every difference in a sentence.

        Raises `UnknownMemory`, and `NotPermitted` for what was no search.
        """
        return self._recalls.one(recall_id)

    def replay_recalls(
        self, subject: str | None = None, progress: Progress | None = None
    ) -> RecallsReplay:
        """Make every search again, of one subject or of all. Of a subject nobody knows, or who was
        erased, there is none; among all, those of whoever was erased are counted."""
        return self._recalls.all(subject, progress)

    def counts(self, as_of: int | None = None, *, progress: Progress | None = None) -> AuditAnswer:
        """Count what was said, decided, changed, read and forgotten, up to a position (by default
        the head), from envelopes alone, and whether the sums add up.

        Raises `InvalidQuery` for a position that is not there, `LogCorrupted` for an envelope that
        cannot be read.
        """
        return count(self._core, self._queries, as_of, progress)

    def calibrate(self, *, progress: Progress | None = None) -> CalibrationAnswer:
        """Compare stated confidence with what became of each memory; draw the map that a policy
        may adopt, where enough is known."""
        return self._calibration().answer(progress)

    def calibrated_policy(self, answer: CalibrationAnswer) -> Policy:
        """The policy in force with the map of a calibration, to be adopted or looked at.

        Raises `NotCalibrated`, saying why there is no map.
        """
        return self._calibration().policy(answer)

    def plot_calibration(self, answer: CalibrationAnswer, file: Path) -> None:
        """Draw the reliability diagram into a .png or .svg. Needs the extra `calibration`."""
        plot(answer, file)

    def checklist(
        self, only: str | None = None, *, deep: bool = False, progress: Progress | None = None
    ) -> ChecklistAnswer:
        """The production checklists `write`, `manage` and `end-to-end`, or `only` one of them: each
        line yes or no, with its evidence. `deep` looks at everything, not at samples, and folds the
        views anew. Raises `InvalidQuery` for a list that is not there."""
        checks = Checks(self._core, self._queries, self._views, deep=deep)
        return Checklist(checks).answer(only, progress)

    def _calibration(self) -> Calibration:
        return Calibration(self._core.log, self._core.rulebook)
