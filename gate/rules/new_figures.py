"""Figures and dates that have changed, of something that the sentence only points at.

"So 5 koi left" and "she is 12 now" give a figure without the statement that it belongs to. Which
one of those believed is meant is looked up by `beliefledger.gate.farewells`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from beliefledger.gate.literals import Guarded, lowered
from beliefledger.gate.rules.findings import RuleFinding
from beliefledger.gate.rules.lexicon import load
from beliefledger.gate.sentences import is_question
from beliefledger.ledger.candidate import Ends, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

ATTRIBUTE = "event.figure"
LONGEST = 200
_DATA = load("new_figures.yaml")
_CUE = Guarded(_DATA["cues"])
_DOUBT = compile_later(_DATA["doubts"])
_STANDING = compile_later(_DATA["standing"])
_ACTION = compile_later(_DATA["action"])
_TOTAL = compile_later(_DATA["total"])
_SMALL = frozenset(_DATA["small"].split())
_ALIKE = [frozenset(line.split()) for line in _DATA["alike"].splitlines()]
_WORDS = "|".join(_DATA["words"].split())
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_ORDINALS = "|".join(_DATA["ordinals"].split())
KINDS = (
    ("ordinal", re.compile(
        rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)|{_ORDINALS})(?= (?:grade|year|class|form|floor|semester|"
        r"term|draft|round|place|season|trimester|level|lesson|chapter)\b)|"
        r"\b(?:year|grade|class|level|chapter|week|day|episode|page|season|lesson|phase) \d{1,4}\b",
        re.I)),
    ("often", re.compile(
        r"\b(?:(?:once|twice|thrice|\d{1,2} ?(?:x|times)|(?:one|two|three|four|five|six) times) "
        r"(?:a|an|per|every|each) (?:day|week|fortnight|month|quarter|year)|"
        r"every (?:other|second|third|fourth|fifth|sixth|single|\d|two|three|four|six)? ?"
        r"(?:days?|weeks?|fortnights?|months?|years?|weekends?|evenings?|mornings?)|"
        r"(?:bi-?)?(?:weekly|monthly)|fortnightly|quarterly|daily|yearly)\b", re.I)),
    ("date", re.compile(
        rf"\b(?:{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? "
        rf"{_MONTH})\b|\b(?:the )?\d{{1,2}}(?:st|nd|rd|th)\b", re.I)),
    ("clock", re.compile(
        r"\b\d{1,2}(?:[:.]\d\d)? ?(?:am|pm|a\.m\.|p\.m\.|o['’]?clock)\b|\b\d{1,2}:\d\d\b|"
        r"\b(?:half past|quarter (?:past|to)) \w+", re.I)),
    ("weekday", re.compile(
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
        r"(?:(?: and |, and | & | \+ |, (?!\w+day (?:again|it is|instead|now)\b)|/)(?:on )?"
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?)*\b|"
        r"\b(?:mon|tues?|weds?|thur?s?|fri|sat|sun)"
        r"(?:(?:,? and |, ?| & | ?[/+-] ?| )(?:mon|tues?|weds?|thur?s?|fri|sat|sun)){1,6}\b",
        re.I)),
    ("number", re.compile(
        rf"(?:[$€£] ?)?\b\d{{1,9}}(?:[.,]\d{{1,3}}){{0,3}} ?(?:k\b|%|[$€£])?|\b(?:{_WORDS})\b",
        re.I)),
)  # fmt: skip
_WORD = compile_later(r"[^\W\d_][\w'’-]*")


SEVERAL = compile_later(r"\b\d{1,4}(?:, \d{1,4}){0,6},? (?:and|&) \d{1,4}\b")
"""Several figures of one thing: "4 and 7"."""
_MINE = compile_later(
    rf"\b(?:all )?(?:my|our) (\d{{1,6}}|(?:{_WORDS})\b) (?!(?:years?|months?|weeks?|days?|hours?|"
    r"minutes?|euros?|dollars?|pounds?|kilos?|kg|km|miles?|percent)\b)(?:[\w'’-]+ )?[\w'’-]+s\b",
    re.I,
)
"""What somebody has so many of: "my 52 records need a shelf"."""
_HAS_FIGURE = compile_later(
    rf"\d|\b(?:{_WORDS}|every|daily)\b|day\b|days\b|[hk]ly\b|(?:{_ORDINALS})\b"
)


class Figure(NamedTuple):
    """A figure of a text: its kind and offsets."""

    kind: str
    start: int
    end: int


def figures(text: str) -> list[Figure]:
    """The figures of a text, of each kind; no digits are part of two."""
    found: list[Figure] = []
    for kind, pattern in KINDS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if all(end <= each.start or each.end <= start for each in found):
                end -= len(text[start:end]) - len(text[start:end].rstrip())
                found.append(Figure(kind, start, end))
    return sorted(found, key=lambda each: each.start)


def may_be_in(text: str) -> bool:
    """Whether a text has a figure, and a word that tells of a change."""
    low = lowered(text)
    return _HAS_FIGURE.search(low) is not None and (
        _CUE.search(low, low) is not None or _mine(text, low) is not None
    )


def _mine(text: str, low: str) -> re.Match[str] | None:
    """What somebody has so many of, in a text that is `low` in lower case."""
    return _MINE.search(text) if "my " in low or "our " in low else None


def findings(content: str, start: int, end: int, before: int) -> Iterator[RuleFinding]:
    """The figures of the sentence content[start:end] that may be new ones of something. What they
    are of may be said by the sentence before, which begins at `before`: "Got an extension! It's
    June 5 now"."""
    text = content[start:end]
    low = lowered(text)
    if len(text) > LONGEST or _HAS_FIGURE.search(low) is None:
        return
    mine = _mine(text, low)
    if mine is None and _CUE.search(low, low) is None:
        return
    if is_question(text) or (mine is None and _DOUBT.search(low)):
        return
    while end > start and content[end - 1] in ".!,; ":
        end -= 1
    quote = content[start:end]
    last = content[max(before, start - LONGEST) : start]
    added = _ACTION.search(low) is not None and _TOTAL.search(low) is None
    beside = _BESIDE.search(low) is not None
    there = figures(quote)
    for figure in _chosen(text, there):
        if mine is None and _DENIED.search(clause_of(low, figure)):
            continue
        if beside and figure.kind == "weekday":
            continue  # "gym thursdays as well" takes the place of no other day
        if _OF_THEM.match(quote, figure.end) and not _SO_MANY.search(quote[: figure.start]):
            continue  # "2 of my kids" says not how many there are
        counted = mine is not None and mine.start(1) == figure.start
        if figure.kind == "number" and not counted and (added or _STANDING.search(low) is None):
            continue  # "got 3 more books" says not how many there are
        clause = clause_of(quote, figure)
        own = words_in(clause)
        if not own and clause != quote and _OF_THE_DAY.search(clause.lower()):
            continue  # "up at 6 now so bed by 10" says no 6 of going to bed
        apart = own and any(
            each.kind == figure.kind and clause_of(quote, each) != clause for each in there
        )
        topics = own if apart else words_in(quote) or words_in(last)
        yield RuleFinding(
            content, start, end, quote, "event", ATTRIBUTE,
            quote[figure.start : figure.end], 500, confidence=800, act=SpeechAct.CHANGE,
            retracts=True, replaces=figure.kind,
            ends=(Ends(attribute="*", value=topics or "-", among=True),),
        )  # fmt: skip


