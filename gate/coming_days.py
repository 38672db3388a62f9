"""The coming days that a note is bound to: "i dont work this saturday". What it tells is over then.
Pure.
"""

from __future__ import annotations

import re

from beliefledger.gate.dates import TOMORROW, find_when
from beliefledger.ledger.candidate import When
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import Micros

_AHEAD = compile_later(
    rf"\b(?:{'|'.join(TOMORROW)}|"
    r"(?:this|next) (?:coming )?(?:weekend|week|mon|tue|wed|thu|fri|sat|sun)|"
    r"in (?:an?|\d|two|three|four|five|six) (?:days?|weeks?))",
    re.I,
)
_LASTS = compile_later(
    r"\b(?:from|every|always|usually|as of|since|for good|until|till?|mov(?:es?|ing)|starts?|"
    r"starting|begins?|goes (?:up|down|part|full|to)|switch\w*|chang\w+|gets?|getting|becom\w+|"
    r"turns?|retires?|opens?|opening|reopens?|called|named|joins?|joining|new|"
    r"is (?:the|my|our|an?))\b",
    re.I,
)
"""What goes on behind these days, or says more than what happens on them."""


def coming(claim: str, said_at: Micros) -> When:
    """The days that lie ahead, where a sentence is bound to some; else no time."""
    if _AHEAD.search(claim) is None or _LASTS.search(claim) is not None:
        return When()
    found = find_when(claim, said_at, future=True)
    if found is None or found.when.start is None or found.when.start <= said_at:
        return When()
    return found.when
