"""Whether words name what a memory says is to be: an event to come, or a plan. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from beliefledger.gate.belief import Held
from beliefledger.gate.decision import TurnView
from beliefledger.gate.meant_memories import LASTING, TO_COME, WORD, stem, stems
from beliefledger.gate.rules import farewells
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import DAY


def plans(turn: TurnView) -> Callable[[Held, str], bool]:
    """Whether words name what a memory says is to be: an event that is still to come, a plan."""

    def fits(held: Held, words: str) -> bool:
        memory = held.written.memory
        begins = memory.when.start
        if begins is not None and begins < turn.said_at - DAY:
            return False
        if held.type == "event" and begins is None and not memory.attribute.startswith(TO_COME):
            return False
        if held.type in LASTING and begins is None and not _DAY.search(memory.value):
            return False
        said = {stem(word) for word in words.split()} - farewells.TRIPS
        return bool(said) and said <= stems(f"{memory.claim} {memory.attribute.replace('.', ' ')}")

    return fits


def fulfils(held: Held, words: str) -> bool:
    """Whether words name all that says which plan a memory is of."""
    memory = held.written.memory
    if held.type != "commitment" and not memory.attribute.startswith(_PLANS):
        return False
    which = {
        stem(word.removesuffix("'s"))
        for word in WORD.findall(memory.value.lower().replace("’", "'"))
        if word not in farewells.PLANNING and not word.isdigit()
    }
    return bool(which) and which <= stems(words)


_PLANS = ("event.plan", "event.consider", "plan.", "decision.plan", "commitment.")
_DAY = compile_later(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:to(?:day|morrow|night)|next)\b|\d", re.I
)
