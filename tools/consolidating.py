"""The part of the front door that merges rephrasings into one memory, and undoes it."""

from __future__ import annotations

from ledger.log import Log
from tools.asking import Asking
from tools.wiring import Parts


class Consolidating:
    """A base of the front door, which has made these."""

    _parts: Parts
    _log: Log
    _asking: Asking
