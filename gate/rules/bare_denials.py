"""Denials that are led up to: "turns out I'm not allergic to penicillin after all".

They are read as "I'm not allergic to penicillin". Spans keep pointing at what was typed.
"""

from __future__ import annotations

from beliefledger.gate.literals import Guarded, lowered
from beliefledger.gate.rules.words import Token

_MAY_BE = Guarded(r"\b(?:turns out|turned out|apparently|after all)\b")
_JOINING = frozenset("and so but then also".split())
_MARKS = frozenset(",;.!:-–—")
_STOPS = frozenset(",;.!:-–—(")
_LEADS = (
    ("it", "turns", "out", "that"), ("it", "turns", "out"), ("it", "turned", "out", "that"),
    ("it", "turned", "out"), ("turns", "out", "that"), ("turned", "out", "that"),
    ("turns", "out"), ("turned", "out"), ("apparently", ","), ("apparently",),
)  # fmt: skip
_DENIED = (("i'm", "not"), ("i", "am", "not"), ("i", "don't"), ("i", "do", "not"))


def may_be_in(text: str) -> bool:
    """Whether a text has the words of one."""
    return _MAY_BE.search(text, lowered(text)) is not None


def plainly(words: list[Token]) -> list[Token]:
    """The words of a sentence, its denials without what leads up to them."""
    low = [word.low for word in words]
    if low[-1] == "?":
        return words
    found: list[Token] = []
    at = 0
    while at < len(words):
        if _opens(low, at):
            at += _led_up_to(low, at)
        elif low[at : at + 2] == ["after", "all"] and _closes(low, at):
            at += 2
            continue
        found.append(words[at])
        at += 1
    return found


def _opens(low: list[str], at: int) -> bool:
    """Whether a clause may begin there: first, or behind a mark and words that join."""
    while at and low[at - 1] in _JOINING:
        at -= 1
        if low[at] in ("and", "so", "but"):
            return True
    return at == 0 or low[at - 1] in _MARKS


def _led_up_to(low: list[str], at: int) -> int:
    """How many words lead up to a denial of the speaker's; none where it is none."""
    for lead in _LEADS:
        end = at + len(lead)
        if tuple(low[at:end]) == lead:
            denied = any(tuple(low[end : end + len(each)]) == each for each in _DENIED)
            return len(lead) if denied else 0
    return 0


def _closes(low: list[str], at: int) -> bool:
    """Whether "after all" ends a clause that denies something of the speaker."""
    if at + 2 < len(low) and low[at + 2] not in _STOPS:
        return False
    begin = max((i + 1 for i in range(at) if low[i] in _STOPS), default=0)
    said = low[begin:at]
    return any(tuple(said[i : i + len(each)]) == each for each in _DENIED for i in range(len(said)))
