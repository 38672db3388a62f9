"""Keywords of `search` and `store`, where a test has the rare ones among the others."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from beliefledger.curation.storing import Details
from beliefledger.search.options import SearchOptions


def searching(**asked: Any) -> dict[str, Any]:
    """With the rare ones in `options`."""
    return _gathered(asked, "options", SearchOptions)


def storing(**given: Any) -> dict[str, Any]:
    """With the rare ones in `details`."""
    return _gathered(given, "details", Details)


def _gathered(given: dict[str, Any], name: str, kind: type) -> dict[str, Any]:
    rare = {field.name for field in fields(kind)} & given.keys()
    rest = {key: value for key, value in given.items() if key not in rare}
    return rest | {name: kind(**{key: given[key] for key in rare})} if rare else rest
