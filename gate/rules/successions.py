"""Sentences that sound like a change, which may overtake what is believed without naming its slot.

Which belief they overtake, if any, is asked by `beliefledger.gate.overtaken`, once nothing else has
found an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate import scorers, successions
from beliefledger.gate.rules import idioms
from beliefledger.gate.rules.findings import RuleFinding, looked_up
from beliefledger.gate.rules.renewals import spelt_out
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.sentences import is_question, parted
from beliefledger.ledger.late_patterns import compile_later

ATTRIBUTE = "event.succession"
LONGEST = 160
"""The longest sentence that is looked at, in characters: longer ones are of several things."""

_REASON = compile_later(r"[,;:(–—]\s*|\s(?:so|because|cos|cuz|since|due to|after|but|and)\s", re.I)
"""Between a change and the reason for it."""


def findings(content: str, start: int, end: int) -> Iterator[RuleFinding]:
    """The sentence content[start:end], where it may overtake something."""
    while end > start and content[end - 1] in ".!,; ":
        end -= 1
    text = content[start:end]
    if not 0 < len(text) <= LONGEST:
        return
    if not successions.may_overtake(text):
        clause = _news_in(content, start, end)
        if clause is not None:
            start, end = clause
            text = content[start:end]
        elif not successions.may_overtake(text, in_doubt=True):
            return
    if idioms.has_saying(text):
        return  # "got married to the idea of cake"
    if category_of(text) is not None:
        start, end = without_reason(content, start, end)
        text = content[start:end]
    words = " ".join(dict.fromkeys(spelt_out(text).split()))
    if words:
        yield looked_up(content, start, end, ATTRIBUTE, words)


def _news_in(content: str, start: int, end: int) -> tuple[int, int] | None:
    """The clause of a sentence that tells how it is from now on, where the sentence as a whole may
    be a joke or only supposed: "cant keep up lol, new episodes every second week from now on"."""
    if is_question(content[start:end]):
        return None
    for begin, stop in parted(content, _REASON, start, end):
        part = content[begin:stop]
        if _NOW.search(part) and part.count(" ") >= _LEAST and successions.may_overtake(part):
            return begin, stop
    return None


_NOW = compile_later(
    r"\b(?:from (?:now|here) on|as of (?:now|today|this|next)|these days|nowadays|instead|"
    r"(?<!right )(?<!just )(?<!until )(?<!by )now(?! that\b))\b",
    re.I,
)
_LEAST = 2
"""Blanks of a clause that tells enough."""


def without_reason(content: str, start: int, end: int) -> tuple[int, int]:
    """The clause of a sentence of a special category that is of none and sounds most like a change:
    "got rid of the cats", where allergies are why. All of the sentence where each clause is of
    one."""
    found = []
    for begin, stop in parted(content, _REASON, start, end):
        part = content[begin:stop]
        if part.strip() and category_of(part) is None:
            found.append((scorers.sounds_like_change(part), begin, stop))
    return max(found)[1:] if found else (start, end)


def without_orders(text: str) -> str:
    """What happened, without whose orders it was: "doctor's orders" is nobody's business."""
    return _ORDERED.split(text, maxsplit=1)[0]


_ORDERED = compile_later(
    r"(?:[,;:–—-] ?| )(?:(?:on|it['’]s|its) )?(?:the )?\w{2,14}['’]?s orders\b", re.I
)
