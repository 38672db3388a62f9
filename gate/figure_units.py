"""What figures count, and which figure of a claim another one may take the place of. Pure."""

from __future__ import annotations

import re

from beliefledger.gate.claim_wordings import number_of
from beliefledger.gate.rules import new_figures
from beliefledger.gate.rules.lexicon import AS_PARTICIPLE, verb_form
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem

DATED = frozenset({"date", "clock", "weekday"})
"""Kinds of figures that tell when."""


def before(candidate: Candidate) -> str:
    """What a sentence says before its new figure, in lower case."""
    quote = candidate.spans[0].quote
    return quote[: max(0, quote.find(candidate.value))].lower()


def old_figure(claim: str, kind: str, quote: str, at: int, value: str) -> new_figures.Figure | None:
    """The one figure of a claim that another of a kind may take the place of. "To 10" is a time of
    the day for what is at 9:15, and of several numbers it is the one of the same unit."""
    figures = new_figures.figures(claim)
    same = [each for each in figures if each.kind == kind]
    if len(same) > 1 and kind == "weekday":
        between = claim[same[0].end : same[-1].start]
        if len(same) == 2 and _AND.fullmatch(between):
            return new_figures.Figure(kind, same[0].start, same[-1].end)
    if len(same) > 1 and kind == "number":
        unit = unit_of(quote[at + len(value) :])
        same = [each for each in same if unit and unit_of(claim[each.end :]) == unit]
    if not same and kind in ("number", "clock"):
        hours = [(quote, at, at + len(value), kind)]
        hours += [(claim, *each[1:], each.kind) for each in figures if each.kind in HOURS]
        if len(hours) == 2 and all(is_hour(*each) for each in hours):
            same = [each for each in figures if each.kind in HOURS]
    return same[0] if len(same) == 1 else None


HOURS = ("number", "clock")
_AND = compile_later(r" ?(?:and|&|,|/|\+) ?(?:on )?", re.I)
_AT = compile_later(r"\b(?:at|to|by|till|until|from|around|about|it['’]?s|for)\W*$", re.I)


def is_hour(text: str, start: int, end: int, kind: str) -> bool:
    """Whether a figure of a text may be a time of the day."""
    said = text[start:end]
    if kind == "clock":
        return True
    if _DOTTED.fullmatch(said):
        return _AT.search(text[:start].removesuffix("the ")) is not None
    return said.isdigit() and int(said) <= 24 and _AT.search(text[:start]) is not None


_DOTTED = compile_later(r"(?:[01]?\d|2[0-3])\.[0-5]\d")


UNIT = compile_later(r"[\s-]{0,2}([^\W\d_][\w'’-]*)")


MEASURES = frozenset(
    stem(each)
    for each in "mg g kg kilo kilos lb lbs stone ml l litre litres liter liters km "
    "mile miles m cm mm hour hours minute minutes euro euros pound pounds dollar dollars "
    "percent degree degrees time times".split()
)
"""What many things are measured in: it does not tell which of them is meant."""


_SAME_UNIT = {"kilo": "kg", "kilos": "kg", "lb": "pounds", "lbs": "pounds", "quid": "pounds"}
_NO_UNIT = frozenset(
    "a an per is are was now left so and but or by this in on at for to the".split()
)


def unit_of(after: str) -> str:
    """What a figure counts, as far as the next word tells."""
    found = UNIT.match(after)
    if found is None or found[1].lower() in _NO_UNIT:
        return ""
    word = _SAME_UNIT.get(found[1].lower(), found[1].lower())
    return "" if word not in set(new_figures.words_of(word)) else stem(word)


BY = compile_later(
    r"\b(?:sav(?:es?|ed|ing)(?: me| us)?|extra|another|by|plus|minus|lost|gained)\W*$", re.I
)
"""Before a figure that says by how much something has changed, and not what it is."""


def counts_a_part(text: str, claim: str) -> bool:
    """Whether a sentence counts those to whom something was done, or who did something, and a claim
    tells how many there are: "fed 2 hens so far", of three hens."""
    numbers = [each for each in new_figures.figures(claim) if each.kind == "number"]
    if not numbers or _HOW_MANY.search(text) is not None:
        return False
    units = {_noun(claim[each.end :]): _count(claim[each.start : each.end]) for each in numbers}
    units.pop("", None)
    for each in new_figures.figures(text):
        count = _count(text[each.start : each.end])
        total = units.get(_noun(text[each.end :]), 0) if each.kind == "number" else 0
        if 0 < count < total and _is_done_to(text, each, claim):
            return True
    return False


def _is_done_to(text: str, figure: new_figures.Figure, claim: str) -> bool:
    """Whether the words around a figure tell of something done that a claim does not tell."""
    before, after = _BEFORE.search(text[: figure.start]), _AFTER.match(text[figure.end :])
    words = [] if before is None else [before["verb"].lower()]
    if after is not None:
        words += [after["verb"].lower(), *(after["more"] or "").lower().split()]
    done = [each for each in words if each in _DONE or verb_form(each)[1] in AS_PARTICIPLE]
    known = set(claim.lower().split())
    return any(each not in _TOTALS and each not in known for each in done)


def _noun(after: str) -> str:
    found = UNIT.match(after)
    return "" if found is None or found[1].lower() in _NO_UNIT else stem(found[1].lower())


def _count(figure: str) -> int:
    said = number_of(figure.lower().replace(",", "").strip() or "-") or ""
    return int(said) if said.isdigit() else 0


_HOW_MANY = compile_later(
    r"\b(?:left|remain(?:s|ing)?|down to|up to|in total|in all|altogether|makes (?:it|that)|leaves|"
    r"leaving|only|(?:now|so) (?:we|i|it|there)|"
    r"(?:have|has|['’]ve|['’]s) (?:got )?(?:just |only |about |around )?\d+"
    r"(?! [\w'’-]+ (?:have|has|had|are|is|were|was)\b)(?! (?:[\w'’-]+ )?\w+(?:ed|en)\b))\b",
    re.I,
)
"""Tells how many there are by now."""
_BEFORE = compile_later(
    r"\b(?P<verb>[^\W\d_]{3,16}) (?:(?:about|around|over|nearly|almost|already|just|the (?:first|"
    r"last)|like|some|up|off|out) )?$"
)
_AFTER = compile_later(
    r"(?: [^\W\d_][\w'’-]{0,20}){1,2}? (?:(?:have|has|had|are|were|is|was|['’]ve|all|already|just|"
    r"now|been|get) ){0,3}(?P<verb>[^\W\d_]{3,16})(?P<more> [^\W\d_]{2,12})?(?=\W|$)"
)
_DONE = frozenset("done finished down through sorted had".split())
"""What is said of those that are done."""
_TOTALS = frozenset(
    "have had has got hit reached crossed turned became become grown grew dropped fell risen rose "
    "increased reduced raised cut gone went come came been was were made put left remaining "
    "remained enrolled registered employed moved settled agreed changed upped bumped counted "
    "totalled totaled sold lost died gave given killed ate eaten".split()
)
"""What tells how many there are, or how many are no more."""
