"""Finds statements of user-defined types by their patterns, such as "take {dose} of {name}".

A pattern's words match in any form of a verb, its fields take the words between. Adverbs are passed
over; "not" is, too, unless the pattern has it, so that a negated statement is of the type as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from beliefledger.gate import deadline
from beliefledger.gate.registry import VALUE, MemoryType, Registry, SlotRule, placeholders
from beliefledger.gate.rules.clauses import Clause, clauses
from beliefledger.gate.rules.findings import (
    NEVER,
    Reading,
    RuleFinding,
    capped,
    claim_of,
    span_of,
    to_candidate,
)
from beliefledger.gate.rules.lexicon import BASES, WORDS, Form, verb_form
from beliefledger.gate.rules.phrases import phrase_end, retell, slug, text_of, trim
from beliefledger.gate.rules.words import Token, clause_end, tokens
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import SELF, Candidate, SpeechAct, When
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.late_patterns import compile_later

IMPORTANCE, CONFIDENCE = 800, 900
_LONGEST = 1_200
_MOST_WORDS = 40
"""The most words of a field."""
_NOT = "not"
_NEGATIONS = {"cannot": ("can", _NOT), "can't": ("can", _NOT), "won't": ("will", _NOT)}
_BE = frozenset({"am", "is", "are", "was", "were", "been", "being"})
_NEVER = frozenset({_NOT, "never"})
_OF = frozenset({"of"})
_NOW = frozenset({"present", "continuous", "perfect", "perfect-continuous"})
_BEGINNING = frozenset({"start", "started", "began", "begun"})
_ENDING = frozenset({"stop", "stopped", "quit"})
_CUTS = frozenset(
    "every each twice once daily weekly monthly nightly these nowadays and because so".split()
) | frozenset(",;.!?")
"""Words that end a field: frequencies, and the beginning of another clause."""


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """What a pattern found: fields by name in the words they were said in; token offsets."""

    fields: Mapping[str, str]
    start: int
    stop: int
    pattern_words: frozenset[str]
    begin: int | None = None
    """Where this item of a list begins, if it is not the first."""


@dataclass(frozen=True, slots=True)
class Reshaped:
    """A statement in its type's own terms. `missing` names required fields that were not said; then
    there is no attribute and no value."""

    fields: Mapping[str, str]
    attribute: str = ""
    value: str = ""
    missing: tuple[str, ...] = ()


@lru_cache(maxsize=8192)
def _normal(low: str) -> tuple[str, ...]:
    """A word in the form in which words are compared: verbs in their base, "n't" apart."""
    if low in _NEGATIONS:
        return _NEGATIONS[low]
    if low.endswith("n't"):
        return (*_normal(low[:-3]), _NOT)
    if low in _BE or low in ("'m", "'re"):
        return ("be",)
    if low in BASES:
        return (BASES[low],)
    lemma, form = verb_form(low)
    if lemma == low and form is Form.ING:
        lemma = low.removesuffix("ing")
    return (lemma,)


class Pattern:
    """One pattern, compiled. With `anchored`, it fits at the beginning only."""

    def __init__(self, pattern: str, *, anchored: bool = False) -> None:
        parts = _PARTS.split(pattern)
        self.fields = tuple(placeholders(pattern))
        self.words = frozenset(
            word for part in parts if not part.startswith("{") for word in _normalised(part)
        )
        self._keeps_not = bool(self.words & _NEVER)
        said = "".join(
            f"(?P<{part[1:-1]}>(?:\\S+ ){{1,{_MOST_WORDS}}}?)"
            if part.startswith("{")
            else "".join(f"{re.escape(word)} " for word in _normalised(part))
            for part in parts
        )
        if said.endswith("?)"):  # the last field takes all that is left
            said = said.removesuffix("?)") + ")"
        self._expression = re.compile(r"(?<!\S)" + said)
        self._find = self._expression.match if anchored else self._expression.search
        rest = pattern[pattern.index("{") :]
        self._next = self if anchored else None
        if not anchored and _PARTS.sub("", rest).strip():
            self._next = Pattern(rest, anchored=True)

    def find(
        self, content: str, words: list[Token], begin: int, stop: int
    ) -> Iterator[PatternMatch]:
        """The first place in words[begin:stop] that the pattern fits; and what a list goes on with
        there ("50 mg of sertraline and 20 mg of omeprazole")."""
        pattern: Pattern | None = self
        start = None
        while pattern is not None:
            found = pattern.first(content, words, begin, stop)
            if found is None:
                return
            if start is None:
                start = found.start
                yield found
            else:
                yield replace(found, start=start, pattern_words=self.words, begin=begin)
            begin, pattern = found.stop, self._next
            while begin < stop and words[begin].low in ("and", ",", "plus"):
                begin += 1
            if begin == found.stop:
                return

    def first(self, content: str, words: list[Token], begin: int, stop: int) -> PatternMatch | None:
        """The first place in words[begin:stop] that the pattern fits."""
        normal: list[str] = []
        at: list[int] = []
        for index in range(begin, stop):
            low = words[index].low
            if low in WORDS["adverbs"] and low not in self.words and low not in _NEVER:
                continue
            for word in _normal(low):
                if word not in _NEVER or self._keeps_not:
                    normal.append(word)
                    at.append(index)
        if not self.words.issubset(normal):
            return None
        match = self._find(" ".join(normal) + " ")
        if match is None:
            return None
        joined = match.string
        fields: dict[str, str] = {}
        last = begin
        for name in self.fields:
            first = at[joined.count(" ", 0, match.start(name))]
            ends = at[joined.count(" ", 0, match.end(name)) - 1] + 1
            ends = phrase_end(words, first, _cut(words, first, ends), _OF)
            first, ends = trim(words, first, ends)
            if first >= ends:
                return None
            fields[name] = text_of(content, words, first, ends)
            last = max(last, ends)
        return PatternMatch(fields, at[joined.count(" ", 0, match.start())], last, self.words)


_PARTS = compile_later(r"(\{[^{}]*\})")


def _normalised(text: str) -> list[str]:
    return [word for token in tokens(text, 0, len(text)) for word in _normal(token.low)]


def _cut(words: Sequence[Token], start: int, stop: int) -> int:
    """Where "every morning" or "and …" begins, if it does within."""
    return next((at for at in range(start + 1, stop) if words[at].low in _CUTS), stop)


class Custom:
    """A type's patterns, compiled."""

    def __init__(self, kind: MemoryType, patterns: Sequence[str] | None = None) -> None:
        self.kind = kind
        self.patterns = tuple(
            Pattern(each) for each in (kind.patterns if patterns is None else patterns)
        )

    def find(self, content: str, words: list[Token], begin: int, stop: int) -> list[PatternMatch]:
        """What is found in words[begin:stop]: of several patterns that fit, by the one that finds
        most fields."""
        said = {word for token in words[begin:stop] for word in _normal(token.low)}
        fit = [each for each in self.patterns if each.words <= said]
        found = [list(each.find(content, words, begin, stop)) for each in fit]
        return max(found, key=lambda each: len(each[0].fields) if each else 0, default=[])

    def in_claim(self, claim: str) -> Mapping[str, str] | None:
        """The fields that a claim about anybody ("User takes 50 mg of sertraline") has."""
        words = tokens(claim, 0, len(claim))
        found = self.find(claim, words, 0, len(words))
        return found[0].fields if found else None

    def reshaped(
        self, fields: Mapping[str, str], attribute: str | None = None, value: str | None = None
    ) -> Reshaped:
        """What a statement with these fields says in the type's own terms.

        `attribute` and `value` are what it had before; they stay where the type leaves them open.
        """
        kind = self.kind
        missing = tuple(
            name for name, field in kind.fields.items() if field.required and not fields.get(name)
        )
        if missing:
            return Reshaped(fields, missing=missing)
        own = {name: text for name, text in fields.items() if name in kind.fields}
        slugs = {name: slug(text) for name, text in fields.items()}
        key = attribute or kind.name
        if kind.attribute is not None:
            key = kind.attribute.format_map(slugs | {VALUE: slugs.get(VALUE, "it")})
        return Reshaped(own, key, self._value(fields) or value or next(iter(fields.values())))

    def _value(self, fields: Mapping[str, str]) -> str | None:
        kind = self.kind
        if VALUE in fields:
            return fields[VALUE]
        in_key = set(placeholders(kind.attribute or ""))
        said = (
            placeholders(kind.value) if kind.value else [n for n in kind.fields if n not in in_key]
        )
        words = [fields[name] for name in said if name in fields]
        return " ".join(words) or next((fields[n] for n in kind.fields if n in fields), None)


