"""What somebody else does for a living: "works at Lidl as a cashier", "fixes bikes"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from beliefledger.gate.rules.patterns import is_job
from beliefledger.gate.rules.phrases import phrase_end, text_of
from beliefledger.gate.rules.words import Token

_TRADES = frozenset(
    "fixes repairs paints sells builds bakes cleans cuts designs writes manages cooks coaches "
    "trains delivers walks grows makes installs".split()
)
"""What somebody does for a living, if they do it to things of a kind."""
_LIVING = ["for", "a", "living"]
_OF_NOW = frozenset(
    "the a an my our your his her their its this that these those some many lots us me him them it "
    "sure plans lists things".split()
)
_LONGEST = 4
_OF = frozenset({"of"})


class Job(NamedTuple):
    """Where a sentence tells somebody's role, and at whose: ranges of tokens."""

    role: tuple[int, int]
    employer: tuple[int, int] | None


def is_trade(words: list[Token], at: int, stop: int) -> bool:
    """Whether the verb at `at` and its object tell what somebody does at all times: "fixes bikes",
    "bakes bread for a living"."""
    if words[at].low not in _TRADES:
        return False
    told = [word.low for word in words[at + 1 : stop]]
    if told[-3:] == _LIVING:
        return len(told) > len(_LIVING)
    return 0 < len(told) <= 2 and told[-1].endswith("s") and told[0] not in _OF_NOW


def starts(verb: str, what: list[Token]) -> bool:
    """Whether it tells what somebody is to begin: "starts school in September"."""
    if verb not in ("starts", "start") or _ON_A_DATE.isdisjoint(word.low for word in what[1:]):
        return False
    return what[0].low in _BEGUN or (what[0].low in _OWN and what[1].low in _BEGUN)


_ON_A_DATE = frozenset({"in", "on", "next", "this", "tomorrow"})
"""In words that say when: not "at 9"."""
_OWN = frozenset("a the his her their high primary secondary middle big".split())
_BEGUN = frozenset(
    "school nursery reception kindergarten preschool uni university college work training job "
    "apprenticeship internship degree masters phd course".split()
)


def object_end(words: list[Token], begin: int, stop: int) -> int:
    """One past an object, without "for a living"."""
    told = [word.low for word in words[stop - len(_LIVING) : stop]]
    return stop - len(_LIVING) if told == _LIVING and stop - begin > len(_LIVING) else stop


def job(words: list[Token], verb: str, begin: int, stop: int) -> Job | None:
    """The role in "is a nurse at St Mary's", "works as a florist", "works at Lidl as a cashier"."""
    employer, at = None, begin
    if verb in ("works", "work"):
        if words[begin].low in ("at", "for") and begin + 1 < stop:
            at = phrase_end(words, begin + 1, stop, _OF)
            employer = begin + 1, at
        if at >= stop or words[at].low != "as":
            return None
        at += 1
    if at + 1 >= stop or words[at].low not in ("a", "an"):
        return None
    end = phrase_end(words, at + 1, stop, _OF)
    known = verb in ("works", "work") or is_job(words[end - 1].low)
    if not known or not 0 < end - at - 1 <= _LONGEST:
        return None
    named = end + 1 < stop and words[end].low in ("at", "for") and words[end + 1].text[0].isupper()
    if employer is None and named:
        employer = end + 1, phrase_end(words, end + 1, stop, _OF)
    return Job((at + 1, end), employer)


def told(
    content: str, words: list[Token], known: Job, claim: str
) -> Iterator[tuple[str, str, str]]:
    """What a job tells: the part of the key, the value and the claim of each. The role's claim is
    without the employer, whom they may leave."""
    alone = claim
    if known.employer is not None:
        value = text_of(content, words, *known.employer)
        for link in ("at", "for"):
            alone = alone.replace(f" {link} {value}", "", 1)
        yield "work", value, claim
    yield "role", text_of(content, words, *known.role), alone
