"""Everything that can happen, by stream: the vocabulary of the log.

`BY_NAME` maps each name in the log to its class. Names are written by hand in the classes, so that
moving a class never changes history.
"""

from __future__ import annotations

from beliefledger.ledger.events import (
    belief,
    entity,
    ops,
    policy,
    recall,
    request,
    subject,
    task,
    turn,
    webhook,
)
from beliefledger.ledger.events.kind import Event

STREAMS = {
    "turn": turn,
    "belief": belief,
    "subject": subject,
    "entity": entity,
    "policy": policy,
    "recall": recall,
    "task": task,
    "ops": ops,
    "request": request,
    "webhook": webhook,
}

BY_NAME: dict[str, type[Event]] = {
    event.NAME: event
    for module in STREAMS.values()
    for event in vars(module).values()
    if isinstance(event, type) and issubclass(event, Event) and hasattr(event, "NAME")
}

__all__ = ["BY_NAME", "STREAMS", "Event"]
