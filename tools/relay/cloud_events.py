"""Events as CloudEvents 1.0, in the structured mode: one JSON document with all of it."""

from __future__ import annotations

from typing import Any

from beliefledger.ledger.codec import Recorded

CONTENT_TYPE = "application/cloudevents+json"


def cloud_event(event: Recorded, told: dict[str, Any], source: str) -> dict[str, Any]:
    """The CloudEvent of an event: `told` is the documented JSON of it, and is the `data`."""
    made = {
        "specversion": "1.0",
        "id": event.event_id,
        "source": source,
        "type": event.type,
        "time": told["recorded_at"],
        "datacontenttype": "application/json",
        "dataschema": f"urn:beliefledger:event:{event.type}",
        # In the order of text it is that of numbers, as the extension wants it.
        "sequence": f"{event.position:020}",
    }
    if event.subject_ref is not None:
        made["subject"] = event.subject_ref
    return made | {"data": told}
