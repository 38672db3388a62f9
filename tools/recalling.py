"""The part of the front door that tells what was searched for and found, and does it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.log import Log
from tools.asking import Asking
from tools.recording import Recorder
from tools.wiring import Parts

if TYPE_CHECKING:  # whoever searches nothing need not wait for numpy
    from tools.finder import Finder


class Recalling:
    """A base of the front door, which has made these."""

    _parts: Parts
    _log: Log
    _asking: Asking
    _recorder: Recorder

    if TYPE_CHECKING:  # of the front door itself

        @property
        def _finder(self) -> Finder: ...
