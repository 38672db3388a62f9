"""What of a note is over: all of it where it is said anew, or a part of it: "essay on the 18th,
tests on the 21st" once the essay is put off. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from beliefledger.gate.belief import Held
from beliefledger.gate.calendar_names import day_named
from beliefledger.gate.meant_memories import WORD, in_place
from beliefledger.gate.pairs import Said
from beliefledger.gate.registry import NOTE
from beliefledger.gate.restatements import moved
from beliefledger.gate.rules import farewells
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem

_INSTEAD = compile_later(
    r"(?<![\w'’-])(?P<new>[\w'’-]{1,24}) (?:instead of|rather than|in place of) "
    r"(?P<old>[\w'’-]{1,24})",
    re.I,
)
_ALIKE = 2
"""So many words of a note are said again where it is said anew."""
_BETWEEN = compile_later(
    r"(?:[,;]|\.(?=\s))\s+(?:(?:and|also|plus|then) )?|"
    r" and (?=(?:my |our )?[\w'’-]{2,20} (?:has|have|is|are|does|do|plays?|goes|go|works?|"
    r"loves?|likes?|takes?|needs?)\b)"
)
_ASKS = compile_later(
    r"(?:(?:can|could|would|will) you|please|what|how|when|where|who|which|why|write|draft|give|"
    r"make|help|show|tell|explain)\b",
    re.I,
)
"""How a part begins that asks for something."""
_FEWEST = 3
"""Words of a part that tells something by itself."""
_HANGING = compile_later(
    r"(?:he|she|it|they|his|her|their|its|him|them|which|who|where|because|cause|cos|so|but|that|"
    r"this|these|those|then|not|no|if|when|though|although|even|just|like|about|around|roughly|maybe|"
    r"mostly|usually|starts|starting|leaves|begins|ends|finishes|lasts|comes|costs|paid|"
    r"\d[\d:.]* ?(?:[ap]m ?)?(?:to|till?|until|-) ?\d[\d:.]*)\b",
    re.I,
)
"""How a part begins that only the one before it makes clear."""
_UNTOLD = compile_later(r"\b(?:is|are|am|was|were|does|do|did|has|have|can|will|would)\W*\Z", re.I)
"""How a part ends that only the one after it makes clear: "my neighbour does"."""
_POINTS = compile_later(r"\b(?:he|she|it|they|him|her|them|his|their|its|one|both)\b", re.I)


def says_anew(held: Held, words: str) -> bool:
    """Whether words that tell how it is now share most of what a note says, and are others."""
    noted, said = _content(held.written.memory.value), _content(words)
    shared = noted & said
    return noted != said and len(shared) >= _ALIKE and 2 * len(shared) >= len(noted)


def parts_left(candidate: Candidate, over: Sequence[Held]) -> list[Candidate]:
    """Notes of what is left of those of which a sentence ends a part."""
    notes = [held for held in over if held.type == NOTE]
    said = _content(candidate.spans[0].quote) if notes else set()
    left = [(held, _left(held.written.memory.value, said)) for held in notes]
    return [_in_place(candidate, held, words) for held, words in left if words is not None]


def moved_notes(candidate: Candidate, over: Sequence[Held]) -> list[Candidate]:
    """Notes of when something is that is somewhere else now, with its new place."""
    said = Said(candidate.spans[0].quote)
    notes = [held for held in over if held.type == NOTE]
    there = [(held, moved(said, held.written.memory.value)) for held in notes]
    return [_in_place(candidate, held, words) for held, words in there if words is not None]


def exchanged(candidate: Candidate, over: Sequence[Held]) -> Iterator[Candidate]:
    """Notes that would be over, with what takes the place of a word of theirs: "wed instead of
    tues", of "I work mon, tue and thurs"."""
    said = _INSTEAD.search(candidate.spans[0].quote)
    if said is not None:
        old, new = day_named(said["old"]), said["new"]
    elif candidate.replaces and " " not in candidate.replaces:
        old, new = candidate.replaces.lower(), candidate.value
    else:
        return
    for held in over:
        note = held.written.memory.value
        place = next((each for each in WORD.finditer(note) if day_named(each[0]) == old), None)
        if held.type != NOTE or place is None or new.lower() in note.lower():
            continue
        words = _priceless(f"{note[: place.start()]}{new}{note[place.end() :]}")
        if words is not None:
            yield _in_place(candidate, held, words)


def _priceless(note: str) -> str | None:
    """A note of what has taken another's place, without the part that tells a price: that was the
    other's. None where nothing tells it apart."""
    kept = [each for each in _COMMA.split(note) if _PRICE.search(each) is None]
    return ", ".join(kept) if kept and _PRICE.search(kept[0]) is None else None


_COMMA = compile_later(r",\s*")
_PRICE = compile_later(
    r"[$€£] ?\d|\d ?(?:[$€£]|(?:k|euros?|eur|quid|pounds|gbp|dollars?|usd|bucks|p)\b)|"
    r"\d (?:a|per|each|every) (?:month|year|week|hour|session|class|visit|night)\b",
    re.I,
)


def _in_place(candidate: Candidate, held: Held, words: str) -> Candidate:
    """The note with other words, and what stands before them: the question that they answer."""
    memory = held.written.memory
    before, found, _ = memory.claim.rpartition(memory.value)
    return in_place(candidate, held, f"{before}{words}" if found else words, words, ())


def _left(note: str, over: set[str]) -> str | None:
    """The parts of a note that share no word with what tells that something of it is over; None
    where nothing is left, or what is left tells nothing by itself."""
    parts = [each for each in _BETWEEN.split(note) if each]
    left = [each for each in parts if _content(each).isdisjoint(over)]
    gone = len(left) < len(parts)
    left = [each for each in left if _ASKS.match(each) is None]
    if not left or not gone or any(each.count(" ") < _FEWEST - 1 for each in parts):
        return None  # "fostering a greyhound, Dash" tells one thing
    if any(_HANGING.match(each) or _POINTS.search(each) or _UNTOLD.search(each) for each in left):
        return None
    return ", ".join(each.rstrip(" .!") for each in left)


def _content(words: str) -> set[str]:
    found = WORD.findall(words.lower().replace("’", "'"))
    return {stem(word) for word in found if word not in farewells.SHARED}
