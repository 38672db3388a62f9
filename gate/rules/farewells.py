"""Words that take leave of something, or exchange it for something else: "so long Swansea".

What was believed of it, and in which slot, is not known here. A finding of such words names them in
an `Ends` with `among`; `beliefledger.gate.farewells` looks for the memories that are meant. The
patterns are in `farewells.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from beliefledger.gate.dates import find_when
from beliefledger.gate.literals import Guarded, lowered
from beliefledger.gate.rules.findings import RuleFinding
from beliefledger.gate.rules.last_days import last_day
from beliefledger.gate.rules.lexicon import expanded, load
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.rules.successions import without_reason
from beliefledger.gate.sentences import is_question
from beliefledger.ledger.candidate import Ends, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

ATTRIBUTE = "event.farewell"
LONGEST = 300
"""The longest sentence that is looked at, in characters."""
_DATA: dict[str, Any] = load("farewells.yaml")
_DOUBTS = compile_later(_DATA["doubts"], re.I)
_PLAIN = frozenset(_DATA["plain"].split())
_VAGUE = frozenset(_DATA["vague"].split())
_HINTS = frozenset(_DATA["hints"].split())
_ARROWS = tuple(_DATA["arrows"].split())
_WORD = compile_later(r"[^\W_]+(?:[.'’&+-][^\W_]+)*[+#]*")


def _load(name: str) -> tuple[Guarded, ...]:
    return tuple(Guarded(expanded(say, _DATA["parts"]), re.I) for say in _DATA[name])


_EXCHANGES = _load("exchanges")
_PARTINGS = _load("partings")
_CALLED_OFF = _load("called_off")
_DONE = Guarded(_DATA["done"], re.I)
_NO_EXCHANGE = compile_later(_DATA["no_exchange"], re.I)
_NOT_DONE = compile_later(_DATA["not_done"], re.I)
_ANEW = compile_later(_DATA["anew"], re.I)
SHARED = frozenset(_DATA["shared"].split())
PLANNING = frozenset(_DATA["planning"].split()) | _PLAIN | frozenset(_DATA["cut"].split())
"""Words of a plan that do not say which it is."""
TRIPS = frozenset("trip flight holiday vacation getaway".split())
"""What a plan to go somewhere is called, whatever it was called before."""
_CUT = frozenset(_DATA["cut"].split())
_CLAUSE = compile_later(r"[;:.!]|,(?= )|\b(?:but|and|so)\b")


class Parting(NamedTuple):
    """The words of what is over, where its clause is, the offsets of the words of what takes its
    place, if anything does, and which memories may be meant."""

    old: str
    clause: tuple[int, int]
    new: tuple[int, int] | None = None
    attribute: str = "*"


def may_be_in(text: str) -> bool:
    """Whether a text has any word of a farewell."""
    low = lowered(text)
    if not _HINTS.isdisjoint(_WORD.findall(low)):
        return True
    if any(map(text.__contains__, _ARROWS)) or _DONE.search(text, low) is not None:
        return True
    return _ONE_TIME.search(low) is not None


def findings(content: str, start: int, end: int, said_at: int) -> Iterator[RuleFinding]:
    """What the sentence content[start:end] takes leave of."""
    text = content[start:end]
    if len(text) > LONGEST or is_question(text) or not may_be_in(text):
        return
    found = list(dict.fromkeys(_partings(text)))
    if not found:
        return
    at = last_day(text, said_at)
    dated = find_when(text, said_at, past=True)
    if at is None and dated is not None and dated.when.start is not None:
        at = min(dated.when.start, said_at)
    for parting in found:
        begin, stop = (start + each for each in parting.clause)
        if parting.new is not None:
            stop = max(stop, start + parting.new[1])
        while stop > begin and content[stop - 1] in ".!,;:- ":
            stop -= 1
        if category_of(content[begin:stop]) is not None:
            begin, stop = without_reason(content, begin, stop)
        quote = content[begin:stop]
        value = quote if parting.new is None else text[slice(*parting.new)]
        yield RuleFinding(
            content, begin, stop, quote, "event", ATTRIBUTE, value, 500,
            confidence=850, act=SpeechAct.CHANGE, retracts=True,
            replaces=None if parting.new is None else parting.old,
            ends=(Ends(attribute=parting.attribute, value=parting.old, among=True, at=at),),
        )  # fmt: skip


def _partings(text: str) -> Iterator[Parting]:
    low = text.lower()
    for exchange in _EXCHANGES:
        match = exchange.search(text, low)
        if match is None or _doubted(text, match):
            continue
        old = _telling(match["old"])
        new = match["new"].rstrip(" .,-'’")
        if old and new and new.lower() not in _VAGUE and not _is_price(new, old):
            begin = match.start("new")
            yield Parting(old, _clause(text, match), (begin, begin + len(new)))
            return
    for parting in _CALLED_OFF:
        match = parting.search(text, low)
        if match is not None and not _doubted(text, match):
            old = _telling(match["old"], vague=True)
            if old:
                yield Parting(old, _clause(text, match), None, "event.*")
    if _DONE.search(text, lowered(text)) is not None and _NOT_DONE.search(text) is None:
        said = dict.fromkeys(each.removesuffix("'s") for each in _WORD.findall(_done_in(text)))
        yield Parting(" ".join(said), (0, len(text)), None, "plan.*")
    if _ANEW.search(text) is not None and _DOUBTS.search(text) is None:
        yield Parting(" ".join(dict.fromkeys(_WORD.findall(low))), (0, len(text)), None, "note.*")
    if _ONE_TIME.search(low) is not None and _BESIDES.search(low) is None:
        yield Parting(" ".join(dict.fromkeys(_WORD.findall(low))), (0, len(text)), None, SAME)
    for parting in _PARTINGS:
        if not parting.may_match(low):
            continue
        for match in parting.pattern.finditer(text):
            if "old" not in match.groupdict():
                # "… went in the drawer": what did is the subject of its clause.
                words = _CLAUSE.split(text[: match.start()])[-1]
            elif _doubted(text, match):
                continue
            else:
                words = match["old"]
            old = _telling(words)
            if old:
                yield Parting(old, _clause(text, match))


def _is_price(new: str, old: str) -> bool:
    """Whether words tell what something went for, or for how long: "traded in the golf for 3k". A
    figure alone may take the place of a figure."""
    if new.isdigit() and old[:1].isdigit():
        return False
    return _NO_EXCHANGE.fullmatch(new) is not None


SAME = "same.*"
"""Looks for what a sentence says with another day, date or hour."""
_ONE_TIME = compile_later(
    r"(?:\b(?:is|was|will be|due|deadline|ends?|starts?|opens?|closes?|begins?|meets?)\b|['’]s )"
    r"[^\n]{0,40}?(?:day\b|days\b|\d)"
)
"""Of what has one time: "gym on mondays" may have several."""
_BESIDES = compile_later(r"\b(?:also|too|as well|another|second|next one|other)\b|\?")


def _done_in(text: str) -> str:
    """The words of a sentence in which something may be done, in lower case: of one that has
    several clauses those that say so, as "a band with a banjo, and I started to like it" buys
    none."""
    low = lowered(text)
    if len(text) <= _SHORT:
        return low
    return " ".join(part for part in _PART.split(low) if _DONE.search(part, part) is not None)


_SHORT = 60
_PART = compile_later(
    rf"{_CLAUSE.pattern}| [-–—] |\b(?:that|which|who|because|since|while|where)\b"
)
"""A clause, and what hangs on it, too."""


def _clause(text: str, match: re.Match[str]) -> tuple[int, int]:
    """The offsets of the clause that a match is in."""
    begin = match.start()
    while begin < match.end() and not text[begin].isalnum():
        begin += 1
    before = [each.end() for each in _CLAUSE.finditer(text, 0, begin)]
    after = _CLAUSE.search(text, match.end())
    start = before[-1] if before else 0
    while start < begin and text[start].isspace():
        start += 1
    return start, len(text) if after is None else after.start()


def _doubted(text: str, match: re.Match[str]) -> bool:
    """Whether it did not happen, or not so: "I would never have sold the boat"."""
    begin = match.start("old")
    lead = re.split(r"[;:.!]|\b(?:but|and|so)\b", text[: match.start()])[-1]
    return any(_DOUBTS.search(each) for each in (lead, _BARE.sub("", text[match.start() : begin])))


_BARE = compile_later(
    r"\b(?:never again|had to (?:say|said)|have ?n['’]?t|"
    r"(?:don['’]?t|do not|no longer|not|never)(?= \w+ing\b)|"
    r"(?:don['’]?t|do not|never|not)(?: really| even)? (?:do|use|drive|have|drink|eat|play|take|go|"
    r"work|live|see|need|with|at|on|in)\b|could(?:n['’]?t| not) (?:stay|keep|stick|go)\b|"
    r"not|didn['’]?t make)",
    re.I,
)
"""Denials that are part of saying that something is over."""


def _telling(words: str, *, vague: bool = False) -> str:
    """The words that say what is over; none where they only point at it."""
    kept: list[str] = []
    for each in _WORD.findall(words.lower().replace("’", "'")):
        word = each.removesuffix("'s")
        if word in _CUT and kept:
            break
        if word not in _PLAIN and word not in _CUT:
            kept.append(word)
    if not kept or (not vague and _VAGUE.issuperset(kept)):
        return ""
    return " ".join(kept)
