"""A place for a trade, where nobody lives: "found a studio in Delft for my pottery". Pure."""

from __future__ import annotations

from beliefledger.gate.belief import Held
from beliefledger.gate.rules.lexicon import load
from beliefledger.ledger.late_patterns import compile_later

_PARTS: dict[str, str] = load("states.yaml")["parts"]
_FOR_A_TRADE = compile_later(
    r"\b(?:got|found|rent(?:ed|ing)?|signed|bought|leas(?:ed|ing|e)|keys|took|taken|have)\b"
    r"[^.;!?]{0,40}\b(?:place|room|studio|unit|space|house|flat|apartment)\b[^.;!?]{0,40} "
    rf"(?:for (?:[\w-]+ ){{1,3}}{_PARTS['trade']}\b|to {_PARTS['craft']}\b)"
)
"""In lower case."""


def is_for_a_trade(text: str) -> bool:
    """Whether a sentence in lower case tells of a place that somebody has to work in."""
    return _FOR_A_TRADE.search(text) is not None


def is_home(held: Held) -> bool:
    """Whether a memory tells where the user lives."""
    return held.written.memory.attribute == "home.location"
