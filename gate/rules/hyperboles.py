"""Strong words that are not meant as they are said: "rent went up to 1580, robbery".

They are left out before a sentence is looked at for crimes and illnesses; what is meant as it is
said stays: "done for robbery". The words are in `hyperboles.yaml`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from beliefledger.gate.literals import Guarded, Table, lowered
from beliefledger.gate.rules.lexicon import load
from beliefledger.ledger.late_patterns import compile_later

_DATA: dict[str, Any] = load("hyperboles.yaml")
_PAID = compile_later(_DATA["paid"])


class _Words(NamedTuple):
    pattern: Guarded
    of_prices: bool


_WORDS = Table(
    [_Words(Guarded(each), of_prices=True) for each in _DATA["of_prices"]]
    + [_Words(Guarded(each), of_prices=False) for each in _DATA["of_all"]]
)


def without(sentence: str) -> str:
    """A sentence without strong words that are not meant; in lower case where it had any."""
    low = sentence.lower()
    possible = _WORDS.possible(lowered(low))
    if not possible:
        return sentence
    found = sentence
    paid = _PAID.search(low) is not None
    for each in possible:
        if each.of_prices and not paid:
            continue
        cut = each.pattern.pattern.sub(" ", found.lower())
        found = cut if cut != found.lower() else found
    return found
