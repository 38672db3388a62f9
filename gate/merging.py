"""When two memories are one said twice, and what they become. Pure.

A cosine cannot tell "likes" from "dislikes" or June from July, so that nearness alone merges
nothing. Here two claims are rephrasings when each word of the one has its like in the other, and
nothing that is counted, dated, denied, permitted or about somebody differs. What is not known to be
alike differs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from typing import NamedTuple

import yaml

from beliefledger.gate.registry import MemoryType, SlotRule
from beliefledger.gate.slots import (
    canonical_attribute,
    canonical_context,
    canonical_entity,
    canonical_value,
)
from beliefledger.ledger.candidate import SELF, Span
from beliefledger.ledger.memory import Memory, Saying

MERGER = "words-1"
"""The rules of merging and their version."""


@dataclass(frozen=True)
class Original:
    """A memory that may be merged with others. Scores are millionths."""

    memory_id: str
    belief: str
    type: str
    confidence: int
    base: int
    importance: int
    visibility_scope: str
    basis: str
    grant: str
    memory: Memory
    turns: frozenset[str] = frozenset()
    """The turns that count as mentions."""
    spans: tuple[Span, ...] = ()
    """All its evidence, each span naming its turn."""

    @cached_property
    def words(self) -> Words:
        return Words.of(self.memory)

    @property
    def saying(self) -> Saying:
        memory = self.memory
        return Saying(
            type=self.type,
            entity=memory.entity,
            attribute=memory.attribute,
            value=memory.value,
            negated=memory.negated,
            context=memory.context,
        )

    def kind(self) -> tuple[Hashable, ...]:
        """What must be the same of two memories that are merged, apart from their words; in the
        order of `_KIND`."""
        memory, resolved, words = self.memory, self.memory.resolved, self.words
        entity = canonical_entity(memory.entity) if resolved is None else resolved.entity
        return (
            entity,
            tuple(sorted(map(canonical_entity, memory.participants))),
            memory.category,
            self.grant,
            memory.session if self.visibility_scope == "session" else None,
            canonical_context(memory.context),
            (memory.negated, words.negations),
            (memory.when.start, memory.when.end, memory.when.precision),
            memory.valid_to,
            tuple(sorted(memory.fields.items())),
            words.numbers,
            words.past,
        )


_KIND = (
    "whom they are about differs",
    "who takes part differs",
    "the categories differ",
    "the grants that they stand on differ",
    "they are of different sessions alone",
    "the contexts differ",
    "one is denied",
    "the dates differ",
    "they end at different times",
    "the fields differ",
    "the numbers differ",
    "one is over",
)


def kinds(originals: Sequence[Original]) -> list[int]:
    """A number for each; those of different numbers are not one memory, and need not be compared.

    Words that may be taken for each other, be it by way of a third, count as one here: it is only
    a first sieve.
    """
    above: dict[str, str] = {}

    def top(key: str) -> str:
        while above.setdefault(key, key) != key:
            above[key] = key = above[above[key]]
        return key

    def join(keys: Iterable[str]) -> None:
        first, *others = keys
        for key in others:
            above[top(key)] = top(first)

    weightless = _lexicon().light | _lexicon().light_verbs
    for word in weightless:
        join(_sort(word).keys)
    for each in originals:
        for said in each.words.content:
            join(said.keys)
    nothing = {top(word) for word in weightless}
    numbers: dict[Hashable, int] = {}
    return [
        numbers.setdefault(
            (each.kind(), *sorted(_told(each.words.content, top, nothing))), len(numbers)
        )
        for each in originals
    ]


def _told(
    content: Sequence[Word], top: Callable[[str], str], nothing: AbstractSet[str]
) -> Iterator[str]:
    for word in content:
        key = top(next(iter(word.keys)))
        if key not in nothing:
            yield key


def refusal(one: Original, other: Original, kind: MemoryType | None) -> str | None:
    """Why these two are not one memory; None where they are."""
    if one.type != other.type:
        return "the type differs"
    said = (one.memory.claim, one.memory.value, other.memory.claim, other.memory.value)
    if max(map(len, said)) > _LONGEST:
        return "the words are too many to compare"
    values = [
        canonical_value(each.memory.value, negated=each.memory.negated, kind=kind)
        for each in (one, other)
    ]
    if one.belief == other.belief and values[0] != values[1]:
        return "they are two values of one slot"
    for mine, theirs, differs in zip(one.kind(), other.kind(), _KIND, strict=True):
        if mine != theirs:
            return differs
    if kind is not None and kind.slot is SlotRule.RELATION and _relation(one) != _relation(other):
        return "the relations differ"
    return _differ(one.words, other.words)


def _relation(original: Original) -> tuple[str, str]:
    memory, resolved = original.memory, original.memory.resolved
    far = canonical_entity(memory.value) if resolved is None else resolved.target
    stem = ".".join(canonical_attribute(memory.attribute).split(".")[:2])
    return stem, far or canonical_entity(memory.value)


# Words

_LONGEST = 2_000
"""Characters of a claim: each word of one is compared with each of the other."""
_TOKEN = re.compile(
    r"(?:(?<!\w)[-−]?\.?)?\d+(?:[.,:/]\d+)*\w*|[^\W\d_]+\d\w*|(?:(?<!\w)\.)?[^\W_]+[+#]*|[$€£¥%°]"
)
_NOT = re.compile(r"n't\b", re.I)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_TENS = frozenset({"20", "30", "40", "50", "60", "70", "80", "90"})


@dataclass(frozen=True)
class _Lexicon:
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
def _lexicon() -> _Lexicon:
    read = yaml.safe_load(
        resources.files("beliefledger.gate").joinpath("rephrasing.yaml").read_text("utf-8")
    )
    alike: dict[str, set[str]] = {}
    for number, line in enumerate(read["alike"]):
        for word in line.split():
            alike.setdefault(word, set()).add(f"={number}")
    longest_first = "|".join(map(re.escape, sorted(read["phrases"], key=len, reverse=True)))
    return _Lexicon(
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
    """A word of a claim, and everything that it may be taken for."""

    text: str
    keys: frozenset[str]
    name: bool = False
    light: bool = False
    past: bool = False
    """In the form that says that it is over, or done."""

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
    """Whom it names, in order, the subject too; True where something is theirs."""
    numbers: tuple[str, ...]
    negations: int
    past: bool
    directed: frozenset[str]
    value: tuple[Word, ...] = ()

    @classmethod
    def of(cls, memory: Memory) -> Words:
        claim = _taken(memory.claim)
        if memory.value in memory.claim:
            return claim
        value = _taken(memory.value)
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


class _Sort(NamedTuple):
    """What is known of a word by itself. `keys` has the forms that it may be one of, and the groups
    that it is in."""

    name: str
    keys: frozenset[str]
    light: bool
    light_verb: bool
    past: bool


@lru_cache(maxsize=20_000)
def _sort(word: str) -> _Sort:
    known = _lexicon()
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
    return _Sort(
        name,
        keys,
        not keys.isdisjoint(known.light),
        not keys.isdisjoint(known.light_verbs),
        word in known.past_forms
        or (len(word) > 3 and word.endswith("ed") and not word.endswith("eed")),
    )


def forget() -> None:
    """Keep no words of somebody who was erased."""
    _sort.cache_clear()


def _stems(word: str) -> set[str]:
    """Without an ending, where there may be one; and with the e that it may have swallowed."""
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


def _taken(text: str) -> Words:
    known = _lexicon()
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
        sort = _sort(word)
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
        elif word in _HAVE and at + 1 < len(words) and _sort(words[at + 1]).past:
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


_HAVE = frozenset({"has", "have", "had"})


def _differ(one: Words, other: Words) -> str | None:
    pairs = _matched(one.content, other.content)
    rest = (
        [word for at, word in enumerate(one.content) if at not in pairs],
        [word for at, word in enumerate(other.content) if at not in pairs.values()],
    )
    weighty = [[word for word in side if not word.light] for side in rest]
    if any(weighty) or all(rest):
        sides = [" ".join(dict.fromkeys(word.text for word in side)) or "nothing" for side in rest]
        dated = any(not word.keys.isdisjoint(_lexicon().dates) for side in rest for word in side)
        return f"{'the dates' if dated else 'the words'} differ: {sides[0]} and {sides[1]}"
    for mine, theirs in ((one, other), (other, one)):
        for word in mine.value:
            if not word.light and not any(
                word.like(each) for each in (*theirs.content, *theirs.value)
            ):
                return f"the values differ: {word.text} is in one alone"
    for at, there in pairs.items():
        if one.content[at].past != other.content[there].past:
            return f"one is over: {one.content[at].text} and {other.content[there].text}"
    if _order(one.names, other.names) != _order(other.names, one.names):
        return "who does what to whom differs"
    if (one.directed or other.directed) and list(pairs.values()) != sorted(pairs.values()):
        return "the order of the words differs"
    return None


def _matched(one: Sequence[Word], other: Sequence[Word]) -> dict[int, int]:
    """Which word of the other each word is like, by their numbers; each is taken once, and the same
    word before one that is only alike."""
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for exact in (True, False):
        for at, word in enumerate(one):
            if at in pairs:
                continue
            for there, each in enumerate(other):
                if there not in taken and (word.text == each.text if exact else word.like(each)):
                    pairs[at] = there
                    taken.add(there)
                    break
    return dict(sorted(pairs.items()))


def _order(
    names: Sequence[tuple[str, bool]], others: Sequence[tuple[str, bool]]
) -> list[tuple[str, bool]]:
    shared = {name for name, _ in others}
    return [name for name in dict.fromkeys(names) if name[0] in shared]


# What they become


@dataclass(frozen=True)
class Merged:
    """What originals become, but for the ids of it."""

    leader: Original
    memory: Memory
    confidence: int
    base: int
    importance: int
    visibility_scope: str
    turns: tuple[str, ...]


def merged(
    originals: Sequence[Original], scopes: Sequence[str], wording: str | None = None
) -> Merged:
    """One memory of these, the leader first: the most confident one's words (or this wording), the
    evidence of all, and the least trust that any of them had.

    `scopes` are those of the policy, the narrowest first. It began when the first of them did and
    ends when the first of them does.
    """
    leader = originals[0]
    first = min(originals, key=lambda each: each.memory.valid_from).memory
    ends = [each.memory.expires_at for each in originals if each.memory.expires_at is not None]
    known = {each.visibility_scope for each in originals}
    memory = leader.memory.model_copy(
        update={
            "claim": wording or leader.memory.claim,
            "valid_from": first.valid_from,
            "said_at_stated": leader.memory.said_at_stated and first.said_at_stated,
            "expires_at": min(ends, default=None),
            "spans": tuple(dict.fromkeys(span for each in originals for span in each.spans)),
        }
    )
    return Merged(
        leader,
        memory,
        min(each.confidence for each in originals),
        min(each.base for each in originals),
        max(each.importance for each in originals),
        next((scope for scope in scopes if scope in known), leader.visibility_scope),
        tuple(sorted(frozenset().union(*(each.turns for each in originals)))),
    )


def unfaithful(wording: str, originals: Sequence[Original]) -> str | None:
    """How a wording differs in what it says from the leader of the originals; None where it does
    not."""
    leader = originals[0].words
    taken = Words.of(originals[0].memory.model_copy(update={"claim": wording}))
    if taken.negations != leader.negations:
        return "it denies what they do not, or the other way round"
    if taken.numbers != leader.numbers:
        return "the numbers differ"
    if taken.past != leader.past:
        return "it is over where they are not, or the other way round"
    return _differ(taken, leader)
