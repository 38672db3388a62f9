"""How much of a text states something, beside what it asks for and what it only imagines. Pure.

The words by which a sentence asks, with or without a question mark, are in open_sentences.yaml.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from beliefledger.ledger.data_files import data
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.projections.search_terms import terms

_SENTENCE = compile_later(r"[^.!?\n]+[.!?\n]*")
_SUPPOSES = compile_later(
    r"\b(?:if (?:i|we|my|our|only|money|it)\b|i wish\b|imagine\b|suppose\b|pretend\b)"
)
_WOULD = compile_later(r"(?<!if i)(?<!if we)['’]d\b|\b(?:would|could|might)\b")
_MODAL = compile_later(
    r"\b(?:would|could|might|should|wish|imagine|suppose|someday|one day)\b|['’]d\b"
)
_NEWLY = compile_later(
    r"\b(?:these days|at the moment|right now|(?:from|by) now on|as of (?:now|today|this|last)"
    r"|this (?:season|semester|term|school year))\b"
)
_OWN = compile_later(
    r"\b(?:my|mine|our|ours|im|ive|i['’](?:m|ve)|we['’](?:re|ve)|(?:i|we) (?:have|am|are))\b"
)
_PART = compile_later(r"[,;]\s++| [-–—]++ ")
_CLAUSE = compile_later(r"[.!?;:,\n]+|\b(?:but|so|and)\b")


def stated(text: str) -> int:
    """How many terms a text has outside its questions and requests, and outside what it only
    imagines: "If I won, I'd move to Barbados"."""
    lowered = text.lower()
    return sum(len(terms(_told(each))) for each in _SENTENCE.findall(lowered))


def is_general(text: str) -> bool:
    """Whether a text tells nothing and asks of nothing of the speaker's: "which board game is good
    for five", and not "is my visa still good"."""
    lowered = text.lower()
    return _OWN.search(lowered) is None and not stated(lowered)


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


def _told(sentence: str) -> str:
    """The part of a sentence in lower case that tells something: of "I'm in Luton, when should I
    leave?" what stands before the question, of "help me write to Jens, he's my boss" the rest."""
    asks = _asks()
    if asks.begins.match(sentence):
        if asks.standing.search(sentence):
            return sentence
        return " ".join(each for each in _PART.split(sentence)[1:] if asks.told.match(each))
    *before, last = _PART.split(sentence.rstrip())
    if "?" in last or (before and asks.ends.match(last)):
        first = next((at for at, each in enumerate(before) if asks.begins.match(each)), len(before))
        told = " ".join(before[:first])
        return told if asks.states.search(told) and "?" not in told else ""
    imagined = _SUPPOSES.search(sentence) is not None and _WOULD.search(sentence) is not None
    return "" if imagined or "?" in sentence else sentence


class _Asks(NamedTuple):
    """How a sentence begins that asks for something; how one ends; how a part begins that tells
    something after a question; by which words one tells something before a question; and by which
    a request is for always."""

    begins: re.Pattern[str]
    ends: re.Pattern[str]
    told: re.Pattern[str]
    states: re.Pattern[str]
    standing: re.Pattern[str]


@cache
def _asks() -> _Asks:
    written = data("beliefledger.projections", "open_sentences.yaml")
    any_of = {name: "|".join(each) for name, each in written.items()}
    return _Asks(
        begins=compile_later(
            rf"\A\W*+(?:(?:{any_of['openers']})\b\W*+){{0,3}}(?:{any_of['begins']})"
        ),
        ends=compile_later(rf"(?:{any_of['ends']})\W*+\Z"),
        told=compile_later(any_of["told"]),
        states=compile_later(rf"\b(?:{any_of['states']})\b"),
        standing=compile_later(rf"\b(?:{any_of['standing']})\b"),
    )
