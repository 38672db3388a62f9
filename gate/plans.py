"""Whether words name what a memory says is to be: an event to come, or a plan. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from beliefledger.gate.belief import Held
from beliefledger.gate.calendar_names import DAYS
from beliefledger.gate.decision import TurnView
from beliefledger.gate.meant_memories import LASTING, TO_COME, WORD, stems
from beliefledger.gate.rules import farewells
from beliefledger.gate.rules.lexicon import verb_form
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import DAY
from beliefledger.networks.stems import stem


def plans(turn: TurnView) -> Callable[[Held, str], bool]:
    """Whether words name what a memory says is to be: an event that is still to come, a plan. What
    is off this once ("no lesson this thursday") ends nothing that comes again."""
    only_once = _THIS_ONCE.search(turn.content) is not None

    def fits(held: Held, words: str) -> bool:
        memory = held.written.memory
        begins = memory.when.start
        if begins is not None and begins < turn.said_at - DAY:
            return False
        if held.type == "event" and begins is None and not memory.attribute.startswith(TO_COME):
            return False
        if held.type in LASTING and begins is None and (only_once or not _DAY.search(memory.value)):
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
        if word not in farewells.PLANNING and word not in DAYS and not word.isdigit()
    }
    lemmas = {stem(verb_form(word)[0]) for word in WORD.findall(words)}  # "paid", of "must pay"
    return bool(which) and which <= stems(words) | lemmas


def is_off_this_once(text: str) -> bool:
    """Whether something is said not to take place only once: "pilates is cancelled today"."""
    return _OFF_THIS_ONCE.search(text) is not None


_ONCE = (
    r"(?:this (?:once|time|week|month|morning|afternoon|evening|weekend|(?:mon|tues|wednes|thurs|"
    r"fri|satur|sun)day|mon|tues?|wed|thur?s?|fri|sat|sun)|next (?:week|(?:mon|tues|wednes|"
    r"thurs|fri|satur|sun)day)|today|tonight|tomorrow|tmrw|tmr|for now)\b"
)
_THIS_ONCE = compile_later(rf"\b{_ONCE}", re.I)
_OFF_THIS_ONCE = compile_later(rf"\b(?:cancell?ed|off|not on|not happening) (?:for )?{_ONCE}", re.I)
_PLANS = ("event.plan", "event.consider", "plan.", "decision.plan", "commitment.")
_DAY = compile_later(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:to(?:day|morrow|night)|next)\b|\d", re.I
)