def keyed(candidate: Candidate, registry: Registry) -> Candidate:
    """The candidate with the key and value that its user-defined type gives it, whoever noticed it;
    unchanged if it lacks a required field."""
    kind = registry.types.get(candidate.type)
    if kind is None or kind.attribute is None or not candidate.fields:
        return candidate
    shaped = Custom(kind, ()).reshaped(candidate.fields, value=candidate.value)
    if shaped.missing:
        return candidate
    return candidate.model_copy(update={"attribute": shaped.attribute, "value": shaped.value})


class Noticing:
    """Notices statements of added types in turns. Safe to use from several threads."""

    def __init__(self, types: Callable[[], Registry]) -> None:
        self._types = types
        self._compiled: tuple[Registry | None, tuple[Custom, ...]] = (None, ())

    def _customs(self) -> tuple[Custom, ...]:
        registry = self._types()
        known, customs = self._compiled
        if known is not registry:
            customs = tuple(Custom(kind) for kind in registry.added() if kind.patterns)
            self._compiled = (registry, customs)
        return customs

    def keeps_notes(self) -> bool:
        """Whether notes are a type in force."""
        return self._types().keeps_notes()

    def beside(self, found: Iterable[Candidate], text: str, said_at: int) -> list[Candidate]:
        """These candidates and those of user-defined types, in order of their spans. A statement of
        a user-defined type replaces a fact made of the same words."""
        customs = self._customs()
        if not customs:
            return list(found)
        own = [
            candidate
            for start, end in sentences(text)
            if end - start <= _LONGEST
            for custom in customs
            for candidate in _in_sentence(custom, text, start, end, said_at)
        ]
        others = [each for each in found if not any(_same_words(each, other) for other in own)]
        return sorted([*others, *own], key=lambda c: (c.spans[0].start, c.spans[0].end))


