"""Sentence patterns: compiled from `statements.yaml`, matched against a clause's words.

A pattern is lemma alternatives followed by literals, optional parts and slots. Matching walks the
words once with a little backtracking for the optional parts; it never looks outside the clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from beliefledger.gate.calendar_names import MONTHS
from beliefledger.gate.rules.clauses import Clause
from beliefledger.gate.rules.lexicon import GIVEN, MANY, ONE, WORDS, load
from beliefledger.gate.rules.phrases import phrase_end, trim
from beliefledger.gate.rules.words import Token
from beliefledger.ledger.late_patterns import compile_later

Range = tuple[int, int]
Slots = dict[str, Range]

NOW = frozenset({"present", "continuous", "perfect-continuous"})
PAST = frozenset({"past", "perfect"})
TENSES = {"now": NOW, "past": PAST, "any": NOW | PAST | {"past-continuous"}}


class Literal(NamedTuple):
    """One word out of some."""

    words: frozenset[str]


class Slot(NamedTuple):
    """A place for words of some kind."""

    name: str
    kind: str


class Maybe(NamedTuple):
    """Elements that may be left out together."""

    elements: tuple[Element, ...]


Element = Literal | Slot | Maybe


class Rule(NamedTuple):
    """A pattern, the tenses it holds in, and what it says, as written in the data."""

    elements: tuple[Element, ...]
    tenses: frozenset[str]
    says: Mapping[str, Any]
    needs: tuple[frozenset[str], ...]
    """Sets of words: a clause that fits has one of each."""


_PART = compile_later(r"\[[^\]]*\]|\{[^}]*\}|\S+")


def parse(say: str) -> tuple[Element, ...]:
    """The elements of a pattern's words."""
    found: list[Element] = []
    for part in _PART.findall(say):
        if part.startswith("["):
            found.append(Maybe(parse(part[1:-1])))
        elif part.startswith("{"):
            name, _, kind = part[1:-1].partition(":")
            found.append(Slot(name, kind or "whole"))
        else:
            found.append(Literal(frozenset(part.lower().split("|"))))
    return tuple(found)


def slots_of(says: Mapping[str, Any]) -> list[Slot]:
    """The slots that a rule's words always have."""
    return [part for part in parse(says["say"]) if isinstance(part, Slot)]


def _tenses(text: str) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for word in text.split():
        found |= TENSES.get(word, frozenset({word}))
    return found


def load_rules() -> dict[str, list[Rule]]:
    """The rules by the lemma they begin with, in the order of the file; "*" fits any lemma."""
    found: dict[str, list[Rule]] = {}
    order: list[tuple[str, Rule]] = []
    for says in load("statements.yaml"):
        first, _, rest = says["say"].partition(" ")
        elements = parse(rest)
        rule = Rule(elements, _tenses(says.get("in", "now")), says, _needs(elements, says))
        lemmas = says.get("verbs", ["*"]) if first == "*" else first.split("|")
        order += [(lemma, rule) for lemma in lemmas]
    lemmas_named = {lemma for lemma, _ in order}
    for lemma in lemmas_named:
        found[lemma] = [rule for named, rule in order if named in (lemma, "*")]
    return found


def _needs(elements: tuple[Element, ...], says: Mapping[str, Any]) -> tuple[frozenset[str], ...]:
    """What a clause must have for a rule, told without matching: most rules fail by that."""
    found = [each.words for each in elements if isinstance(each, Literal)]
    found += [
        frozenset(str(words).split()[0] for words in says[key])
        for key in ("only", "heads")
        if isinstance(says.get(key), list)
    ]
    if "any_of" in says:
        found.append(WORDS[says["any_of"]])
    last = elements[-1] if elements else None
    if isinstance(last, Slot) and last.kind == "kind":
        found.append(frozenset(KINDS))
    return tuple(found)


