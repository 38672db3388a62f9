"""What somebody takes up beside what they do: who joined the choir, with practice on Fridays, does
ballet on Tuesdays still. Pure."""

from __future__ import annotations

import re

from beliefledger.gate.belief import Held
from beliefledger.gate.bonds import claim_of
from beliefledger.gate.meant_memories import LASTING, stems
from beliefledger.ledger.late_patterns import compile_later

_TAKES_UP = compile_later(
    r"\b(?:(?:got|gets|been accepted|accepted|made it|was picked|been picked|picked|chosen) "
    r"(?:into|in to|for|onto)|(?:got|has|won|offered) an? (?:place|spot) (?:in|on|at|with)|"
    r"joined|joins|joining|made|signed up (?:for|to)|enrolled (?:in|for|on)|took up|taken up|"
    r"taking up|takes up|started|starts|starting|begun|began)"
    r" (?!(?:at|in|on|to|with|from|as|for|work\w*|over|again|off|up)\b)"
    r"(?:(?:an?|the|his|her|their|our|my|some) )?(?P<what>[\w'-]{3,24}(?: (?!(?:on|at|in|with|"
    r"and|every|this|next|last|so|which|practice|training|rehearsals?|from|too)\b)[\w'-]{2,24}){0,3})"
)
"""In lower case."""
_INSTEAD = compile_later(
    r"\b(?:instead|switch\w*|swap\w*|stopped|quit|gave up|given up|dropped|no longer|any ?more|now "
    r"only|only|moved|replac\w+|chang\w+|rather than|not|over|done with|used to)\b|n't\b"
)
_WHEN = compile_later(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tues?|weds?|thurs?|fri|sat|sun|weekends?|"
    r"\d{1,2}(?::\d\d| ?[ap]m)?|evenings?|mornings?|afternoons?)\b"
)
_WORK = compile_later(
    r"\bwork\w*|\b(?:job|shifts?|employ\w+|contract|starts?|starting|begins?|will|going to|plan\w*|"
    r"wants?|due)\b"
)
"""What is of work, or only to be."""
_BARE = stems("team club group class classes lessons squad band course place spot new local school")
"""Words that do not tell which activity it is."""
_WHOLE_DAYS = stems("school nursery kindergarten preschool reception uni university college job")
"""What takes the place of much."""


def takes_up(text: str) -> re.Match[str] | None:
    """What a sentence in lower case says that somebody takes up, in the place of nothing."""
    if _INSTEAD.search(text) is not None:
        return None
    return _TAKES_UP.search(text)


def is_done_beside(what: re.Match[str], held: Held) -> bool:
    """Whether a memory tells when something else is done than what is taken up."""
    claim = claim_of(held)
    if held.type not in LASTING or _WHEN.search(claim) is None or _WORK.search(claim) is not None:
        return False
    named = stems(what["what"]) - _BARE
    return bool(named) and named.isdisjoint(_WHOLE_DAYS) and named.isdisjoint(stems(claim))
