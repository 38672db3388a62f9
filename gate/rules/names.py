"""Names as they stand in a sentence, and whom it is about."""

from __future__ import annotations

from typing import NamedTuple

from beliefledger.gate.rules.lexicon import GIVEN, WORDS, Form, load, verb_form
from beliefledger.gate.rules.words import Token

DATA = {name: frozenset(str(words).split()) for name, words in load("named.yaml").items()}
NO_NAMES = DATA["no_names"]


class Subject(NamedTuple):
    """Whom a sentence is about: names in their order, the tokens [begin, end) of all of them, and
    who is said not to be meant ("Anna, not Ben, …")."""

    names: tuple[str, ...]
    begin: int
    end: int
    wrong: str | None = None
    title: bool = False


def is_no_name(low: str) -> bool:
    """Whether a word behind "is" names nobody, whatever letter it begins with: "my landlord is
    Trying to evict us", "my boss is Always late"."""
    if low in GIVEN:
        return False
    lemma, form = verb_form(low)
    doing = form is Form.ING and lemma != low
    return doing or low in DATA["traits"] or any(low in WORDS[each] for each in _ADVERBS)


_ADVERBS = ("adverbs", "habit_adverbs", "negligible")


def name_end(words: list[Token], at: int) -> int:
    """One past the name that begins at `at`: "Sarah", "S. Chen", "Dr. Jamie Griffon"."""
    begin = end = at
    while end < min(len(words), at + 7):
        token = words[end]
        dotted = end + 1 < len(words) and words[end + 1].text == "."
        if token.low in DATA["honorifics"] and token.text[0].isupper():
            end += 1 + dotted
            begin = end if begin == end - 1 - dotted else begin
        elif token.low in DATA["degrees"] and end > begin and token.text[0].isupper():
            end += 1 + dotted
        elif len(token.text) == 1 and token.text.isalpha() and token.text.isupper() and dotted:
            end += 2
        elif (
            token.text == "&" and begin < end < len(words) - 1 and words[end + 1].text[0].isupper()
        ) or _capital(token):
            end += 1
        else:
            break
    if end == at or words[end - 1].text == "&":
        return at
    named = [t for t in words[at:end] if _capital(t) and t.low not in DATA["honorifics"]]
    if not named or named[0].low in DATA["no_names"] or named[0].low in WORDS["not_names"]:
        return at
    return end


def _capital(token: Token) -> bool:
    contracted = token.low.rpartition("'")[2] in _CONTRACTED and "'" in token.low
    return (
        token.text[0].isupper() and token.text[0].isalpha() and len(token.text) > 1
        and not contracted
    )  # fmt: skip


_CONTRACTED = frozenset("s ve re ll d m t".split())
