"""The part of the front door that calibrates confidence and goes through the checklists."""

from __future__ import annotations

from pathlib import Path

from gate.policy import Policy
from ledger.log import Log
from tools.asking import Asking
from tools.calibrating import Calibration, CalibrationAnswer, plot
from tools.checklist import Checklist, ChecklistAnswer
from tools.checks import Checks
from tools.moments import Progress
from tools.places import Place
from tools.upkeep import Upkeep
from tools.wiring import Parts


class Judging:
    """A base of the front door, which has made these."""

    _parts: Parts
    _log: Log
    _asking: Asking
    _upkeep: Upkeep
    place: Place

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
        views anew. Raises `InvalidTurn` for a list that is not there."""
        checks = Checks(self._parts, self._asking, self._upkeep, self.place, deep=deep)
        return Checklist(checks).answer(only, progress)

    def _calibration(self) -> Calibration:
        return Calibration(self._log, self._parts.rulebook)
