"""Somebody's mother, and another's: "their mum" is not "mum". Pure."""

from __future__ import annotations

from beliefledger.gate.belief import Held
from beliefledger.gate.bonds import claim_of
from beliefledger.gate.registry import NOTE
from beliefledger.ledger.late_patterns import compile_later

_KIN = compile_later(
    r"(?:(?P<whose>my|our|their|his|her|your|kids'?|the kids'?|[\w-]{2,20}'s) (?:step-?)?)?\b"
    r"(?P<kin>mum|mom|mother|dad|father|gran|nan|grandma|grandad|granddad)(?:'?s)?\b"
)
_MINE = ("my", "our", None, "")


def names_kin(text: str) -> bool:
    """Whether a sentence in lower case names a parent or grandparent."""
    return _KIN.search(text) is not None


def is_of_another(held: Held, text: str) -> bool:
    """Whether a memory tells of one's own mother and a sentence of another's, or the other way: "my
    kids are with their mum on Wednesdays", and then "mum does Mondays again"."""
    claim = claim_of(held) if held.type != NOTE else held.written.memory.value.lower()
    told = _KIN.search(claim)
    said = _KIN.search(text)
    if told is None or said is None or told["kin"] != said["kin"]:
        return False
    own = told["whose"] in _MINE or claim.startswith("user")
    return own != (said["whose"] in _MINE)