KINDS: dict[str, tuple[str, Mapping[str, Any]]] = {
    word: (name, entry)
    for name, entry in load("kinds.yaml").items()
    for word in entry["words"].split()
}
PERSONS = ONE | MANY
WORDS_ROLE_ENDINGS = (
    "eer", "ologist", "ician", "ographer", "cist", "mist", "ntist", "nist", "list", "lyst", "tor",
    "ner", "wright", "keeper", "maker", "driver", "worker", "writer", "teacher", "manager",
    "officer", "planner", "developer", "programmer", "designer", "consultant", "accountant",
    "assistant", "attendant", "lawyer", "chanic", "ecturer", "osopher", "dresser",
)  # fmt: skip
_OF = frozenset({"of"})
_OF_TO = frozenset({"of", "to", "with", "by"})
_PLACE = frozenset({"of"})


def match(rule: Rule, clause: Clause, low: set[str]) -> Slots | None:
    """The slots of a rule in the words after the clause's verb, which are `low`, or None."""
    for words in rule.needs:
        if words.isdisjoint(low):
            return None
    for slots in _walk(rule.elements, 0, clause.verb + 1, clause.stop, clause.tokens):
        return slots
    return None


def _walk(
    elements: tuple[Element, ...], index: int, at: int, stop: int, words: list[Token]
) -> Iterator[Slots]:
    if index == len(elements):
        yield {}
        return
    element = elements[index]
    if not isinstance(element, Slot):
        while at < stop and words[at].low in WORDS["negligible"] and not _names(element, words[at]):
            at += 1
    if isinstance(element, Maybe):
        rest = elements[index + 1 :]
        yield from _walk(element.elements + rest, 0, at, stop, words)
        yield from _walk(rest, 0, at, stop, words)
    elif isinstance(element, Literal):
        if at < stop and words[at].low in element.words:
            yield from _walk(elements, index + 1, at + 1, stop, words)
    else:
        following = elements[index + 1] if index + 1 < len(elements) else None
        for begin, end in _slot(element, following, at, stop, words):
            for slots in _walk(elements, index + 1, end, stop, words):
                first, last = trim(words, begin, end)
                if first < last:
                    yield {element.name: (first, last), **slots}


def _names(element: Element, word: Token) -> bool:
    return isinstance(element, Literal) and word.low in element.words


def _slot(
    slot: Slot, following: Element | None, at: int, stop: int, words: list[Token]
) -> Iterator[Range]:
    """The ranges that a slot could take at `at`."""
    while at < stop and words[at].low in WORDS["negligible"] and words[at].text.islower():
        at += 1
    if at >= stop:
        return
    if isinstance(following, Literal):
        for end in range(at + 1, stop):
            if words[end].low in following.words:
                if slot.kind != "thing" or phrase_end(words, at, end, _OF) == end:
                    yield at, end
                return
        return
    end = _kind_end(slot.kind, at, stop, words)
    if end > at:
        yield at, end


