"""The part of the front door that reads turns with a model, and takes up parked ones again."""

from __future__ import annotations

from ledger.log import Log
from tools.asking import Asking
from tools.wiring import Parts


class Extracting:
    """A base of the front door, which has made these."""

    _parts: Parts
    _log: Log
    _asking: Asking
