"""Where a child of the family starts is a school or a nursery, and no employer: "Ama started at St
John's". Pure."""

from __future__ import annotations

from beliefledger.gate.meant_memories import WORD, Standing
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.late_patterns import compile_later

_STARTS = compile_later(r"\bstart(?:ed|s|ing)? (?:back )?(?:at|in)\b")
_WORK = compile_later(
    r"\b(?:job|work\w*|employ\w*|intern\w*|apprentice\w*|as an? |trainee|graduate)\b"
)
_CHILD = compile_later(
    r"family\.children|relation\.(?:step|grand|god|foster)?-?(?:son|daughter|child|kid|twin|boy|"
    r"girl|lad|lass)s?\."
)
ATTRIBUTE = "event.start"


def placed(standing: Standing, candidate: Candidate) -> Candidate:
    """A candidate, told as what happened where it would be an employer of a child."""
    if candidate.attribute != "work.employer" or _STARTS.search(candidate.claim.lower()) is None:
        return candidate
    low = candidate.claim.lower()
    if _WORK.search(low) is not None:
        return candidate
    named = candidate.entity.lower().split()[-1]
    child = False
    for held in standing.of([candidate.entity, f"user's {named}"]):
        memory = held.written.memory
        aged = memory.attribute == "identity.age" and named in memory.claim.lower()
        if aged and memory.value.isdigit() and int(memory.value) >= _GROWN:
            return candidate
        words = WORD.findall(memory.claim.lower())
        child = child or (_CHILD.match(memory.attribute) is not None and named in words)
    if not child:
        return candidate
    return candidate.model_copy(update={"type": "event", "attribute": ATTRIBUTE})


_GROWN = 16
"""From this age on, where somebody starts may be work."""
