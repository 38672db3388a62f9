"""Words of a sentence, and where a clause among them ends."""

from __future__ import annotations

import re
from typing import NamedTuple

from beliefledger.gate.rules.lexicon import BASES, NEAR, WORDS, Form, verb_form
from beliefledger.ledger.late_patterns import compile_later

_TOKEN = compile_later(
    # A full stop within a sentence makes an ordinal: "the 2. floor".
    r"\d{1,3}\.(?=\s[^\W\d_])|[^\W_]+(?:(?:[-'’.&/@+_:]|,(?=\d{3}))[^\W_]+)*(?:\+\+|\+|#)?|[^\w\s]|_",
    re.UNICODE,
)


class Token(NamedTuple):
    """A word or a mark, its lower-case form with straight apostrophes, and its offsets."""

    text: str
    low: str
    start: int
    end: int


def tokens(text: str, start: int, end: int) -> list[Token]:
    """The words and marks of text[start:end]."""
    low = text[start:end].lower().replace("’", "'")
    if len(low) != end - start:  # "İ" is longer in lower case
        return [
            Token(word[0], word[0].lower().replace("’", "'"), *word.span())
            for word in _TOKEN.finditer(text, start, end)
        ]
    found = []
    for match in _TOKEN.finditer(text, start, end):
        begin, stop = match.span()
        # Called for every word: past the constructor of named tuples, which takes twice as long.
        found.append(_new(Token, (match[0], low[begin - start : stop - start], begin, stop)))
    return found


_new = tuple.__new__


def is_phrasal(words: list[Token], at: int) -> bool:
    """Whether the word at `at`, with which a phrase seldom ends, belongs to its verb: "move in
    together"."""
    return words[at].low == "together" and at > 0 and words[at - 1].low in ("in", "back")


def clause_end(words: list[Token], at: int, tense: str) -> int:
    """One past the last word that still belongs to the clause whose rest begins at `at`."""
    commas = 0
    first = at
    while at < len(words):
        at = after_title(words, at)
        if at >= len(words):
            return at
        low = words[at].low
        following = words[at + 1].low if at + 1 < len(words) else ""
        if low == "." and at + 1 < len(words) and words[at - 1].low in WORDS["titles"]:
            at += 1
            continue
        if low in WORDS["stops"] or (low in "-–—" and _spaced(words, at)):
            return at
        if low == ",":
            if not following or not _list_goes_on(words, at + 1):
                return at
            commas += 1
        elif low in ("and", "or", "but", "so", "then", "plus"):
            if low in ("but", "so", "then") and not (low == "so" and at == first):
                return at
            if _new_predicate(words, at + 1, tense):
                return at
        elif low == "that" and at >= first:
            # "fixing that flat tire" points at a thing; "a lamp that works" goes on about one.
            pointing = at == first or verb_form(words[at - 1].low)[1] in (Form.ING, Form.BASE)
            if not pointing or not following or following in WORDS["clause_words"]:
                return at
        elif low in WORDS["cutters"] and at > first:
            return at
        elif low in ("since", "as", "while", "when", "before", "after", "until", "once", "than"):
            if following in WORDS["subject_words"]:
                return at
        elif (
            low in WORDS["subject_words"]
            and at > first
            and low not in ("you", "it", "that", "this")
        ):
            # A bare subject: a relative clause without its pronoun ("the lamp I bought").
            return at
        at += 1
    return at


_CLOSING = {'"': '"', "“": "”", "'": "'", "‘": "’"}


def after_title(words: list[Token], at: int) -> int:
    """One past the closing mark of the title that opens at `at`, else `at` itself."""
    closing = _CLOSING.get(words[at].text)
    if closing is None or at + 1 >= len(words) or words[at + 1].start > words[at].end:
        return at
    for end in range(at + 2, min(at + 16, len(words))):
        if words[end].text == closing and words[end].start == words[end - 1].end:
            return end + 1
    return at


def _spaced(words: list[Token], at: int) -> bool:
    return words[at].start > words[at - 1].end


