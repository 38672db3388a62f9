"""The part of the front door that tells how fresh memories are, ends what is over and runs jobs on a schedule."""

from __future__ import annotations

from ledger.log import Log
from tools.asking import Asking
from tools.wiring import Parts


class Ageing:
    """A base of the front door, which has made these."""

    _parts: Parts
    _log: Log
    _asking: Asking
