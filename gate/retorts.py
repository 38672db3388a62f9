"""Which memory the assistant's words rest on that the user sets right, and what becomes of it. Pure
but for what a draft looks up.

The assistant names what it was told ("Does Tilly still get the kibble?"); the user says no more
than what is otherwise ("wet these days"). So the memory is looked for by the assistant's words.
"""

from __future__ import annotations

from typing import NamedTuple

from beliefledger.gate import notes
from beliefledger.gate.belief import Held
from beliefledger.gate.calendar_names import DAYS, day_named
from beliefledger.gate.dependents import KIND, with_what_depends
from beliefledger.gate.meant_memories import LASTING, WORD, Standing, in_place, stems
from beliefledger.gate.overtaken import is_kin
from beliefledger.gate.pairs import commonplaces, small_words
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules import replacements, retorts
from beliefledger.gate.rules.findings import topic_of
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.late_patterns import compile_later

_TOLD = LASTING | {NOTE, "entity"}
_STAYING = ("identity.name", "identity.birth", "language.", "speaks.", "record.")
_LEAST = 2
"""So many words of a memory the assistant has to name, where none is of its value."""
_WORDS = compile_later(r"[\w'’-]+")
_DIGITS = compile_later(r"\d+")


class Retort(NamedTuple):
    """What becomes of what the assistant spoke of: what is over, and what has another value."""

    over: list[Held]
    anew: list[tuple[Held, Candidate]]


def meant(standing: Standing, candidate: Candidate) -> Retort:
    """The memories that the assistant's words rest on, as the user's answer leaves them."""
    said, new = candidate.value, candidate.replaces
    there = _spoken_of(standing, candidate, said)
    over: list[Held] = []
    anew: list[tuple[Held, Candidate]] = []
    for held in there:
        memory = held.written.memory
        if new is None:
            over.append(held)
            continue
        if _has(memory.claim, new):
            return Retort([], [])  # "it's Bosch now", who is told as working there
        swapped = _swapped(candidate, held, new)
        if retorts.is_count(new) and not (swapped and _has(said, swapped[0])):
            return Retort([], [])  # so many of something else
        if swapped is not None:
            anew.append((held, _with(candidate, held, *swapped)))
        elif _is_of_one_kind(memory.value, new) or retorts.asks_whether_still(said):
            over.append(held)
    if over and retorts.tells_a_parting(candidate.spans[0].quote):
        over = with_what_depends(standing, over)
    return Retort(over, anew)


def noted(candidate: Candidate) -> Candidate:
    """The user's answer as a note: nothing that the assistant said is a part of it."""
    answer = candidate.spans[0]
    return candidate.model_copy(
        update={
            "spans": (answer,),
            "type": NOTE,
            "attribute": notes.ATTRIBUTE,
            "value": answer.quote,
            "topic": topic_of(candidate.claim),
            "category": category_of(candidate.claim),
            "replaces": None,
            "ends": (),
            "retracts": False,
        }
    )


def _spoken_of(standing: Standing, candidate: Candidate, said: str) -> list[Held]:
    """The memories of one claim, or one value, that the assistant names best."""
    words = _telling(said)
    parting = candidate.replaces is None and retorts.tells_a_parting(candidate.spans[0].quote)
    names = [each.value for each in candidate.ends if each.among]
    best: list[tuple[int, Held]] = []
    for held in standing.of(names):
        memory = held.written.memory
        if held.type not in _TOLD or memory.attribute.startswith(_STAYING):
            continue
        if is_kin(memory.attribute, memory.value) and not parting:
            continue  # who has dropped the nap is the youngest still
        shared = words & _telling(f"{memory.claim} {memory.value} {memory.entity}")
        called = _telling(memory.entity if memory.attribute == KIND else memory.value)
        of_value = shared & called
        if len(shared) >= _LEAST or (of_value and len(of_value) >= len(called) / 2):
            best.append((len(shared) + len(of_value), held))
    most = max((score for score, _ in best), default=0)
    first = [held for score, held in best if score == most]
    value = min((held.value for held in first), key=len, default="")
    if not all(held.value.startswith(value) for held in first):
        return []  # it may be either
    return first + [held for score, held in best if score < most and held.value == value]


def _telling(text: str) -> set[str]:
    """The stems of the words that tell what a text is about; numbers among them."""
    small = small_words() - _SMALL_NO_MORE
    found = {word for word in _WORDS.findall(text.lower()) if word not in small}
    return {each for word in found for each in stems(word)} - commonplaces() - {"user"}


_SMALL_NO_MORE = frozenset("work works working worked home one two three".split())
"""Small words that tell something where the assistant says them to the user."""


def _has(text: str, words: str) -> bool:
    """Whether a text has these words, one after the other."""
    there, asked = (" ".join(WORD.findall(each.lower())) for each in (text, words))
    return f" {asked} " in f" {there} "


def _swapped(candidate: Candidate, held: Held, new: str) -> tuple[str, str] | None:
    """Which words of a memory give way to which, where it has some of that kind."""
    memory = held.written.memory
    if held.type == NOTE:
        return None
    old = candidate.model_copy(
        update={
            "claim": memory.claim,
            "value": memory.value,
            "type": held.type,
            "attribute": memory.attribute,
            "replaces": None,
        }
    )
    swapped = _day(memory.claim, new) or replacements.swap(old, new, sure=0)
    return swapped if swapped is not None and swapped[0] in memory.claim else None


def _with(candidate: Candidate, held: Held, before: str, after: str) -> Candidate:
    """The memory with another value."""
    memory = held.written.memory
    claim = memory.claim.replace(before, after, 1)
    value = memory.value.replace(before, after, 1) if before in memory.value else after
    return in_place(candidate, held, claim, value, ())


def _day(claim: str, new: str) -> tuple[str, str] | None:
    """Which day of the week gives way to which: "thursdays" to "weds"."""
    there, day = [each for each in WORD.findall(claim) if day_named(each) in DAYS], day_named(new)
    if day not in DAYS or len(there) != 1 or day_named(there[0]) == day:
        return None
    return there[0], f"{day}s" if there[0].endswith("days") else day


def _is_of_one_kind(value: str, new: str) -> bool:
    """Whether both are figures."""
    return bool(_DIGITS.search(value)) and bool(_DIGITS.search(new))