def _kind_end(kind: str, at: int, stop: int, words: list[Token]) -> int:
    """Where a slot of a kind that begins at `at` ends; `at` itself when nothing fits."""
    first = words[at]
    if kind == "whole":
        return stop
    if kind in ("name", "person"):
        end = at
        if kind == "person" and first.low == "my":
            end = at + 1
            while end < stop and words[end].low not in PERSONS and end < at + 4:
                end += 1
            if end >= stop or words[end].low not in PERSONS:
                return at
            end += 1
        begin = end
        while end < min(stop, begin + 3) and words[end].text[0].isupper():
            end += 1
        return end
    if kind == "number":
        good = (first.low.isdigit() and 0 < int(first.low[:4]) < 120) or _years_old(first.low)
        return at + 1 if good else at
    if kind == "year":
        return at + 1 if is_year(first.low) else at
    if kind == "date":
        return _date_end(at, stop, words)
    if kind == "city":
        known = first.low in WORDS["places"]
        return at + 1 if known else _kind_end("name", at, stop, words)
    if kind == "word":
        return at + 1
    if kind == "kind":
        return at + 1 if first.low in KINDS else at
    if kind == "gerund":
        return phrase_end(words, at, stop, _OF) if first.low.endswith("ing") else at
    if kind == "liked":
        return phrase_end(words, at, stop, _OF_TO if first.low == "to" else _OF)
    if kind == "owned":
        fits = first.low in WORDS["determiners"] or first.low.isdigit()
        return phrase_end(words, at, stop, _OF) if fits else at
    if kind == "trip":
        end = phrase_end(words, at, stop, _OF)
        return stop if any(w.low in WORDS["trips"] for w in words[at:end]) else at
    if kind == "place":
        if first.text[0].isdigit() or is_year(first.low):
            return at
        if first.text.removesuffix("s") in WORDS["time_units"] or first.low.endswith("day"):
            return at  # "moved to friday", of a meeting
        end = phrase_end(words, at, stop, _PLACE)
        end = next((i for i in range(at + 1, end - 1) if _ends_a_place(words, i)), end)
        named = any(token.text[0].isupper() for token in words[at:end])
        named = named or first.low in WORDS["places"]
        with_care = any(token.text[0].isupper() and token.low not in GIVEN for token in words)
        return end if named or not with_care else at
    if kind == "org":
        end = phrase_end(words, at, stop, _OF)
        named = any(token.text[0].isupper() for token in words[at:end])
        typed_low = not any(token.text[0].isupper() for token in words)
        return end if named or typed_low or first.low in ("a", "an", "the", "my") else at
    if kind == "role":
        end = phrase_end(words, at, stop, _OF)
        end = next((i for i in range(at, end) if words[i].low in ("and", ",", "or")), end)
        head = _head(words, at, end)
        of = {word.low for word in words[head + 2 : end]}
        if (
            head - at > 4
            or end - at > 9
            or first.low in ("bit", "little", "lot", "big", "huge", "good", "great")
        ):
            return at
        low = words[head].low
        leads = bool(of) and (
            low in WORDS["heads_of"]
            or (low in WORDS["owners"] and not WORDS["businesses"].isdisjoint(of))
        )
        return end if leads or is_job(low) else at
    return phrase_end(words, at, stop, _OF)


def _ends_a_place(words: list[Token], at: int) -> bool:
    """Whether a place is told in full before the word at `at`: "Cardiff, 950 a month"."""
    following = words[at + 1].text
    return words[at].low == "," and (following[0].isdigit() or following[0] in "$€£")


_MONTHS = frozenset((*MONTHS, *(each[:3] for each in MONTHS), "sept"))
_YEAR = compile_later(r"(?:19|20)\d\d|['’]\d\d")
_DAY = compile_later(r"\d{1,2}(?:st|nd|rd|th)?(?:[./-]\d{1,2}(?:[./-]\d{2,4})?)?")


def _date_end(at: int, stop: int, words: list[Token]) -> int:
    """One past a date at `at` that names a month or is written in figures; `at` where there is
    none."""
    end, told = at, False
    while end < stop and (
        (month := words[end].low in _MONTHS)
        or words[end].low in ("the", "of", ",")
        or _DAY.fullmatch(words[end].low)
        or is_year(words[end].low)
    ):
        told = told or month or not words[end].text.isalnum()
        end += 1
    return end if told and words[at].low != "," else at


def _head(words: list[Token], at: int, end: int) -> int:
    """The head of a noun phrase: the word before "of", else the last."""
    for index in range(at + 1, end):
        if words[index].low == "of" or words[index].low == ",":
            return index - 1
    return end - 1


def is_year(low: str) -> bool:
    """Whether a word is a year as people write it: 1990, '90."""
    return _YEAR.fullmatch(low) is not None


def is_role(low: str) -> bool:
    """Whether a noun says what somebody does for a living."""
    return low in WORDS["roles"] or (
        low.endswith(WORDS_ROLE_ENDINGS)
        and low not in WORDS["not_roles"]
        and not is_pastime(low)
        and len(low) > 5
    )


def is_pastime(low: str) -> bool:
    """Whether a noun says what somebody does for pleasure: a cyclist."""
    return low in WORDS["pastimes"]


def is_job(low: str) -> bool:
    """As `is_role`, of what takes the place of another job: who is a father is still a nurse."""
    return is_role(low) and low not in WORDS["no_jobs"]


def _years_old(low: str) -> bool:
    return low.endswith(("-year", "-years-old", "year-old"))
