"""Where the sentences of a text are. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from beliefledger.gate.calendar_names import MONTHS
from beliefledger.ledger.late_patterns import compile_later

LONGEST = 600
"""Turns of more characters are documents, and no chat: whole sentences are not taken out of them as
news, jests or guesses."""
_BREAK = compile_later(r"(?<![.!?…])[.!?…]++[\"'”’)\]*]*+(?=\s)|\n++")
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs e.g i.e etc approx dept est inc ltd co no vol fig mt ft".split()
)
_LAST_WORD = compile_later(r"[\w.]{1,24}$")
_ORDINAL = compile_later(r"\b(?:in|at|of|the|from|my|our|on|since|until|der|am|im) \d{1,3}$", re.I)
_NEXT_WORD = compile_later(
    r"\s*([A-Z][^\W\d_]+|(?i:<month>)\b)".replace("<month>", "|".join(MONTHS))
)
_ANY_WORD = compile_later(r"\s*([^\W\d_]+(?:'[^\W\d_]+)?)")
_STARTS = frozenset(
    "i im we he she it they you my our his her its their this that these those there here the a an "
    "and but so or then also if when while since because as at in on for with from to of what how "
    "why where who which can could would will should do does did is are was were am have has had "
    "please thanks thank ok okay yes no not now today tomorrow yesterday later maybe sorry need "
    "give make tell show help let get take any some all both after before until by just only still "
    "never always not never everyone everything nothing someone nobody people don't dont i'm i've "
    "i'll we're we've he's she's it's that's there's what's how's mum dad update add remind set "
    "send put check move change book write draft find create schedule cancel delete remember note "
    "could anyone any got going looks sounds also plus mine ours yours".split()
)
"""What begins a sentence, and is no thing that is counted: "at 45. Grundschule"."""


def sentences(text: str) -> list[tuple[int, int]]:
    """The sentences of `text` as code point offsets [start, end), without outer white space."""
    return list(_sentences(text))


def around(text: str, at: int) -> tuple[int, int]:
    """The sentence that an offset is in; an empty one at the start of the text where it is in
    none."""
    return next(((start, end) for start, end in _sentences(text) if start <= at < end), (0, 0))


def preceding(text: str, start: int) -> tuple[int, int] | None:
    """The last sentence that ends before an offset."""
    return next((each for each in reversed(_sentences(text)) if each[1] <= start), None)


def is_question(sentence: str) -> bool:
    """Whether a sentence ends with a question mark, but for what closes it, and asks."""
    return sentence.rstrip("\"'” )").endswith("?") and not wonders(sentence)


def wonders(sentence: str) -> bool:
    """Whether a sentence tells something in spite of its mark: "turns out I love it??"."""
    return _WONDERS.match(sentence) is not None


_WONDERS = compile_later(
    r"\W*+(?:(?:ok|okay|so|wait|omg|wow|lol|and|but|oh|hm+|huh|well)\b[\s,.…]*+){0,3}"
    r"(?:it )?turns out (?:that )?(?:i|we)\b[^,;:?]{1,60}\?[?!\s]*+\Z",
    re.I,
)


def parted(
    text: str, marks: re.Pattern[str], start: int = 0, end: int | None = None
) -> Iterator[tuple[int, int]]:
    """The parts of text[start:end] between the places where a pattern matches."""
    stop = len(text) if end is None else end
    for mark in marks.finditer(text, start, stop):
        yield start, mark.start()
        start = mark.end()
    yield start, stop


def before(text: str, at: int) -> str:
    """What the sentence that an offset is in says up to there."""
    start, end = around(text, at)
    return text[start:at] if end else ""


# One turn is asked about many times in a row, so what is found in it is kept for a moment.
@lru_cache(maxsize=4)
def _sentences(text: str) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    start = 0
    for match in _BREAK.finditer(text):
        if text[match.start()] == "." and _keeps_going(text, match.start(), match.end()):
            continue
        _add_trimmed(found, text, start, match.end())
        start = match.end()
    _add_trimmed(found, text, start, len(text))
    return tuple(found)


def _keeps_going(text: str, dot: int, end: int) -> bool:
    """Whether the full stop at `dot` belongs to an abbreviation, an initial or an ellipsis."""
    word_match = _LAST_WORD.search(text, max(0, dot - 24), dot)
    following = text[end : end + 2].strip()
    if word_match is None:
        return False
    word = word_match.group().lower()
    if word.isdigit() and _ORDINAL.search(text, max(0, dot - 24), dot) is not None:
        after = _NEXT_WORD.match(text, end)
        return after is not None and after[1].lower() not in _STARTS
    if word in _ABBREVIATIONS:
        # "etc." and "no." also end sentences, so they only go on before lower case or a digit.
        return word not in ("etc", "no", "co", "inc") or not following[:1].isupper()
    if "." in word and word[:1].isdigit() and _begins(text, end):
        return False  # "8.5k. does it need …"
    if "." in word or len(word) == 1:
        return not following[:1].isupper() or (len(word) == 1 and word not in "i0123456789")
    return end - dot > 1 and following[:1].islower()


def _begins(text: str, end: int) -> bool:
    """Whether what begins a sentence follows."""
    following = _ANY_WORD.match(text, end)
    return following is not None and following[1].lower() in _STARTS


def _add_trimmed(found: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        found.append((start, end))


def forget() -> None:
    """Empty the cache, which may hold words of an erased subject."""
    _sentences.cache_clear()