def _same_words(generic: Candidate, own: Candidate) -> bool:
    """Whether a built-in rule's statement is about words that an added type's candidate uses."""
    ours, theirs = own.spans[0], generic.spans[0]
    if generic.type == own.type or theirs.turn or theirs.start >= ours.end:
        return False
    texts = (own.value, *own.fields.values())
    said = {word.lower() for text in texts for word in text.split()}
    value = {word.lower() for word in generic.value.split()}
    return theirs.end > ours.start and bool(said & value)


def _in_sentence(
    custom: Custom, text: str, start: int, end: int, said_at: int
) -> Iterator[Candidate]:
    words = tokens(text, start, end)
    reading = Reading(text, words, said_at, "first")
    for clause in clauses(words):
        deadline.check()
        for found in custom.find(text, words, clause.subject + 1, clause.stop):
            ended = words[clause.verb].low in _ENDING and found.start > clause.verb
            if _holds(custom, clause, found, words):
                begin, finish, when = span_of(reading, clause, max(found.stop, clause.tail))
                item = found.begin if clause.lemma != "be" else None
                claim = claim_of(reading, clause, found.stop, item)
                finding = _finding(custom, reading, found, claim, (begin, finish), when)
                if finding is not None:
                    negated = clause.negated != ended
                    finding = finding._replace(act=SpeechAct.REMOVAL if ended else None)
                    yield _candidate(found, finding._replace(negated=negated), said_at)
    if words and words[0].low in ("my", "our"):
        for found in custom.find(text, words, 1, clause_end(words, 1, "present")):
            if found.start > 1:
                break  # it is about somebody of theirs
            told = capped(retell(text, words, 1, found.stop, "first"))
            span = (words[0].start, words[found.stop - 1].end)
            finding = _finding(custom, reading, found, f"{SELF}'s {told}", span, NEVER)
            if finding is not None:
                negated = any(_NOT in _normal(word.low) for word in words[: found.stop])
                yield _candidate(found, finding._replace(negated=negated), said_at)


def _holds(custom: Custom, clause: Clause, found: PatternMatch, words: Sequence[Token]) -> bool:
    """Whether the clause itself says what the pattern found, and says it of now. A type of events
    takes the past, too."""
    if found.start > clause.verb + 1:
        return False
    if custom.kind.slot is SlotRule.CONTENT:
        return True
    if clause.tense == "modal":
        return clause.modal in found.pattern_words
    lately = words[clause.verb].low in _BEGINNING | _ENDING and found.start > clause.verb
    return lately or clause.tense in _NOW


def _finding(
    custom: Custom,
    reading: Reading,
    found: PatternMatch,
    claim: str,
    span: tuple[int, int],
    when: When,
) -> RuleFinding | None:
    shaped = custom.reshaped(found.fields)
    if shaped.missing:
        return None
    return RuleFinding(
        reading.content, *span, claim, custom.kind.name, shaped.attribute, shaped.value,
        IMPORTANCE, CONFIDENCE, category=custom.kind.category, when=when,
    )  # fmt: skip


def _candidate(found: PatternMatch, finding: RuleFinding, said_at: int) -> Candidate:
    fields = {name: text for name, text in found.fields.items() if name != VALUE}
    return to_candidate(finding, said_at).model_copy(update={"fields": fields})


def forget() -> None:
    """Empty the cache, which may hold words of an erased subject."""
    _normal.cache_clear()
