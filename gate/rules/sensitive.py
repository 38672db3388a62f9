"""Which words are of a special category of personal data. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from beliefledger.gate.literals import Guarded, Table, lowered
from beliefledger.ledger.data_files import data
from beliefledger.ledger.late_patterns import compile_later

_PERSONAL_DATA: dict[str, Any] = data("beliefledger.gate.rules", "sensitive.yaml")


class _Phrase(NamedTuple):
    """Words of a special category."""

    pattern: Guarded
    category: str


_PHRASES = Table(
    _Phrase(Guarded(line), category)
    for category, lines in _PERSONAL_DATA.pop("phrases").items()
    for line in lines.splitlines()
)
_HINTS: dict[str, frozenset[str]] = {
    category: frozenset(words.split()) for category, words in _PERSONAL_DATA.pop("hints").items()
}
_ANY_HINT = frozenset[str]().union(*_HINTS.values())
_TERMS: dict[tuple[str, ...], str] = {
    tuple(term.split()): category
    for category, terms in _PERSONAL_DATA.pop("terms").items()
    for term in terms.split(",")
}
_TERMS_TO: dict[str, list[tuple[str, ...]]] = {}
"""The terms by their last word, which is less usual than their first."""
for _term in _TERMS:
    _TERMS_TO.setdefault(_term[-1], []).append(_term)
_ENDINGS = tuple(
    (tuple(ends.split()), category) for category, ends in _PERSONAL_DATA.pop("endings").items()
)
_ENDS = tuple(each for ends, _ in _ENDINGS for each in ends)
_OTHER_ENDS = frozenset(_PERSONAL_DATA.pop("not_endings").split())
_SENSITIVE: dict[str, str] = {
    word: category for category, words in _PERSONAL_DATA.items() for word in words.split()
}
_SHORTEST_NAMED = 7
"""The shortest word whose end tells what it is."""
_OTHER_UNIONS = compile_later(
    r"\b(?:(?:credit|european|western|soviet|customs|monetary|african|rugby|stud(?:ent|y)s?['’]?|"
    r"debating|tagged|disjoint|discriminated) unions?|"
    r"unions? (?:caf[eé]|square|station|street|st|road|avenue|jacks?|pub|bar|canal|terrace|"
    r"building|kitchen|coffee|chapel|county|city|pacific|types?|all|flags?|berlin|saint-gilloise|"
    r"select|find))\b",
    re.I,
)
_OF_A_TRADE = compile_later(
    r"\b(?:as|am|['’]?m|im|is|['’]s|be|become|became|becoming|was|works?|qualified|train(?:ed|"
    r"ing)) (?:now |also |actually |still |really )?(?:(?:to be|as) )?an? (?:(?!my\b|"
    r"patient\b)[\w-]+ ){0,2}?(?:psychiatrist|psychologist|therapist|physiotherapist|counsell?or|"
    r"psychoanalyst|midwife|doula|cardiologist|dermatologist|gyna?ecologist|oncologist|neurologist|"
    r"radiologist|urologist|p(?:a)?ediatrician|an(?:a)?esthetist|surgeon|orthodontist|paramedic|"
    r"nurse|gp|doctor|dentist|optician|pharmacist|medical (?:secretary|student|writer)|shrink)\b",
    re.I,
)
"""What somebody is by trade says nothing of anybody's health."""
_IN_A_TRADE = "ist lyst sel wife ula eon dic urse octor gp GP ician rink".split()
"""One of these is in the name of each such trade."""
_WORD = compile_later(r"[\w+'-]+")
_STUDIES = frozenset(
    "study studies studied studying teach teaches taught teaching read reading lectures".split()
)
_SUBJECTS = frozenset(
    "medicine surgery midwifery physiotherapy psychiatry genetics theology radiology oncology "
    "dermatology neurology cardiology pathology psychotherapy counselling".split()
)
"""What somebody studies says nothing of how they are."""
_OF_STUDIES = frozenset(
    "school student students degree studies books textbook textbooks research researcher secretary "
    "writer translator".split()
)


def category_of(claim: str) -> str | None:
    """The special category of personal data that a claim's words belong to, or None."""
    return next(categories_of(claim), None)


def categories_of(claim: str) -> Iterator[str]:
    """The special categories that a claim's words belong to, those of single words first."""
    before = ""
    if "nion" in claim:
        claim = _OTHER_UNIONS.sub("", claim)
    if any(map(claim.__contains__, _IN_A_TRADE)):
        claim = _OF_A_TRADE.sub("", claim)
    said = _WORD.findall(claim.lower().replace("’", "'"))
    for found, following in pairwise([*said, ""]):
        word = found if found in _SENSITIVE else found.removesuffix("'s")
        if (word in _SUBJECTS and before in _STUDIES) or (
            word == "medical" and following in _OF_STUDIES
        ):
            pass
        elif word in _SENSITIVE:
            yield _SENSITIVE[word]
        elif word.endswith(_ENDS) and len(word) >= _SHORTEST_NAMED and word not in _OTHER_ENDS:
            for ends, category in _ENDINGS:
                if word.endswith(ends):
                    yield category
        before = word
    if not _TERMS_TO.keys().isdisjoint(said):
        there = [
            term
            for end, word in enumerate(said, 1)
            for term in _TERMS_TO.get(word, ())
            if term == tuple(said[max(end - len(term), 0) : end])
        ]
        for term in sorted(there, key=len):
            yield _TERMS[term]
    parts = {part for word in said for part in word.split("-")}
    if _ANY_HINT.isdisjoint(parts):
        return
    found = None
    for pattern, category in _PHRASES.possible(lowered(claim)):
        if found != category and not _HINTS[category].isdisjoint(parts):
            found = category if pattern.pattern.search(claim) else found
            if found == category:
                yield category