def _list_goes_on(words: list[Token], at: int) -> bool:
    """Whether a comma before `at` joins items of a list or an appositive, not clauses."""
    word = words[at]
    if word.low == "not":
        return True
    if word.low in ("and", "or"):
        return (
            at + 1 < len(words)
            and not _new_predicate(words, at + 1, "past")
            and (any(w.low == "," for w in words[max(0, at - 8) : at - 1]))
        )
    if (
        any(w.low in ("is", "are", "was", "were") for w in words[at + 1 : at + 4])
        or word.low in WORDS["subject_words"]
        or word.low in WORDS["cutters"]
        or word.low in WORDS["clause_words"]
        or _another_does(words, at)
        or name_does(words, at)
    ):
        return False
    return (
        word.text[:1].isupper()
        or word.text[:1].isdigit()
        or word.low in WORDS["determiners"]
        or (
            any(w.low in ("and", "or") for w in words[at + 1 : at + 5])
            and verb_form(word.low)[1] is Form.NONE
        )
    )


def _new_predicate(words: list[Token], at: int, tense: str) -> bool:
    """Whether a new subject or a new finite verb comes after a conjunction."""
    while at < len(words) and words[at].low in WORDS["adverbs"]:
        at += 1
    if at >= len(words):
        return True
    low = words[at].low
    if low in WORDS["subject_words"] or low in WORDS["clause_words"]:
        return True
    if _another_does(words, at):
        return True
    if low in ("my", "our"):
        # "my dog and my cat" goes on, "and my boss said" does not.
        return any(verb_form(w.low)[1] in (Form.PAST, Form.PARTICIPLE) or w.low in ("is", "has")
                   for w in words[at + 1 : at + 4])  # fmt: skip
    form = verb_form(low)[1]
    if low == "rent" and at + 1 < len(words) and words[at + 1].low in ("a", "an", "from"):
        return True
    following = words[at + 1] if at + 1 < len(words) else None
    if form is Form.PAST and following is not None and verb_form(following.low)[1] is Form.ING:
        return False  # "organic and paid advertising"
    if tense in ("past", "perfect", "used"):
        return form in (Form.PAST, Form.BASE_OR_PAST) or low in ("am", "was", "have")
    if tense in ("present", "future", "modal"):
        named = words[at].text[0].isupper()  # "Python and Go"
        return form is Form.BASE and low in WORDS["clear_verbs"] and not named
    return form is Form.PAST


def _another_does(words: list[Token], at: int) -> bool:
    """Whether a clause about somebody or something else begins at `at`: "my sister lives in Kiel",
    "the commute takes an hour". A plural that looks like a verb goes on as a noun: "the project
    plans for May"."""
    if words[at].low not in _OWNERS:
        return False
    for verb in range(at + 2, min(at + 5, len(words) - 1)):
        low = words[verb].low
        if not words[verb - 1].text[0].isalpha() or words[verb - 1].low in WORDS["prepositions"]:
            return False
        person = any(w.low in NEAR or w.text[0].isupper() for w in words[at + 1 : verb])
        if low in BASES or low in ("is", "has", "was", "had"):
            return person or words[verb + 1].low not in WORDS["prepositions"] | _JOINING
        if person and verb_form(low)[1] is Form.PAST and low not in ("called", "named"):
            return True
    return False


def name_does(words: list[Token], at: int) -> bool:
    """Whether somebody with a name does something from `at` on: "Alice left"."""
    if not words[at].text[:1].isupper() or at + 1 >= len(words):
        return False
    does = words[at + 1]
    form = verb_form(does.low)[1]
    return does.text.islower() and (form in (Form.PAST, Form.BASE_OR_PAST) or does.low == "died")


_OWNERS = frozenset("my our his her their the".split())
_JOINING = frozenset({"and", "or", ",", ".", "!", ";"})


def without_there(words: list[Token]) -> list[Token]:
    """ "My boss there is called Ruth" as "my boss is called Ruth"."""
    for at in range(2, len(words) - 1):
        if words[at].low == "there" and words[at + 1].low == "is" and words[at - 2].low == "my":
            return words[:at] + words[at + 1 :]
    return words
