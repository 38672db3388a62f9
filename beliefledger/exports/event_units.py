"""The fields of events as they are told outside of the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beliefledger import units
from beliefledger.ledger.events import BY_NAME


def in_units(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Facts or a body of an event of this type, with the units that people use. Fields that this
    version does not know are left as they are."""
    kind = BY_NAME.get(name)
    return dict(fields) if kind is None else units.told(kind, fields)
