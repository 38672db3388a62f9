"""What a model's answer costs. The prices are data, with the date they were read."""

from __future__ import annotations

from functools import cache
from math import ceil
from typing import Any

from beliefledger.gate.model.client import Tokens
from beliefledger.ledger.data_files import data

_FINE = 1_000_000
"""Prices are multiplied out in whole numbers, so that no rounding adds up."""


@cache
def prices() -> dict[str, Any]:
    """The table, with `read`: the date it was read."""
    loaded: dict[str, Any] = data("beliefledger.gate.model", "prices.yaml")
    return loaded


def cost(model: str, tokens: Tokens, *, batch: bool = False) -> int | None:
    """Micro-dollars, rounded up; None for a model whose price is not known, such as a local one."""
    table = prices()
    named = [name for name in table["models"] if model.startswith(name)]
    if not named:
        return None
    price, shares = table["models"][max(named, key=len)], table["cache"]
    written = shares["write_hour"] if batch else shares["write"]
    fine: int = price["input"] * (
        _FINE * tokens.fresh
        + round(_FINE * written) * tokens.written
        + round(_FINE * shares["read"]) * tokens.read
    )
    fine += price["output"] * _FINE * tokens.output
    return ceil(fine * round(_FINE * table["batch"]) / _FINE**2) if batch else -(-fine // _FINE)
