"""What `logging` is told of what the gate wrote: ids, codes and counts, and no personal words."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from beliefledger.ledger.codec import New
from beliefledger.ledger.events.turn import ExtractionFailed, GateDecided, TurnParked

LOGGER = logging.getLogger("beliefledger.gate")


def tell(written: Iterable[New]) -> None:
    """One line for each decision at DEBUG, for each failed extraction and parked turn at WARNING.
    What went wrong is told by the error's class: its words may be those of the turn."""
    debug = LOGGER.isEnabledFor(logging.DEBUG)
    for new in written:
        event = new.event
        if isinstance(event, ExtractionFailed):
            LOGGER.warning(
                "turn %s could not be read by %s: %s, attempt %d",
                new.stream,
                event.extractor,
                event.error,
                event.attempt,
            )
        elif isinstance(event, TurnParked):
            LOGGER.warning(
                "turn %s is parked for its %s after %d attempts: beliefledger ops retry",
                new.stream,
                event.reason,
                event.attempts,
            )
        elif debug and isinstance(event, GateDecided):
            LOGGER.debug(
                "decision %s about turn %s: %s, %s",
                new.event_id,
                new.stream,
                event.outcome,
                event.reason,
            )