def words_in(text: str) -> str:
    """The words of a text that may say what a figure is of, each once, with blanks between."""
    return " ".join(dict.fromkeys(words_of(text)))


def clause_of(text: str, figure: Figure) -> str:
    """The clause of a text that a figure is in."""
    begin = max((each.end() for each in _CLAUSES.finditer(text, 0, figure.start)), default=0)
    after = _CLAUSES.search(text, figure.end)
    return text[begin : len(text) if after is None else after.start()]


_CLAUSES = compile_later(
    r"[,;:!?(–—]\s*|\.(?!\d)\s*|\s(?:-|and|so|but|cos|coz|cuz|because|bc|then)\s", re.I
)
_OF_THE_DAY = compile_later(r"\b(?:up|off|out|in|home|awake|done) (?:at|by|around|about) ")
_DENIED = compile_later(_DATA["denied"])
_BESIDE = compile_later(r"\b(?:also|too|as well)\b")
_OF_THEM = compile_later(
    r" of (?:my|our|the|them|these|those|us|his|her|their|its)\b(?! (?:now|left|in total))", re.I
)
_SO_MANY = compile_later(
    r"\b(?:so|now|there['’]?s|there are|makes it|leaves|leaving|only|down to|up to|"
    r"(?:so|now) (?:it['’]?s|there['’]?s|we['’]?re|were)) (?:just |only )?$",
    re.I,
)
_BEFORE = compile_later(
    r"\b(?:to|now|it['’]?s|makes it|that['’]?s|so|only|another|total)\W*(?:the )?$", re.I
)
_AFTER = compile_later(
    r"\W*(?:\w+ )?(?:now|left|remaining|instead|already|by now|again|for me|it is|from now)\b", re.I
)


_WAS = compile_later(
    r"\b(?:instead of|rather than|in place of|no longer|not|used to be|was)"
    r"(?: (?:on|at|in|from|for|the|my|every)){0,2} $",
    re.I,
)
"""Before a figure that is so no more: "thursdays instead of mondays now"."""


def _chosen(text: str, found: list[Figure]) -> list[Figure]:
    """One of each kind: the only one, or the one that is said to be new."""
    chosen: list[Figure] = []
    if len(found) > 1:
        found = [each for each in found if not _WAS.search(text[: each.start])]
    for kind, _ in KINDS:
        same = [each for each in found if each.kind == kind]
        if len(same) > 1:
            same = [
                each
                for each in same
                if _BEFORE.search(text[: each.start]) or _AFTER.match(text[each.end :])
            ][-1:]
        chosen += same
    return chosen


def words_of(text: str) -> Iterator[str]:
    """The words of a text that may say what a figure is of, and what is said in other words."""
    for word in _WORD.findall(text.lower().replace("’", "'")):
        plain = word.removesuffix("'s")
        if plain not in _SMALL:
            yield plain


def is_several(days: str) -> bool:
    """Whether it is several days: "mon wed and fri"."""
    return len(_WORD.findall(days)) > 1


def alike(word: str) -> frozenset[str]:
    """A word and those that tell of the same figure: a raise is of the salary."""
    return next((group for group in _ALIKE if word in group), frozenset({word}))
