"""The words of a claim, taken apart: what counts, whom it names, numbers, denials. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.data_files import data
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.memory import Memory

_TOKEN = compile_later(
    r"(?:(?<!\w)[-−]?\.?)?\d+(?:[.,:/]\d+)*\w*|[^\W\d_]+\d\w*|(?:(?<!\w)\.)?[^\W_]+[+#]*|[$€£¥%°]"
)
_NOT = compile_later(r"n't\b", re.I)
_THOUSANDS = compile_later(r"(?<=\d),(?=\d{3}\b)")
_HAVE = frozenset({"has", "have", "had"})
_TENS = frozenset({"20", "30", "40", "50", "60", "70", "80", "90"})


@dataclass(frozen=True)
class Lexicon:
    phrases: dict[str, str]
    phrase: re.Pattern[str]
    """Any of them, the longest first."""
    function: frozenset[str]
    light: frozenset[str]
    light_verbs: frozenset[str]
    negations: frozenset[str]
    past: frozenset[str]
    directed: frozenset[str]
    alike: dict[str, frozenset[str]]
    forms: dict[str, str]
    past_forms: dict[str, str]
    numbers: dict[str, str]
    dates: frozenset[str]


@cache
def lexicon() -> Lexicon:
    read = data("beliefledger.gate", "rephrasing.yaml")
    alike: dict[str, set[str]] = {}
    for number, line in enumerate(read["alike"]):
        for word in line.split():
            alike.setdefault(word, set()).add(f"={number}")
    longest_first = "|".join(map(re.escape, sorted(read["phrases"], key=len, reverse=True)))
    return Lexicon(
        phrases=read["phrases"],
        phrase=re.compile(rf"\b(?:{longest_first})\b", re.I),
        alike={word: frozenset(found) for word, found in alike.items()},
        forms=read["forms"],
        past_forms=read["past_forms"],
        numbers=read["numbers"],
        **{
            name: frozenset(read[name].split())
            for name in (
                "function",
                "light",
                "light_verbs",
                "negations",
                "past",
                "directed",
                "dates",
            )
        },
    )


@dataclass(frozen=True)
class Word:
    """A word of a claim, with every form and synonym that it may be compared by."""

    text: str
    keys: frozenset[str]
    name: bool = False
    light: bool = False
    past: bool = False
    """Whether it is a past form: over, or done."""

    def like(self, other: Word) -> bool:
        shared = self.keys & other.keys
        if self.name and other.name:
            return self.text == other.text or any(key.startswith("=") for key in shared)
        return bool(shared)


@dataclass(frozen=True)
class Words:
    """What the claim says, taken apart."""

    content: tuple[Word, ...]
    names: tuple[tuple[str, bool], ...]
    """The names in it, in order, the subject's too; True for a possessive."""
    numbers: tuple[str, ...]
    negations: int
    past: bool
    directed: frozenset[str]
    value: tuple[Word, ...] = ()

    @classmethod
    def of(cls, memory: Memory) -> Words:
        claim = words_of(memory.claim)
        if memory.value in memory.claim:
            return claim
        value = words_of(memory.value)
        more = tuple(each for each in value.numbers if each not in claim.numbers)
        return cls(
            claim.content,
            claim.names,
            claim.numbers + more,
            claim.negations,
            claim.past,
            claim.directed,
            value.content,
        )


class Sort(NamedTuple):
    """What is known of a word without its sentence. `keys` holds its possible base forms and its
    groups of synonyms."""

    name: str
    keys: frozenset[str]
    light: bool
    light_verb: bool
    past: bool


@lru_cache(maxsize=20_000)
def sort_of(word: str) -> Sort:
    known = lexicon()
    base = known.forms.get(word) or known.past_forms.get(word)
    found = {word, *_stems(word)} if base is None else {base}
    keys = frozenset(found).union(*(known.alike.get(each, ()) for each in found))
    name = "content"
    if word == SELF.casefold():
        name = "self"
    elif word in known.negations:
        name = "negation"
    elif word in known.numbers or any(letter.isdigit() for letter in word):
        name = "number"
    elif word in known.past:
        name = "over"
    elif word in known.function:
        name = "function"
    return Sort(
        name,
        keys,
        not keys.isdisjoint(known.light),
        not keys.isdisjoint(known.light_verbs),
        word in known.past_forms
        or (len(word) > 3 and word.endswith("ed") and not word.endswith("eed")),
    )


def forget() -> None:
    """Empty the cache, which may hold words of an erased subject."""
    sort_of.cache_clear()


def _stems(word: str) -> set[str]:
    """The word without a possible ending, and with the e that the ending may have swallowed."""
    found = set()
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        found.add(word[:-1])
        if word.endswith("ies"):
            found.add(word[:-3] + "y")
        elif word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
            found.add(word[:-2])
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < 2 or not re.search("[aeiouy]", stem):
            continue
        found |= {stem, stem + "e"}
        if len(stem) > 3 and stem[-1] == stem[-2]:
            found.add(stem[:-1])
        if ending == "ed" and stem.endswith("i"):
            found.add(stem[:-1] + "y")
    return found


def words_of(text: str) -> Words:
    known = lexicon()
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    plain = _THOUSANDS.sub("", _NOT.sub(" not", plain))
    for _ in range(2):  # what stands for a phrase may be part of another
        plain = known.phrase.sub(lambda found: known.phrases[found.group().casefold()], plain)
    tokens = list(_TOKEN.finditer(plain))
    words = [found.group().casefold() for found in tokens]
    content: list[Word] = []
    names: list[tuple[str, bool]] = []
    numbers: list[str] = []
    directed: set[str] = set()
    negations, over, tens = 0, False, False
    for at, (found, word) in enumerate(zip(tokens, words, strict=True)):
        sort = sort_of(word)
        unit, tens = tens, False
        if sort.name == "negation":
            negations += 1
        elif sort.name == "number":
            number = known.numbers.get(word, word)
            if unit and len(number) == 1:
                numbers[-1] = str(int(numbers[-1]) + int(number))
            else:
                numbers.append(number)
            tens = number in _TENS and word in known.numbers
        elif sort.name == "over":
            over = True
        elif word in _HAVE and at + 1 < len(words) and sort_of(words[at + 1]).past:
            over = over or word == "had"
        elif sort.name != "function":
            upper = sort.name == "self" or found.group()[0].isupper()
            if upper and word not in known.dates:
                theirs = plain.startswith("'s", found.end()) or "of" in words[max(0, at - 2) : at]
                names.append((word, theirs))
            if sort.name == "self":
                continue
            if word in known.directed:
                directed.add(word)
            verb = sort.light_verb and (word.endswith("ing") or (at and words[at - 1] == "to"))
            light = sort.light or bool(verb)
            content.append(Word(word, sort.keys, upper and at > 0, light, sort.past))
    return Words(tuple(content), tuple(names), tuple(numbers), negations, over, frozenset(directed))
