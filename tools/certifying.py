"""The part of the front door that certifies erasures, and takes what consumers say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger.log import Log
    from ledger.times import Clock
    from tools.wiring import Parts


class Certifying:
    """Filled in below."""

    if TYPE_CHECKING:  # of the front door itself
        _parts: Parts
        _log: Log
        _clock: Clock
