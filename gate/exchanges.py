"""A memory with what takes the place of words of it that are over: "swapped the Golf for a Polo".
Pure."""

from __future__ import annotations

import re

from beliefledger.gate import plain_changes
from beliefledger.gate.belief import Held
from beliefledger.gate.calendar_names import DAYS
from beliefledger.gate.meant_memories import in_place
from beliefledger.ledger.candidate import Candidate


def _is_day(words: str) -> bool:
    return words.lower().removesuffix("s") in DAYS


def exchanged_for(candidate: Candidate, held: Held) -> Candidate | None:
    """The memory with what takes the place of the words that are over; None where these words do
    not stand together in it."""
    memory = held.written.memory
    assert candidate.replaces is not None
    parts = [re.escape(word) for word in candidate.replaces.split()]
    old = re.compile(rf"(?<!\w){' '.join(parts)}(?!\w)", re.IGNORECASE)
    new = candidate.value
    if old.search(memory.value) is None or old.search(memory.claim) is None:
        return None
    if new.lower() in memory.value.lower():
        return None
    if _is_day(new) and not _is_day(candidate.replaces):
        return None  # "padel on thursdays instead of squash"
    value = old.sub(lambda _: new, memory.value, count=1)
    before, after = (each.split() for each in old.split(memory.value, maxsplit=1))
    if before or len(after) > 1 or any(each[:1].isupper() for each in after):
        # "a diesel Golf", "Renault Zoe": what is said of the old does not hold of the new.
        value, whole = new, re.escape(memory.value)
        if re.search(whole, memory.claim) is None:
            return None
        claim = re.sub(whole, lambda _: new, memory.claim, count=1)
    else:
        claim = old.sub(lambda _: new, memory.claim, count=1)
    return in_place(candidate, held, plain_changes.articled(claim, new), value, ())
