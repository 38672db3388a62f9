"""How much of a text states something, beside what it asks for and what it only imagines. Pure.

The words by which a sentence asks, with or without a question mark, are in open_sentences.yaml.
"""

from __future__ import annotations

import re
from functools import cache

from beliefledger.ledger.data_files import data
from beliefledger.projections.search_terms import terms

_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*")
_SUPPOSES = re.compile(
    r"\b(?:if (?:i|we|my|our|only|money|it)\b|i wish\b|imagine\b|suppose\b|pretend\b)"
)
_WOULD = re.compile(r"(?<!if i)(?<!if we)['’]d\b|\b(?:would|could|might)\b")
_MODAL = re.compile(
    r"\b(?:would|could|might|should|wish|imagine|suppose|someday|one day)\b|['’]d\b"
)
_NEWLY = re.compile(
    r"\b(?:these days|at the moment|right now|(?:from|by) now on|as of (?:now|today|this|last)"
    r"|this (?:season|semester|term|school year))\b"
)
_CLAUSE = re.compile(r"[.!?;:,\n]+|\b(?:but|so|and)\b")


def stated(text: str) -> int:
    """How many terms a text has outside its questions and requests, and outside what it only
    imagines: "If I won, I'd move to Barbados"."""
    lowered = text.lower()
    return sum(len(terms(each)) for each in _SENTENCE.findall(lowered) if not _is_open(each))


def unreal(text: str) -> frozenset[str]:
    """The terms that a text has only in clauses of what could or would be: of "We saw Lisbon, I
    could move there" the second."""
    lowered = text.lower()
    if _MODAL.search(lowered) is None:
        return frozenset()
    real: set[str] = set()
    open_: set[str] = set()
    for clause in _CLAUSE.split(lowered):
        (open_ if _MODAL.search(clause) else real).update(terms(clause))
    return frozenset(open_ - real)


def is_new(text: str) -> bool:
    """Whether a text says that something is so of late, in words that are too common for terms."""
    return _NEWLY.search(text.lower()) is not None


def _is_open(sentence: str) -> bool:
    """Whether a sentence in lower case asks for something, or tells what would be."""
    if "?" in sentence or _asks().match(sentence):
        return True
    return _SUPPOSES.search(sentence) is not None and _WOULD.search(sentence) is not None


@cache
def _asks() -> re.Pattern[str]:
    """How a sentence begins that asks for something."""
    written = data("beliefledger.projections", "open_sentences.yaml")
    openers, begins = "|".join(written["openers"]), "|".join(written["begins"])
    return re.compile(rf"\A\W*+(?:(?:{openers})\b\W*+){{0,3}}(?:{begins})")
