"""The part of the front door that adds, backfills and retires types of memory."""

from __future__ import annotations

from ledger.log import Log
from tools.asking import Asking
from tools.wiring import Parts


class Evolving:
    """A base of the front door, which has made these."""

    _parts: Parts
    _log: Log
    _asking: Asking
