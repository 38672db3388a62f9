"""The members of a plain list: "hiking, jazz and tea"."""

from __future__ import annotations

from beliefledger.gate.rules.lexicon import WORDS, Form, verb_form
from beliefledger.gate.rules.patterns import Range
from beliefledger.gate.rules.phrases import tidy
from beliefledger.gate.rules.words import Token


def _is_paired(words: list[Token], at: int) -> bool:
    """Whether the "and" at `at` is within one thing: "mac and cheese"."""
    beside = words[at - 1].low, words[min(at + 1, len(words) - 1)].low
    return "-".join(beside) in WORDS["pairs"]


def items(words: list[Token], begin: int, end: int) -> list[Range]:
    """The members of a plain list ("hiking, jazz and tea"); else the whole as one."""
    found: list[Range] = []
    start = begin
    for at in range(begin, end + 1):
        if at == end or (words[at].low in (",", "and", "or", "&") and not _is_paired(words, at)):
            if at > start:
                found.append((_after_amount(words, start, at), at))
            start = at + 1
    if (
        len(found) < 2
        or any(b - a > 3 for a, b in found)
        or words[begin].low in ("the", "both", "to")
    ):
        return [(begin, end)]
    # "sharing my skills and knowledge" is one thing done, "cooking curries and baking" are two.
    does = [verb_form(words[a].low)[1] is Form.ING for a, _ in found]
    if does[0] and found[0][1] - begin > 1 and not any(does[1:]):
        return [(begin, end)]
    # "my friends and family", "salt and pepper": one item's words would not stand alone.
    if not all(tidy(words, a, b) for a, b in found):
        return [(begin, end)]
    # "a fern, ivy and moss" shares its article, "two kids and a dog" does not.
    counted = [words[a].low in WORDS["determiners"] or words[a].low.isdigit() for a, _ in found]
    if any(counted) and not all(counted):
        return [(begin, end)]
    return found


def _after_amount(words: list[Token], begin: int, end: int) -> int:
    """Where an item of a list begins behind how much of it there is: "a bit of Dutch", "fluent
    Spanish"."""
    at = begin
    while at < end - 1 and words[at].low in _AMOUNTS:
        at += 1
    some = at - begin > (words[begin].low == "a")  # "a bit" and not "a cat"
    return at if some and words[at].low != "of" else begin


_AMOUNTS = frozenset("a little bit lot of some fluent basic decent broken passable".split())


def list_end(words: list[Token], at: int) -> int:
    """One past a list of names with figures in brackets, whose first bracket is at `at`: "Anu (5)
    and Dev (3)"; `at` where there is none."""
    end = at
    while end + 2 < len(words) and (words[end].text, words[end + 2].text) == ("(", ")"):
        if not words[end + 1].text[0].isdigit():
            break
        end = at = end + 3
        while end < len(words) and words[end].low in (",", "and", "&"):
            end += 1
        end += end < len(words) and words[end].text[0].isupper()
    return at
