"""Which medicine another one takes the place of: "the ramipril gave me a cough, so they put me on
losartan". Pure but for what a draft looks up.
"""

from __future__ import annotations

import re

from beliefledger.gate.belief import Held
from beliefledger.gate.meant_memories import WORD, Standing
from beliefledger.gate.rules.lexicon import WORDS
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import SELF, Candidate
from beliefledger.ledger.late_patterns import compile_later

_MEDICINE = "health.medication."
_IN_PLACE = compile_later(
    r"\b(?:instead(?! of)|in its place|(?:switched|moved|changed|swapped)(?: me)?(?: over)? "
    r"(?:to|onto))\b",
    re.I,
)
"""Says that one takes the place of another, of which there is only one."""
_ALSO = compile_later(
    r"\b(?:also|too|as well|on top|alongside|together with|besides|plus|both|still|and|with)\b",
    re.I,
)
_OVER = compile_later(
    r"\b(?:instead|off|stopped|stop|replaced|swapped|switched|gave (?:me|us)|made me|caused|"
    r"did(?:n['’]?t| not) (?:work|help|agree|suit)|(?:was|were) ?n['’]?t (?:working|helping)|"
    r"no longer|side effects?|allergic to|couldn['’]?t (?:take|tolerate))\b",
    re.I,
)


def medicines_before(standing: Standing, candidate: Candidate) -> list[Held]:
    """The medicines that a candidate's takes the place of: those that its sentence names as what
    did not do, or the only other one where it says that this one is taken instead."""
    if (
        not candidate.attribute.startswith(_MEDICINE)
        or candidate.entity != SELF
        or candidate.negated
        or candidate.retracts
    ):
        return []
    start = candidate.spans[0].start
    said = next((standing.said[a:b] for a, b in sentences(standing.said) if a <= start < b), "")
    new = _names(candidate.value)
    there = [
        held
        for held in standing.of_user()
        if held.written.memory.attribute.startswith(_MEDICINE)
        and not held.written.memory.negated
        and _names(held.written.memory.value).isdisjoint(new)
    ]
    named = [
        each for each in there if not _names(each.written.memory.value).isdisjoint(_words(said))
    ]
    if named:
        return [each for each in named if _is_over(_names(each.written.memory.value), said)]
    others = _names(said) - new
    alone = len(there) == 1 and len(_names(there[0].written.memory.value)) == 1
    if alone and not others and _IN_PLACE.search(said) and _ALSO.search(said) is None:
        return there
    return []


def _is_over(names: set[str], said: str) -> bool:
    """Whether the clause that names a medicine says that it did not do."""
    clauses = [each for each in _CLAUSES.split(said) if not names.isdisjoint(_words(each))]
    told = any(_OVER.search(each) for each in clauses)
    return len(names) == 1 and told and not any(_STAYS.search(each) for each in clauses)


_CLAUSES = compile_later(r"[,;:.!]| (?:so|because|and|but) ")
_STAYS = compile_later(
    r"\b(?:stays?|staying|still|keep(?:ing)?|continu\w+|with the|beside)\b", re.I
)


def _words(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))


def _names(value: str) -> set[str]:
    """The medicines that a value names."""
    return {word for word in WORD.findall(value.lower()) if word in WORDS["medicines"]}
