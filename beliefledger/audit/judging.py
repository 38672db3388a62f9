"""The part of the front door that calibrates confidence and goes through the checklists."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from beliefledger.audit.calibration import Calibration, CalibrationAnswer, plot
from beliefledger.audit.checklist import Checklist, ChecklistAnswer
from beliefledger.audit.checks import BACKUP, Checks
from beliefledger.gate.policy import Policy
from beliefledger.ledger.codec import New
from beliefledger.ledger.events.ops import JobRan
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.streams import ops_stream
from beliefledger.opening.build import Parts
from beliefledger.opening.place import Place
from beliefledger.reading.queries import Asking
from beliefledger.reading.views import Upkeep
from beliefledger.times import Progress


class Judging:
    """A base of the front door, which has made these."""

    _parts: Parts
    _log: Log
    _asking: Asking
    _upkeep: Upkeep
    place: Place

    if TYPE_CHECKING:

        def _actor(self, name: str) -> str: ...

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

    def note_backup(self, *, by: str) -> int:
        """Record, as a named principal, that a backup of log and vault was made just now; returns
        up to which position. Raises `NotPermitted` without a name."""
        actor, stream = self._actor(by), ops_stream(self._log.tenant)
        head = self._log.head().position

        def attempt() -> None:
            made = JobRan(
                job=BACKUP,
                due=self._asking.now(),
                outcome="done",
                counts={"position": head},
                duration_micros=0,
            )
            new = New(made, new_id(), stream, None, actor)
            self._log.append([new], {stream: self._log.version(stream)})

        self._log.decide_again(attempt)
        return head

    def _calibration(self) -> Calibration:
        return Calibration(self._log, self._parts.rulebook)
