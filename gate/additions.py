"""A value that is told to stand beside the one of its slot: "gym thursdays as well". Pure."""

from __future__ import annotations

import re

from beliefledger.gate.decision import TurnView
from beliefledger.gate.keys import canonical
from beliefledger.gate.meant_memories import WORD, Standing, in_place, stems
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem

BESIDE = compile_later(r"\b(?:also|too|as well|in addition|besides|on top)\b", re.I)


def beside_old(standing: Standing, candidate: Candidate, turn: TurnView) -> Candidate | None:
    """A candidate that says its value stands beside the one of its slot, with both: "gym thursdays
    as well", where it was mondays. None where it does not."""
    if candidate.type not in _BOTH or candidate.negated or candidate.retracts or candidate.ends:
        return None
    span = candidate.spans[0]
    said = next((turn.content[a:b] for a, b in sentences(turn.content) if a <= span.start < b), "")
    if span.turn or candidate.context is not None or BESIDE.search(said) is None:
        return None
    attribute = canonical(candidate.attribute, candidate.type)
    if attribute.startswith("answers."):
        return None  # "speak English with me, also when I make mistakes"
    there = [
        held
        for held in standing.of_user()
        if held.type == candidate.type
        and (held.written.memory.entity, held.written.memory.context) == (candidate.entity, None)
        and canonical(held.written.memory.attribute, held.type) == attribute
    ]
    if len(there) != 1:
        return None
    old, new = there[0].written.memory, candidate.value
    both = f"{old.value} and {new}"
    if {stem(word) for word in WORD.findall(new.lower())} & stems(old.value) & _told_by(old.value):
        return None  # the same again
    if old.value not in old.claim or " and " in old.value or len(both) > _LONG:
        return None
    claim = old.claim.replace(old.value, both, 1)
    return in_place(candidate, there[0], claim, both, ())


_BOTH = frozenset({"fact", "preference"})
_LONG = 80


def _told_by(value: str) -> set[str]:
    """The stems of what tells a value from others: its last word."""
    return {stem(word) for word in WORD.findall(value.lower())[-1:]}
