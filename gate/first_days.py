"""A first day somewhere, of who is believed to be there already: the first at Siemens after the
holidays, or as head waiter, ends neither. Pure."""

from __future__ import annotations

import re

from beliefledger.gate.belief import Held
from beliefledger.gate.dependents import EMPLOYER
from beliefledger.gate.meant_memories import stems
from beliefledger.gate.registry import NOTE
from beliefledger.ledger.late_patterns import compile_later

_STOPS = (
    r"(?:done|today|tonight|yesterday|tomorrow|after|before|with|and|but|so|back|over|in|on|at|for|"
    r"since|this|last|was|is|went|now|again|finally|as|complete|completed|survived|ever|lol)\b"
)
FIRST = compile_later(
    r"\b(?:first|1st) (?:[\w-]{2,12} )?(?:day|week|shift|month|morning|term)s? (?:back )?"
    rf"(?:at|with|in|as|for|on) (?:(?:an?|the|my|our) )?(?P<where>(?!{_STOPS})[\w&'-]{{2,24}}"
    rf"(?: (?!{_STOPS})[\w&'-]{{2,24}}){{0,3}})"
)
"""In lower case."""
_AT = compile_later(r" (?:at|with|for) (?:the )?(?P<at>[\w&'-]{2,24})")
"""Where somebody begins as something: who is manager at Aldi now is there still."""
_BEGINS = compile_later(r"\b(?:start\w*|begin\w*|first (?:day|week|shift)|tomorrow|next)\b")
_A_DAY = compile_later(
    r"\W*(?:my |the )?(?:first|1st) (?:day|week|shift|morning) (?:back )?(?:at|with|in|as|on)\b"
)


def is_there(first: re.Match[str], held: Held) -> bool:
    """Whether a memory says that somebody is where, or what, a first day is told of; a note that
    they are to begin is over by it."""
    memory = held.written.memory
    if held.type not in ("fact", "relation", NOTE):
        return False
    claim = memory.claim.lower().replace("’", "'")
    if held.type == NOTE and _BEGINS.search(claim) is not None:
        return False
    if stems(first["where"]) <= stems(claim):
        return True
    place = _AT.match(first.string, first.end())
    return place is not None and memory.attribute == EMPLOYER and place["at"] in claim


def is_what_happened(claim: str) -> bool:
    """Whether a note tells of a first day that was, which nothing changes any more."""
    low = claim.lower()
    return _A_DAY.match(low) is not None and _TO_COME.search(low) is None


_TO_COME = compile_later(r"\b(?:tomorrow|tmrw|next|soon|is on|starts?|will|in \w+ days)\b")
