"""Who is back, and was not told to be away: that ends nothing of what is believed of them. Pure."""

from __future__ import annotations

from beliefledger.gate.belief import Held
from beliefledger.gate.bonds import WORD, claim_of
from beliefledger.gate.pairs import Said
from beliefledger.gate.registry import NOTE
from beliefledger.ledger.late_patterns import compile_later

_BACK = compile_later(r"(?:['’]s| is| are| came| comes)(?: finally| now)? back\b(?! together)")
_BACK_THERE = compile_later(
    r"(?P<who>[^\W\d_][\w-]{1,24})(?:'s| is| are| came| comes)(?: (?:finally|now)){0,2} back"
    r"(?=\W*$|\s?[,.!;:(]| (?:from|home|today|yesterday|now|finally|at last|"
    r"thank\w*|with us|after)\b)"
)
_WAS_AWAY = compile_later(
    r"\b(?:away|gone|left|leave|off|out|abroad|holidays?|vacation|sick|ill|travel\w*|trip|staying|"
    r"stays|lives?|living|moved|visiting|missing|lost|closed|cover\w*|stand-?in|temp\w*|instead|"
    r"until|till?|back|no|not|never|without|cancell?ed|broke\w*|split|ex|"
    r"uni(?:versity)?|college|army|navy|deploy\w*|boarding|prison|camp|posted|hospital)\b|n['’]t\b"
)
"""What may be over once somebody is back."""


def is_back(said: Said, held: Held) -> bool:
    """Whether a sentence says that somebody is back, whom a memory says who they are: "Tom is
    back", of the boss, or of whoever was not told to be away."""
    if held.type == "relation":
        return _BACK.search(said.low) is not None
    found = _BACK_THERE.search(said.low)
    if found is None or held.type not in ("fact", NOTE):
        return False
    claim = claim_of(held)
    return found["who"] in WORD.findall(claim) and _WAS_AWAY.search(claim) is None
