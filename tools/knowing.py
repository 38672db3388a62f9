"""The part of the front door that asks after entities, relations and events."""

from __future__ import annotations

from ledger.log import Log
from tools.asking import Asking
from tools.wiring import Parts


class Knowing:
    """A base of the front door, which has made these."""

    _parts: Parts
    _log: Log
    _asking: Asking
